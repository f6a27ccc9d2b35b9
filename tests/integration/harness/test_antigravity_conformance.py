"""The adapter of Antigravity CLI keeps every contract, on a store in the shapes that are publicly known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.antigravity import Antigravity
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from tests.fixtures.antigravity_store import ANTIGRAVITY, CANARIES, place_logged, tool_output

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-p", "a prompt", "--model", "x"),
    ("-p", "--continue"),
    ("--mode", "plan", "-i", "a prompt"),
    ("--conversation", ABSENT, "-p", "go on"),
    ("-conversation", ABSENT),
    ("-c",),
    ("plugin", "list"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    place_logged(tmp_path / "home", cwd)
    return HarnessCase(
        harness=Antigravity(),
        folder=str(tmp_path / "home"),
        make_env=lambda folder: {"HOME": folder},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=tool_output,
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        goldens=str(ANTIGRAVITY),
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_antigravity_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
