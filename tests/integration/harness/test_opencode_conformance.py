"""The adapter of OpenCode keeps every contract, on a store that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.opencode import OpenCode
from rigline.harness.opencode_store import KNOWN_VERSIONS
from rigline.testing.harness_conformance import CONTRACTS, Contract, HarnessCase, run_contract
from rigline.testing.harness_contracts.case import Form, Unknown
from tests.fixtures import opencode_store
from tests.fixtures.opencode_store import CANARIES, FOLDER, NEWEST_MIGRATION, Conversation, get_path

ABSENT = "ses_dd0000000ffeabsentabsent00"
COMMAND_LINES: tuple[tuple[str, ...], ...] = (
    (),
    ("run", "a prompt"),
    ("run", "-f", "a.png", "b.png", "--", "run"),
    ("-m", "lab/model", "run", "--format", "json", "a prompt"),
    ("run", "--auto", "a prompt"),
    ("run", "--dir", "/elsewhere", "a prompt"),
    ("/elsewhere", "--prompt", "x"),
    ("-s", ABSENT),
    ("run", "--session", ABSENT, "--fork", "go on"),
    ("run", "-c", "go on"),
    ("--pure",),
    ("run", "--fork", "go on"),
    ("run", "--attach", "http://localhost:4096", "x"),
    ("session", "list"),
    ("run", "--help"),
    ("--no-such-option", "x"),
)


@pytest.fixture
def case(tmp_path: Path, cwd: str) -> HarnessCase:
    home = tmp_path / "home"
    path = opencode_store.place(home, cwd)
    opencode_store.add_canaries(path, cwd)
    return HarnessCase(
        harness=OpenCode(),
        folder=str(home),
        make_env=lambda folder: {"XDG_DATA_HOME": folder, "HOME": str(tmp_path / "nobody")},
        cwd=cwd,
        canaries=CANARIES,
        command_lines=COMMAND_LINES,
        unknown_id=ABSENT,
        form=Form.REVISED,
        make_stages=lambda folder, info: Conversation(get_path(Path(folder)), info).make_stages(),
        grow=lambda folder, info, texts: opencode_store.grow(get_path(Path(folder)), info, texts),
        damage=lambda folder, info: opencode_store.damage(get_path(Path(folder)), info),
        spoil=lambda folder, _: write_rubbish(get_path(Path(folder))),
        plant_unknown=plant_unknown,
        goldens=str(FOLDER / "golden"),
    )


def write_rubbish(path: Path) -> None:
    """Something that is no database."""
    path.write_bytes(b"rubbish" * 1000)


def plant_unknown(folder: str) -> Unknown:
    """A database of which only the name is known."""
    path = get_path(Path(folder))
    path.unlink()
    opencode_store.write(path, "CREATE TABLE migration(id TEXT PRIMARY KEY, time_completed INTEGER NOT NULL)")
    opencode_store.write(path, "INSERT INTO migration VALUES(?, 0)", (NEWEST_MIGRATION,))
    return Unknown(native_id=ABSENT, seen=NEWEST_MIGRATION, known=KNOWN_VERSIONS)


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_opencode_keeps(contract: Contract, case: HarnessCase) -> None:
    run_contract(contract, case)
