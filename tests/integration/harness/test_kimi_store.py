"""Kimi Code's store: which session is where, whose it is, and what of it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rigline.harness.kimi_store import KimiStore
from rigline.model import LinkKind, Presence, SessionInfo
from rigline.testing.golden import compare_golden
from tests.fixtures.kimi_store import GOLDEN, NAMES, find_folder, message, metadata, place, write_golden, write_session
from tests.fixtures.records import MARKER, RECORDED

ONE = "session_11111111-0000-4000-8000-000000000001"
PROMPT = message("user", "hello", {"kind": "user"}, "msg_1")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "kimi-code"


@pytest.fixture
def store(home: Path, tmp_path: Path) -> KimiStore:
    return KimiStore(str(home), str(tmp_path / "kimi"))


def find(store: KimiStore, path: Path) -> SessionInfo:
    info = store.find_in_file(str(path))
    assert info is not None
    return info


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_session_gives_what_was_said_and_done(name: str) -> None:
    compare_golden(write_golden(name), str(GOLDEN / f"{name}.txt"))


def test_nothing_is_told_twice_although_the_journal_does(home: Path, store: KimiStore) -> None:
    path = place("short", home)
    prompt = "continue other"
    info = find(store, path)
    texts = [event.text for window in store.read(info, None) for event in window.events]
    assert path.read_text().count(f'"content":[{{"type":"text","text":"{prompt}"}}]') == 2
    assert texts.count(prompt) == 1
    assert len(texts) == len(set(texts)) == 2


def test_the_copies_in_two_forks_of_one_session_are_known_for_copies(home: Path, store: KimiStore) -> None:
    infos = [find(store, place(name, home)) for name in ("fork-one", "fork-two")]
    keys = [[event.copy_key for window in store.read(info, None) for event in window.events] for info in infos]
    assert keys[0] == keys[1]
    assert [info.parent.kind for info in infos if info.parent] == [LinkKind.FORK] * 2
    assert infos[0].parent is not None
    assert infos[0].parent.parent_id == "session_81845262-d994-4963-9f9d-29e4431ed86c"


def test_a_subagent_is_linked_to_its_session_and_comes_with_it(home: Path, store: KimiStore) -> None:
    main = find(store, place("subagent", home))
    (child,) = store.related(main)
    assert (child.native_id, child.is_subagent) == (f"{main.native_id}/agent-0", True)
    assert child.parent is not None
    assert (child.parent.parent_id, child.parent.kind) == (main.native_id, LinkKind.SUBAGENT)
    assert [info.native_id for info in store.list_sessions(RECORDED, 10)] == [main.native_id]
    found = store.look_up(child.native_id, RECORDED)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"id": "session_other"}, "belongs to session session_other"),
        ({"workDir": "/home/dev/elsewhere"}, "names two directories"),
        ({"version": 3}, "version 3, and rigline knows 2"),
    ],
)
def test_a_state_that_contradicts_itself_or_is_not_known_is_refused_by_name(
    state: dict[str, Any], words: str, home: Path, store: KimiStore
) -> None:
    write_session(home, ONE, metadata(), PROMPT, **state)
    found = store.look_up(ONE, RECORDED)
    assert found.presence is Presence.UNREADABLE
    assert words in found.reason
    assert list(store.iter_sessions()) == []


def test_a_state_of_older_versions_names_its_directory_in_its_own_way(home: Path, store: KimiStore) -> None:
    path = write_session(home, ONE, metadata(), PROMPT, id=None, version=None, workDir=RECORDED)
    text = find_folder(home, ONE) / "state.json"
    text.write_text(text.read_text().replace('"cwd": "/home/dev/project", ', ""))
    assert find(store, path).cwd == RECORDED
    moved = text.parent / "session-meta" / "state.json"
    moved.parent.mkdir()
    text.rename(moved)
    assert find(store, path).cwd == RECORDED


def test_a_journal_s_format_that_is_not_known_is_named_and_refused(home: Path, store: KimiStore) -> None:
    write_session(home, ONE, metadata("2.0"), PROMPT)
    found = store.look_up(ONE, RECORDED)
    assert found.presence is Presence.UNREADABLE
    assert "format 2.0, and rigline knows 1.5" in found.reason


def test_a_session_without_its_state_is_unreadable_and_not_missing(home: Path, store: KimiStore) -> None:
    path = write_session(home, ONE, metadata(), PROMPT)
    (find_folder(home, ONE) / "state.json").unlink()
    assert store.look_up(ONE, RECORDED).presence is Presence.UNREADABLE
    assert store.find_in_file(str(path)) is None


def test_a_session_of_another_directory_is_not_for_resuming_here(home: Path, store: KimiStore, tmp_path: Path) -> None:
    write_session(home, ONE, metadata(), PROMPT, cwd="/home/dev/elsewhere")
    found = store.look_up(ONE, str(tmp_path))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert "/home/dev/elsewhere" in found.reason


def test_an_archived_session_is_read_but_not_listed(home: Path, store: KimiStore) -> None:
    write_session(home, ONE, metadata(), PROMPT, archived=True)
    assert store.list_sessions(RECORDED, 10) == []
    assert [info.is_archived for info in store.iter_sessions()] == [True]


def test_a_session_of_the_program_before_it_is_named_as_such_and_not_read(store: KimiStore, tmp_path: Path) -> None:
    folder = tmp_path / "kimi" / "sessions" / "952403c50417408012c256f687435b0c" / "my-session-1"
    folder.mkdir(parents=True)
    (folder / "context.jsonl").write_text('{"role":"user","content":"hello"}\n')
    found = store.look_up("my-session-1", RECORDED)
    assert found.presence is Presence.UNREADABLE
    assert "kimi-cli" in found.reason
    assert "kimi migrate" in found.reason
    assert store.look_up("my-session-2", RECORDED).presence is Presence.MISSING


def test_only_a_refusal_for_the_account_s_sake_is_a_usage_limit(home: Path, store: KimiStore) -> None:
    path = place("quota", home)
    info = find(store, path)
    assert store.find_usage_limit(info) == (
        "429 You exceeded your current quota, please check your plan and billing details."
    )
    with path.open("a") as file:
        file.write('{"type":"turn.prompt","agentId":"main","input":[],"time":1}\n')
    assert store.find_usage_limit(info) is None
    assert store.find_usage_limit(find(store, place("rate-limit", home))) is None


def test_a_packet_that_was_shown_confirms_its_delivery_and_is_no_history(home: Path, store: KimiStore) -> None:
    answer = f'<hook_result hook_event="UserPromptSubmit">\n{MARKER}\nold words\n</hook_result>'
    shown = message("user", answer, {"kind": "hook_result", "event": "UserPromptSubmit"})
    info = find(store, write_session(home, ONE, metadata(), PROMPT, shown))
    (window,) = store.read(info, None)
    assert window.packets == [("abcdefghij0123456789klmnop", 1, 1)]
    assert [event.text for event in window.events] == ["hello"]
    assert window.losses == {"own_packet": 1}
