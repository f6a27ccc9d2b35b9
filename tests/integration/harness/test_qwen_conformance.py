"""The adapter of Qwen Code keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.qwen import Qwen
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from tests.fixtures.qwen_store import CANARIES, canary_records, dump, place, result, write_session

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
CANARY_ID = "00000000-0000-4000-8000-00000000c0de"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-p", "a prompt"),
    ("-i", "--resume"),
    ("-yp", "a prompt", "--model", "m"),
    ("--allowed-tools", "write", "run_shell_command(git)", "-p", "x"),
    ("--approval-mode=plan", "x"),
    ("--continue",),
    ("--resume",),
    ("-r", ABSENT, "x"),
    ("-r", ABSENT, "--fork-session", "x"),
    ("--fork-session",),
    ("--session-id", ABSENT, "-p", "x"),
    ("--no-chat-recording", "x"),
    ("--bare", "x"),
    ("--worktree", "one"),
    ("sessions", "list"),
    ("--acp",),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path) -> HarnessCase:
    cwd = tmp_path / "Project"
    (cwd / "below").mkdir(parents=True)
    home = tmp_path / "home"
    place(home, str(cwd))
    write_session(home, CANARY_ID, *canary_records(), cwd=str(cwd))
    return HarnessCase(
        harness=Qwen(),
        folder=str(home),
        make_env=lambda folder: {"QWEN_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=str(cwd),
        canaries=CANARIES,
        make_tool_output=lambda words: dump({"uuid": f"big-{hash(words)}", **result("call_big", words)}).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        settings={"QWEN_CODE_SYSTEM_DEFAULTS_PATH": '{"model": {"name": "of-the-machine"}} // a comment'},
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_qwen_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
