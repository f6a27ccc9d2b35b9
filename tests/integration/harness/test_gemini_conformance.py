"""The adapter of Gemini CLI keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from rigline.harness.gemini import Gemini
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Form
from tests.fixtures.gemini_store import CANARIES, call, canary_records, dump, gemini, place, write_session

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
CANARY_ID = "00c0de00-0000-4000-8000-00000000c0de"
numbers = count(1)
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("-p", "a prompt"),
    ("a prompt", "-m", "gemini-2.5-pro"),
    ("-i", "a prompt", "--sandbox"),
    ("--approval-mode", "plan", "-p", "x"),
    ("-y", "--include-directories", "/elsewhere", "-p", "x"),
    ("-e", "one", "--extensions=two", "-p", "x"),
    ("-r",),
    ("-r", "latest", "-p", "x"),
    ("--resume", "3"),
    ("-r", ABSENT, "-p", "x"),
    (f"--resume={ABSENT}",),
    ("--session-id", ABSENT, "-p", "x"),
    ("--sessionId", "my-own_id", "-p", "x"),
    ("--session-file", "saved.json"),
    ("--worktree", "one"),
    ("mcp", "list"),
    ("--list-sessions",),
    ("--acp",),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path) -> HarnessCase:
    cwd = tmp_path / "Project"
    (cwd / "below").mkdir(parents=True)
    home = tmp_path / "home"
    place(home / ".gemini", str(cwd))
    write_session(home / ".gemini", CANARY_ID, *canary_records())
    return HarnessCase(
        harness=Gemini(),
        folder=str(home),
        make_env=lambda folder: {"GEMINI_CLI_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=str(cwd),
        canaries=CANARIES,
        form=Form.REVISED,
        make_tool_output=make_tool_output,
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
    )


def make_tool_output(words: str) -> bytes:
    """A message of its own each time: a repeated id would be another state of the same one."""
    own = f"big-{next(numbers)}"
    return dump(gemini(own, "", call(own, "read_file", words))).encode()


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_gemini_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
