"""OpenCode's store: several databases, both layouts, older files, rows that change, and what cannot be read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rigline.errors import SessionUnreadable
from rigline.harness.opencode import OpenCode
from rigline.harness.opencode_store import OpenCodeStore
from rigline.model import Event, Presence, SessionInfo
from rigline.testing.harness_contracts.case import fingerprint
from tests.fixtures import opencode_store as fixture
from tests.fixtures.opencode_store import BEGAN_MS, FORK, MAIN, PARENT, SUBAGENT, add_message, add_session, text, tool

OWN = "ses_aaaaaaaaaaaaownownownown00"


@pytest.fixture
def data(tmp_path: Path, cwd: str) -> Path:
    fixture.place(tmp_path / "data", cwd)
    return tmp_path / "data"


@pytest.fixture
def path(data: Path) -> Path:
    return fixture.get_path(data)


def open_store(data: Path, **env: str) -> OpenCodeStore:
    return OpenCode().open_store({"XDG_DATA_HOME": str(data), **env})


def get(store: OpenCodeStore, native_id: str, cwd: str) -> SessionInfo:
    info = store.look_up(native_id, cwd).info
    assert info is not None
    return info


def read(store: OpenCodeStore, info: SessionInfo, cursor: str | None = None) -> tuple[list[Event], str]:
    windows = list(store.read(info, cursor))
    return [event for window in windows for event in window.events], windows[-1].cursor


def test_a_fork_s_copies_are_told_from_what_is_its_own(data: Path, cwd: str) -> None:
    store = open_store(data)
    parent, _ = read(store, get(store, MAIN, cwd))
    fork, _ = read(store, get(store, FORK, cwd))
    copied = {event.copy_key for event in parent} & {event.copy_key for event in fork}
    assert len(copied) == 6
    assert next(event.text for event in fork if event.copy_key not in copied) == "forked turn"
    assert not {event.record for event in parent} & {event.record for event in fork}


def test_two_sessions_that_say_the_same_are_no_copies(data: Path, path: Path, cwd: str) -> None:
    store = open_store(data)
    keys = []
    for number, native_id in enumerate(("ses_aaaaaaaaaaaa0000000000000a", "ses_bbbbbbbbbbbb0000000000000b")):
        add_session(path, native_id, cwd)
        add_message(path, native_id, number, "user", text("the same"))
        add_message(path, native_id, number + 5, "assistant", text("the same"), tool("the same"))
        keys.append({event.copy_key for event in read(store, get(store, native_id, cwd))[0]})
    assert not keys[0] & keys[1]


def test_an_answer_that_streams_and_a_tool_that_runs_are_told_again_under_the_same_identity(
    data: Path, path: Path, cwd: str
) -> None:
    store = open_store(data)
    add_session(path, OWN, cwd)
    began = {"start": BEGAN_MS + 2000}
    running = {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "running", "input": {"command": "x"}}}
    add_message(path, OWN, 1, "user", text("go"))
    add_message(path, OWN, 2, "assistant", text("The ans", time=began), running)
    info = get(store, OWN, cwd)
    first, cursor = read(store, info)
    assert [event.text for event in first] == ["go", "The ans", 'bash {"command":"x"}']
    assert read(store, info, cursor)[0] == []

    with closing(sqlite3.connect(path)) as database, database:
        for part, at in ((text("The answer.", time=began), 3000), (tool("done", call_id="c"), 4000)):
            database.execute(
                "UPDATE part SET data = ?, time_updated = ? WHERE json_extract(data, '$.type') = ? AND session_id = ?"
                " AND message_id LIKE '%0002'",
                (json.dumps(part), BEGAN_MS + at, part["type"], OWN),
            )
    second, cursor = read(store, info, cursor)
    assert [event.text for event in second] == ["The answer.", 'bash {"command":"x"}', "done"]
    assert [(event.record, event.copy_key) for event in second[:2]] == [
        (event.record, event.copy_key) for event in first[1:]
    ]
    assert {event.turn for event in second} == {first[0].record}
    assert read(store, info, cursor)[0] == []


def test_a_row_that_changes_within_the_millisecond_of_the_last_reading_is_not_missed(
    data: Path, path: Path, cwd: str
) -> None:
    store = open_store(data)
    add_session(path, OWN, cwd)
    add_message(path, OWN, 1, "user", text("go"))
    add_message(path, OWN, 2, "assistant", text("hal"))
    info = get(store, OWN, cwd)
    _, cursor = read(store, info)
    fixture.write(path, "UPDATE part SET data = ? WHERE message_id LIKE '%0002'", (json.dumps(text("half more")),))
    assert [event.text for event in read(store, info, cursor)[0]] == ["half more"]


def test_a_clock_that_goes_back_hides_nothing(data: Path, path: Path, cwd: str) -> None:
    store = open_store(data)
    add_session(path, OWN, cwd)
    add_message(path, OWN, 50, "user", text("first"))
    info = get(store, OWN, cwd)
    _, cursor = read(store, info)
    add_message(path, OWN, 3, "user", text("later, by an earlier clock"))
    assert "later, by an earlier clock" in [event.text for event in read(store, info, cursor)[0]]


def test_after_an_undo_the_next_prompt_follows_what_was_left(data: Path, path: Path, cwd: str) -> None:
    store = open_store(data)
    add_session(path, OWN, cwd)
    for number, words in ((1, "one"), (2, "two, undone")):
        add_message(path, OWN, number, "user", text(words))
    info = get(store, OWN, cwd)
    first, cursor = read(store, info)
    fixture.write(path, "DELETE FROM part WHERE message_id LIKE '%0002'")
    fixture.write(path, "DELETE FROM message WHERE id LIKE '%0002'")
    add_message(path, OWN, 3, "user", text("another two"))
    third = next(event for event in read(store, info, cursor)[0] if event.text == "another two")
    assert third.parent_turn == first[0].record


def test_a_session_of_another_channel_is_found_and_not_resumed(data: Path, cwd: str) -> None:
    other = fixture.place(data, cwd, name="opencode-stable.db")
    add_session(other, OWN, cwd)
    store = open_store(data)
    found = store.look_up(OWN, cwd)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert "opencode-stable.db" in found.reason
    assert OWN in {info.native_id for info in store.iter_sessions(cwd)}
    assert OWN not in {info.native_id for info in store.list_sessions(cwd, 100)}
    assert store.look_up(MAIN, cwd).resumable


def test_a_channel_s_database_that_is_the_only_one_is_the_program_s(tmp_path: Path, cwd: str) -> None:
    fixture.place(tmp_path / "data", cwd, name="opencode-stable.db")
    assert open_store(tmp_path / "data").look_up(MAIN, cwd).resumable


@pytest.mark.parametrize("name", ["named.db", "{data}/elsewhere.db"])
def test_a_database_that_the_environment_names_is_the_program_s(data: Path, cwd: str, name: str) -> None:
    named = name.format(data=data)
    path = fixture.place(data, cwd, name=named)
    add_session(path, OWN, cwd)
    store = open_store(data, OPENCODE_DB=named)
    assert store.look_up(OWN, cwd).resumable
    assert store.look_up(OWN, cwd).info == store.list_sessions(cwd, 100)[-1]


def test_files_of_older_versions_are_read_and_counted_once(data: Path, cwd: str) -> None:
    fixture.write_files(data, cwd, OWN, ("one", "two"), ("three", "four"))
    fixture.write_files(data, cwd, MAIN, ("as a file", "too"))
    store = open_store(data)
    before = fingerprint(str(data))
    found = store.look_up(OWN, cwd)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert found.info is not None
    assert (found.info.version, found.info.title) == ("0.15.0", "Old")
    events, cursor = read(store, found.info)
    assert [event.text for event in events] == ["one", "two", "three", "four"]
    assert [event.turn for event in events] == ["msg_aaaa0000a", "msg_aaaa0000a", "msg_aaaa0001a", "msg_aaaa0001a"]
    assert read(store, found.info, cursor)[0] == []
    assert [info.path for info in store.iter_sessions() if info.native_id == MAIN] == [str(fixture.get_path(data))]
    assert store.find_in_file(found.info.path) == found.info
    assert fingerprint(str(data)) == before


def test_entries_of_the_newer_program_are_read(tmp_path: Path, cwd: str) -> None:
    path = fixture.get_path(tmp_path)
    path.parent.mkdir(parents=True)
    columns = "id TEXT, directory TEXT, title TEXT, parent_id TEXT, fork_session_id TEXT, time_created, time_updated"
    fixture.write(path, f"CREATE TABLE session_v2({columns})")
    fixture.write(path, "CREATE TABLE session_message(id, session_id, type, seq, time_created, time_updated, data)")
    row = (OWN, cwd.lstrip("/"), "A title", None, "ses_parent", BEGAN_MS, BEGAN_MS)
    fixture.write(path, "INSERT INTO session_v2 VALUES(?,?,?,?,?,?,?)", row)
    for seq, (kind, words) in enumerate((("user", {"text": "one"}), ("assistant", {"content": [text("two")]}))):
        entry = (f"msg_{seq}", OWN, kind, seq, BEGAN_MS + seq, BEGAN_MS + seq, json.dumps(words))
        fixture.write(path, "INSERT INTO session_message VALUES(?,?,?,?,?,?,?)", entry)
    store = open_store(tmp_path)
    info = get(store, OWN, cwd)
    assert info.cwd == cwd  # a migration took the slash off
    assert info.parent is not None
    assert (info.parent.parent_id, str(info.parent.kind)) == ("ses_parent", "fork")
    events, _ = read(store, info)
    assert [(event.text, event.turn) for event in events] == [("one", "msg_0"), ("two", "msg_0")]


def test_columns_that_came_later_are_not_needed(data: Path, path: Path, cwd: str) -> None:
    fixture.write(path, "ALTER TABLE session DROP COLUMN version")
    fixture.write(path, "ALTER TABLE session DROP COLUMN time_archived")
    assert get(open_store(data), MAIN, cwd).version is None


@pytest.mark.parametrize("statement", ["ALTER TABLE session RENAME COLUMN directory TO place", "DROP TABLE part"])
def test_an_unknown_layout_is_refused_and_nothing_is_read_half(
    data: Path, path: Path, cwd: str, statement: str
) -> None:
    store = open_store(data)
    info = get(store, MAIN, cwd)
    fixture.write(path, statement)
    if "part" in statement:
        fixture.write(path, "DROP TABLE session_message")
    found = store.look_up(MAIN, cwd)
    assert found.presence is Presence.UNREADABLE
    assert "its newest migration is 2026" in found.reason
    assert list(store.iter_sessions()) == []
    with pytest.raises(SessionUnreadable, match="a layout that rigline does not know"):
        list(store.read(info, None))


def test_a_damaged_page_costs_only_the_rows_on_it(data: Path, path: Path, cwd: str) -> None:
    store = open_store(data)
    add_session(path, OWN, cwd)
    add_message(path, OWN, 1, "user", text("before"))
    add_message(path, OWN, 2, "assistant", text("x" * 200_000))
    add_message(path, OWN, 3, "assistant", text("after"))
    info = get(store, OWN, cwd)
    whole = path.read_bytes()
    place = whole.index(b"x" * 3000)
    page = (place // 4096 + 1) * 4096  # the second page of the long text: its first four bytes lead to the third
    path.write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096 :])
    windows = list(store.read(info, None))
    assert [event.text for window in windows for event in window.events] == ["before", "after"]
    assert sum(window.losses.get("damaged_row", 0) for window in windows) == 1


def test_a_damaged_database_is_unreadable_and_never_missing(data: Path, path: Path, cwd: str) -> None:
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 100_000)
    assert open_store(data).look_up(MAIN, cwd).presence is Presence.UNREADABLE
    assert open_store(data).list_sessions(cwd, 10) == []


def test_subagents_belong_to_their_session(data: Path, cwd: str) -> None:
    store = open_store(data)
    assert [info.native_id for info in store.related(get(store, PARENT, cwd))] == [SUBAGENT]
    assert store.look_up(SUBAGENT, cwd).reason == "it is a subagent's"


def test_sessions_begun_since_a_time_are_found_but_none_of_a_process(data: Path, path: Path, cwd: str) -> None:
    add_session(path, OWN, cwd, time_created=BEGAN_MS * 2, time_updated=BEGAN_MS * 2)
    add_session(path, "ses_of_another_folder", cwd + "x", time_created=BEGAN_MS * 2, time_updated=BEGAN_MS * 2)
    store = open_store(data)
    assert [info.native_id for info in store.find_started(BEGAN_MS * 2, cwd, None)] == [OWN]
    assert store.find_started(BEGAN_MS * 2, cwd, 1) == []


def test_an_archived_session_is_not_offered(data: Path, path: Path, cwd: str) -> None:
    fixture.write(path, "UPDATE session SET time_archived = 1 WHERE id = ?", (MAIN,))
    store = open_store(data)
    assert MAIN not in {info.native_id for info in store.list_sessions(cwd, 100)}
    assert get(store, MAIN, cwd).is_archived


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"name": "APIError", "data": {"message": "Insufficient credits", "statusCode": 402}}, "Insufficient credits"),
        ({"name": "APIError", "data": {"message": "Bad request", "statusCode": 400}}, None),
        ({"name": "MessageAbortedError", "data": {"message": "aborted"}}, None),
        (None, None),
    ],
)
def test_only_a_recorded_refusal_is_a_usage_limit(
    data: Path, path: Path, cwd: str, error: dict[str, object] | None, told: str | None
) -> None:
    add_session(path, OWN, cwd)
    add_message(path, OWN, 1, "user", text("usage limit reached, 402"))
    add_message(path, OWN, 2, "assistant", **({"error": error} if error else {}))
    store = open_store(data)
    assert store.find_usage_limit(get(store, OWN, cwd)) == told


def test_a_session_that_failed_earlier_is_at_no_limit(data: Path, path: Path, cwd: str) -> None:
    add_session(path, OWN, cwd)
    error = {"name": "APIError", "data": {"message": "Insufficient credits", "statusCode": 402}}
    add_message(path, OWN, 2, "assistant", error=error)
    add_message(path, OWN, 3, "user", text("now I have paid"))
    store = open_store(data)
    assert store.find_usage_limit(get(store, OWN, cwd)) is None


def test_a_long_reading_that_is_broken_off_goes_on_where_it_was(data: Path, path: Path, cwd: str) -> None:
    add_session(path, OWN, cwd)
    add_message(path, OWN, 1, "user", text("go"))
    add_message(path, OWN, 2, "assistant", *(text(f"answer {number}") for number in range(950)))
    store = open_store(data)
    info = get(store, OWN, cwd)
    windows = list(store.read(info, None))
    assert len(windows) == 3
    whole = [event for window in windows for event in window.events]
    for number, window in enumerate(windows):
        rest = list(store.read(info, window.cursor))
        assert [event for each in rest for event in each.events] == [
            event for each in windows[number + 1 :] for event in each.events
        ]
        assert read(store, info, rest[-1].cursor)[0] == []
    assert len(whole) == 951
