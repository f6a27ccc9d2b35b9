"""How Codex is asked to prove a start hook. Scripts stand for the program; the real one is asked in `tests/real`."""

from __future__ import annotations

import json
import os
import sys
import time
import tomllib
from pathlib import Path

import pytest

from rigline.harness import codex_app_server, codex_hooks
from rigline.harness.base import HookDefinition
from rigline.harness.codex import Codex

COMMANDS = ("'/a b/python' -P -m rigline hook --part 1", 'say "é\\ 😀"\x7f')

PROGRAM = """#!{python}
import json, os, sys, tomllib
call = [sys.argv[1:], *(os.environ.get(name) for name in ("CODEX_HOME", "HOME", "KEY"))]
open({log!r}, "a").write(json.dumps(call) + "\\n")
setting = next(word for word in sys.argv if word.startswith("hooks.SessionStart="))
hooks = tomllib.loads(setting)["hooks"]["SessionStart"][0]["hooks"]
for line in sys.stdin:
    request = json.loads(line)
    if request.get("id") == 1:
        print(json.dumps({{"id": 1, "result": {{}}}}), flush=True)
        print(json.dumps({{"method": "notice", "params": {{"id": 2}}}}), flush=True)
    if request.get("id") == 2:
        own = {{"key": "/config.toml:0", "command": "user's", "source": "user", "currentHash": "sha256:user"}}
        ours = [
            dict(key=f"/flags:{{n}}", command=hook["command"], source="sessionFlags", currentHash=f"sha256:{{n}}")
            for n, hook in enumerate(hooks)
        ]
        print(json.dumps({answer}), flush=True)
"""
LISTS = '{"id": 2, "result": {"data": [{"cwd": "/", "hooks": [own, *ours], "warnings": []}]}}'
REFUSES = '{"id": 2, "error": {"code": -32600, "message": "unknown variant `hooks/list`"}}'
FAILS = '{"id": 2, "error": {"code": -32603, "message": "disk full"}}'
CHANGES = '{"id": 2, "result": {"data": [{"hooks": [own, *ours[:1]]}]}}'


class Fake:
    """A program that answers in one way, and what it was called with."""

    def __init__(self, folder: Path, answer: str) -> None:
        self._log = folder / "log"
        self.cache = folder / "cache"
        self.path = folder / "codex"
        self.path.write_text(PROGRAM.format(python=sys.executable, log=str(self._log), answer=answer))
        self.path.chmod(0o755)

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def trust(self, commands: tuple[str, ...] = COMMANDS) -> tuple[str, ...]:
        env = {"PATH": os.environ["PATH"], "KEY": "x", "HOME": "/nobody", "CODEX_HOME": "/nobody/codex"}
        definition = HookDefinition(commands=commands)
        return Codex(str(self.cache)).trust_hooks(definition, str(self.path), env, "/").trust


def test_each_command_gets_its_proof_in_the_form_that_the_program_takes(tmp_path: Path) -> None:
    trust = Fake(tmp_path, LISTS).trust()
    state = tomllib.loads(codex_hooks.write_trust(trust))["hooks"]["state"]
    assert state == {"/flags:0": {"trusted_hash": "sha256:0"}, "/flags:1": {"trusted_hash": "sha256:1"}}


def test_commands_survive_the_way_through_toml() -> None:
    hooks = tomllib.loads(codex_hooks.write_hooks(COMMANDS))["hooks"]["SessionStart"][0]["hooks"]
    assert tuple(hook["command"] for hook in hooks) == COMMANDS


def test_the_program_is_asked_in_an_empty_home_that_is_removed(tmp_path: Path) -> None:
    fake = Fake(tmp_path, LISTS)
    fake.trust()
    ((words, codex_home, home, key),) = fake.calls
    assert words[-1] == "app-server"
    assert codex_home == home
    assert not os.path.exists(home)
    assert key == "x"


def test_an_answer_is_asked_for_once_until_the_program_or_the_hooks_change(tmp_path: Path) -> None:
    fake = Fake(tmp_path, LISTS)
    assert fake.trust() == fake.trust()
    assert len(fake.calls) == 1
    fake.trust(COMMANDS[:1])
    assert len(fake.calls) == 2
    fake.path.write_text(fake.path.read_text())
    fake.trust()
    assert len(fake.calls) == 3


def test_a_version_that_does_not_know_the_question_gives_no_proof_and_is_not_asked_again(tmp_path: Path) -> None:
    fake = Fake(tmp_path, REFUSES)
    assert fake.trust() == fake.trust() == ()
    assert len(fake.calls) == 1


@pytest.mark.parametrize("answer", [FAILS, CHANGES, '{"id": 2}', '{"id": 2, "result": 7}'])
def test_an_answer_that_proves_nothing_is_not_kept(tmp_path: Path, answer: str) -> None:
    fake = Fake(tmp_path, answer)
    assert fake.trust() == fake.trust() == ()
    assert len(fake.calls) == 2


@pytest.mark.parametrize("body", ["exit 1", "cat", "echo '{'", "printf '%s' '\"'"])
def test_a_program_that_is_none_gives_no_proof(tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_app_server, "DEADLINE_S", 0.3)
    fake = Fake(tmp_path, LISTS)
    fake.path.write_text(f"#!/bin/sh\n{body}\n")
    assert fake.trust() == ()


def test_a_missing_program_gives_no_proof(tmp_path: Path) -> None:
    fake = Fake(tmp_path, LISTS)
    fake.path.unlink()
    assert fake.trust() == ()


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_app_server, "DEADLINE_S", 0.3)
    fake = Fake(tmp_path, LISTS)
    pids = tmp_path / "pids"
    fake.path.write_text(f"#!/bin/sh\nsleep 60 &\necho $$ $! > {pids}\nwait\n")
    began = time.monotonic()
    assert fake.trust() == ()
    assert time.monotonic() - began < 5
    for pid in pids.read_text().split():
        assert not _is_running(int(pid))


def _is_running(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


def test_a_damaged_cache_is_replaced(tmp_path: Path) -> None:
    fake = Fake(tmp_path, LISTS)
    fake.cache.mkdir()
    (fake.cache / "codex-hook-trust.json").write_text("{")
    assert len(fake.trust()) == 2
    fake.trust()
    assert len(fake.calls) == 1


def test_the_cache_is_private_and_its_loss_only_costs_a_question(tmp_path: Path) -> None:
    fake = Fake(tmp_path, LISTS)
    fake.trust()
    assert (fake.cache / "codex-hook-trust.json").stat().st_mode & 0o777 == 0o600
    fake.cache = tmp_path / "codex" / "no-folder"
    assert len(fake.trust()) == 2
