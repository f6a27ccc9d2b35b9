"""Antigravity CLI's store: the workspace from a database, the words from where they are readable."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rigline.harness.antigravity import Antigravity
from rigline.harness.antigravity_store import AntigravityStore, read_workspace
from rigline.model import Presence, SessionInfo
from tests.fakes.antigravity import field, make_database
from tests.fixtures.antigravity_store import LOGGED, PROMPTS_ONLY, SILENT, find_root, place_logged, place_unlogged


@pytest.fixture
def cwd(tmp_path: Path) -> str:
    folder = tmp_path / "my project"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def home(tmp_path: Path, cwd: str) -> Path:
    place_logged(tmp_path / "home", cwd)
    place_unlogged(tmp_path / "home", cwd)
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> AntigravityStore:
    return Antigravity().open_store({"HOME": str(home)})


def get(store: AntigravityStore, native_id: str, cwd: str) -> SessionInfo:
    info = store.look_up(native_id, cwd).info
    assert info is not None
    return info


def read(
    store: AntigravityStore, info: SessionInfo, cursor: str | None = None
) -> tuple[list[str], dict[str, int], str]:
    windows = list(store.read(info, cursor))
    losses = {kind: count for window in windows for kind, count in window.losses.items()}
    return [event.text for window in windows for event in window.events], losses, windows[-1].cursor


def test_all_conversations_of_the_workspace_are_listed_whatever_of_them_is_readable(
    store: AntigravityStore, cwd: str
) -> None:
    assert {info.native_id for info in store.list_sessions(cwd, 10)} == {LOGGED, PROMPTS_ONLY, SILENT}
    assert get(store, PROMPTS_ONLY, cwd).first_prompt == "Say it twice"


def test_without_a_log_the_conversation_s_own_prompts_are_read(store: AntigravityStore, cwd: str) -> None:
    info = get(store, PROMPTS_ONLY, cwd)
    texts, losses, cursor = read(store, info)
    assert texts == ["Say it twice", "yes", "yes"]
    assert losses == {"meta": 1}, "the command; rows of other conversations are none of this one"
    assert read(store, info, cursor)[:2] == ([], {})


def test_a_command_to_the_program_is_no_prompt(store: AntigravityStore, home: Path, cwd: str) -> None:
    assert "/model" not in read(store, get(store, PROMPTS_ONLY, cwd))[0]
    with open(find_root(home) / "history.jsonl", "a", encoding="utf-8") as file:
        row = {"display": "again", "timestamp": 1796061800000, "workspace": cwd, "conversationId": PROMPTS_ONLY}
        file.write(json.dumps({**row, "type": "slash_command"}) + "\n" + json.dumps(row) + "\n")
    assert read(store, get(store, PROMPTS_ONLY, cwd))[0][-1] == "again"


def test_where_nothing_is_readable_that_is_counted_once(store: AntigravityStore, cwd: str) -> None:
    info = get(store, SILENT, cwd)
    texts, losses, cursor = read(store, info)
    assert texts == []
    assert losses == {"unreadable_steps": 1}
    assert read(store, info, cursor) == ([], {}, cursor)


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\xff\xff\xff",
        field(1, b"file:///flat"),
        field(1, field(1, b"file://elsewhere/tmp")),
        field(1, field(1, b"https://example.org/tmp")),
        field(1, field(1, b"file:relative")),
        field(1, field(1, b"file:///tmp\xff")),
        field(1, field(1, b"file:///tmp%00")),
        field(1, field(2, b"file:///tmp")),
        field(2, field(1, b"file:///tmp")),
        field(1, field(1, b"file:///tmp"))[:-2],
    ],
)
def test_a_workspace_in_another_form_is_never_guessed(
    store: AntigravityStore, home: Path, cwd: str, blob: bytes
) -> None:
    database = find_root(home) / "conversations" / f"{SILENT}.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE trajectory_metadata_blob SET data = ?", (blob,))
    assert read_workspace(str(database)) is None
    found = store.look_up(SILENT, cwd)
    assert found.presence is Presence.UNREADABLE
    assert "does not name its workspace" in found.reason


def test_another_schema_is_refused_by_name(store: AntigravityStore, home: Path, cwd: str) -> None:
    database = find_root(home) / "conversations" / f"{LOGGED}.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("ALTER TABLE trajectory_metadata_blob RENAME TO metadata")
    found = store.look_up(LOGGED, cwd)
    assert found.presence is Presence.UNREADABLE
    assert "Antigravity CLI" in found.reason
    assert LOGGED not in {info.native_id for info in store.list_sessions(None, 10)}


def test_a_damaged_database_costs_no_other_conversation(store: AntigravityStore, home: Path, cwd: str) -> None:
    (find_root(home) / "conversations" / f"{SILENT}.db").write_bytes(b"SQLite format 3\0" + b"rubbish" * 500)
    assert store.look_up(SILENT, cwd).presence is Presence.UNREADABLE
    assert {info.native_id for info in store.list_sessions(cwd, 10)} == {LOGGED, PROMPTS_ONLY}


def test_a_workspace_that_is_only_in_the_log_of_the_database_is_seen(
    store: AntigravityStore, home: Path, cwd: str
) -> None:
    native_id = "55eea414-0000-4000-8000-000000000000"
    database = find_root(home) / "conversations" / f"{native_id}.db"
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE trajectory_metadata_blob (id TEXT PRIMARY KEY, data BLOB)")
        blob = field(1, field(1, Path(cwd).as_uri().encode()))
        with writer:
            writer.execute("INSERT INTO trajectory_metadata_blob VALUES ('main', ?)", (blob,))
        assert store.look_up(native_id, cwd).presence is Presence.EXISTS


def test_a_conversation_of_another_workspace_is_not_listed(store: AntigravityStore, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    native_id = "66eea414-0000-4000-8000-000000000000"
    make_database(find_root(home) / "conversations" / f"{native_id}.db", str(other))
    assert [info.native_id for info in store.list_sessions(str(other), 10)] == [native_id]
