"""The adapter of GitHub Copilot CLI keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.copilot import Copilot
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Unknown
from tests.fixtures.copilot_store import CANARIES, NAMES, canary_events, place, result, start, user, write_session
from tests.fixtures.records import dump

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
CANARY_ID = "00000000-0000-4000-8000-00000000c0de"
FUTURE_ID = "00000000-0000-4000-8000-0000000f7a7e"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("-p", "a prompt"),
    ("-i", "--resume"),
    ("-sp", "a prompt", "--model", "m"),
    ("--allow-tool", "write", "shell(git:*)", "-p", "x"),
    ("--allow-all-tools", "-p", "x"),
    ("--yolo", "--plugin-dir", "mine", "-p", "x"),
    ("--continue",),
    ("--resume",),
    (f"--resume={ABSENT}", "-p", "x"),
    ("--session-id", ABSENT, "-p", "x"),
    ("-C", "/elsewhere", "-p", "x"),
    ("plugin", "list"),
    ("--acp",),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    home = tmp_path / "home"
    for name in NAMES:
        place(name, home, cwd)
    write_session(home, CANARY_ID, *canary_events(CANARY_ID, cwd))
    return HarnessCase(
        harness=Copilot(),
        folder=str(home),
        make_env=lambda folder: {"COPILOT_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(result("call_big", words)).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        plant_unknown=lambda folder: plant_unknown(Path(folder), cwd),
    )


def plant_unknown(home: Path, cwd: str) -> Unknown:
    """A session of a format that is still to come."""
    write_session(home, FUTURE_ID, start(FUTURE_ID, cwd, version=9), user("hello"))
    return Unknown(native_id=FUTURE_ID, seen="9", known=("1",))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_copilot_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
