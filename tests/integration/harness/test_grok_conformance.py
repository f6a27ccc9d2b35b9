"""The adapter of Grok Build keeps every contract, on a store in the shapes that are publicly known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.grok import Grok
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from tests.fixtures.grok_store import CANARIES, GROK, place_all, tool_output

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-p", "a prompt", "--output-format", "json"),
    ("--rules", "be brief", "-m", "grok-build"),
    ("--permission-mode", "plan", "--", "--yolo"),
    ("--resume", ABSENT),
    ("-r", ABSENT, "--fork-session"),
    ("-c",),
    ("-s", ABSENT, "a prompt"),
    ("--worktree",),
    ("sessions", "list"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    place_all(tmp_path / "grok", cwd)
    return HarnessCase(
        harness=Grok(),
        folder=str(tmp_path / "grok"),
        make_env=lambda folder: {"GROK_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=tool_output,
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        goldens=str(GROK),
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_grok_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
