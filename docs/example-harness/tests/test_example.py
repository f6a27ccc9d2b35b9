"""The adapter of Example Agent keeps every contract of rigline's kit, on sessions that the program itself wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from example_harness import Example, agent

from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, Unknown, run_contract

FIRST, SECOND = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
ABSENT, NEWER = "ffffffff-ffff-4fff-8fff-ffffffffffff", "99999999-9999-4999-8999-999999999999"
MARKER = "[rigline packet abcdefghij0123456789klmnop part 1/1]"
CANARIES = ("CANARY-thinking", "CANARY-packet", "CANARY-future")
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-p", "a prompt", "--ask", "always"),
    ("--resume", ABSENT, "go on"),
    ("-r", ABSENT, "--fork", "--session-id", FIRST),
    ("-c",),
    ("--", "--resume"),
    ("sessions",),
    ("--no-such-option", "x"),
)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> HarnessCase:
    return make_case(tmp_path_factory.mktemp("example"))


def make_case(folder: Path) -> HarnessCase:
    """A store with two sessions, one a fork of the other, and what must not be read in the first."""
    cwd = folder / "Project"
    (cwd / "below").mkdir(parents=True)
    home = folder / "home"
    ask(home, cwd, "--session-id", FIRST, "remember the word marmalade")
    add(
        home / "sessions" / f"{FIRST}.jsonl",
        {"type": "thinking", "id": "t1", "text": "CANARY-thinking"},
        {"type": "context", "id": "t2", "text": f"{MARKER}\nCANARY-packet"},
        {"type": "hologram", "id": "t3", "text": "CANARY-future"},
    )
    ask(home, cwd, "--resume", FIRST, "list")
    ask(home, cwd, "--resume", FIRST, "--fork", "--session-id", SECOND, "recall: marmalade")
    return HarnessCase(
        harness=Example(),
        folder=str(home),
        make_env=lambda folder: {"EXAMPLE_HOME": folder, "HOME": "/nobody"},
        cwd=str(cwd),
        canaries=CANARIES,
        make_tool_output=lambda text: encode({"type": "tool_result", "id": "", "call": "big", "text": text}),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        plant_unknown=plant_unknown,
    )


def ask(home: Path, cwd: Path, *args: str) -> str:
    """What the program answers."""
    env = {**os.environ, "EXAMPLE_HOME": str(home)}
    argv = [sys.executable, agent.__file__, "-p", *args]
    return subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True, text=True, timeout=30).stdout


def encode(record: dict[str, object]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def add(path: Path, *records: dict[str, object]) -> None:
    with path.open("ab") as file:
        file.writelines(encode(record) for record in records)


def plant_unknown(folder: str) -> Unknown:
    """A session of a format that does not exist yet."""
    path = Path(folder, "sessions", f"{NEWER}.jsonl")
    add(path, {"type": "session", "format": 7, "id": NEWER, "cwd": "/", "at": "2030-01-01T00:00:00+00:00"})
    return Unknown(native_id=NEWER, seen="format 7", known=("1",))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_example_agent_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)


def test_a_fork_remembers_what_its_parent_was_told(tmp_path: Path) -> None:
    cwd = tmp_path / "project"
    cwd.mkdir()
    ask(tmp_path, cwd, "--session-id", FIRST, "remember the word marmalade")
    assert ask(tmp_path, cwd, "-r", FIRST, "--fork", "recall: marmalade") == "marmalade: yes\n"
    assert ask(tmp_path, cwd, "recall: marmalade") == "marmalade: no\n"
