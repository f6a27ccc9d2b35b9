"""Codex's session store, read-only: the rollouts below one Codex home, and the names that people gave to threads.

Its databases are caches of the rollouts (0.171.0 rebuilds them) and are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from rigline.harness.codex_files import (
    Head,
    Rollout,
    find_birth_ms,
    find_rollouts,
    normalise_id,
    read_head,
    read_name,
    read_names,
)
from rigline.harness.codex_limit import find_limit
from rigline.harness.codex_live import find_open_files, find_writer, is_daemon
from rigline.harness.codex_threads import Place, Thread, describe, find_ancestors, gather_threads, judge
from rigline.harness.codex_transcript import read_windows
from rigline.model import LiveSession, Lookup, Presence, SessionInfo, Window


class CodexStore:
    """The store of one Codex home (`$CODEX_HOME` or `~/.codex`)."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._heads: dict[str, Head] = {}

    @property
    def root(self) -> str:
        """The Codex home."""
        return self._home

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """See `Store.list_sessions`. Only as many rollouts are opened as are needed, and only their beginnings."""
        threads = [thread for thread in gather_threads(find_rollouts(self._home)) if not thread.newest.is_archived]
        threads.sort(key=lambda thread: (-thread.mtime_ns, thread.id))
        found: list[SessionInfo] = []
        for info in self._describe_in(threads, cwd):
            if len(found) >= limit:
                break
            if not info.is_subagent:
                found.append(info)
        return found

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """See `Store.iter_sessions`. A rollout without its first record counts where no directory is asked for."""
        return self._describe_in(gather_threads(find_rollouts(self._home)), cwd)

    def find_in_file(self, path: str) -> SessionInfo | None:
        """See `Store.find_in_file`. A rollout that was given another name is known by its first record."""
        head = read_head(path)
        if head is None:
            return None
        rollout = read_name(path)
        if rollout is None or rollout.thread_id != head.thread_id:
            rollout = Rollout(path, head.thread_id, head.thread_id)
        thread = next(iter(gather_threads([rollout])), None)
        return describe(thread, read_names(self._home)) if thread is not None else None

    def look_up(self, native_id: str, cwd: str) -> Lookup:  # noqa: ARG002
        """See `Store.look_up`. `exec` resumes a thread from any directory; the terminal asks which one to use."""
        blocked: list[str] = []
        thread = self._find_thread(native_id, blocked)
        if thread is None and blocked:
            reason = f"Codex's store cannot be read: {blocked[0]}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        if thread is None:
            return Lookup(presence=Presence.MISSING, resumable=False, reason="no rollout has that id")
        try:
            return judge(thread, read_names(self._home), self._find_file)
        except OSError as error:
            reason = f"its rollout cannot be read: {thread.newest.path}: {error.strerror or error}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)

    def find_live(self, native_id: str) -> LiveSession | None:
        """See `Store.find_live`. A thread that was left in Codex's shared app server is live there."""
        thread_id = normalise_id(native_id)
        if thread_id is None:
            return None
        thread = self._find_thread(thread_id, [])
        pid = find_writer(self._home, thread_id, [rollout.path for rollout in thread.rollouts] if thread else [])
        if pid is None:
            return None
        return LiveSession(native_id=thread_id, pid=pid, status="in the shared app server" if is_daemon(pid) else "")

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """See `Store.find_started`. A thread's file is there from its first prompt on, a fork's at once.

        Of a process count the threads that it or a child of it has open.
        """
        threads = gather_threads(find_rollouts(self._home))
        recent = [thread for thread in threads if thread.mtime_ns >= since_ms * 1_000_000]
        infos = self._describe_in([thread for thread in recent if not thread.newest.is_archived], cwd)
        born = [info for info in infos if not info.is_subagent and (info.started_ms or 0) >= since_ms]
        if pid is None or not born:
            return born
        open_files = find_open_files(pid)
        return [info for info in born if os.path.realpath(info.path) in open_files]

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`; raises `SessionUnreadable` when a file is gone or closed to us."""
        rollout = read_name(info.path)
        thread = self._find_thread(rollout.thread_id, []) if rollout is not None else None
        paths = [rollout.path for rollout in thread.rollouts] if thread is not None else []
        is_elsewhere = info.path not in paths and os.path.exists(info.path)
        return read_windows(info, [info.path] if is_elsewhere or not paths else paths, cursor, self._find_file)

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`. 0.120.0 leaves no record of such an end."""
        try:
            return find_limit(info.path)
        except OSError:
            return None

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """The subagents of a thread and theirs, and the threads whose records it goes on from without a copy."""
        thread = self._find_thread(info.native_id, [])
        paths = [rollout.path for rollout in thread.rollouts] if thread is not None else []
        found = find_ancestors(info.native_id, paths, self._find_file, self._read_head)
        threads = [*self._find_subagents(info.native_id), *(self._find_thread(parent, []) for parent in found)]
        return list(self._describe_in([thread for thread in threads if thread is not None], None))

    def _describe_in(self, threads: list[Thread], cwd: str | None) -> Iterator[SessionInfo]:
        place = Place(cwd)
        names = read_names(self._home)
        for thread in threads:
            info = describe(thread, names) if place.may_hold(thread.newest.path) else None
            if info is not None and place.holds(info.cwd):
                yield info

    def _find_thread(self, native_id: str, blocked: list[str]) -> Thread | None:
        """The thread with that id. `blocked` gets the folders that would not say whether it is there."""
        thread_id = normalise_id(native_id)
        rollouts = [rollout for rollout in find_rollouts(self._home, blocked) if rollout.thread_id == thread_id]
        return next(iter(gather_threads(rollouts)), None)

    def _find_file(self, file_id: str) -> str | None:
        return next((rollout.path for rollout in find_rollouts(self._home) if rollout.file_id == file_id), None)

    def _find_subagents(self, native_id: str) -> list[Thread]:
        """Threads that this one or a subagent of it has started; none of them is older than it."""
        born_ms = find_birth_ms(native_id) or 0
        later = [
            rollout for rollout in find_rollouts(self._home) if (find_birth_ms(rollout.thread_id) or born_ms) >= born_ms
        ]
        family = {native_id}
        found = []
        for thread in sorted(gather_threads(later), key=lambda thread: thread.id):
            head = self._read_head(thread.newest.path)
            if head is not None and head.is_subagent and head.parent_thread in family:
                family.add(thread.id)
                found.append(thread)
        return found

    def _read_head(self, path: str) -> Head | None:
        """The head of a rollout, which never changes once it is there."""
        if path not in self._heads:
            try:
                head = read_head(path)
            except OSError:
                return None
            if head is None:
                return None
            self._heads[path] = head
        return self._heads[path]
