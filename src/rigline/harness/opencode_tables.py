"""OpenCode's databases: their layouts, the sessions in them, and the rows of each. Read-only.

    session, message, part               1.2 and later, as 1.18.33 writes them
    session or session_v2,               opencode2, from its public source; 1.18.33 has the former of the two tables
        session_message                  as well and leaves it empty

Tables with accounts and credentials are never touched. Times are milliseconds.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator

from msgspec.structs import replace

from rigline.harness.database import list_columns
from rigline.harness.journal import decode_json
from rigline.harness.opencode_records import (
    Message,
    extract_entry,
    extract_message,
    extract_part,
    read_message,
    read_title,
    unquote,
)
from rigline.harness.row_windows import Loaded, Row, RowTurns
from rigline.harness.windows import as_dict, as_text
from rigline.model import LinkKind, SessionInfo, SessionLink

HARNESS = "opencode"
_NEEDED = {
    "session": frozenset({"id", "directory", "title", "time_created", "time_updated"}),
    "message": frozenset({"id", "session_id", "time_created", "time_updated", "data"}),
    "part": frozenset({"id", "message_id", "session_id", "time_updated", "data"}),
    "session_message": frozenset({"id", "session_id", "type", "seq", "time_created", "time_updated", "data"}),
}
_PROMPT_CHARS = 500
_DEPTH = 8
#: the parts with a user's own words
_TYPED = """
    CASE WHEN json_valid(p.data) THEN json_extract(p.data, '$.type') = 'text'
    AND coalesce(json_extract(p.data, '$.synthetic'), 0) = 0 AND coalesce(json_extract(p.data, '$.ignored'), 0) = 0
    ELSE 0 END
