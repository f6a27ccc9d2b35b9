"""The adapter of Crush keeps every contract, on a store built from its public source."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from rigline.harness.crush import Crush
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Form, Unknown
from tests.fixtures import crush_store
from tests.fixtures.crush_store import CANARIES, FOLDER, Conversation

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("run", "a prompt"),
    ("-d", "run", "-q", "-m", "model", "a prompt"),
    ("r", "--", "run"),
    ("--yolo",),
    ("-s", ABSENT),
    ("run", "-s", ABSENT, "go on"),
    ("run", "--continue", "go on"),
    ("--data-dir", "/elsewhere", "run", "x"),
    ("-c", "/elsewhere"),
    ("session", "list"),
    ("run", "--help"),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    """The data folder is a configured one, as contracts copy the store away from its project."""
    home = tmp_path / "home"
    path = crush_store.place(home, folder="data")
    return HarnessCase(
        harness=Crush(),
        folder=str(home),
        make_env=lambda folder: make_env(tmp_path, cwd, folder),
        cwd=cwd,
        canaries=CANARIES,
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        form=Form.REVISED,
        make_stages=lambda _, info: Conversation(Path(info.path), info).make_stages(),
        grow=lambda _, info, texts: crush_store.grow(Path(info.path), info, texts),
        damage=lambda _, info: crush_store.damage(Path(info.path), info),
        spoil=lambda _, info: write_rubbish(Path(info.path)),
        plant_unknown=lambda folder: plant_unknown(Path(folder) / path.relative_to(home)),
        goldens=str(FOLDER / "golden"),
    )


def make_env(tmp_path: Path, cwd: str, folder: str) -> dict[str, str]:
    """An environment whose configuration leads to the data in a folder, noted as that of the directory."""
    settings = tmp_path / f"settings-{zlib.crc32(folder.encode())}"
    settings.mkdir(exist_ok=True)
    data = f"{folder}/data"
    (settings / "crush.json").write_text(json.dumps({"options": {"data_directory": data}}))
    (settings / "projects.json").write_text(json.dumps({"projects": [{"path": cwd, "data_dir": data}]}))
    return {"HOME": str(tmp_path / "nobody"), "CRUSH_GLOBAL_CONFIG": str(settings), "CRUSH_GLOBAL_DATA": str(settings)}


def write_rubbish(path: Path) -> None:
    """Something that is no database."""
    path.write_bytes(b"rubbish" * 1000)


def plant_unknown(path: Path) -> Unknown:
    """A database of another program, or of another time."""
    path.unlink()
    crush_store.write(path, "CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT)")
    return Unknown(native_id=ABSENT, seen="created_at, title, updated_at", known=("0.96",))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_crush_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
