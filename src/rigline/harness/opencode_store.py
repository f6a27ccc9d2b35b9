"""OpenCode's session store, read-only: the databases in one data folder, and the files of versions before 1.2.

The stable program writes `opencode.db`, one of another channel `opencode-<channel>.db` beside it; `OPENCODE_DB` names
one instead (1.18.33). Sessions that the program to be started does not see can be imported, but are not resumed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rigline.harness import opencode_files
from rigline.harness.database import as_os_error, open_read_only
from rigline.harness.file_store import iter_folder, list_folders
from rigline.harness.folders import find_home, is_recorded_in
from rigline.harness.opencode_tables import Conversation, Heads, Tables, UnknownLayout
from rigline.harness.row_windows import read_rows
from rigline.harness.windows import as_dict, as_text, make_unreadable
from rigline.model import LiveSession, Lookup, Presence, SessionInfo, Window

LABEL = "OpenCode"
KNOWN_VERSIONS = ("1.18.33",)
_DATABASE, _CHANNEL = "opencode.db", "opencode-"
#: what a service answers when nothing may be used or paid any more
_AT_LIMIT = (402, 429)


def find_data_folder(env: Mapping[str, str]) -> str:
    """`$XDG_DATA_HOME/opencode`, by default in `~/.local/share`."""
    base = env.get("XDG_DATA_HOME", "").strip() or os.path.join(find_home(env), ".local", "share")
    return os.path.join(base, "opencode")


class OpenCodeStore:
    """The store in one data folder. `database` is the one that the program uses, if the environment names it."""

    def __init__(self, root: str, database: str = "") -> None:
        self._root = root
        self._named = os.path.join(root, database) if database else ""
        self._heads: dict[str, Heads] = {}

    @property
    def root(self) -> str:
        """OpenCode's data folder."""
        return self._root

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """See `Store.list_sessions`. Only those of the database that the program uses: it resumes no others."""
        found: list[SessionInfo] = []
        for info in self._list_in(self.find_database()):
            if len(found) >= limit:
                break
            is_here = cwd is None or is_recorded_in(info.cwd, cwd)
            if is_here and not info.is_subagent and not info.is_archived:
                found.append(info)
        return found

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """See `Store.iter_sessions`. Of every database and of the files; one that is in several counts once."""
        seen: set[str] = set()
        sources = [*(self._list_in(path) for path in self._find_databases()), opencode_files.iter_sessions(self._root)]
        for source in sources:
            for info in source:
                if info.native_id not in seen and (cwd is None or is_recorded_in(info.cwd, cwd)):
                    seen.add(info.native_id)
                    yield info

    def find_in_file(self, path: str) -> SessionInfo | None:
        """See `Store.find_in_file`. A database names no session, unless it holds a single one."""
        if path.endswith(".json"):
            return opencode_files.describe(path)
        found = self._list_in(path) if path.endswith(".db") else []
        return found[0] if len(found) == 1 else None

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """See `Store.look_up`. A database of an unknown layout is not read: nobody can say what is in it."""
        refusals = []
        try:
            list_folders(self._root)
        except OSError as error:
            refusals.append(describe_refusal(self._root, error))
        for path in self._find_databases():
            try:
                with _open(path) as tables:
                    info = tables.find(native_id)
            except (OSError, UnknownLayout) as error:
                refusals.append(describe_refusal(path, error))
                continue
            if info is not None:
                return self._judge(info, cwd)
        info = opencode_files.find_session(self._root, native_id)
        if info is not None:
            return self._judge(info, cwd)
        if refusals:
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason="; ".join(refusals))
        return Lookup(presence=Presence.MISSING, resumable=False, reason="no database of OpenCode has that id")

    def find_live(self, native_id: str) -> LiveSession | None:  # noqa: ARG002
        """None: a process has the database open, and no sign tells which session it shows."""
        return None

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """See `Store.find_started`. Of a process none can be told."""
        if pid is not None:
            return []
        infos = [info for info in self._list_in(self.find_database()) if (info.started_ms or 0) >= since_ms]
        return [info for info in infos if not info.is_subagent and is_recorded_in(info.cwd, cwd)]

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`; raises `SessionUnreadable` when the database is gone, closed to us, or of another layout.

        The database is not held: each row is fetched by itself, so its own program is never in our way.
        """
        try:
            with _open_conversation(info, self._heads.setdefault(info.native_id, {})) as found:
                yield from read_rows(info, cursor, found.rows, found.load, found.turns, LABEL)
        except UnknownLayout as error:
            raise make_unreadable(info, LABEL, OSError(0, describe_refusal(info.path, error), info.path)) from error
        except OSError as error:
            raise make_unreadable(info, LABEL, error) from error

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """The session's subagents, and theirs."""
        if info.path.endswith(".json"):
            infos = opencode_files.iter_sessions(self._root)
            return [each for each in infos if each.parent is not None and each.parent.parent_id == info.native_id]
        try:
            with _open(info.path) as tables:
                return tables.find_descendants(info.native_id)
        except (OSError, UnknownLayout):
            return []

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`. While it hopes for better the program asks again and again and records nothing;
        what it gives up on, it records with the service's status (1.18.33).
        """
        if info.path.endswith(".json"):
            return None
        try:
            with _open(info.path) as tables:
                data = as_dict(tables.find_last_error(info.native_id).get("data"))
        except (OSError, UnknownLayout):
            return None
        return as_text(data.get("message")) or None if data.get("statusCode") in _AT_LIMIT else None

    def find_database(self) -> str:
        """The database that the program uses: the named one, else the stable one, else the only one of a channel."""
        if self._named:
            return self._named
        found = self._find_databases()
        stable = os.path.join(self._root, _DATABASE)
        return found[0] if len(found) == 1 else stable

    def _find_databases(self) -> list[str]:
        """Every database that is there, the program's own first."""
        names = [entry.name for entry in iter_folder(self._root) if entry.name.endswith(".db")]
        known = sorted((name for name in names if name == _DATABASE or name.startswith(_CHANNEL)), key=_sort_key)
        paths = [self._named] if self._named and os.path.exists(self._named) else []
        return list(dict.fromkeys((*paths, *(os.path.join(self._root, name) for name in known))))

    def _list_in(self, path: str) -> list[SessionInfo]:
        """All sessions of a database, the newest first; none where it cannot be read."""
        try:
            with _open(path) as tables:
                return list(tables.iter_sessions())
        except (OSError, UnknownLayout):
            return []

    def _judge(self, info: SessionInfo, cwd: str) -> Lookup:
        reason = ""
        if info.is_subagent:
            reason = "it is a subagent's"
        elif info.path != self.find_database():
            reason = f"it lies in {info.path}, where this OpenCode does not look"
        elif not is_recorded_in(info.cwd, cwd):
            reason = f"it belongs to {info.cwd}, and resumed from elsewhere OpenCode never comes to an end"
        return Lookup(presence=Presence.EXISTS, info=info, resumable=not reason, reason=reason)


def describe_refusal(path: str, error: Exception) -> str:
    """Why a database is not read: what it is, what is known, and how to go on."""
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}"
    return (
        f"{path} has a layout that rigline does not know ({error}); it knows that of {LABEL} "
        f"{', '.join(KNOWN_VERSIONS)} and nothing is read half"
    )


def _sort_key(name: str) -> tuple[bool, str]:
    return name != _DATABASE, name


@contextmanager
def _open(path: str) -> Iterator[Tables]:
    """A database. Raises OSError when it is not there or damaged, and `UnknownLayout`."""
    try:
        with open_read_only(path) as connection:
            yield Tables(connection, path)
    except sqlite3.Error as error:
        raise as_os_error(error, path) from error


@contextmanager
def _open_conversation(info: SessionInfo, heads: Heads) -> Iterator[Conversation]:
    if info.path.endswith(".json"):
        yield opencode_files.Files(info.path, info.native_id)
        return
    with _open(info.path) as tables:
        yield tables.open_conversation(info.native_id, heads)
