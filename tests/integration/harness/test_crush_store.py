"""Crush's stores: one a project, in seconds, of which only a session's own checkout may be told apart."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rigline.harness.crush import Crush
from rigline.harness.crush_store import CrushStore
from rigline.model import Presence, SessionInfo
from tests.fixtures import crush_store as fixture
from tests.fixtures.crush_store import BEGAN_S, MAIN, SUBAGENT, add_message, add_session, text

OWN, OTHER = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "below").mkdir()
    return folder


def open_store(project: Path, **env: str) -> CrushStore:
    return Crush().open_store({"HOME": str(project.parent / "home"), **env})


def note_projects(project: Path, data: Path, *paths: Path) -> None:
    """The program's list of projects, and a configuration that makes them share a folder."""
    folder = project.parent / "home/.local/share/crush"
    folder.mkdir(parents=True, exist_ok=True)
    listed = [{"path": str(path), "data_dir": str(data)} for path in paths]
    (folder / "projects.json").write_text(json.dumps({"projects": listed}))
    (folder / "crush.json").write_text(json.dumps({"options": {"data_directory": str(data)}}))


def get(store: CrushStore, native_id: str, cwd: Path) -> SessionInfo:
    info = store.look_up(native_id, str(cwd)).info
    assert info is not None
    return info


def test_a_project_s_sessions_are_those_of_the_folder_that_holds_its_data(project: Path) -> None:
    fixture.place(project)
    store = open_store(project)
    assert [info.native_id for info in store.list_sessions(str(project), 10)][-1] == MAIN
    assert store.list_sessions(str(project / "below"), 10) == []
    assert {info.cwd for info in store.iter_sessions(str(project))} == {str(project)}


def test_a_subdirectory_goes_on_with_the_checkout_s_session(project: Path) -> None:
    fixture.place(project)
    assert open_store(project).look_up(MAIN, str(project / "below")).resumable


def test_all_projects_that_the_program_has_noted_are_imported(project: Path, tmp_path: Path) -> None:
    path = fixture.make_database(tmp_path / "second")
    add_session(path, OWN)
    folder = tmp_path / "home/.local/share/crush"
    folder.mkdir(parents=True)
    entry = {"path": str(tmp_path / "second"), "data_dir": ".crush"}
    (folder / "projects.json").write_text(json.dumps({"projects": [entry]}))
    assert [info.native_id for info in open_store(project).iter_sessions()] == [OWN]


def test_times_are_seconds_and_a_session_is_found_within_its_second(project: Path) -> None:
    path = fixture.make_database(project)
    add_session(path, OWN, at_s=BEGAN_S)
    store = open_store(project)
    info = get(store, OWN, project)
    assert (info.started_ms, info.updated_ms) == (BEGAN_S * 1000, BEGAN_S * 1000 + 999)
    for since_ms, found in ((BEGAN_S * 1000 + 700, [info]), (BEGAN_S * 1000 + 1000, [])):
        assert store.find_started(since_ms, str(project), None) == found
    assert store.find_started(0, str(project), 1) == []


def test_all_that_began_at_once_are_told_so_that_none_is_taken_for_ours(project: Path) -> None:
    path = fixture.make_database(project)
    for native_id in (OWN, OTHER):
        add_session(path, native_id, at_s=BEGAN_S)
    add_session(path, SUBAGENT, parent=OWN, at_s=BEGAN_S)
    found = open_store(project).find_started(BEGAN_S * 1000, str(project), None)
    assert {info.native_id for info in found} == {OWN, OTHER}


def test_in_a_folder_that_projects_share_only_a_session_that_changed_a_file_here_counts(
    project: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    data = fixture.make_database(tmp_path, folder="shared")
    note_projects(project, data.parent, project, second)
    for native_id, changed in ((OWN, project / "a.py"), (OTHER, second / "a.py")):
        add_session(data, native_id)
        fixture.write(data, "INSERT INTO files VALUES(?, ?, ?, '', 0, 0, 0)", (native_id, native_id, str(changed)))
    store = open_store(project)
    assert [info.native_id for info in store.find_started(0, str(project), None)] == [OWN]
    assert store.list_sessions(str(project), 10) == []  # which project each belongs to is recorded nowhere
    assert store.look_up(OWN, str(project)).resumable


def test_a_folder_of_one_project_elsewhere_holds_that_project_s_sessions(project: Path, tmp_path: Path) -> None:
    data = fixture.make_database(tmp_path, folder="elsewhere")
    note_projects(project, data.parent, project)
    add_session(data, OWN)
    store = open_store(project)
    assert [info.native_id for info in store.list_sessions(str(project), 10)] == [OWN]
    found = store.look_up(OWN, str(tmp_path))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert str(project) in found.reason


def test_an_answer_that_grows_within_the_second_of_the_last_reading_is_not_missed(project: Path) -> None:
    path = fixture.make_database(project)
    add_session(path, OWN)
    add_message(path, OWN, 1, "user", text("go"))
    answer = add_message(path, OWN, 2, "assistant", text("hal"))
    store = open_store(project)
    info = get(store, OWN, project)
    windows = list(store.read(info, None))
    grown = json.dumps([text("half more")])
    fixture.write(path, "UPDATE messages SET parts = ? WHERE id = ?", (grown, answer))
    again = list(store.read(info, windows[-1].cursor))
    assert [event.text for window in again for event in window.events] == ["half more"]
    assert again[0].events[0].record == windows[0].events[1].record


def test_a_database_without_the_later_columns_is_read(project: Path) -> None:
    path = fixture.make_database(project)
    add_session(path, OWN)
    add_message(path, OWN, 1, "user", text("words"))
    fixture.write(path, "ALTER TABLE messages DROP COLUMN is_summary_message")
    fixture.write(path, "ALTER TABLE sessions DROP COLUMN parent_session_id")
    store = open_store(project)
    info = get(store, OWN, project)
    assert info.first_prompt == "words"
    assert [event.text for window in store.read(info, None) for event in window.events] == ["words"]


def test_listing_many_sessions_is_quick(project: Path) -> None:
    path = fixture.make_database(project)
    rows = [(f"{number:08}-0000-4000-8000-000000000000", "t", BEGAN_S + number, BEGAN_S) for number in range(2000)]
    fixture.write(path, "INSERT INTO sessions(id, title, updated_at, created_at) VALUES(?,?,?,?)", *rows)
    began = time.monotonic()
    assert len(open_store(project).list_sessions(str(project), 8)) == 8
    assert time.monotonic() - began < 1
