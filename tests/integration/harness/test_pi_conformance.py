"""The adapters of Pi and OMP keep every contract, on stores that the real programs wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.base import Harness
from rigline.harness.omp import Omp
from rigline.harness.pi import Pi
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Unknown
from tests.fixtures.pi_store import CANARIES, OMP, PI, canary_entries, message, place_all, tool_output, write_session
from tests.fixtures.records import dump

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
UNKNOWN = "00000000-0000-4000-8000-000000000009"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("--model", "p/m", "a prompt", "@file"),
    ("-p", "a prompt", "--mode", "json"),
    ("--", "--session"),
    ("--session", ABSENT, "go on"),
    ("--session", "/a/path.jsonl"),
    ("--fork", ABSENT, "-p", "x"),
    ("-c", "-p", "go on"),
    ("--resume",),
    ("--no-session", "-p", "x"),
    ("install", "a-package"),
    ("install-notes", "please"),
    ("--export", "x.jsonl"),
    ("--help",),
    ("--no-such-option", "x"),
)
OWN_LINES: dict[str, tuple[tuple[str, ...], ...]] = {
    "pi": (("--session-id", "my-own"), ("--list-models",), ("-na", "x"), ("--session-dir", "/d", "x")),
    "omp": ((f"--resume={ABSENT}",), ("--profile", "work"), ("--approval-mode", "write", "x"), ("--from-claude",)),
}


@pytest.fixture(params=[Pi(), Omp()], ids=lambda harness: str(harness.name))
def case(request: pytest.FixtureRequest, tmp_path: Path, cwd: str) -> HarnessCase:
    harness: Harness = request.param
    home = tmp_path / "home"
    place_all(home, cwd, harness.name)
    write_session(home, "00000000-0000-4000-8000-000000000001", cwd, canary_entries(), harness.name)

    def plant(folder: str) -> Unknown:
        write_session(Path(folder), UNKNOWN, cwd, [message("user", "x")], harness.name, version=4)
        return Unknown(native_id=UNKNOWN, seen="4", known=("3",))

    return HarnessCase(
        harness=harness,
        folder=str(home),
        make_env=lambda folder: {"HOME": folder},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(tool_output(words)).encode(),
        command_lines=(*COMMAND_LINES, *OWN_LINES[harness.name]),
        unknown_id=ABSENT,
        plant_unknown=plant,
        goldens=str((PI if harness.name == "pi" else OMP) / "golden"),
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_the_adapter_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
