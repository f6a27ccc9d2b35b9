"""The sessions of Qwen Code in a store as 0.24.4 wrote it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rigline.harness.qwen_store import QwenStore
from rigline.model import LinkKind, Presence, SessionInfo
from rigline.testing.golden import compare_goldens
from tests.fixtures.qwen_store import GOLDEN, MARKER, RECORDED, assistant, place, refusal, show, user, write_session

MAIN = "11111111-2222-4333-8444-555555555555"
FORK = "b09232c9-8ca1-4980-a6d8-f2879b3bf018"
PARENT = "33333333-2222-4333-8444-555555555555"
NEW = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def store(tmp_path: Path) -> QwenStore:
    place(tmp_path)
    return QwenStore(str(tmp_path))


def find(store: QwenStore, native_id: str) -> SessionInfo:
    info = store.look_up(native_id, RECORDED).info
    assert info is not None
    return info


def test_sessions_are_read_as_a_person_checked_them(store: QwenStore) -> None:
    compare_goldens(store, str(GOLDEN), RECORDED)


def test_a_fork_is_linked_shares_its_copies_and_began_with_its_own_records(store: QwenStore) -> None:
    fork, main = find(store, FORK), find(store, MAIN)
    assert fork.parent is not None
    assert (fork.parent.parent_id, fork.parent.kind) == (MAIN, LinkKind.FORK)
    assert [info.native_id for info in store.related(fork)] == [MAIN]
    copied = {event.copy_key for window in store.read(main, None) for event in window.events}
    own = [event for window in store.read(fork, None) for event in window.events if event.copy_key not in copied]
    assert [event.text for event in own] == ["say: forked", "forked"]
    assert fork.started_ms == own[0].at_ms


def test_a_fork_of_a_long_session_is_found_among_those_begun_since(tmp_path: Path) -> None:
    old = {"forkedFrom": {"sessionId": MAIN}, "timestamp": "2026-01-01T00:00:00Z"}
    copies = [{**user(f"old {number}"), **old} for number in range(100)]
    write_session(tmp_path, NEW, *copies, user("new"), cwd=str(tmp_path))
    store = QwenStore(str(tmp_path))
    info = find(store, NEW)
    assert info.started_ms is not None
    assert [each.native_id for each in store.find_started(info.started_ms, str(tmp_path), None)] == [NEW]
    assert store.find_started(info.started_ms + 1, str(tmp_path), None) == []


def test_a_subagent_is_its_session_s_and_never_listed(store: QwenStore) -> None:
    (agent,) = store.related(find(store, PARENT))
    assert agent.is_subagent
    assert agent.parent is not None
    assert agent.parent.parent_id == PARENT
    assert not store.look_up(agent.native_id, RECORDED).resumable
    assert agent.native_id not in [info.native_id for info in store.list_sessions(None, 100)]


def test_an_archived_session_is_neither_listed_nor_resumed(store: QwenStore) -> None:
    path = Path(find(store, MAIN).path)
    (path.parent / "archive").mkdir()
    path.rename(path.parent / "archive" / path.name)
    assert MAIN not in [info.native_id for info in store.list_sessions(None, 100)]
    found = store.look_up(MAIN, RECORDED)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert "archived" in found.reason


def test_a_file_that_names_another_session_is_none_of_that_id(tmp_path: Path) -> None:
    path = write_session(tmp_path, MAIN, user("hello"))
    path.rename(path.with_name(f"{NEW}.jsonl"))
    assert QwenStore(str(tmp_path)).look_up(NEW, RECORDED).presence is Presence.UNREADABLE


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (refusal("429 The usage limit has been reached"), "The usage limit has been reached"),
        (refusal("402 Insufficient Balance", 402), "Insufficient Balance"),
        (refusal("429 scripted 429"), None),
        (refusal("500 quota exceeded", 500), None),
        (assistant({"text": "429 The usage limit has been reached"}), None),
    ],
)
def test_a_used_up_allowance_is_told_from_a_busy_service(
    tmp_path: Path, record: dict[str, object], words: str | None
) -> None:
    write_session(tmp_path, NEW, user("go"), record)
    store = QwenStore(str(tmp_path))
    assert store.find_usage_limit(find(store, NEW)) == words


def test_an_answer_after_a_refusal_is_no_limit(tmp_path: Path) -> None:
    write_session(tmp_path, NEW, user("go"), refusal("429 The usage limit has been reached"), assistant({"text": "x"}))
    store = QwenStore(str(tmp_path))
    assert store.find_usage_limit(find(store, NEW)) is None


def test_real_refusals_are_known_by_the_vendor_s_words(store: QwenStore) -> None:
    used_up = [store.find_usage_limit(info) for info in store.list_sessions(None, 100)]
    assert sorted(filter(None, used_up)) == [
        "The usage limit has been reached",
        "You exceeded your current quota, please check your plan and billing details.",
    ]


def test_history_that_was_shown_is_found_and_never_read(tmp_path: Path) -> None:
    write_session(tmp_path, NEW, user("go", show(f"{MARKER}\nwords")))
    store = QwenStore(str(tmp_path))
    (window,) = store.read(find(store, NEW), None)
    assert [event.text for event in window.events] == ["go"]
    assert window.packets == [("abcdefghij0123456789klmnop", 1, 1)]


def test_a_session_is_live_while_the_process_that_left_its_number_runs(tmp_path: Path) -> None:
    path = write_session(tmp_path, NEW, user("go"))
    store = QwenStore(str(tmp_path))
    program = [sys.executable, "-c", "import sys; sys.stdin.read()  # qwen"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as process:
        sign = {"pid": process.pid, "session_id": NEW, "hostname": os.uname().nodename, "work_dir": RECORDED}
        path.with_suffix(".runtime.json").write_text(json.dumps(sign))
        live = store.find_live(NEW)
        assert live is not None
        assert (live.pid, live.cwd) == (process.pid, RECORDED)
        path.with_suffix(".runtime.json").write_text(json.dumps({**sign, "hostname": "another-machine"}))
        assert store.find_live(NEW) is None
        path.with_suffix(".runtime.json").write_text(json.dumps({**sign, "pid": os.getppid()}))
        assert store.find_live(NEW) is None, "the number was given to another program since"
        process.communicate()
