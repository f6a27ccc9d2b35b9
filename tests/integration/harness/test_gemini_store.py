"""The sessions of Gemini CLI in a store as 0.61.0 wrote it."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from rigline.harness.gemini_store import GeminiStore
from rigline.model import SESSION_START, Event, Kind, LinkKind, Presence, SessionInfo
from rigline.testing.golden import compare_goldens
from tests.fixtures.gemini_store import (
    GOLDEN,
    MARKER,
    RECORDED,
    STUB,
    call,
    context,
    dump,
    find_chats,
    find_folder,
    gemini,
    notice,
    place,
    replace_all,
    user,
    write_session,
)

RESUMED = "33333333-2222-4333-8444-555555555555"
TERMINAL = "9e48b720-2aae-4cf0-b2d2-6da50d06a806"
NEW = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def store(tmp_path: Path) -> GeminiStore:
    place(tmp_path)
    return GeminiStore(str(tmp_path))


def find(store: GeminiStore, native_id: str) -> SessionInfo:
    info = store.look_up(native_id, RECORDED).info
    assert info is not None
    return info


def read(store: GeminiStore, native_id: str) -> list[Event]:
    return [event for window in store.read(find(store, native_id), None) for event in window.events]


def test_sessions_are_read_as_a_person_checked_them(store: GeminiStore) -> None:
    compare_goldens(store, str(GOLDEN), RECORDED)


def test_of_a_session_and_its_stub_the_session_is_found_and_listed_once(store: GeminiStore) -> None:
    assert not find(store, RESUMED).path.endswith(STUB)
    assert [info.native_id for info in store.iter_sessions()].count(RESUMED) == 1
    assert store.find_in_file(f"{store.root}/tmp/project/chats/{STUB}") is None


def test_a_stub_alone_is_no_session_to_go_on_with(store: GeminiStore) -> None:
    os.unlink(find(store, RESUMED).path)
    assert store.look_up(RESUMED, RECORDED).presence is Presence.MISSING


def test_two_sessions_whose_ids_begin_alike_are_told_apart(tmp_path: Path) -> None:
    one, other = "my-session-1", "my-session-2"
    write_session(tmp_path, one, user("u1", "first"), minute="2026-12-01T03-47")
    write_session(tmp_path, other, user("u2", "second"), minute="2026-12-01T03-48")
    store = GeminiStore(str(tmp_path))
    assert {info.native_id: info.first_prompt for info in store.iter_sessions()} == {one: "first", other: "second"}
    assert [read(store, each)[0].text for each in (one, other)] == ["first", "second"]


def test_a_subagent_is_linked_to_its_session_and_comes_with_it(store: GeminiStore) -> None:
    (child,) = store.related(find(store, TERMINAL))
    assert child.parent is not None
    assert (child.parent.parent_id, child.parent.kind, child.is_subagent) == (TERMINAL, LinkKind.SUBAGENT, True)
    found = store.look_up(child.native_id, RECORDED)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert child.native_id not in {info.native_id for info in store.list_sessions(RECORDED, 10)}


def test_a_directory_is_what_the_project_s_folder_says_else_what_the_list_says(tmp_path: Path) -> None:
    write_session(tmp_path, NEW, user("u1", "hello"))
    store = GeminiStore(str(tmp_path))
    (find_folder(tmp_path) / ".project_root").write_text("/elsewhere\n")
    (tmp_path / "projects.json").write_text(f'{{"projects": {{"{RECORDED}": "project"}}}}')
    assert find(store, NEW).cwd == "/elsewhere"
    (find_folder(tmp_path) / ".project_root").unlink()
    assert find(store, NEW).cwd == RECORDED
    shutil.move(find_folder(tmp_path), tmp_path / "tmp" / sha256(RECORDED.encode()).hexdigest())
    assert find(store, NEW).cwd == RECORDED
    (tmp_path / "projects.json").unlink()
    found = store.look_up(NEW, RECORDED)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)


def test_a_document_of_an_older_version_is_named_and_refused(tmp_path: Path) -> None:
    path = write_session(tmp_path, NEW, user("u1", "hello"))
    path.rename(path.with_suffix(".json"))
    path.with_suffix(".json").write_text(f'{{"sessionId": "{NEW}", "projectHash": "x", "messages": []}}')
    store = GeminiStore(str(tmp_path))
    found = store.look_up(NEW, RECORDED)
    assert found.presence is Presence.UNREADABLE
    assert "one JSON document" in found.reason
    assert list(store.iter_sessions()) == []
    write_session(tmp_path, NEW, user("u1", "hello"))
    assert store.look_up(NEW, RECORDED).presence is Presence.EXISTS


def test_a_message_told_again_with_its_tool_calls_keeps_what_it_was_and_gains_them(tmp_path: Path) -> None:
    before = gemini("g1", "Running it.")
    after = gemini("g1", "Running it.", call("c1", "run_shell_command", "hi", command="echo hi"))
    path = write_session(tmp_path, NEW, user("u1", "go"), before)
    store = GeminiStore(str(tmp_path))
    (window,) = store.read(find(store, NEW), None)
    with path.open("a") as file:
        file.write(dump(after))
    (more,) = store.read(find(store, NEW), window.cursor)
    assert [(event.record, event.kind, event.call_id) for event in more.events] == [
        ("g1", Kind.TOOL_CALL, "c1"),
        ("g1", Kind.TOOL_RESULT, "c1"),
    ]
    assert {event.turn for event in [*window.events, *more.events]} == {"u1"}


def test_what_is_told_again_at_a_resume_is_told_once(tmp_path: Path) -> None:
    said = [user("u1", "one"), gemini("g1", "first")]
    write_session(tmp_path, NEW, context(), *said, replace_all(context(), *said), user("u2", "two"))
    events = read(GeminiStore(str(tmp_path)), NEW)
    assert [(event.text, event.turn, event.parent_turn) for event in events] == [
        ("one", "u1", ""),
        ("first", "u1", ""),
        ("two", "u2", "u1"),
    ]


def test_what_was_taken_back_is_a_branch_that_was_left(tmp_path: Path) -> None:
    said = [user("u1", "one"), gemini("g1", "first"), user("u2", "two"), gemini("g2", "second")]
    write_session(tmp_path, NEW, *said, {"$rewindTo": "u2"}, user("u3", "another two"))
    turns = {event.text: event.parent_turn for event in read(GeminiStore(str(tmp_path)), NEW)}
    assert turns["two"] == turns["another two"] == "u1"


def test_a_prompt_that_failed_is_a_branch_that_was_left(tmp_path: Path) -> None:
    said = [user("u1", "one"), gemini("g1", "first")]
    write_session(tmp_path, NEW, *said, user("u2", "failed"), replace_all(*said), user("u3", "once more"))
    turns = {event.text: event.parent_turn for event in read(GeminiStore(str(tmp_path)), NEW)}
    assert turns["failed"] == turns["once more"] == "u1"
    assert SESSION_START not in turns.values()


def test_a_compaction_goes_on_with_what_was_said_before_it(store: GeminiStore) -> None:
    events = read(store, TERMINAL)
    (compaction,) = [event for event in events if event.kind is Kind.COMPACTION]
    after = next(event for event in events if event.text == "recall: first words")
    assert after.parent_turn == compaction.turn != ""


@pytest.mark.parametrize(
    ("words", "is_limit"),
    [
        ("[API Error: You have exhausted your daily quota on this model.]", True),
        ("[API Error: You exceeded your current quota, please check your plan and billing details.]", True),
        ("[API Error: The model is overloaded. Please try again later.]", False),
        ("[API Error: 429 Too Many Requests]", False),
    ],
)
def test_only_a_used_up_allowance_is_a_usage_limit_and_only_while_it_is_the_last(
    words: str, is_limit: bool, tmp_path: Path
) -> None:
    records = [user("u1", "go"), notice("e1", "error", words), notice("i1", "info", "Press F12.")]
    store = GeminiStore(str(tmp_path))
    write_session(tmp_path, NEW, *records, {"$set": {"lastUpdated": "x"}})
    assert store.find_usage_limit(find(store, NEW)) == (words if is_limit else None)
    write_session(tmp_path, NEW, *records, user("u2", "and now?"))
    assert store.find_usage_limit(find(store, NEW)) is None


def test_words_in_a_conversation_are_no_usage_limit(tmp_path: Path) -> None:
    store = GeminiStore(str(tmp_path))
    write_session(tmp_path, NEW, user("u1", "go"), gemini("g1", "You have exhausted your daily quota on this model."))
    assert store.find_usage_limit(find(store, NEW)) is None


def test_a_packet_that_was_shown_confirms_its_delivery_once_and_is_no_history(tmp_path: Path) -> None:
    prompt = user("u1", "hello", f"<hook_context>\n{MARKER}\nold words\n</hook_context>", shown="hello")
    write_session(tmp_path, NEW, prompt, gemini("g1", "hi"), replace_all(prompt, gemini("g1", "hi")))
    store = GeminiStore(str(tmp_path))
    (window,) = store.read(find(store, NEW), None)
    assert window.packets == [("abcdefghij0123456789klmnop", 1, 1)]
    assert [event.text for event in window.events] == ["hello", "hi"]
    assert window.losses == {"own_packet": 1}


def test_a_folder_with_a_session_of_another_directory_is_never_this_one_s(store: GeminiStore, tmp_path: Path) -> None:
    assert store.list_sessions(str(tmp_path), 10) == []
    assert find_chats(tmp_path).is_dir()
    found = store.look_up(TERMINAL, str(tmp_path))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert RECORDED in found.reason