"""
_IS_PROMPT = "SELECT 1 FROM part p WHERE p.message_id = ? AND " + _TYPED + " LIMIT 1"  # noqa: S608  (constants)
_FIRST_PROMPT = (
    "SELECT p.data FROM message m JOIN part p ON p.message_id = m.id WHERE m.session_id = ?"  # noqa: S608  (constants)
    " AND CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') = 'user' ELSE 0 END"
    " AND " + _TYPED + " ORDER BY m.time_created, m.id, p.id LIMIT 1"
)
_LAST_MESSAGE = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
_MESSAGES = "SELECT id, time_created, time_updated FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT id, message_id, time_updated FROM part WHERE session_id = ? ORDER BY message_id, id"
_ENTRIES = "SELECT id, type, time_created, time_updated FROM session_message WHERE session_id = ? ORDER BY seq"


#: message id -> its time of change, and what it said then
Heads = dict[str, tuple[int, Message]]


class UnknownLayout(Exception):
    """A database of a layout that is not known; the text says what was found."""


class Tables:
    """One open database. Raises `UnknownLayout` where neither layout is there."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._db, self._path = connection, path
        self._columns = {name: list_columns(connection, name) for name in (*_NEEDED, "session_v2")}
        self.session_tables = tuple(
            name for name in ("session", "session_v2") if _NEEDED["session"] <= self._columns[name]
        )
        self._has_parts = all(_NEEDED[name] <= self._columns[name] for name in ("message", "part"))
        self._has_entries = _NEEDED["session_message"] <= self._columns["session_message"]
        if not self.session_tables or not (self._has_parts or self._has_entries):
            raise UnknownLayout(self._describe_layout())

    def iter_sessions(self) -> Iterator[SessionInfo]:
        """All sessions, the newest first."""
        seen = set()
        for table in self.session_tables:
            for row in self._select(table, "", ()):
                if row["id"] not in seen:
                    seen.add(row["id"])
                    yield self._describe(row)

    def find(self, native_id: str) -> SessionInfo | None:
        """The session with that id."""
        for table in self.session_tables:
            for row in self._select(table, "WHERE id = ?", (native_id,)):
                return self._describe(row)
        return None

    def find_descendants(self, native_id: str) -> list[SessionInfo]:
        """The session's subagents, and theirs."""
        found: dict[str, SessionInfo] = {}
        level = [native_id]
        for _ in range(_DEPTH):
            level = [
                found.setdefault(row["id"], self._describe(row)).native_id
                for table in self.session_tables
                if "parent_id" in self._columns[table]
                for parent in level
                for row in self._select(table, "WHERE parent_id = ?", (parent,))
                if row["id"] not in found and row["id"] != native_id
            ]
        return list(found.values())

    def _find_first_prompt(self, native_id: str) -> str | None:
        """The first words of a user."""
        if not self._has_parts:
            return None
        row = self._db.execute(_FIRST_PROMPT, (native_id,)).fetchone()
        text = unquote(as_text(decode(row["data"]).get("text"))) if row is not None else ""
        return text[:_PROMPT_CHARS] or None

    def find_last_error(self, native_id: str) -> dict[str, object]:
        """The error that the newest message ended with, or an empty object."""
        if not self._has_parts:
            return {}
        row = self._db.execute(_LAST_MESSAGE, (native_id,)).fetchone()
        return as_dict(decode(row["data"]).get("error")) if row is not None else {}

    def open_conversation(self, native_id: str, heads: Heads) -> Conversation:
        """The session's rows: parts where there are any, else entries. `heads` is kept from one reading to the next."""
        if self._has_parts:
            parts = Parts(self._db, native_id, heads)
            if parts.rows or not self._has_entries:
                return parts
        return Entries(self._db, native_id)

    def _select(self, table: str, where: str, values: tuple[str, ...]) -> Iterator[sqlite3.Row]:
        """Rows of one of the two tables; columns that this version lacks are empty."""
        optional = ("parent_id", "fork_session_id", "version", "time_archived")
        names = [name if name in self._columns[table] else f"NULL AS {name}" for name in optional]
        columns = ", ".join(("id", "directory", "title", "time_created", "time_updated", *names))
        query = f"SELECT {columns} FROM {table} {where} ORDER BY time_updated DESC, id"  # noqa: S608  (no word of a user)
        yield from self._db.execute(query, values)

    def _describe(self, row: sqlite3.Row) -> SessionInfo:
        parent = row["parent_id"] or row["fork_session_id"]
        kind, column = (LinkKind.SUBAGENT, "parent_id") if row["parent_id"] else (LinkKind.FORK, "fork_session_id")
        title = read_title(row["title"])
        return SessionInfo(
            harness=HARNESS,
            native_id=row["id"],
            path=self._path,
            cwd=_normalise_folder(row["directory"]),
            updated_ms=row["time_updated"],
            size_bytes=0,
            started_ms=row["time_created"],
            title=title,
            first_prompt=None if title else self._find_first_prompt(row["id"]),
            version=row["version"] or None,
            is_subagent=bool(row["parent_id"]),
            is_archived=row["time_archived"] is not None,
            parent=SessionLink(child_id=row["id"], parent_id=parent, kind=kind, evidence=f"`{column}` in its row")
            if parent
            else None,
        )

    def _describe_layout(self) -> str:
        names = [row["name"] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if "migration" in names and "id" in list_columns(self._db, "migration"):
            newest = self._db.execute("SELECT max(id) AS newest FROM migration").fetchone()["newest"]
            if newest:
                return f"its newest migration is {newest}"
        return f"its tables are {', '.join(sorted(names)) or 'none'}"


class Conversation(ABC):
    """A session's rows in the conversation's order, and what each says. Without content they are held in memory."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.turns = RowTurns()
        self.messages: dict[str, Message] = {}

    def add_message(self, message: Message, last: str) -> str:
        """Keep a message with the prompt that it answers, `last` being the newest; returns the newest from here on."""
        asked = self.messages.get(message.parent)
        answered = (asked.id if asked.is_prompt else asked.prompt) if asked is not None else last
        self.messages[message.id] = replace(message, prompt=last if message.role == "user" else answered)
        if message.is_prompt:
            self.turns.know(message.id, last)
        return message.id if message.is_prompt else last

    @abstractmethod
    def load(self, row: Row) -> Loaded | None:
        """What a row holds now; None when it is gone. Raises sqlite3.Error or OSError when it cannot be read."""


class Parts(Conversation):
    """Messages and their parts."""

    def __init__(self, connection: sqlite3.Connection, native_id: str, heads: Heads) -> None:
        super().__init__()
        self._db, self._heads = connection, heads
        self._place: dict[str, tuple[str, int]] = {}
        rows = connection.execute(_MESSAGES, (native_id,)).fetchall()
        last = ""
        for number, row in enumerate(rows, 1):
            message = self._read_head(row, is_newest=number == len(rows))
            last = self.add_message(message, last)
            self.rows.append(Row(message.id, row["time_updated"]))
        self._add_parts(native_id)

    def _read_head(self, row: sqlite3.Row, *, is_newest: bool) -> Message:
        """A message without its parts. It may be large, with all changes of a turn, so it is read once."""
        at, known = self._heads.get(row["id"], (None, None))
        if known is not None and at == row["time_updated"]:
            return known
        found = self._db.execute("SELECT data FROM message WHERE id = ?", (row["id"],)).fetchone()
        message = read_message(row["id"], row["time_created"], decode(found["data"]) if found is not None else {})
        if message.role == "user":
            is_prompt = self._db.execute(_IS_PROMPT, (message.id,)).fetchone() is not None
            message = replace(message, is_prompt=is_prompt)
        if not is_newest:  # of the newest, the parts may still be coming
            self._heads[message.id] = (row["time_updated"], message)
        return message

    def _add_parts(self, native_id: str) -> None:
        parts: dict[str, list[Row]] = {}
        for row in self._db.execute(_PARTS, (native_id,)):
            own = parts.setdefault(row["message_id"], [])
            self._place[row["id"]] = (row["message_id"], len(own))
            own.append(Row(row["id"], row["time_updated"]))
        self.rows = [each for row in self.rows for each in (row, *parts.get(row.id, ()))]

    def load(self, row: Row) -> Loaded | None:
        """See `Conversation.load`."""
        if row.id in self.messages:
            message = self.messages[row.id]
            return Loaded("error" if message.has_error else "", (extract_message(message),))
        found = self._db.execute("SELECT data FROM part WHERE id = ?", (row.id,)).fetchone()
        if found is None:
            return None
        message_id, place = self._place[row.id]
        data = decode(found["data"])
        item = extract_part(self.messages[message_id], place, row.id, data)
        return Loaded(found["data"], (item if data else replace(item, losses=("not_json",)),))


class Entries(Conversation):
    """The entries of `session_message`, each a whole message."""

    def __init__(self, connection: sqlite3.Connection, native_id: str) -> None:
        super().__init__()
        self._db = connection
        last = ""
        for row in connection.execute(_ENTRIES, (native_id,)):
            is_prompt = row["type"] == "user"
            message = Message(id=row["id"], created_ms=row["time_created"], role=row["type"], is_prompt=is_prompt)
            last = self.add_message(message, last)
            self.rows.append(Row(row["id"], row["time_updated"]))

    def load(self, row: Row) -> Loaded | None:
        """See `Conversation.load`."""
        found = self._db.execute("SELECT data FROM session_message WHERE id = ?", (row.id,)).fetchone()
        if found is None:
            return None
        message, data = self.messages[row.id], decode(found["data"])
        item = extract_entry(message, message.role, data)
        return Loaded(found["data"], (item if data else replace(item, losses=("not_json",)),))


def decode(text: object) -> dict[str, object]:
    """A column with JSON as an object; an empty one where it holds none."""
    try:
        value = decode_json(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _normalise_folder(directory: str) -> str:
    """The folder; a migration took the leading slash off (anomalyco/opencode#50521)."""
    is_relative = directory and not directory.startswith(("/", "\\")) and directory[1:2] != ":"
    return f"/{directory}" if is_relative else directory
