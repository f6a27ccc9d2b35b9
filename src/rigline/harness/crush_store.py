"""Crush's session stores, read-only: one database a project, of which the session's directory is not recorded.

Times are seconds. From the public source (charmbracelet/crush): `sessions(id, parent_session_id, title, updated_at,
created_at, ...)`, `messages(id, session_id, role, parts, is_summary_message, created_at, updated_at, ...)`,
`files(session_id, path, ...)` with what a session has changed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from rigline.harness.crush_config import DATA_NAME, find_checkout, find_data_folder, find_data_root, read_projects
from rigline.harness.crush_records import decode_parts, extract, is_prompt, read_first_words
from rigline.harness.database import as_os_error, list_columns, open_read_only
from rigline.harness.folders import is_recorded_in
from rigline.harness.row_windows import Loaded, Row, RowTurns, read_rows
from rigline.harness.windows import make_unreadable
from rigline.model import LinkKind, LiveSession, Lookup, Presence, SessionInfo, SessionLink, Window

HARNESS, LABEL = "crush", "Crush"
#: the newest public source that the tables were compared with
KNOWN_SOURCE = "0.96"
_DATABASE = "crush.db"
_NEEDED = {
    "sessions": frozenset({"id", "title", "created_at", "updated_at"}),
    "messages": frozenset({"id", "session_id", "role", "parts", "created_at", "updated_at"}),
}
_NO_TITLE = frozenset({"New Session", "Untitled Session"})
_PROMPT_CHARS = 500
_MESSAGES = """
    SELECT id, role, parts, created_at, updated_at, is_summary_message FROM messages
    WHERE session_id = ? ORDER BY created_at, rowid
