"""Command Code's store: what the real program wrote, and what could go wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rigline.harness.command_code import CommandCode
from rigline.harness.command_code_store import CommandCodeStore
from rigline.model import LinkKind, Presence, SessionInfo
from tests.fixtures.command_code_store import FORK, PARENT, find_folder, message, place_all, write_session

ONE = "00000000-0000-4000-8000-000000000001"
TWO = "00000000-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path, cwd: str) -> Path:
    place_all(tmp_path / "home", cwd)
    return tmp_path / "home"


def open_store(home: Path) -> CommandCodeStore:
    return CommandCode().open_store({"HOME": str(home)})


def get(home: Path, native_id: str, cwd: str) -> SessionInfo:
    info = open_store(home).look_up(native_id, cwd).info
    assert info is not None
    return info


def test_a_fork_is_known_by_its_file_and_its_meta_file_though_its_header_carries_the_parent_s_id(
    home: Path, cwd: str
) -> None:
    fork = get(home, FORK, cwd)
    assert fork.parent is not None
    assert (fork.parent.parent_id, fork.parent.kind) == (PARENT, LinkKind.FORK)
    assert fork.started_ms == 1796075602613, "its own birth, not the header's, which is the parent's"
    assert get(home, PARENT, cwd).parent is None


def test_without_the_meta_file_the_header_tells_the_parent(home: Path, cwd: str) -> None:
    (find_folder(home, cwd) / f"{FORK}.meta.json").write_text("{ half")
    parent = get(home, FORK, cwd).parent
    assert parent is not None
    assert parent.parent_id == PARENT


def test_a_clone_names_its_parent_s_path(home: Path, cwd: str) -> None:
    write_session(home, TWO, cwd, [message("user", "x", source="user")], parentSession=f"/x/{ONE}.jsonl")
    parent = get(home, TWO, cwd).parent
    assert parent is not None
    assert parent.parent_id == ONE


def test_a_fork_s_copies_have_their_parent_s_keys_and_its_own_records_not(home: Path, cwd: str) -> None:
    store = open_store(home)
    parent, fork = (
        [event for window in store.read(get(home, native_id, cwd), None) for event in window.events]
        for native_id in (PARENT, FORK)
    )
    shared = {event.copy_key for event in parent} & {event.copy_key for event in fork}
    assert len(shared) == len(fork) - 2
    assert {event.copy_key for event in fork[-2:]}.isdisjoint(shared)


def test_a_session_is_not_resumed_from_another_directory(home: Path, cwd: str, tmp_path: Path) -> None:
    found = open_store(home).look_up(PARENT, str(tmp_path))
    assert found.presence is Presence.EXISTS
    assert not found.resumable
    assert cwd in found.reason


def test_the_stray_file_that_the_program_leaves_elsewhere_is_no_session(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    stray = find_folder(home, str(other)) / f"{PARENT}.checkpoints.jsonl"
    stray.parent.mkdir(parents=True)
    stray.write_text('{"id":"1","prompt":"x"}\n')
    assert open_store(home).list_sessions(str(other), 10) == []


def test_a_copied_file_under_another_name_is_no_session(home: Path, cwd: str) -> None:
    folder = find_folder(home, cwd)
    (folder / f"{ONE}.jsonl").write_text((folder / f"{PARENT}.jsonl").read_text())
    assert open_store(home).look_up(ONE, cwd).presence is Presence.UNREADABLE
    assert ONE not in {info.native_id for info in open_store(home).list_sessions(cwd, 10)}


def test_folders_that_are_named_alike_hold_different_sessions(home: Path, tmp_path: Path) -> None:
    """`/a-b/c` and `/a/b-c` have one folder: the records tell them apart."""
    one, other = tmp_path / "a-b" / "c", tmp_path / "a" / "b-c"
    for folder, native_id in ((one, ONE), (other, TWO)):
        folder.mkdir(parents=True)
        write_session(home, native_id, str(folder), [message("user", "x", source="user")])
    assert find_folder(home, str(one)) == find_folder(home, str(other))
    assert [info.native_id for info in open_store(home).list_sessions(str(one), 10)] == [ONE]


LIMIT = "Error: 429 Usage_limit_reached The usage limit has been reached\n\nYou can wait a moment and try again."


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (message("user", LIMIT, messageId="1"), "The usage limit has been reached"),
        (message("user", "Error: 429 Insufficient_quota Pay.", messageId="1"), "Pay."),
        (message("user", "Error: 429 Requests Rate limit reached", messageId="1"), None),
        (message("user", LIMIT, source="user"), None),
        (message("assistant", LIMIT, source="model"), None),
    ],
)
def test_only_the_program_s_own_report_of_a_limit_counts(
    home: Path, cwd: str, last: dict[str, object], words: str | None
) -> None:
    path = write_session(home, ONE, cwd, [message("user", "go", source="user"), last])
    assert open_store(home).find_usage_limit(get(home, ONE, cwd)) == words
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(message("assistant", "went on", source="model")) + "\n")
    assert open_store(home).find_usage_limit(get(home, ONE, cwd)) is None
