"""A session store of which every session is a file: what is the same for all such harnesses.

An adapter's store says where transcripts lie, what one of them is, and how its records are read. From that come the
answers of the `Store` protocol: newest first, in the very directory, and three different ones about presence.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from rigline.harness.folders import is_recorded_in
from rigline.harness.journal import decode_json, iter_lines, open_regular
from rigline.harness.windows import Item
from rigline.model import LiveSession, Lookup, Presence, SessionInfo, Window

#: how many records are read to describe a session
HEAD_RECORDS = 64
HEAD_BYTES = 1 << 20
OBJECT_CAP_BYTES = 16 << 20
#: how much of a transcript's end tells how its last turn ended
TAIL_BYTES = 1 << 20


class FileStore(ABC):
    """A store of transcripts. Read-only; a file that cannot be read is passed over where sessions are listed."""

    #: the harness's name for people
    label: str

    def __init__(self, root: str) -> None:
        self._root = root

    @property
    def root(self) -> str:
        """See `Store.root`."""
        return self._root

    @abstractmethod
    def find_files(self, cwd: str | None) -> Iterable[str]:
        """The transcripts' paths, in no order. With `cwd` those may be left out that are surely of another one."""

    @abstractmethod
    def find_candidates(self, native_id: str) -> Iterable[str]:
        """The transcripts that may hold the session, the likeliest first. Raises OSError where that cannot be seen."""

    @abstractmethod
    def describe(self, path: str) -> SessionInfo | None:
        """The session in a transcript, None when the file holds none. Raises OSError when it cannot be read."""

    @abstractmethod
    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""

    def glance_at_cwd(self, path: str) -> str | None:
        """The directory that the transcript names; cheaper than `describe` where an adapter can make it so."""
        info = self.describe(path)
        return info.cwd if info is not None else None

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:
        """Why the harness would not resume the session from `cwd`, in a sentence; empty when it would."""
        if is_recorded_in(info.cwd, cwd):
            return ""
        return (
            f"it belongs to {info.cwd or 'a directory that it does not name'}, and {self.label} resumes it only there"
        )

    def explain_refusal(self, path: str) -> str:  # noqa: ARG002
        """Why `describe` finds no session in a file that should hold one: damage, or a format that is not known."""
        return "its transcript holds no session any more"

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """See `Store.list_sessions`. Only as many transcripts are described as are needed."""
        found: dict[str, SessionInfo] = {}
        for _, path in sorted(_date(self.find_files(cwd)), key=lambda entry: (-entry[0], entry[1])):
            if len(found) >= limit:
                break
            info = self._describe_if_in(path, cwd)
            if info is not None and not info.is_subagent and not info.is_archived:
                found.setdefault(info.native_id, info)
        return list(found.values())

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """See `Store.iter_sessions`."""
        for path in self.find_files(cwd):
            info = self._describe_if_in(path, cwd)
            if info is not None:
                yield info

    def find_in_file(self, path: str) -> SessionInfo | None:
        """See `Store.find_in_file`."""
        return self.describe(path)

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """See `Store.look_up`. A file that should hold the session and cannot be understood is unreadable.

        Of two sessions with one id the one of `cwd` counts.
        """
        damaged, elsewhere = "", None
        try:
            for path in self.find_candidates(native_id):
                info = self.describe(path)
                if info is not None and info.native_id == native_id:
                    if is_recorded_in(info.cwd, cwd):
                        return self._judge(info, cwd)
                    elsewhere = elsewhere or info
                damaged = damaged or ("" if info is not None else path)
        except OSError as error:
            reason = f"{self.label}'s store cannot be read: {error.filename}: {error.strerror or error}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        if elsewhere is not None:
            return self._judge(elsewhere, cwd)
        if damaged:
            reason = f"{self.explain_refusal(damaged)}: {damaged}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        return Lookup(presence=Presence.MISSING, resumable=False, reason="no transcript has that id")

    def find_live(self, native_id: str) -> LiveSession | None:  # noqa: ARG002
        """None: the harness leaves no sign of a session that is open."""
        return None

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """See `Store.find_started`. Which process has a session open is not seen, so there is none of a process."""
        if pid is not None:
            return []
        recent = [path for mtime_ns, path in _date(self.find_files(cwd)) if mtime_ns >= since_ms * 1_000_000]
        infos = [info for path in recent if (info := self._describe_if_in(path, cwd)) is not None]
        return [info for info in infos if not info.is_subagent and (info.started_ms or 0) >= since_ms]

    def related(self, info: SessionInfo) -> list[SessionInfo]:  # noqa: ARG002
        """None: no session lies in two files."""
        return []

    def find_usage_limit(self, info: SessionInfo) -> str | None:  # noqa: ARG002
        """None: no record of such an end is known of this harness."""
        return None

    def _describe_if_in(self, path: str, cwd: str | None) -> SessionInfo | None:
        try:
            if cwd is not None and not is_recorded_in(self.glance_at_cwd(path), cwd):
                return None
            return self.describe(path)
        except OSError:
            return None

    def _judge(self, info: SessionInfo, cwd: str) -> Lookup:
        obstacle = "it is a subagent's" if info.is_subagent else self.find_obstacle(info, cwd)
        return Lookup(presence=Presence.EXISTS, info=info, resumable=not obstacle, reason=obstacle)


def _date(paths: Iterable[str]) -> Iterator[tuple[int, str]]:
    for path in paths:
        try:
            yield os.stat(path).st_mtime_ns, path
        except OSError:
            continue


def iter_folder(path: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing where it is missing or closed to us."""
    try:
        with os.scandir(path) as entries:
            yield from entries
    except OSError:
        return


def list_folders(path: str) -> list[str]:
    """The folders in a folder, linked ones among them; none where it is missing. Raises OSError when it is closed."""
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def list_present(paths: Iterable[str]) -> list[str]:
    """Those of the paths that lead to something. Raises OSError when none does, and of one that cannot be seen."""
    found: list[str] = []
    obstacle: OSError | None = None
    for path in paths:
        try:
            os.stat(path)
            found.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            obstacle = obstacle or error
    if obstacle is not None and not found:
        raise obstacle
    return found


def find_first_prompt(items: Iterable[Item]) -> str | None:
    """What the person said first, if it is among these."""
    return next((item.pieces[0].text for item in items if item.is_prompt), None)


def read_object(path: str) -> dict[str, object]:
    """The object in a JSON file that lies beside a transcript; empty where it is missing, damaged, or above 16 MiB."""
    try:
        with open_regular(path) as file:
            value = decode_json(file.read(OBJECT_CAP_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_head(path: str, records: int = HEAD_RECORDS) -> list[dict[str, object]]:
    """The first whole records of a JSON-lines file, at most 1 MiB of it. Raises OSError when it cannot be read."""
    found = []
    for line in iter_lines(path):
        if line.record is not None:
            found.append(line.record)
        if len(found) >= records or line.end > HEAD_BYTES:
            break
    return found


def read_tail(path: str) -> list[dict[str, object]]:
    """The last whole records of a JSON-lines file, from at most 1 MiB of it. Raises OSError when it cannot be read."""
    with open_regular(path) as file:
        begin = max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES)
        if begin:
            file.seek(begin - 1)
            begin += len(file.readline(TAIL_BYTES)) - 1
    return [line.record for line in iter_lines(path, begin) if line.record is not None]
