"""How Codex's threads are found in a store as it lies on disk, and judged as the real programs judge them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rigline.harness.codex import Codex
from rigline.harness.codex_files import find_rollouts
from rigline.harness.codex_store import CodexStore
from rigline.model import Lookup, Presence
from tests.fixtures.codex_store import (
    LINEAGE,
    PARENT,
    REWOUND,
    SUBAGENT,
    archive,
    find_id,
    message,
    meta,
    place,
    place_tree,
    rollout,
    started,
    told,
    write_rollout,
)
from tests.fixtures.records import dump

NATIVE = "01a22ee0-0000-7000-8000-000000000003"
ABSENT = "01a22ee0-0000-7000-8000-00000000ffff"
FRESH = "0.171.0/fresh-one-turn"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex"


@pytest.fixture
def store(home: Path) -> CodexStore:
    return Codex().open_store({"CODEX_HOME": str(home)})


def make_thread(home: Path, cwd: str, *, number: int, at_s: float = 0, prompt: str = "hello", **more: object) -> str:
    """A thread born at a time, or in 2026."""
    born = f"{int(at_s * 1000):012x}" if at_s else "01a22ee00000"
    native_id = f"{born[:8]}-{born[8:]}-7000-8000-{number:012x}"
    path = write_rollout(home, native_id, dump(meta(native_id, cwd, **more), started("t"), message("user", prompt)))
    if at_s:
        os.utime(path, (at_s, at_s))
    return native_id


def look_up(store: CodexStore, native_id: str) -> Lookup:
    return store.look_up(native_id, "/")


def test_the_home_is_codex_home_or_below_home() -> None:
    codex = Codex()
    assert codex.open_store({"CODEX_HOME": "/c", "HOME": "/h"}).root == "/c"
    assert codex.open_store({"CODEX_HOME": " ", "HOME": "/h"}).root == "/h/.codex"
    assert codex.open_store({"HOME": "/h"}).root == "/h/.codex"


def test_a_thread_is_described(store: CodexStore, home: Path) -> None:
    path = place(FRESH, home, "/home/dev/place")
    native_id = find_id(path)
    home.joinpath("session_index.jsonl").write_text(
        "".join(json.dumps({"id": native_id, "thread_name": name}) + "\n" for name in ("old name", "new name"))
    )
    info = look_up(store, native_id.upper()).info
    assert info is not None
    assert (info.native_id, info.cwd, info.version) == (native_id, "/home/dev/place", "0.171.0")
    assert (info.title, info.first_prompt) == ("new name", "say: the codeword is marigold")
    assert info.started_ms == 1796075553973
    assert (info.path, info.size_bytes) == (str(path), path.stat().st_size)
    assert (info.is_subagent, info.is_archived, info.parent) == (False, False, None)


def test_the_first_prompt_is_what_a_person_typed_first(store: CodexStore, home: Path) -> None:
    odd = "# AGENTS.md instructions are what I want to talk about"
    injected = message("user", "# AGENTS.md instructions for /x\n<INSTRUCTIONS>")
    write_rollout(home, NATIVE, dump(meta(NATIVE), injected, message("user", odd), told(odd), message("user", "later")))
    info = look_up(store, NATIVE).info
    assert info is not None
    assert info.first_prompt == odd


def test_threads_of_other_directories_are_not_listed_however_deep(
    store: CodexStore, home: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "link").symlink_to(here)
    own = make_thread(home, str(tmp_path / "link"), number=1)
    make_thread(home, str(here / "below"), number=2)
    make_thread(home, str(tmp_path), number=3)
    long = make_thread(home, str(here), number=4, base_instructions={"text": "x" * 200_000})
    assert {info.native_id for info in store.list_sessions(str(here), 10)} == {own, long}


def test_the_newest_write_comes_first_whatever_day_a_thread_was_begun(store: CodexStore, home: Path) -> None:
    now = time.time()
    ids = [make_thread(home, "/w", number=n, at_s=now - age) for n, age in enumerate((3000, 1000, 2000))]
    listed = [info.native_id for info in store.list_sessions("/w", 10)]
    assert listed == [ids[1], ids[2], ids[0]]
    assert [info.native_id for info in store.list_sessions("/w", 1)] == [ids[1]]


def test_listing_thousands_of_threads_opens_only_beginnings(store: CodexStore, home: Path) -> None:
    for number in range(3000):
        make_thread(home, f"/elsewhere/{number % 7}", number=number, base_instructions={"text": "x" * 20_000})
    own = make_thread(home, "/w", number=9999)
    began = time.monotonic()
    assert [info.native_id for info in store.list_sessions("/w", 8)] == [own]
    assert time.monotonic() - began < 2


def test_subagents_and_archived_threads_are_not_listed_but_found(store: CodexStore, home: Path) -> None:
    place_tree("subagent", home, "/w")
    put_away = make_thread(home, "/w", number=5)
    archive(next(home.rglob(f"*{put_away}.jsonl")), home)
    assert {info.native_id for info in store.list_sessions("/w", 10)} == {PARENT}
    assert {info.native_id for info in store.iter_sessions("/w")} == {PARENT, SUBAGENT, put_away}
    assert [info.is_archived for info in store.iter_sessions("/w") if info.native_id == put_away] == [True]


def test_an_existing_thread_resumes_from_any_directory(store: CodexStore, home: Path) -> None:
    native_id = find_id(place(FRESH, home))
    found = store.look_up(native_id, "/somewhere/else")
    assert (found.presence, found.resumable, found.reason) == (Presence.EXISTS, True, "")


def test_a_name_or_an_absent_id_is_missing(store: CodexStore, home: Path) -> None:
    place(FRESH, home)
    assert look_up(store, ABSENT).presence is Presence.MISSING
    assert look_up(store, "my-thread").presence is Presence.MISSING


def test_an_archived_thread_says_how_to_bring_it_back(store: CodexStore, home: Path) -> None:
    path = place(FRESH, home)
    archive(path, home)
    found = look_up(store, find_id(rollout(FRESH)))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert f"codex unarchive {find_id(rollout(FRESH))}" in found.reason


def test_a_subagent_s_thread_is_never_resumed(store: CodexStore, home: Path) -> None:
    place_tree("subagent", home)
    found = look_up(store, SUBAGENT)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert PARENT in found.reason


@pytest.mark.parametrize("gone", [LINEAGE[0], LINEAGE[1]])
def test_a_fork_whose_lineage_is_broken_is_not_resumable(store: CodexStore, home: Path, gone: str) -> None:
    place_tree("fork-lineage", home)
    assert look_up(store, LINEAGE[2]).resumable
    next(home.rglob(f"*{gone}.jsonl")).unlink()
    found = look_up(store, LINEAGE[2])
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert gone in found.reason


def test_an_archived_parent_keeps_its_forks_resumable(store: CodexStore, home: Path) -> None:
    first, *_ = place_tree("fork-lineage", home)
    archive(first, home)
    assert look_up(store, LINEAGE[2]).resumable


def test_a_rewound_thread_is_one_session(store: CodexStore, home: Path) -> None:
    paths = place_tree("rewound", home, "/w")
    listed = [info for info in store.list_sessions("/w", 10) if info.native_id == REWOUND]
    assert len(listed) == 1
    assert listed[0].path == str(paths[2])
    assert listed[0].size_bytes == sum(path.stat().st_size for path in paths[:3])
    assert listed[0].first_prompt == "say: t1"


def strip_ordinal(line: str) -> str:
    item = json.loads(line)
    del item["ordinal"]
    return json.dumps(item)


def test_a_last_record_without_ordinal_makes_a_paginated_thread_unresumable(store: CodexStore, home: Path) -> None:
    path = place(FRESH, home)
    *lines, last = path.read_text().splitlines()
    path.write_text("\n".join([*lines, strip_ordinal(last), ""]))
    found = look_up(store, find_id(path))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert "ordinal" in found.reason


def test_a_missing_ordinal_before_the_last_record_and_a_torn_last_line_do_no_harm(
    store: CodexStore, home: Path
) -> None:
    path = place(FRESH, home)
    lines = path.read_text().splitlines()
    lines[3] = strip_ordinal(lines[3])
    path.write_text("\n".join([*lines, '{"timestamp":"2026']))
    assert look_up(store, find_id(path)).resumable


def test_a_legacy_thread_needs_no_ordinals(store: CodexStore, home: Path) -> None:
    assert look_up(store, find_id(place("0.120.0/parent", home))).resumable


def test_a_rollout_without_its_first_record_exists_but_is_not_resumable(store: CodexStore, home: Path) -> None:
    write_rollout(home, NATIVE, rollout(FRESH).read_text().split("\n", 1)[1])
    found = look_up(store, NATIVE)
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert [info.native_id for info in store.iter_sessions()] == [NATIVE]


@pytest.mark.parametrize(("before", "resumable"), [("\n \n", True), ("garbage\n", False), ("\ufeff", False)])
def test_only_blank_lines_may_stand_before_the_first_record(
    store: CodexStore, home: Path, before: str, resumable: bool
) -> None:
    path = place(FRESH, home, "/w")
    path.write_text(before + path.read_text())
    found = look_up(store, find_id(rollout(FRESH)))
    assert (found.presence, found.resumable) == (Presence.EXISTS, resumable)
    assert found.info is not None
    assert found.info.cwd == "/w"


@pytest.mark.parametrize("text", ["", "not json\n", "\0" * 100, '{"type":"session_'])
def test_a_rollout_without_records_is_unreadable(store: CodexStore, home: Path, text: str) -> None:
    write_rollout(home, NATIVE, text)
    found = look_up(store, NATIVE)
    assert (found.presence, found.resumable, found.info) == (Presence.UNREADABLE, False, None)
    assert store.list_sessions(None, 10) == []


def test_a_rollout_with_another_thread_s_records_is_unreadable(store: CodexStore, home: Path) -> None:
    write_rollout(home, NATIVE, rollout(FRESH).read_text())
    assert look_up(store, NATIVE).presence is Presence.UNREADABLE


def test_no_fifo_or_folder_in_the_store_stops_anything(store: CodexStore, home: Path) -> None:
    own = make_thread(home, "/w", number=6)
    day = next(home.rglob(f"*{own}.jsonl")).parent
    os.mkfifo(day / f"rollout-2026-11-30T00-00-00-{NATIVE}.jsonl")
    (day / f"rollout-2026-11-30T00-00-01-{ABSENT}.jsonl").mkdir()
    (day / "rollout-nonsense.jsonl").write_text("x")
    assert [info.native_id for info in store.list_sessions(None, 10)] == [own]
    assert look_up(store, NATIVE).presence is Presence.MISSING
    assert store.find_live(NATIVE) is None


def test_linked_folders_are_followed_and_counted_once(store: CodexStore, home: Path, tmp_path: Path) -> None:
    own = make_thread(home, "/w", number=6)
    day = next(home.rglob(f"*{own}.jsonl")).parent
    away = tmp_path / "away"
    day.rename(away)
    day.symlink_to(away)
    (day.parent / "32").symlink_to(away)
    (day.parent / "33").symlink_to(home / "sessions")
    (day.parent / "34").symlink_to(tmp_path / "nowhere")
    assert [info.native_id for info in store.iter_sessions()] == [own]
    assert look_up(store, own).resumable
    assert len(list(find_rollouts(str(home)))) == 1


def test_a_folder_that_cannot_be_read_is_not_taken_for_absence(
    store: CodexStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place(FRESH, home)
    scandir = os.scandir

    def refuse(folder: str) -> Iterator[os.DirEntry[str]]:
        if folder == str(path.parent):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    found = look_up(store, ABSENT)
    assert (found.presence, found.resumable) == (Presence.UNREADABLE, False)
    assert str(path.parent) in found.reason


HOLDER = """
import fcntl, sys, time
kept = [open(path, "r+") for path in sys.argv[2:]]
if sys.argv[1] == "lock":
    fcntl.flock(kept[0], fcntl.LOCK_EX)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(how: str, *paths: Path, program: str = sys.executable) -> Iterator[int]:
    """A process that has the files open, locked if so said."""
    with subprocess.Popen(
        [program, "-c", HOLDER, how, *map(str, paths)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux tells who holds a lock")


@needs_proc
def test_a_thread_is_live_while_its_lock_is_held_and_not_by_its_lock_file(store: CodexStore, home: Path) -> None:
    native_id = find_id(place(FRESH, home))
    lock = home / "thread-writer-locks" / f"{native_id}.lock"
    lock.parent.mkdir()
    lock.touch()
    assert store.find_live(native_id) is None
    with holding("lock", lock) as pid:
        live = store.find_live(native_id)
        assert live is not None
        assert (live.native_id, live.pid, live.status) == (native_id, pid, "")
    assert store.find_live(native_id) is None


@needs_proc
def test_a_version_without_locks_is_live_by_its_open_rollout(store: CodexStore, home: Path, tmp_path: Path) -> None:
    path = place(FRESH, home)
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.symlink_to(os.path.realpath(sys.executable))
    with holding("open", path) as _:
        assert store.find_live(find_id(path)) is None, "an importer is no agent"
    with holding("open", path, program=str(program)) as pid:
        live = store.find_live(find_id(path))
        assert live is not None
        assert live.pid == pid


def test_threads_born_since_the_launch_are_found(store: CodexStore, home: Path) -> None:
    now = time.time()
    old = make_thread(home, "/w", number=1, at_s=now - 100)
    born = make_thread(home, "/w", number=2, at_s=now)
    make_thread(home, "/other", number=3, at_s=now)
    os.utime(next(home.rglob(f"*{old}.jsonl")))
    found = store.find_started(int(now * 1000) - 2000, "/w", None)
    assert [info.native_id for info in found] == [born]


@needs_proc
def test_of_a_process_only_its_own_threads_count(store: CodexStore, home: Path) -> None:
    now = time.time()
    own = make_thread(home, "/w", number=2, at_s=now)
    make_thread(home, "/w", number=3, at_s=now)
    since_ms = int(now * 1000) - 2000
    with holding("open", next(home.rglob(f"*{own}.jsonl"))):
        # The holder is a child of this process, as the native program is one of its Node wrapper.
        assert [info.native_id for info in store.find_started(since_ms, "/w", os.getpid())] == [own]
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert store.find_started(since_ms, "/w", gone.pid) == []
