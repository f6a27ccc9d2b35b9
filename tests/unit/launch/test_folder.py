"""The run's private folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rigline.launch.folder import RunFolder, RunState, list_folders
from rigline.model import RunRef, Scope

STATE = RunState(
    run=RunRef(run_id="r", workstream_id="w", harness="codex", generation=3),
    scope=Scope(
        workspace="default",
        project="p",
        repo_fingerprint="f",
        worktree_fingerprint="t",
        cwd="/w",
        host="h",
        repo_source="directory",
    ),
    store_env={"HOME": "/h"},
    since_ms=1,
    expected_id=None,
    created_via="fresh",
    parent_id=None,
    has_hooks=True,
    is_interactive=True,
)


def make_folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(str(tmp_path / "home"), "r")


def test_nobody_else_can_look_inside(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    folder.write("plugin/hooks/hooks.json", "{}")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in Path(folder.path).rglob("*")}
    assert modes <= {0o600, 0o700}
    assert stat.S_IMODE(Path(folder.path).stat().st_mode) == 0o700


def test_the_state_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    folder.write_state(STATE)
    assert RunFolder(folder.path).read_state() == STATE


def test_a_folder_whose_launcher_died_at_once_has_no_state(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    assert folder.read_state() is None
    folder.write("run.json", '{"half":')
    assert folder.read_state() is None


def test_what_hooks_were_given_is_read_once_and_a_half_line_waits(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    log = Path(folder.path) / "observed.jsonl"
    assert folder.read_new_payloads() == []
    log.write_bytes(b'{"session_id":"a"}\nnonsense\n{"session_id":')
    assert folder.read_new_payloads() == [{"session_id": "a"}]
    with log.open("ab") as file:
        file.write(b'"b"}\n')
    assert folder.read_new_payloads() == [{"session_id": "b"}]
    assert folder.read_new_payloads() == []


def test_only_one_process_collects_a_run(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    with folder.lock() as first, RunFolder(folder.path).lock() as second:
        assert (first, second) == (True, False)


def test_removing_a_folder_leaves_what_a_link_in_it_leads_to(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    Path(folder.path, "link").symlink_to(kept)
    Path(folder.path, "file").symlink_to(kept / "file")
    folder.remove()
    assert (kept / "file").exists()
    assert not os.path.lexists(folder.path)


def test_a_removed_folder_is_not_listed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    home = str(tmp_path / "home")
    assert [found.path for found in list_folders(home)] == [folder.path]
    folder.remove()
    assert list_folders(home) == []
