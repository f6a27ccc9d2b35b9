"""A user with a checkout and a ledger in folders of the test's own, and commands called as `rigline` calls them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from rigline.cli import main
from rigline.ledger.base import PrepareRequest
from rigline.ledger.local import LocalLedger, open_ledger
from rigline.model import Event, Grant, Kind, LinkKind, Scope, SessionInfo, SessionLink, Window
from rigline.scope import resolve_scope
from rigline.testing.clock import FakeClock

#: 2026-03-31 08:00 UTC
MORNING_MS = 1_774_944_000_000
MINUTE_MS = 60_000


class Answer(Struct):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def value(self) -> Any:
        """The one JSON value that was printed."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class User:
    """Somebody in a checkout, who has a ledger and calls commands."""

    def __init__(self, home: Path, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.checkout = checkout
        self.clock = FakeClock(MORNING_MS)
        self._capsys = capsys
        self._ledger: LocalLedger | None = None
        self._cursors: dict[str, int] = {}

    @property
    def ledger(self) -> LocalLedger:
        if self._ledger is None:
            self._ledger = open_ledger(str(self.home), clock=self.clock, redactor=lambda text: (text, {}))
        return self._ledger

    @property
    def scope(self) -> Scope:
        return resolve_scope(os.getcwd(), env=os.environ)

    def call(self, *words: str) -> Answer:
        """Call a command in this process."""
        self._capsys.readouterr()
        try:
            status = main(list(words))
        except SystemExit as stop:  # argparse's way out of --help
            status = int(str(stop.code or 0))
        out, err = self._capsys.readouterr()
        return Answer(status, out, err)

    def start(self, harness: str = "claude-code", *, new: str | None = None) -> Grant:
        """Take the lease of a line, as a launcher does."""
        request = PrepareRequest(
            scope=self.scope, harness=harness, host="host-1", pid=100, pid_started="then", new_name=new
        )
        return self.ledger.prepare(request)

    def bind(
        self, grant: Grant, native_id: str, *, created_via: str = "fresh", title: str | None = None
    ) -> SessionInfo:
        """Bind a session to the line of a run."""
        info = self.make_info(native_id, grant.run.harness, title=title)
        self.ledger.bind(grant.run, info, evidence="chosen at the launch", created_via=created_via, store="/store")
        return info

    def make_info(
        self, native_id: str, harness: str = "claude-code", *, title: str | None = None, is_subagent: bool = False
    ) -> SessionInfo:
        return SessionInfo(
            harness=harness,
            native_id=native_id,
            path=f"/store/{native_id}.jsonl",
            cwd=os.getcwd(),
            updated_ms=self.clock.now_ms,
            size_bytes=1000,
            title=title,
            is_subagent=is_subagent,
        )

    def keep(
        self,
        info: SessionInfo,
        *events: Event,
        losses: dict[str, int] | None = None,
        links: list[SessionLink] | None = None,
        scope: Scope | None = None,
    ) -> None:
        """Put events of a session into the ledger."""
        count = self._cursors[info.native_id] = self._cursors.get(info.native_id, 0) + 1
        window = Window(
            native_id=info.native_id,
            cursor=f"c{count}",
            events=list(events),
            losses=losses or {},
            packets=[],
            links=links or [],
            title=info.title,
        )
        self.ledger.append(info, window, scope=scope or self.scope, run=None)

    def say(self, info: SessionInfo, *texts: str, role: str = "user", copy_key: str = "") -> None:
        """Let messages be said in a session, a minute apart."""
        self.keep(
            info, *[self.make_event(info, text, role=role, copy_key=copy_key and copy_key + text) for text in texts]
        )

    def make_event(
        self,
        info: SessionInfo,
        text: str,
        *,
        kind: Kind = Kind.MESSAGE,
        role: str | None = "user",
        copy_key: str = "",
        **fields: Any,
    ) -> Event:
        """An event a minute after the one before it."""
        self.clock.advance(MINUTE_MS)
        defaults = {"record": f"r{self.clock.now_ms}-{text}", "at_ms": self.clock.now_ms}
        return Event(
            harness=info.harness,
            native_id=info.native_id,
            kind=kind,
            text=text,
            role=role,
            copy_key=copy_key,
            **{**defaults, **fields},
        )

    def close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()


def link(child: SessionInfo, parent: SessionInfo, kind: LinkKind, evidence: str = "its file says so") -> SessionLink:
    """A link between two sessions."""
    return SessionLink(child_id=child.native_id, parent_id=parent.native_id, kind=kind, evidence=evidence)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[User]:
    """Somebody who stands in a fresh checkout, with an empty data folder, in UTC."""
    checkout = tmp_path.resolve() / "app"
    checkout.mkdir()
    subprocess.run(["git", "init", "-q", str(checkout)], check=True, capture_output=True)
    monkeypatch.setenv("RIGLINE_HOME", str(tmp_path / "rigline"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.chdir(checkout)
    someone = User(tmp_path / "rigline", checkout, capsys)
    yield someone
    someone.close()
    monkeypatch.undo()
    time.tzset()
