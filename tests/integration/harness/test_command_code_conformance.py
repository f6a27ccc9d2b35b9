"""The adapter of Command Code keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.command_code import CommandCode
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Unknown
from tests.fixtures.command_code_store import (
    CANARIES,
    COMMAND_CODE,
    canary_entries,
    message,
    place_all,
    tool_output,
    write_session,
)
from tests.fixtures.records import dump

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
UNKNOWN = "00000000-0000-4000-8000-000000000009"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-m", "lab/model", "a prompt", "--add-dir", "/elsewhere"),
    ("-p", "a prompt", "--output-format", "json"),
    ("--permission-mode", "plan", "-p", "--", "--yolo"),
    ("-r", ABSENT, "go on"),
    ("--resume", ABSENT, "--fork-session"),
    ("--session", "/a/path.jsonl"),
    ("-c", "-p", "go on"),
    ("--fork-session", "go on"),
    ("--no-session", "-p", "x"),
    ("mods", "list"),
    ("--list-models",),
    ("-w", "-p", "x"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    home = tmp_path / "home"
    place_all(home, cwd)
    native_id = "00000000-0000-4000-8000-000000000001"
    write_session(home, native_id, cwd, canary_entries())

    def plant(folder: str) -> Unknown:
        write_session(Path(folder), UNKNOWN, cwd, [message("user", "x", source="user")], version=4)
        return Unknown(native_id=UNKNOWN, seen="4", known=("3",))

    return HarnessCase(
        harness=CommandCode(),
        folder=str(home),
        make_env=lambda folder: {"HOME": folder},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(tool_output(words)).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        plant_unknown=plant,
        goldens=str(COMMAND_CODE / "golden"),
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_command_code_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
