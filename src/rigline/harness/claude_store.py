"""Claude Code's session store, read-only: `projects/<encoded directory>/<id>.jsonl` of its configuration folder.

A folder's name says which directory its sessions began in, but not reversibly: two directories may share one,
transcripts get copied, folders linked. So a session belongs to the directory that its records name. The file's
name is the session's id, whatever ids its records hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from rigline.harness.claude_limit import find_limit
from rigline.harness.claude_live import find_of_process, iter_live
from rigline.harness.claude_paths import encode_folder, is_resumable_from, is_session_id
from rigline.harness.claude_subagents import (
    describe_subagent,
    find_subagent,
    find_subagents_of,
    iter_subagents,
    split_subagent_id,
)
from rigline.harness.claude_summary import (
    Summary,
    build_info,
    glance_at_cwd,
    has_lone_surrogate,
    summarise,
)
from rigline.harness.claude_transcript import read_windows
from rigline.harness.folders import is_recorded_in
from rigline.harness.journal import open_regular
from rigline.model import LinkKind, LiveSession, Lookup, Presence, SessionInfo, SessionLink, Window

_SUFFIX = ".jsonl"
_CHUNK_BYTES = 1 << 20


class _File(Struct, frozen=True):
    """A transcript's place, before anything in it was read."""

    native_id: str
    path: str
    mtime_ns: int


class ClaudeStore:
    """The store below one configuration folder (`$CLAUDE_CONFIG_DIR` or `~/.claude`)."""

    def __init__(self, config: str) -> None:
        self._config = config
        self._projects = os.path.join(config, "projects")

    @property
    def root(self) -> str:
        """The configuration folder."""
        return self._config

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """See `Store.list_sessions`. One that holds no message yet is left out, as the program does itself."""
        files = [file for folder in self._readable_folders() for file in _main_files(folder)]
        files.sort(key=lambda file: (-file.mtime_ns, file.path))
        found: dict[str, SessionInfo] = {}
        for file in files:
            if len(found) >= limit:
                break
            info = self._describe_if_in(file, cwd)
            if info is not None and not info.is_subagent:
                found.setdefault(info.native_id, info)
        return list(found.values())

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """See `Store.iter_sessions`. A session of which there are copies comes once a copy."""
        for folder in self._readable_folders():
            for file in _main_files(folder):
                info = self._describe_if_in(file, cwd)
                if info is not None:
                    yield info
            for agent in iter_subagents(folder):
                if cwd is None or is_recorded_in(agent.cwd, cwd):
                    yield agent

    def find_in_file(self, path: str) -> SessionInfo | None:
        """See `Store.find_in_file`. A transcript that was given another name is known by the id in its records."""
        summary = summarise(path)
        if not summary.has_conversation:
            return None
        if summary.is_sidechain:
            return describe_subagent(path)
        name = os.path.basename(path).removesuffix(_SUFFIX)
        native_id = name if is_session_id(name) else summary.session_id
        return self._describe(native_id, path, summary) if native_id else None

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """See `Store.look_up`. A subagent is never resumable: the program knows no such session."""
        try:
            path = self._find_path(native_id, cwd)
        except OSError as error:
            reason = f"Claude Code's store cannot be read: {error.filename}: {error.strerror}."
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        if path is None:
            return Lookup(presence=Presence.MISSING, resumable=False, reason="no transcript has that id")
        try:
            return self._judge(native_id, path, cwd)
        except OSError as error:
            reason = f"its transcript cannot be read: {path}: {error.strerror}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)

    def find_live(self, native_id: str) -> LiveSession | None:
        """See `Store.find_live`; `status` is idle, busy, waiting, or `waiting: WHAT FOR`."""
        record = next((record for record in iter_live(self._config) if record.session_id == native_id), None)
        if record is None:
            return None
        status = f"{record.status}: {record.waiting_for}" if record.waiting_for else record.status
        return LiveSession(native_id=native_id, pid=record.pid, status=status, cwd=record.cwd)

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """See `Store.find_started`. Only sessions that have a transcript already, thus after their first prompt.

        A process tells itself, whichever session it continues. Without one the first time in the records counts;
        a fork's copies keep their parent's times, so a fork is not found that way.
        """
        if pid is not None:
            record = find_of_process(self._config, pid)
            found = self.look_up(record.session_id, record.cwd or cwd).info if record is not None else None
            return [found] if found is not None else []
        files = [file for folder in self._readable_folders() for file in _main_files(folder)]
        recent = [file for file in files if file.mtime_ns >= since_ms * 1_000_000]
        infos = [info for file in recent if (info := self._describe_if_in(file, cwd)) is not None]
        return [info for info in infos if not info.is_subagent and (info.started_ms or 0) >= since_ms]

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`; raises `SessionUnreadable` when the file is gone or closed to us."""
        return read_windows(info, cursor, self.has_record)

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`."""
        try:
            return find_limit(info.path)
        except OSError:
            return None

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """A main session's subagents, and the session whose records it begins with."""
        if info.is_subagent:
            return []
        related = find_subagents_of(os.path.dirname(info.path), info.native_id)
        parent = self.look_up(info.parent.parent_id, info.cwd or "").info if info.parent else None
        return [*related, parent] if parent is not None else related

    def has_record(self, native_id: str, uuid: str) -> bool:
        """Whether a session's transcript holds the record with that uuid. False when it cannot be read."""
        wanted = f'"uuid":"{uuid}"'.encode()
        try:
            path = self._find_path(native_id, "")
            return path is not None and _holds(path, wanted)
        except OSError:
            return False

    def _folders(self) -> Iterator[str]:
        """All project folders, each once, also symbolic links. Raises OSError, not for a new store."""
        seen = set()
        try:
            entries = sorted(os.scandir(self._projects), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        for entry in entries:
            try:
                status = os.stat(entry.path)
            except OSError:
                continue
            if entry.is_dir() and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield entry.path

    def _readable_folders(self) -> list[str]:
        try:
            return list(self._folders())
        except OSError:
            return []

    def _find_path(self, native_id: str, cwd: str) -> str | None:
        """The transcript with that id: in the directory's own folder, else the newest of all.

        Raises OSError when it was not found and some folder would not say whether it is there.
        """
        agent = split_subagent_id(native_id)
        if agent is None and not is_session_id(native_id):
            return None
        folders = list(self._folders())
        if agent is not None:
            return next((path for folder in folders if (path := find_subagent(folder, *agent))), None)
        if cwd:
            folders.insert(0, os.path.join(self._projects, encode_folder(os.path.realpath(cwd))))
        return _find_newest([os.path.join(folder, native_id + _SUFFIX) for folder in folders], has_first=bool(cwd))

    def _describe_if_in(self, file: _File, cwd: str | None) -> SessionInfo | None:
        """The session, when it can be read, has messages, and was begun in that directory (None: anywhere)."""
        try:
            if cwd is not None and (glanced := glance_at_cwd(file.path)) and not is_recorded_in(glanced, cwd):
                return None
            summary = summarise(file.path)
        except OSError:
            return None
        if not summary.has_conversation or (cwd is not None and not is_recorded_in(summary.cwd, cwd)):
            return None
        return self._describe(file.native_id, file.path, summary)

    def _describe(self, native_id: str, path: str, summary: Summary) -> SessionInfo:
        return build_info(native_id, path, summary, parent=self._find_parent(native_id, summary))

    def _find_parent(self, native_id: str, summary: Summary) -> SessionLink | None:
        """The session whose records this one begins with, as its own records prove it."""
        if summary.branched_from and summary.branched_from[0] != native_id:
            parent, record = summary.branched_from
            evidence = f"`forkedFrom` in record {record}"
            return SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.BRANCH, evidence=evidence)
        may_be_fork = summary.launched and summary.launched[0] != native_id and not summary.began_with_clear
        if may_be_fork and summary.launched and self.has_record(*summary.launched):
            parent, record = summary.launched
            evidence = f"holds record {record} of that session, with its `session_id`"
            return SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.FORK, evidence=evidence)
        return None

    def _judge(self, native_id: str, path: str, cwd: str) -> Lookup:
        summary = summarise(path)
        if not summary.has_records:
            state = "is empty" if summary.size_bytes == 0 else "holds no record that can be read"
            reason = f"its transcript {state}: {path}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        if split_subagent_id(native_id):
            info = describe_subagent(path)
            return Lookup(presence=Presence.EXISTS, info=info, resumable=False, reason="a subagent cannot be resumed")
        info = self._describe(native_id, path, summary) if summary.has_conversation else None
        obstacle = _find_obstacle(summary, path, cwd)
        if obstacle:
            return Lookup(presence=Presence.EXISTS, info=info, resumable=False, reason=obstacle)
        remark = "a record holds half of a character pair, which the API may refuse" if has_lone_surrogate(path) else ""
        return Lookup(presence=Presence.EXISTS, info=info, reason=remark)


