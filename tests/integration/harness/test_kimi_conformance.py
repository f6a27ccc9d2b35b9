"""The adapter of Kimi Code keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.kimi import Kimi
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Unknown
from tests.fixtures.kimi_store import CANARIES, NAMES, canary_records, message, metadata, place, result, write_session
from tests.fixtures.records import dump

ABSENT = "session_ffffffff-ffff-4fff-8fff-ffffffffffff"
CANARY_ID = "session_00000000-0000-4000-8000-00000000c0de"
FUTURE_ID = "session_00000000-0000-4000-8000-0000000f7a7e"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("-p", "a prompt"),
    ("-p", "--session"),
    ("-m", "k2", "-p", "x", "--output-format", "stream-json"),
    ("--auto",),
    ("-y", "--add-dir", "/elsewhere"),
    ("--plan", "--skills-dir", "a"),
    ("--agent", "reviewer"),
    ("-c",),
    ("-S",),
    ("-S", ABSENT, "-p", "x"),
    (f"--resume={ABSENT}",),
    ("fork", ABSENT, "-y"),
    ("session", "list"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    home = tmp_path / "home"
    for name in NAMES:
        place(name, home, cwd)
    write_session(home, CANARY_ID, *canary_records(), cwd=cwd)
    return HarnessCase(
        harness=Kimi(),
        folder=str(home),
        make_env=lambda folder: {"KIMI_CODE_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(result("big", words)).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        plant_unknown=lambda folder: plant_unknown(Path(folder), cwd),
    )


def plant_unknown(home: Path, cwd: str) -> Unknown:
    """A session of a format that is still to come."""
    write_session(home, FUTURE_ID, metadata("9.0"), message("user", "hello", {"kind": "user"}, "msg_1"), cwd=cwd)
    return Unknown(native_id=FUTURE_ID, seen="9.0", known=("1.5",))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_kimi_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
