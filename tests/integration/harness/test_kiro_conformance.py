"""The adapters of Kiro CLI keep every contract, on stores in the shapes that are publicly known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.kiro import KiroV2, KiroV3
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Unknown
from tests.fixtures.kiro_store import (
    KIRO,
    SESSION,
    V2_CANARIES,
    V3_BUCKET,
    V3_CANARIES,
    V3_SESSION,
    place_v2,
    place_v3,
    v2_output,
    v3_output,
)

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMON: tuple[tuple[str, ...], ...] = (
    (),
    ("a prompt",),
    ("chat", "a prompt", "--agent", "mine"),
    ("chat", "--trust-tools", "read", "--", "--v3"),
    ("--resume",),
    ("-v", "--model", "auto", "a prompt"),
    ("--no-interactive", "x"),
    ("--agent-engine", "v9"),
    ("settings", "list"),
    ("--help-all",),
    ("--no-such-option", "x"),
)


@pytest.fixture
def v2(tmp_path: Path, cwd: str) -> HarnessCase:
    def plant(folder: str) -> Unknown:
        native_id = "00000000-0000-4000-8000-000000000009"
        cli = Path(folder, "sessions", "cli")
        text = (cli / f"{SESSION}.json").read_text()
        (cli / f"{native_id}.json").write_text(text.replace(SESSION, native_id))
        (cli / f"{native_id}.jsonl").write_text('{"version":"v7","kind":"Prompt","data":{"content":[]}}\n')
        return Unknown(native_id=native_id, seen="v7", known=("v1",))

    place_v2(tmp_path / "kiro", cwd)
    return HarnessCase(
        harness=KiroV2(),
        folder=str(tmp_path / "kiro"),
        make_env=lambda folder: {"KIRO_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=V2_CANARIES,
        make_tool_output=v2_output,
        command_lines=(*COMMON, ("--resume-id", ABSENT, "go on"), ("--agent-engine", "v2", "x")),
        unknown_id=ABSENT,
        plant_unknown=plant,
        goldens=str(KIRO / "v2"),
    )


@pytest.fixture
def v3(tmp_path: Path, cwd: str) -> HarnessCase:
    def plant(folder: str) -> Unknown:
        native_id = f"sess_{ABSENT[:-1]}9"
        bucket = Path(folder, "sessions", V3_BUCKET)
        meta = (bucket / V3_SESSION / "session.json").read_text()
        (bucket / native_id).mkdir()
        text = meta.replace(V3_SESSION, native_id).replace("1.0.0", "2.3.0")
        (bucket / native_id / "session.json").write_text(text)
        (bucket / native_id / "messages.jsonl").write_text('{"id":"1","payload":{"type":"user","content":"x"}}\n')
        return Unknown(native_id=native_id, seen="2.3.0", known=("1.0.0",))

    place_v3(tmp_path / "kiro", cwd)
    return HarnessCase(
        harness=KiroV3(),
        folder=str(tmp_path / "kiro"),
        make_env=lambda folder: {"KIRO_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=V3_CANARIES,
        make_tool_output=v3_output,
        command_lines=(*COMMON, ("--v3", "--resume-id", f"sess_{ABSENT}"), ("--mode", "spec"), ("--v3", "x")),
        unknown_id=f"sess_{ABSENT}",
        plant_unknown=plant,
        goldens=str(KIRO / "v3"),
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_kiro_v2_keeps(contract: Contract, v2: HarnessCase) -> None:
    run_contract(contract, v2)


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_kiro_v3_keeps(contract: Contract, v3: HarnessCase) -> None:
    run_contract(contract, v3)
