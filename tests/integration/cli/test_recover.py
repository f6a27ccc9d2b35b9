"""`rigline recover` collects what was interrupted, and builds a damaged ledger anew."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from rigline import liveness
from tests.integration.cli.conftest import User


def damage(home: Path) -> Path:
    database = home / "ledger.db"
    for path in (database, home / "ledger.db-wal"):
        if path.exists():
            path.write_bytes(b"no database" * 1000)
    return database


def test_with_nothing_left_over_it_says_so(user: User) -> None:
    answer = user.call("recover")
    assert (answer.status, answer.out) == (0, "There is no interrupted run to collect.\n")
    assert user.call("recover", "--json").value["found"] == 0


def test_a_folder_of_a_launcher_that_died_at_once_is_collected(user: User) -> None:
    folder = user.home / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "launcher").write_text("999999999 long gone")
    answer = user.call("recover")
    assert answer.status == 0
    assert "1 of 1 interrupted run collected." in answer.out
    assert not folder.exists()


def test_a_damaged_ledger_is_built_anew_and_the_old_file_kept(user: User) -> None:
    grant = user.start()
    user.say(user.bind(grant, "aaaa1111-0000"), "keep this", "and this")
    user.close()
    database = damage(user.home)
    assert user.call("workstreams").status == 69
    answer = user.call("recover", "--from-segments", "--yes")
    assert answer.status == 0
    assert "2 events of 1 session on 1 line of work." in answer.out
    (kept,) = user.home.glob("ledger.db.damaged-*")
    assert kept.read_bytes().startswith(b"no database")
    assert str(kept) in answer.out.replace("\n", "")
    assert database.exists()
    assert "keep this" in user.call("log").out


def test_nothing_is_built_anew_unasked(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.say(user.bind(user.start(), "aaaa1111-0000"), "x")
    user.close()
    refused = user.call("recover", "--from-segments")
    assert refused.status == 64
    assert "--yes" in refused.err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for typed, status in (("n\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        assert user.call("recover", "--from-segments").status == status


def test_a_ledger_that_an_agent_still_writes_is_left_alone(user: User) -> None:
    user.say(user.bind(user.start(), "aaaa1111-0000"), "x")
    folder = user.home / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "launcher").write_text(f"{os.getpid()} {liveness.process_start(os.getpid())}")
    answer = user.call("recover", "--from-segments", "--yes")
    assert answer.status == 75
    assert "1 run of an agent still writes" in answer.err


def test_without_segments_the_present_file_stays(user: User) -> None:
    user.start()
    before = (user.home / "ledger.db").read_bytes()
    answer = user.call("recover", "--from-segments", "--yes", "--json")
    assert answer.status == 69
    assert answer.value["error"]["code"] == "ledger_unreachable"
    assert (user.home / "ledger.db").read_bytes() == before
