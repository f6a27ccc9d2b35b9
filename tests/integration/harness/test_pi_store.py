"""Pi's and OMP's stores on disk: what counts as a session, and what a rewritten first line does."""

from __future__ import annotations

from pathlib import Path

from rigline.harness.omp import Omp
from rigline.harness.pi import Pi
from rigline.model import Presence
from tests.fixtures.pi_store import message, place_all, write_session
from tests.fixtures.records import dump

ONE = "00000000-0000-4000-8000-000000000001"


def test_a_session_of_another_directory_is_there_but_would_not_go_on(tmp_path: Path, cwd: str) -> None:
    write_session(tmp_path, ONE, cwd, [message("user", "x")])
    found = Pi().open_store({"HOME": str(tmp_path)}).look_up(ONE, str(tmp_path))
    assert found.presence is Presence.EXISTS
    assert not found.resumable
    assert cwd in found.reason


def test_two_sessions_of_one_id_are_told_by_their_directories(tmp_path: Path, cwd: str) -> None:
    """`--session-id` from another directory begins a second session of the same id (1.6.0)."""
    below = Path(cwd, "below")
    for folder in (cwd, str(below)):
        write_session(tmp_path, ONE, folder, [message("user", f"in {folder}")])
    store = Pi().open_store({"HOME": str(tmp_path)})
    for folder in (cwd, str(below)):
        found = store.look_up(ONE, folder)
        assert found.resumable
        assert found.info is not None
        assert found.info.cwd == folder


def test_a_transcript_that_is_being_moved_into_place_counts_until_it_is_there(tmp_path: Path, cwd: str) -> None:
    path = write_session(tmp_path, ONE, cwd, [message("user", "x")])
    moving = path.rename(f"{path}.a1b2.tmp")
    store = Pi().open_store({"HOME": str(tmp_path)})
    assert store.look_up(ONE, cwd).presence is Presence.EXISTS
    path.write_bytes(moving.read_bytes())
    found = store.look_up(ONE, cwd).info
    assert found is not None
    assert found.path == str(path)


def test_a_title_that_is_rewritten_in_place_loses_and_doubles_nothing(tmp_path: Path, cwd: str) -> None:
    path = write_session(tmp_path, ONE, cwd, [message("user", "first")], "omp")
    store = Omp().open_store({"HOME": str(tmp_path)})
    info = store.look_up(ONE, cwd).info
    assert info is not None
    (window,) = store.read(info, None)
    path.write_text(path.read_text().replace("A title", "Another") + dump(message("user", "second")))
    again = list(store.read(info, window.cursor))
    told = {
        (event.record, event.block): event.text for event in (*window.events, *(e for w in again for e in w.events))
    }
    assert sorted(told.values()) == ["first", "second"]
    renamed = store.look_up(ONE, cwd).info
    assert renamed is not None
    assert renamed.title == "Another"


def test_the_fork_of_a_recorded_session_names_its_parent(tmp_path: Path, cwd: str) -> None:
    place_all(tmp_path, cwd)
    found = Pi().open_store({"HOME": str(tmp_path)}).look_up("my-fork-002", cwd).info
    assert found is not None
    assert found.parent is not None
    assert found.parent.parent_id == "my-own-id-001"


def test_a_session_is_found_by_its_header_whatever_its_file_is_called(tmp_path: Path, cwd: str) -> None:
    """As the program does (1.6.0)."""
    path = write_session(tmp_path, ONE, cwd, [message("user", "x")])
    path.rename(path.with_name("renamed.jsonl"))
    found = Pi().open_store({"HOME": str(tmp_path)}).look_up(ONE, cwd)
    assert found.resumable
    assert found.info is not None
    assert found.info.path.endswith("renamed.jsonl")


def test_a_file_that_the_user_chose_is_a_session_of_its_header_s_id(tmp_path: Path, cwd: str) -> None:
    """`--session ./mine.jsonl` begins one (1.6.0)."""
    mine = write_session(tmp_path, ONE, cwd, [message("user", "x")]).rename(Path(cwd, "mine.jsonl"))
    found = Pi().open_store({"HOME": str(tmp_path)}).find_in_file(str(mine))
    assert found is not None
    assert found.native_id == ONE


def test_what_lies_beside_a_session_in_a_flat_folder_is_no_session(tmp_path: Path, cwd: str) -> None:
    """OMP keeps a subagent's transcript in a folder called by its session (18.2.3)."""
    path = write_session(tmp_path, ONE, cwd, [message("user", "x")], "omp")
    beside = path.with_suffix("") / "Scout.jsonl"
    beside.parent.mkdir()
    beside.write_text(path.read_text().replace(ONE, ONE.replace("1", "2")))
    store = Omp().open_store({"HOME": str(tmp_path), "PI_CODING_AGENT_SESSION_DIR": str(path.parent)})
    assert [info.native_id for info in store.iter_sessions()] == [ONE]


def test_a_header_without_a_version_is_of_the_first_format(tmp_path: Path, cwd: str) -> None:
    path = write_session(tmp_path, ONE, cwd, [message("user", "x")])
    path.write_text(path.read_text().replace('"version":3,', "", 1))
    found = Pi().open_store({"HOME": str(tmp_path)}).look_up(ONE, cwd)
    assert found.presence is Presence.UNREADABLE
    assert "in format 1, and only format 3 is known" in found.reason
