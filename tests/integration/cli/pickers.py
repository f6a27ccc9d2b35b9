"""What the tests of the pickers share: programs that stand in for agents, and lines of work to choose from."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from rigline.ledger.base import PrepareRequest
from rigline.model import Checkpoint, Grant
from rigline.scope import take_checkpoint
from tests.integration.cli.conftest import User

#: writes down how it was started: folder, PWD, NO_COLOR, arguments
STAND_IN = """#!/bin/sh
echo "the agent is here"
{ pwd; echo "$PWD"; echo "NO_COLOR=$NO_COLOR"; for word; do echo "$word"; done; } > "$HOME/started-$(basename "$0")"
"""


class Became(BaseException):
    """The process would be another program now."""

    def __init__(self, argv: list[str], env: Mapping[str, str]) -> None:
        super().__init__(argv)
        self.argv, self.env, self.cwd = argv, env, os.getcwd()

    @property
    def words(self) -> list[str]:
        """What stands after `rigline`."""
        assert self.argv[:4] == [sys.executable, "-P", "-m", "rigline"]
        return self.argv[4:]


def catch_becoming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands end where they would become another program."""

    def become(argv: list[str], env: Mapping[str, str]) -> NoReturn:
        raise Became(argv, env)

    monkeypatch.setattr("rigline.process.become", become)


def put_agents(folder: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...] = ("claude", "codex")) -> None:
    """Let PATH have these agents, and no others."""
    folder.mkdir(exist_ok=True)
    for name in names:
        path = folder / name
        path.write_text(STAND_IN)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def commit(folder: Path, message: str) -> None:
    """A commit with nothing in it."""
    words = [
        "git",
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@example.org",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        message,
    ]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def make_checkout(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, capture_output=True)
    commit(folder, "first")
    return folder


def add_line(
    user: User, folder: Path, name: str, *harnesses: str, says: str = "", title: str | None = None, native_id: str = ""
) -> None:
    """A line of work in a checkout, on which these harnesses worked one after the other; `native_id` is the session of
    the last one."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        for number, harness in enumerate(harnesses or ("claude-code",)):
            grant = user.start(harness, new=name) if number == 0 else _take_again(user, harness, name)
            is_last = number == len(harnesses) - 1
            info = user.bind(grant, native_id if native_id and is_last else f"{name}-{harness}", title=title)
            if says or title:
                user.say(info, says or "Something.", role="assistant")
            user.ledger.finish(grant.run, 0, _look(folder))
    finally:
        os.chdir(before)


def _take_again(user: User, harness: str, name: str) -> Grant:
    request = PrepareRequest(scope=user.scope, harness=harness, host="host-1", pid=100, pid_started="then", name=name)
    return user.ledger.prepare(request)


def _look(folder: Path) -> Checkpoint:
    return take_checkpoint(str(folder), int(time.time() * 1000), env=os.environ)
