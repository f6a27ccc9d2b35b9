"""Claude Code's store: whose sessions are whose, what is there, what would resume, and what runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lab.home import make_project, run_git

from rigline import liveness
from rigline.errors import SessionUnreadable
from rigline.harness.claude_code import ClaudeCode
from rigline.harness.claude_paths import encode_folder, find_config_folder
from rigline.harness.claude_store import ClaudeStore
from rigline.model import LinkKind, Lookup, Presence, SessionInfo
from tests.fixtures.claude_store import (
    assistant,
    attachment,
    canary_records,
    find_id,
    place,
    place_subagent,
    record,
    text,
    transcript,
    user,
    write_session,
)
from tests.fixtures.records import dump

ONE, TWO, THREE = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
PARENT = "a0000000-0000-4000-8000-000000000003"
AGENT = f"{PARENT}/agent-afecd1f04d1cd8a79"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def cwd(tmp_path: Path) -> str:
    (tmp_path / "project").mkdir()
    return str(tmp_path / "project")


@pytest.fixture
def store(config: Path) -> ClaudeStore:
    return ClaudeStore(str(config))


def turn(native_id: str, words: str = "hello", **more: Any) -> list[dict[str, Any]]:
    return [
        user(native_id, f"{native_id}-u", None, words, **more),
        assistant(native_id, f"{native_id}-a", f"{native_id}-u", text("hi")),
    ]


def write(config: Path, cwd: str, native_id: str, words: str = "hello") -> Path:
    return write_session(config, cwd, native_id, *turn(native_id, words))


def ids(found: list[SessionInfo]) -> list[str]:
    return [info.native_id for info in found]


def test_the_folder_is_the_environment_s() -> None:
    assert find_config_folder({"HOME": "/home/dev"}) == "/home/dev/.claude"
    assert find_config_folder({"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/elsewhere"}) == "/elsewhere"
    assert find_config_folder({"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": " "}) == "/home/dev/.claude"
    assert ClaudeCode().open_store({"HOME": "/home/dev"}).root == "/home/dev/.claude"


# Encoded by 2.1.197 and 2.1.332.
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/dev/project", "-home-dev-project"),
        ("/tmp/a_b.c é/x", "-tmp-a-b-c---x"),
        ("/tmp/e\U0001f389x", "-tmp-e--x"),
        ("/tmp/" + "/".join(["d" * 50] * 5), "-tmp-" + ("d" * 50 + "-") * 3 + "d" * 42 + "-2gz2nb"),
    ],
)
def test_folders_are_named_as_the_program_names_them(path: str, name: str) -> None:
    assert encode_folder(path) == name


def test_two_directories_that_share_a_folder_keep_their_sessions_apart(
    config: Path, store: ClaudeStore, tmp_path: Path
) -> None:
    one, other = tmp_path / "a-b" / "c", tmp_path / "a" / "b-c"
    one.mkdir(parents=True)
    other.mkdir(parents=True)
    assert encode_folder(str(one)) == encode_folder(str(other))
    write(config, str(one), ONE)
    write(config, str(other), TWO)
    assert ids(store.list_sessions(str(one), 9)) == [ONE]
    assert ids(store.list_sessions(str(other), 9)) == [TWO]
    assert store.look_up(ONE, str(one)).resumable
    assert not store.look_up(ONE, str(other)).resumable


def test_a_session_is_found_by_its_records_whatever_its_folder_is_called(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    path = write(config, cwd, ONE)
    path.parent.rename(path.parent.with_name("another-version-s-rule"))
    assert ids(store.list_sessions(cwd, 9)) == [ONE]
    assert store.look_up(ONE, cwd).presence is Presence.EXISTS


def test_linked_folders_are_followed_and_counted_once(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    path = write(config, cwd, ONE)
    real = tmp_path / "synced"
    path.parent.rename(real)
    path.parent.symlink_to(real)
    (config / "projects" / "again").symlink_to(real)
    (config / "projects" / "dangling").symlink_to(tmp_path / "nowhere")
    assert ids(store.list_sessions(cwd, 9)) == [ONE]
    assert len(list(store.iter_sessions())) == 1
    assert store.look_up(ONE, cwd).presence is Presence.EXISTS


def test_the_newest_comes_first_and_copies_once(config: Path, store: ClaudeStore, cwd: str, tmp_path: Path) -> None:
    for number, native_id in enumerate((ONE, TWO, THREE)):
        os.utime(write(config, cwd, native_id), (1000 + number, 1000 + number))
    copy = config / "projects" / "copied" / f"{ONE}.jsonl"
    copy.parent.mkdir()
    copy.write_text(dump(*turn(ONE)).replace("/home/dev/project", cwd))
    os.utime(copy, (500, 500))
    assert ids(store.list_sessions(cwd, 9)) == [THREE, TWO, ONE]
    assert ids(store.list_sessions(cwd, 2)) == [THREE, TWO]
    assert len(list(store.iter_sessions(cwd))) == 4


def test_what_cannot_be_read_is_left_out_of_lists(config: Path, store: ClaudeStore, cwd: str) -> None:
    folder = write(config, cwd, ONE).parent
    (folder / f"{TWO}.jsonl").mkdir()
    (folder / f"{THREE}.jsonl").write_bytes(b"\x00" * 100)
    os.mkfifo(folder / "aaaaaaaa-0000-4000-8000-000000000009.jsonl")
    (folder / "notes.jsonl").write_text(dump(*turn("x")))
    (folder / "sessions-index.json").write_text("{}")
    assert ids(store.list_sessions(cwd, 9)) == [ONE]
    assert ids(list(store.iter_sessions())) == [ONE]


def test_of_copies_the_directory_s_own_is_taken(config: Path, store: ClaudeStore, cwd: str) -> None:
    own = write(config, cwd, ONE)
    os.utime(own, (500, 500))
    copy = config / "projects" / "copied" / own.name
    copy.parent.mkdir()
    copy.write_text(own.read_text())
    found = store.look_up(ONE, cwd).info
    assert found is not None
    assert found.path == str(own)
    elsewhere = store.look_up(ONE, str(config)).info
    assert elsewhere is not None
    assert elsewhere.path == str(copy), "the newest of all"


def test_titles_come_from_a_person_then_the_program_then_the_first_prompt(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    made_up = {"type": "ai-title", "aiTitle": "Made up", "sessionId": ONE}
    chosen = {"type": "custom-title", "customTitle": "Chosen", "sessionId": ONE}

    def title(*records: dict[str, Any]) -> str | None:
        write_session(config, cwd, ONE, *records)
        return store.list_sessions(cwd, 1)[0].title

    meta = user(ONE, "m", None, "<command-name>/clear</command-name>")
    assert title(meta, *turn(ONE, "fix the parser")) == "fix the parser"
    assert title(*turn(ONE), made_up) == "Made up"
    assert title(chosen, *turn(ONE), made_up) == "Chosen"
    assert title(chosen, *turn(ONE), {**chosen, "customTitle": "Renamed"}) == "Renamed"


def test_a_long_transcript_is_described_by_its_beginning_and_its_end(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    filling = [user(ONE, f"f{n}", "x", "y" * 1000) for n in range(500)]
    title = {"type": "custom-title", "customTitle": "At the end", "sessionId": ONE}
    write_session(config, cwd, ONE, *turn(ONE, "first words"), *filling, title)
    (info,) = store.list_sessions(cwd, 1)
    assert (info.title, info.first_prompt, info.cwd) == ("At the end", "first words", cwd)


def test_a_huge_first_line_does_not_hide_the_directory(config: Path, store: ClaudeStore, cwd: str) -> None:
    paste = {"type": "queue-operation", "operation": "enqueue", "content": "x" * 300_000, "sessionId": ONE}
    write_session(config, cwd, ONE, {**paste}, *turn(ONE, "y" * 300_000))
    path = config / "projects" / encode_folder(cwd) / f"{ONE}.jsonl"
    path.write_text(dump(paste, *({**each, "cwd": cwd} for each in turn(ONE, "y" * 300_000))))
    assert ids(store.list_sessions(cwd, 1)) == [ONE]


def test_a_session_is_of_the_directory_that_it_began_in(config: Path, store: ClaudeStore, cwd: str) -> None:
    moved = {**user(ONE, "m", "x", "now elsewhere"), "cwd": "/elsewhere"}
    path = write(config, cwd, ONE)
    path.write_text(path.read_text() + dump(moved))
    assert store.list_sessions(cwd, 1)[0].cwd == cwd


def look_up(store: ClaudeStore, native_id: str, cwd: str) -> tuple[Presence, bool, str]:
    found: Lookup = store.look_up(native_id, cwd)
    return found.presence, found.resumable, found.reason


def test_what_is_there_is_resumable_from_its_directory(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    write(config, cwd, ONE)
    assert look_up(store, ONE, cwd) == (Presence.EXISTS, True, "")
    link = tmp_path / "link"
    link.symlink_to(cwd)
    assert look_up(store, ONE, str(link)) == (Presence.EXISTS, True, "")


@pytest.mark.parametrize(
    "native_id", [TWO, "no-uuid", "", "../../etc/passwd", f"{ONE}/../x", "agent-1", f"{ONE}/agent-9"]
)
def test_what_is_not_there_is_missing(config: Path, store: ClaudeStore, cwd: str, native_id: str) -> None:
    write(config, cwd, ONE)
    presence, resumable, _ = look_up(store, native_id, cwd)
    assert (presence, resumable) == (Presence.MISSING, False)


@pytest.mark.parametrize("content", [b"", b"this is not json\n", b"\x00" * 5000, b"[1]\n"])
def test_a_transcript_that_cannot_be_used_is_unreadable(
    config: Path, store: ClaudeStore, cwd: str, content: bytes
) -> None:
    write(config, cwd, ONE).write_bytes(content)
    presence, resumable, reason = look_up(store, ONE, cwd)
    assert (presence, resumable) == (Presence.UNREADABLE, False)
    assert ONE in reason


def test_a_directory_in_a_transcript_s_place_is_unreadable(config: Path, store: ClaudeStore, cwd: str) -> None:
    path = write(config, cwd, ONE)
    path.unlink()
    path.mkdir()
    assert store.look_up(ONE, cwd).presence is Presence.UNREADABLE


def test_a_transcript_that_may_not_be_read_is_unreadable(
    config: Path, store: ClaudeStore, cwd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(config, cwd, ONE)
    real = os.open

    def refuse(name: str, *args: Any, **more: Any) -> int:
        if name == str(path):
            raise PermissionError(13, "Permission denied", name)
        return real(name, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    presence, resumable, reason = look_up(store, ONE, cwd)
    assert (presence, resumable) == (Presence.UNREADABLE, False)
    assert "Permission denied" in reason


def test_a_folder_that_may_not_be_searched_is_never_taken_for_an_empty_one(
    config: Path, store: ClaudeStore, cwd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(config, cwd, ONE)
    write(config, "/elsewhere", TWO)
    real = os.lstat

    def refuse(name: str) -> os.stat_result:
        if os.path.dirname(name) == str(path.parent):
            raise PermissionError(13, "Permission denied", name)
        return real(name)

    monkeypatch.setattr(os, "lstat", refuse)
    assert store.look_up(ONE, cwd).presence is Presence.UNREADABLE
    assert store.look_up(THREE, cwd).presence is Presence.UNREADABLE
    assert store.look_up(TWO, cwd).presence is Presence.EXISTS, "it was found elsewhere"


def test_a_store_that_is_no_folder_is_unreadable(config: Path, store: ClaudeStore, cwd: str) -> None:
    config.mkdir()
    (config / "projects").write_text("")
    assert store.look_up(ONE, cwd).presence is Presence.UNREADABLE
    assert store.list_sessions(cwd, 9) == []
    assert list(store.iter_sessions()) == []


def test_a_transcript_without_a_message_is_there_but_not_resumable(config: Path, store: ClaudeStore, cwd: str) -> None:
    write_session(config, cwd, ONE, {"type": "ai-title", "aiTitle": "x", "sessionId": ONE})
    presence, resumable, reason = look_up(store, ONE, cwd)
    assert (presence, resumable) == (Presence.EXISTS, False)
    assert "no message" in reason
    assert store.look_up(ONE, cwd).info is None, "there is nothing that a line could go on with"
    assert store.list_sessions(cwd, 9) == []


def test_another_directory_s_session_is_not_resumed_by_every_version(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    write(config, cwd, ONE)
    presence, resumable, reason = look_up(store, ONE, str(tmp_path))
    assert (presence, resumable) == (Presence.EXISTS, False)
    assert cwd in reason
    assert "2.1.225" in reason


def test_a_checkout_that_was_moved_with_its_folder_still_resumes(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    old = write(config, str(tmp_path / "gone"), ONE)
    new = config / "projects" / encode_folder(cwd)
    old.parent.rename(new)
    assert store.look_up(ONE, cwd).resumable
    assert store.list_sessions(cwd, 9) == [], "but it is not this directory's by its own records"


# Tried with 2.1.197: a root's sessions resume below it and in linked worktrees, a sub-folder's only there.
def test_sessions_are_shared_within_a_repository_as_the_oldest_version_does(
    config: Path, store: ClaudeStore, tmp_path: Path
) -> None:
    root = make_project(str(tmp_path / "root"))
    below, beside = os.path.join(root, "below"), os.path.join(root, "beside")
    os.mkdir(below)
    os.mkdir(beside)
    linked = str(tmp_path / "linked")
    run_git(root, "worktree", "add", "--quiet", linked)
    other = make_project(str(tmp_path / "other"))
    write(config, root, ONE)
    write(config, below, TWO)
    write(config, linked, THREE)
    found = {
        (name, where): store.look_up(native_id, where).resumable
        for name, native_id in (("root", ONE), ("below", TWO), ("linked", THREE))
        for where in (root, below, beside, linked, other)
    }
    resumable = {pair for pair, is_resumable in found.items() if is_resumable}
    assert resumable == {
        *(("root", where) for where in (root, below, beside, linked)),
        ("below", below),
        *(("linked", where) for where in (root, below, beside, linked)),
    }


def test_a_lone_surrogate_is_mentioned(config: Path, store: ClaudeStore, cwd: str) -> None:
    path = write(config, cwd, ONE, "BROKEN")
    whole = path.read_text()
    path.write_text(whole.replace("BROKEN", "\\ud83d..."))
    presence, resumable, reason = look_up(store, ONE, cwd)
    assert (presence, resumable) == (Presence.EXISTS, True)
    assert "half of a character pair" in reason
    for fine in ("\\ud83c\\udf89", "\\\\ud83d", "a \\\\ud83d path"):
        path.write_text(whole.replace("BROKEN", fine))
        assert look_up(store, ONE, cwd) == (Presence.EXISTS, True, ""), fine


def test_a_session_of_nothing_but_half_characters_is_still_read(config: Path, store: ClaudeStore, cwd: str) -> None:
    path = write_session(config, cwd, ONE, user(ONE, "u", None, "BROKEN"))
    path.write_text(path.read_text().replace("BROKEN", "\\ud83d"))
    (info,) = store.list_sessions(cwd, 9)
    assert info.title == "\ufffd"


def test_subagents_are_sessions_of_their_own_beside_their_parent(config: Path, store: ClaudeStore, cwd: str) -> None:
    place(transcript("2.1.197/with-subagent"), config, cwd)
    place_subagent(config, cwd)
    (main,) = store.list_sessions(cwd, 9)
    assert main.native_id == PARENT
    assert {info.native_id: info.is_subagent for info in store.iter_sessions(cwd)} == {PARENT: False, AGENT: True}
    (agent,) = store.related(main)
    assert agent.native_id == AGENT
    assert agent.parent is not None
    assert (agent.parent.kind, agent.parent.parent_id) == (LinkKind.SUBAGENT, PARENT)
    assert "meta.json" in agent.parent.evidence
    assert agent.cwd == cwd
    assert store.related(agent) == []
    found = store.look_up(AGENT, cwd)
    assert (found.presence, found.resumable, found.reason) == (Presence.EXISTS, False, "a subagent cannot be resumed")


def test_deeper_and_older_places_of_subagents_are_known(config: Path, store: ClaudeStore, cwd: str) -> None:
    folder = write(config, cwd, ONE).parent
    deep = folder / ONE / "subagents" / "workflows" / "w1"
    deep.mkdir(parents=True)
    side = [{**each, "isSidechain": True, "cwd": cwd} for each in turn(ONE)]
    (deep / "agent-deep.jsonl").write_text(dump(*side))
    (deep / "journal.jsonl").write_text(dump(*side))
    (folder / "agent-old.jsonl").write_text(dump(*side))
    (folder / "agent-strange.jsonl").write_text(dump(*[{**each, "sessionId": TWO} for each in side]))
    orphaned = folder / THREE / "subagents"
    orphaned.mkdir(parents=True)
    (orphaned / "agent-orphan.jsonl").write_text(dump(*[{**each, "sessionId": THREE} for each in side]))
    agents = {info.native_id for info in store.iter_sessions() if info.is_subagent}
    assert agents == {f"{ONE}/agent-deep", f"{ONE}/agent-old", f"{TWO}/agent-strange", f"{THREE}/agent-orphan"}
    (main,) = store.list_sessions(cwd, 9)
    assert {info.native_id for info in store.related(main)} == {f"{ONE}/agent-deep", f"{ONE}/agent-old"}
    for native_id in agents:
        assert store.look_up(native_id, cwd).presence is Presence.EXISTS


def test_a_main_transcript_of_a_subagent_s_records_is_never_resumed(config: Path, store: ClaudeStore, cwd: str) -> None:
    write_session(config, cwd, ONE, *turn(ONE, isSidechain=True))
    assert store.list_sessions(cwd, 9) == []
    assert not store.look_up(ONE, cwd).resumable


def test_a_branch_names_its_parent(config: Path, store: ClaudeStore, cwd: str) -> None:
    copied = [
        {**each, "forkedFrom": {"sessionId": ONE, "messageUuid": each["uuid"]}, "sessionId": TWO} for each in turn(ONE)
    ]
    copied[1]["timestamp"] = "2026-11-30T22:00:00.000Z"
    own = {**user(TWO, "own", "x", "on the branch"), "timestamp": "2026-11-30T23:00:00.000Z"}
    write(config, cwd, ONE)
    write_session(config, cwd, TWO, *copied, own)
    branch = store.look_up(TWO, cwd).info
    assert branch is not None
    assert branch.parent is not None
    assert (branch.parent.kind, branch.parent.parent_id) == (LinkKind.BRANCH, ONE)
    assert branch.started_ms == 1796076000000, "born after the last record that it copied"
    assert ids(store.related(branch)) == [ONE]
    (window,) = store.read(branch, None)
    assert [(link.kind, link.parent_id) for link in window.links] == [(LinkKind.BRANCH, ONE)]


def test_a_fork_in_a_terminal_is_proved_by_a_record_that_both_hold(config: Path, store: ClaudeStore, cwd: str) -> None:
    parent = place(transcript("2.1.332/typed-queued-shell-command"), config, cwd)
    child = place(transcript("2.1.332/forked-in-terminal"), config, cwd)
    info = store.look_up(child.stem, cwd).info
    assert info is not None
    assert info.parent is not None
    assert (info.parent.kind, info.parent.parent_id) == (LinkKind.FORK, parent.stem)
    (window,) = store.read(info, None)
    assert window.links == [info.parent]
    parent.unlink()
    alone = store.look_up(child.stem, cwd).info
    assert alone is not None
    assert alone.parent is None


def test_a_session_that_another_process_resumed_is_no_fork_of_that_process_s_own(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    # In the parent's transcript, a `/resume` within the fork left records with the fork's `session_id` (2.1.332).
    parent = place(transcript("2.1.332/typed-queued-shell-command"), config, cwd)
    child = place(transcript("2.1.332/forked-in-terminal"), config, cwd)
    assert f'"session_id":"{child.stem}"' in parent.read_text()
    info = store.look_up(parent.stem, cwd).info
    assert info is not None
    assert info.parent is None
    (window,) = store.read(info, None)
    assert window.links == []


def test_a_clear_is_linked_only_where_the_records_tell_the_former_session(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    for version, expected in (("2.1.332", [(LinkKind.CLEAR, "d2000000-0000-4000-8000-000000000001")]), ("2.1.197", [])):
        cleared = place(transcript(f"{version}/cleared-in-terminal"), config, cwd)
        info = store.look_up(cleared.stem, cwd).info
        assert info is not None
        assert info.parent is None
        (window,) = store.read(info, None)
        assert [(link.kind, link.parent_id) for link in window.links] == expected


def test_a_cleared_session_that_another_process_resumed_did_not_come_from_that_one(
    config: Path, store: ClaudeStore, cwd: str
) -> None:
    cleared = user(ONE, "c", None, "<command-name>/clear</command-name>")
    rows = [{**each, "session_id": native_id} for native_id in (TWO, THREE) for each in turn(ONE)]
    write_session(config, cwd, ONE, cleared, *rows)
    info = store.look_up(ONE, cwd).info
    assert info is not None
    (window,) = store.read(info, None)
    assert [(link.kind, link.parent_id) for link in window.links] == [(LinkKind.CLEAR, TWO)]


def test_a_session_that_went_away_is_named_when_it_is_read(config: Path, store: ClaudeStore, cwd: str) -> None:
    write(config, cwd, ONE).unlink()
    info = SessionInfo(
        harness="claude-code", native_id=ONE, path=str(config / "x"), cwd=cwd, updated_ms=0, size_bytes=0
    )
    with pytest.raises(SessionUnreadable, match=ONE):
        list(store.read(info, None))


def test_a_list_tells_nothing_hidden(config: Path, store: ClaudeStore, cwd: str) -> None:
    write_session(config, cwd, ONE, *canary_records(ONE))
    (info,) = store.list_sessions(cwd, 9)
    assert "CANARY" not in repr(info)


# --- running processes


def write_live(config: Path, pid: int, native_id: str, **more: Any) -> None:
    folder = config / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    start = liveness.process_start(pid).partition("@")[0]
    given = {"pid": pid, "sessionId": native_id, "cwd": "/x", "procStart": start, "status": "idle", **more}
    (folder / f"{pid}.json").write_text(json.dumps(given))


def test_a_running_process_holds_its_session(config: Path, store: ClaudeStore) -> None:
    write_live(config, os.getpid(), ONE, status="waiting", waitingFor="permission prompt")
    live = store.find_live(ONE)
    assert live is not None
    assert (live.pid, live.status, live.cwd) == (os.getpid(), "waiting: permission prompt", "/x")
    assert store.find_live(TWO) is None


def test_a_killed_process_s_file_is_stale(config: Path, store: ClaudeStore) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    write_live(config, child.pid, ONE)
    assert store.find_live(ONE) is not None
    child.kill()
    child.wait()
    assert store.find_live(ONE) is None


def test_another_process_with_that_pid_holds_nothing(config: Path, store: ClaudeStore) -> None:
    write_live(config, os.getpid(), ONE, procStart="1")
    assert store.find_live(ONE) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"sessionId": "x"}'])
def test_files_of_processes_that_say_nothing_are_passed_over(config: Path, store: ClaudeStore, content: str) -> None:
    write_live(config, os.getpid(), ONE)
    (config / "sessions" / "1.json").write_text(content)
    (config / "sessions" / "key").write_text("x")
    assert store.find_live(ONE) is not None


def test_a_process_tells_its_session_once_it_has_a_transcript(config: Path, store: ClaudeStore, cwd: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        write_live(config, child.pid, ONE, cwd=cwd)
        assert store.find_started(0, cwd, child.pid) == []
        write(config, cwd, ONE)
        write(config, cwd, TWO)
        assert ids(store.find_started(0, cwd, child.pid)) == [ONE]
        assert ids(store.find_started(0, cwd, os.getpid())) == [ONE], "the nearest descendant's"
    finally:
        child.kill()
        child.wait()


def test_without_a_process_what_was_born_here_since_counts(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    born = [{**each, "timestamp": "2026-11-30T22:00:00.000Z"} for each in turn(ONE)]
    write_session(config, cwd, ONE, *born)
    write(config, cwd, TWO)
    write_session(config, str(tmp_path), THREE, *born)
    since_ms = 1796075000000
    later = time.time() + 10**9
    for path in (config / "projects").rglob("*.jsonl"):
        os.utime(path, (later, later))
    assert ids(store.find_started(since_ms, cwd, None)) == [ONE]
    assert store.find_started(since_ms + 10**9, cwd, None) == []


def test_records_without_a_directory_resume_only_in_their_own_folder(
    config: Path, store: ClaudeStore, cwd: str, tmp_path: Path
) -> None:
    path = write(config, cwd, ONE)
    bare = [{key: value for key, value in each.items() if key != "cwd"} for each in turn(ONE)]
    path.write_text(
        dump(*bare, attachment(ONE, "x", None, type="date") | {"cwd": 7}, record("mode", ONE, "y", None) | {"cwd": ""})
    )
    assert store.look_up(ONE, cwd).resumable
    assert not store.look_up(ONE, str(tmp_path)).resumable


def test_a_transcript_s_own_id_is_its_file_s_name(config: Path, store: ClaudeStore, cwd: str) -> None:
    path = place(transcript("2.1.197/fresh-one-turn"), config, cwd, ONE)
    assert find_id(path) != ONE
    (info,) = store.list_sessions(cwd, 9)
    assert info.native_id == ONE
    (window,) = store.read(info, None)
    assert {event.native_id for event in window.events} == {ONE}
    assert window.losses["foreign_session"] == 2
