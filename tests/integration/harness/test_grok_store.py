"""Grok Build's store: rows without ids in a file that is rewritten, and summaries that have to fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rigline.harness.grok import Grok
from rigline.harness.grok_store import GrokStore
from rigline.model import LinkKind, Presence, SessionInfo
from tests.fixtures.grok_store import FORK, SESSION, find_folder, place_all


@pytest.fixture
def store(tmp_path: Path, cwd: str) -> GrokStore:
    place_all(tmp_path / "grok", cwd)
    return Grok().open_store({"GROK_HOME": str(tmp_path / "grok")})


def get(store: GrokStore, native_id: str, cwd: str) -> SessionInfo:
    info = store.look_up(native_id, cwd).info
    assert info is not None
    return info


def test_a_rewind_in_place_gives_what_stayed_the_same_keys(store: GrokStore, cwd: str) -> None:
    info = get(store, SESSION, cwd)
    before = list(store.read(info, None))
    path = Path(info.path)
    rows = path.read_text().splitlines(keepends=True)
    changed = json.dumps({"type": "assistant", "content": "Another answer, of another length."}) + "\n"
    path.write_text("".join([*rows[:9], changed]))
    after = [event for window in store.read(info, before[-1].cursor) for event in window.events]
    old = {event.record for window in before for event in window.events}
    assert [event.text for event in after if event.record not in old] == ["Another answer, of another length."]


def test_equal_rows_are_two_also_when_they_are_read_in_two_goes(store: GrokStore, cwd: str) -> None:
    info = get(store, SESSION, cwd)
    path = Path(info.path)
    row = json.dumps({"type": "assistant", "content": "Same."}) + "\n"
    path.write_text(row)
    first = list(store.read(info, None))
    path.write_text(row + row)
    second = list(store.read(info, first[-1].cursor))
    (one,), (two,) = (windows[0].events for windows in (first, second))
    assert one.record != two.record


def test_a_fork_s_copies_have_their_parent_s_keys(store: GrokStore, cwd: str) -> None:
    fork = get(store, FORK, cwd)
    assert fork.parent is not None
    assert (fork.parent.parent_id, fork.parent.kind) == (SESSION, LinkKind.FORK)
    parent, child = (
        [event.copy_key for window in store.read(info, None) for event in window.events]
        for info in (get(store, SESSION, cwd), fork)
    )
    assert child[:9] == parent[:9]
    assert set(child[9:]).isdisjoint(parent)


def test_equal_words_of_strangers_are_no_copies(store: GrokStore, cwd: str, tmp_path: Path) -> None:
    other = "019f4799-0000-7000-8000-000000000003"
    folder = find_folder(tmp_path / "grok", cwd, other)
    folder.mkdir()
    source = Path(get(store, SESSION, cwd).path).parent
    for name in ("summary.json", "chat_history.jsonl"):
        (folder / name).write_text((source / name).read_text().replace(SESSION, other))
    one, two = (
        {event.copy_key for window in store.read(get(store, native_id, cwd), None) for event in window.events}
        for native_id in (SESSION, other)
    )
    assert one.isdisjoint(two)


@pytest.mark.parametrize("text", ["", "{ half", "[]", '{"info":{"id":"another","cwd":"/x"}}'])
def test_a_summary_that_does_not_fit_makes_a_session_unreadable(store: GrokStore, cwd: str, text: str) -> None:
    Path(get(store, SESSION, cwd).path).with_name("summary.json").write_text(text)
    assert store.look_up(SESSION, cwd).presence is Presence.UNREADABLE
    assert [info.native_id for info in store.list_sessions(cwd, 10)] == [FORK]


def test_the_folder_s_name_is_never_taken_for_the_directory(store: GrokStore, cwd: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    path = Path(get(store, SESSION, cwd).path).with_name("summary.json")
    path.write_text(path.read_text().replace(cwd, str(other)))
    assert [info.native_id for info in store.list_sessions(str(other), 10)] == [SESSION]
    assert not store.look_up(SESSION, cwd).resumable