"""


class CrushStore:
    """The stores of all projects that one environment leads to."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)

    @property
    def root(self) -> str:
        """The folder with the list of projects; the databases lie in the projects."""
        return find_data_root(self._env)

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """See `Store.list_sessions`. With a directory, of the database that Crush uses there."""
        paths = [self._find_database(cwd)] if cwd is not None else self._find_databases()
        infos = [info for path in paths for info in self._list_in(path)]
        kept = [info for info in infos if not info.is_subagent and (cwd is None or is_recorded_in(info.cwd, cwd))]
        return sorted(kept, key=lambda info: (-info.updated_ms, info.native_id))[:limit]

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """See `Store.iter_sessions`. Of every project that Crush has noted, and of the directory."""
        paths = self._find_databases()
        if cwd is not None:
            paths = list(dict.fromkeys((*paths, self._find_database(cwd))))
        for path in paths:
            for info in self._list_in(path):
                if cwd is None or is_recorded_in(info.cwd, cwd):
                    yield info

    def find_in_file(self, path: str) -> SessionInfo | None:
        """See `Store.find_in_file`. A database names no session, unless it holds a single one."""
        found = self._list_in(path) if os.path.basename(path) == _DATABASE else []
        return found[0] if len(found) == 1 else None

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """See `Store.look_up`. Only the database that Crush uses in that directory counts."""
        path = self._find_database(cwd)
        try:
            with _open(path) as database:
                info = self._find(database, path, native_id)
        except FileNotFoundError:
            return Lookup(presence=Presence.MISSING, resumable=False, reason=f"there is no {path}")
        except OSError as error:
            reason = f"{error.filename or path}: {error.strerror or error}"
            return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)
        if info is None:
            return Lookup(presence=Presence.MISSING, resumable=False, reason=f"{path} has no session with that id")
        reason = "it is a subagent's" if info.is_subagent else ""
        if info.cwd is not None and not _is_same_checkout(info.cwd, cwd):
            reason = f"it belongs to {info.cwd}"
        return Lookup(presence=Presence.EXISTS, info=info, resumable=not reason, reason=reason)

    def find_live(self, native_id: str) -> LiveSession | None:  # noqa: ARG002
        """None: a process has the database open, and no sign tells which session it shows."""
        return None

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """See `Store.find_started`. To the second. Of a database that lies outside the checkout, and so may be several
        projects', only sessions that have changed a file in it.
        """
        path, checkout = self._find_database(cwd), find_checkout(cwd)
        if pid is not None:
            return []
        born = [info for info in self._list_in(path) if (info.started_ms or 0) >= since_ms // 1000 * 1000]
        own = [info for info in born if not info.is_subagent and (not info.cwd or _is_same_checkout(info.cwd, cwd))]
        return own if _is_within(path, checkout) else [info for info in own if _has_worked_in(info, checkout)]

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`; raises `SessionUnreadable` when the database is gone, closed, or of another layout."""
        try:
            with _open(info.path) as database:
                found = _Conversation(database, info.native_id)
                yield from read_rows(info, cursor, found.rows, found.load, found.turns, LABEL)
        except OSError as error:
            raise make_unreadable(info, LABEL, error) from error

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """The session's subagents, and theirs."""
        found, family = [], {info.native_id}
        for each in sorted(self._list_in(info.path), key=lambda each: each.started_ms or 0):
            if each.parent is not None and each.parent.parent_id in family:
                family.add(each.native_id)
                found.append(each)
        return found

    def find_usage_limit(self, info: SessionInfo) -> str | None:  # noqa: ARG002
        """None: such an end is recorded in words that tell it from no other fault."""
        return None

    def _find_database(self, cwd: str) -> str:
        return os.path.join(find_data_folder(self._env, cwd), _DATABASE)

    def _find_databases(self) -> list[str]:
        paths = (os.path.join(folder, _DATABASE) for folder in read_projects(self._env))
        return [path for path in paths if os.path.isfile(path)]

    def _list_in(self, path: str) -> list[SessionInfo]:
        """All sessions of a database; none where it cannot be read."""
        try:
            with _open(path) as database:
                cwd = self._find_cwd(path)
                return [_describe(path, cwd, row) for row in database.execute(_select_sessions(database))]
        except OSError:
            return []

    def _find(self, database: sqlite3.Connection, path: str, native_id: str) -> SessionInfo | None:
        row = database.execute(f"{_select_sessions(database)} WHERE id = ?", (native_id,)).fetchone()
        if row is None:
            return None
        info, first = _describe(path, self._find_cwd(path), row), _find_first_prompt(database, native_id)
        return info if info.title or not first else replace(info, first_prompt=first)

    def _find_cwd(self, path: str) -> str | None:
        """The directory of a database's sessions: the one project that it is noted for, else where its `.crush` lies.

        None for a folder that is several projects'.
        """
        folder = os.path.dirname(path)
        projects = read_projects(self._env).get(folder, [])
        if len(projects) == 1:
            return projects[0]
        return os.path.dirname(folder) if os.path.basename(folder) == DATA_NAME else None


class _Conversation:
    """A session's messages, a row each."""

    def __init__(self, database: sqlite3.Connection, native_id: str) -> None:
        self._db = database
        self.turns = RowTurns()
        self.rows: list[Row] = []
        self._prompts: dict[str, str] = {}
        self._query = _MESSAGES
        if "is_summary_message" not in list_columns(database, "messages"):
            self._query = _MESSAGES.replace("is_summary_message", "0 AS is_summary_message")
        last = ""
        for row in database.execute(self._query, (native_id,)):
            self.rows.append(Row(row["id"], row["updated_at"]))
            self._prompts[row["id"]] = last
            if row["role"] == "user" and is_prompt("user", decode_parts(row["parts"]), is_summary=_is_summary(row)):
                self.turns.know(row["id"], last)
                last = row["id"]
        self._query = self._query.replace("WHERE session_id = ?", "WHERE id = ?")

    def load(self, row: Row) -> Loaded | None:
        """What a message holds now."""
        found = self._db.execute(self._query, (row.id,)).fetchone()
        if found is None:
            return None
        item = extract(
            row.id,
            found["role"],
            decode_parts(found["parts"]),
            at_ms=_as_ms(found["created_at"]),
            is_summary=_is_summary(found),
            prompt=self._prompts[row.id],
        )
        return Loaded(str(found["parts"]), (item,))


def _describe(path: str, cwd: str | None, row: sqlite3.Row) -> SessionInfo:
    parent = row["parent_session_id"]
    link = SessionLink(
        child_id=row["id"],
        parent_id=parent or "",
        kind=LinkKind.SUBAGENT,
        evidence="`parent_session_id` in its row",
    )
    return SessionInfo(
        harness=HARNESS,
        native_id=row["id"],
        path=path,
        cwd=cwd,
        # of a second only the end is surely not too early
        updated_ms=_as_ms(row["updated_at"]) + 999,
        size_bytes=0,
        started_ms=_as_ms(row["created_at"]),
        title=None if row["title"] in _NO_TITLE else row["title"] or None,
        is_subagent=bool(parent),
        parent=link if parent else None,
    )


def _is_summary(row: sqlite3.Row) -> bool:
    return bool(row["is_summary_message"])


def _select_sessions(database: sqlite3.Connection) -> str:
    columns = list_columns(database, "sessions")
    parent = "parent_session_id" if "parent_session_id" in columns else "NULL AS parent_session_id"
    return f"SELECT id, title, created_at, updated_at, {parent} FROM sessions"  # noqa: S608  (no word of a user)


def _find_first_prompt(database: sqlite3.Connection, native_id: str) -> str:
    query = "SELECT parts FROM messages WHERE session_id = ? AND role = 'user' ORDER BY created_at, rowid LIMIT 1"
    row = database.execute(query, (native_id,)).fetchone()
    return read_first_words(decode_parts(row["parts"]))[:_PROMPT_CHARS] if row is not None else ""


def _has_worked_in(info: SessionInfo, checkout: str) -> bool:
    """Whether the session has changed a file below that folder."""
    try:
        with _open(info.path) as database:
            if not {"session_id", "path"} <= list_columns(database, "files"):
                return False
            rows = database.execute("SELECT path FROM files WHERE session_id = ?", (info.native_id,))
            return any(os.path.isabs(row["path"]) and _is_within(row["path"], checkout) for row in rows)
    except OSError:
        return False


def _is_same_checkout(recorded: str, cwd: str) -> bool:
    """Whether Crush, started in either, works on the same checkout."""
    return is_recorded_in(recorded, cwd) or is_recorded_in(find_checkout(recorded), find_checkout(cwd))


def _is_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder).rstrip("/") + "/")


def _as_ms(seconds: object) -> int:
    """A time of Crush's. One that can only be milliseconds, as the source's comments claim, is taken for such."""
    value = seconds if isinstance(seconds, int) else 0
    return value if value > 100_000_000_000 else value * 1000


def _describe_layout(table: str, missing: list[str]) -> str:
    return (
        f"its layout is none that rigline knows (in {table} there is no {', '.join(missing)}); it knows that of "
        f"{LABEL} {KNOWN_SOURCE}, and nothing is read half"
    )


@contextmanager
def _open(path: str) -> Iterator[sqlite3.Connection]:
    """A project's database. Raises OSError when it is not there, damaged, or of a layout that is not known."""
    try:
        with open_read_only(path) as database:
            for table, needed in _NEEDED.items():
                missing = sorted(needed - list_columns(database, table))
                if missing:
                    raise OSError(0, _describe_layout(table, missing), path)
            yield database
    except sqlite3.Error as error:
        raise as_os_error(error, path) from error