def _find_obstacle(summary: Summary, path: str, cwd: str) -> str:
    """Why Claude Code would not resume it from that directory, in at least one version; empty when it would."""
    if summary.is_sidechain:
        return "a subagent cannot be resumed"
    if not summary.has_conversation:
        return "its transcript holds no message yet"
    is_in_own_folder = os.path.basename(os.path.dirname(path)) == encode_folder(os.path.realpath(cwd))
    if summary.cwd is None or not os.path.isdir(summary.cwd):
        is_reachable = is_in_own_folder
    else:
        is_reachable = is_resumable_from(summary.cwd, cwd)
    if is_reachable:
        return ""
    where = summary.cwd or "an unknown directory"
    return f"it was recorded in {where}: versions before 2.1.225 resume it only from there"


def _main_files(folder: str) -> Iterator[_File]:
    for entry in _scan(folder):
        native_id = entry.name.removesuffix(_SUFFIX)
        if native_id == entry.name or not is_session_id(native_id):
            continue
        try:
            yield _File(native_id, entry.path, entry.stat().st_mtime_ns)
        except OSError:
            continue


def _find_newest(paths: list[str], *, has_first: bool) -> str | None:
    """The newest of the paths that exist; the first of all, when it does and comes first. Raises the first refusal."""
    found: list[tuple[int, str]] = []
    refusal: OSError | None = None
    for place, path in enumerate(paths):
        try:
            found.append((os.lstat(path).st_mtime_ns, path))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            refusal = refusal or error
            continue
        if has_first and place == 0:
            return path
    if not found and refusal is not None:
        raise refusal
    return max(found, default=(0, None))[1]


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _holds(path: str, wanted: bytes) -> bool:
    with open_regular(path) as file:
        rest = b""
        while chunk := file.read(_CHUNK_BYTES):
            if wanted in rest + chunk:
                return True
            rest = chunk[-len(wanted) :]
    return False
