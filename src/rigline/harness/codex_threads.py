"""Codex's threads, each with its rollouts: gathered from the store's folders, described, and judged.

A thread is one session, however many rollouts it has: the newest is where Codex goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from msgspec import Struct

from rigline.harness.codex_files import (
    Head,
    Rollout,
    ends_without_ordinal,
    find_birth_ms,
    find_late_head,
    glance_at_cwd,
    read_head,
)
from rigline.harness.codex_records import extract, find_told
from rigline.harness.codex_transcript import HARNESS, build_links
from rigline.harness.codex_turns import FindFile
from rigline.harness.journal import iter_lines
from rigline.harness.windows import as_dict, parse_time_ms
from rigline.model import Lookup, Presence, SessionInfo

#: how much of a rollout is looked through for its first prompt: long instructions stand before it
_PROMPT_WITHIN_BYTES = 1 << 20
_PROMPT_CHARS = 500
#: how many files a lineage is followed through
_MAX_LINEAGE = 64


class Thread(Struct):
    """A thread's rollouts, the oldest first; the time of the last write and the size of all of them."""

    id: str
    rollouts: list[Rollout]
    mtime_ns: int = 0
    size_bytes: int = 0

    @property
    def newest(self) -> Rollout:
        """The rollout that Codex writes to."""
        return self.rollouts[-1]


def gather_threads(rollouts: Iterable[Rollout]) -> list[Thread]:
    """The threads of rollouts, of which archived ones come last. A thread has files of one kind only."""
    found: dict[str, Thread] = {}
    for rollout in rollouts:
        thread = found.get(rollout.thread_id)
        if thread is not None and thread.newest.is_archived != rollout.is_archived:
            continue
        try:
            status = os.stat(rollout.path)
        except OSError:
            continue
        thread = thread or found.setdefault(rollout.thread_id, Thread(rollout.thread_id, []))
        thread.rollouts.append(rollout)
        thread.mtime_ns = max(thread.mtime_ns, status.st_mtime_ns)
        thread.size_bytes += status.st_size
    for thread in found.values():
        thread.rollouts.sort(key=lambda rollout: os.path.basename(rollout.path))
    return list(found.values())


class Place:
    """A directory, to be compared with recorded ones by their real paths; None: everywhere."""

    def __init__(self, cwd: str | None) -> None:
        self._cwd = os.path.realpath(cwd) if cwd is not None else None
        self._known: dict[str, bool] = {}

    def may_hold(self, path: str) -> bool:
        """Whether a rollout's first bytes do not name another directory; False when it cannot be read."""
        try:
            recorded = glance_at_cwd(path) if self._cwd is not None else None
        except OSError:
            return False
        return recorded is None or self.holds(recorded)

    def holds(self, recorded: str | None) -> bool:
        """Whether the recorded directory is this one."""
        if self._cwd is None:
            return True
        if recorded is None:
            return False
        if recorded not in self._known:
            self._known[recorded] = os.path.realpath(recorded) == self._cwd
        return self._known[recorded]


def describe(thread: Thread, names: dict[str, str]) -> SessionInfo | None:
    """The session, or None when its file cannot be read or has nothing in it."""
    try:
        head = read_head(thread.newest.path) or find_late_head(thread.newest.path, thread.id)
        first_prompt = _find_first_prompt(thread.rollouts[0].path)
    except OSError:
        return None
    if head is not None and head.thread_id != thread.id:
        return None
    if head is None and not _has_record(thread.newest.path):
        return None
    return _build_info(thread, head or Head(thread_id=thread.id), names.get(thread.id), first_prompt)


def _build_info(thread: Thread, head: Head, name: str | None, first_prompt: str | None) -> SessionInfo:
    links = build_links(thread.id, head)
    return SessionInfo(
        harness=HARNESS,
        native_id=thread.id,
        path=thread.newest.path,
        cwd=head.cwd,
        updated_ms=thread.mtime_ns // 1_000_000,
        size_bytes=thread.size_bytes,
        started_ms=find_birth_ms(thread.id) or parse_time_ms(head.began_at),
        title=name or head.nickname,
        first_prompt=first_prompt,
        version=head.version,
        is_subagent=head.is_subagent,
        is_archived=thread.newest.is_archived,
        parent=links[0] if links else None,
    )


def _find_first_prompt(path: str) -> str | None:
    """The first text that a person typed, cut to what a list shows. Raises OSError."""
    for line in iter_lines(path):
        record = line.record or {}
        found = extract(record)
        text = found.text if found.is_prompt else find_told(as_dict(record.get("payload")))
        if text.strip():
            return text.strip()[:_PROMPT_CHARS]
        if line.end > _PROMPT_WITHIN_BYTES:
            return None
    return None


def _has_record(path: str) -> bool:
    try:
        return any(line.record is not None for line in iter_lines(path))
    except OSError:
        return False


def judge(thread: Thread, names: dict[str, str], find_file: FindFile) -> Lookup:
    """Whether Codex would resume the thread, and if not why. Raises OSError when a file cannot be read."""
    path = thread.newest.path
    head = read_head(path)
    info = describe(thread, names)
    if head is not None and head.thread_id != thread.id:
        return _unreadable(f"its rollout holds the records of {head.thread_id}: {path}")
    if info is None:
        state = "is empty" if os.path.getsize(path) == 0 else "holds no record that can be read"
        return _unreadable(f"its rollout {state}: {path}")
    obstacle = _find_obstacle(thread, head, find_file)
    return Lookup(presence=Presence.EXISTS, info=info, resumable=not obstacle, reason=obstacle)


def _unreadable(reason: str) -> Lookup:
    return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)


def _find_obstacle(thread: Thread, head: Head | None, find_file: FindFile) -> str:
    """What makes 0.171.0 refuse to resume the thread; empty when it would."""
    if thread.newest.is_archived:
        return f"it is archived; `codex unarchive {thread.id}` brings it back (0.120.0 has no such command)"
    if head is None:
        return "its rollout does not begin with the record that says whose it is"
    if head.is_subagent:
        return f"it belongs to a subagent of {head.parent_thread or 'another thread'}, which takes no typed turns"
    missing = find_missing_base(head, find_file)
    if missing:
        return f"the rollout {missing}, whose records it goes on from, is gone"
    if head.is_paginated and ends_without_ordinal(thread.newest.path):
        return "the last record of its rollout has no ordinal, as an update of Codex within a session leaves it"
    return ""


def find_missing_base(head: Head, find_file: FindFile) -> str | None:
    """The file id of the first rollout of a lineage that is not there, or None."""
    base_id = head.base_id
    for _ in range(_MAX_LINEAGE):
        if base_id is None:
            return None
        path = find_file(base_id)
        base = read_head(path) if path is not None else None
        if base is None:
            return base_id
        base_id = base.base_id
    return None


def find_ancestors(
    thread_id: str, paths: Iterable[str], find_file: FindFile, read: Callable[[str], Head | None]
) -> list[str]:
    """The other threads whose rollouts these go on from without a copy, the nearest first."""
    waiting = list(paths)
    found: list[str] = []
    passed: set[str] = set()
    while waiting and len(passed) < _MAX_LINEAGE:
        head = read(waiting.pop(0))
        base_id = head.base_id if head is not None else None
        path = find_file(base_id) if base_id is not None else None
        if path is None or path in passed:
            continue
        passed.add(path)
        waiting.append(path)
        base = read(path)
        if base is not None and base.thread_id not in (thread_id, *found):
            found.append(base.thread_id)
    return found
