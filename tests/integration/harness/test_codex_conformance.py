"""The adapter of Codex keeps every contract, on a store that the real programs wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.codex import Codex
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from tests.fixtures.codex_store import CANARIES, canary_records, output, place_all, write_rollout
from tests.fixtures.records import dump

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-m", "gpt", "a prompt", "-C", "/elsewhere"),
    ("--image", "a.png", "b.png", "--", "resume"),
    ("exec", "a prompt"),
    ("exec", "a prompt", "-s", "read-only", "--json"),
    ("exec", "-i", "a.png", "b.png", "--", "a prompt"),
    ("-c", "hooks.SessionStart=[]", "exec", "--color", "never", "a prompt"),
    ("exec", "--ephemeral", "a prompt"),
    ("resume", "--last"),
    ("exec", "resume", ABSENT, "go on"),
    ("fork", ABSENT),
    ("login", "status"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    home = tmp_path / "home"
    place_all(home, cwd)
    native_id = "01a22ee0-0000-7000-8000-000000000001"
    write_rollout(home, native_id, dump(*canary_records(native_id, cwd)))
    return HarnessCase(
        harness=Codex(),
        folder=str(home),
        make_env=lambda folder: {"CODEX_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(output("call_big", words)).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_codex_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
