"""The adapter of Claude Code keeps every contract, on a store that the real programs wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.claude_code import ClaudeCode
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from tests.fixtures.claude_store import CANARIES, canary_records, place_all, result, user, write_session
from tests.fixtures.records import dump

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("-p", "a prompt"),
    ("a prompt", "--allowedTools", "Bash", "Read"),
    ("--mcp-config", "a.json", "b.json", "--", "a prompt"),
    ("--", "--resume"),
    ("--resume", ABSENT, "-p", "go on"),
    ("-c",),
    ("--fork-session",),
    ("--dangerously-skip-permissions", "x"),
    ("mcp", "list"),
    ("--help",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    config = tmp_path / "config"
    place_all(config, cwd)
    native_id = "cccccccc-0000-4000-8000-000000000001"
    write_session(config, cwd, native_id, *canary_records(native_id))
    return HarnessCase(
        harness=ClaudeCode(),
        folder=str(config),
        make_env=lambda folder: {"CLAUDE_CONFIG_DIR": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        make_tool_output=lambda words: dump(user("x", "big", None, [result("toolu_big", words)])).encode(),
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_claude_code_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
