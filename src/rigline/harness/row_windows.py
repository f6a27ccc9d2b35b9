"""A session that lies in rows, of a database or one a file: the rows made into windows.

Rows are read in the conversation's order, but what has changed since the last time is told by each row's time of
change: answers that stream, and tools that run, change after they were read first. Their events keep their identity.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import msgspec
from msgspec import Struct

from rigline.harness.database import as_os_error
from rigline.harness.turns import Turn, Turns, TurnsState
from rigline.harness.windows import Item, WindowBuilder, make_unreadable
from rigline.model import SESSION_START, SessionInfo, Window

#: how many rows that changed at the very last moment are remembered by what they held
_MAX_SEEN = 64


class Row(Struct, frozen=True, gc=False):
    """A row without its content. `updated` is its time of change in the store's own unit."""

    id: str
    updated: int


class Loaded(Struct, frozen=True):
    """What a row holds: its raw content, and what that says."""

    raw: str
    items: Sequence[Item] = ()


#: a row's content; None when it is gone. Raises sqlite3.Error or OSError when it cannot be read
Load = Callable[[Row], Loaded | None]


class RowCursor(Struct, frozen=True, omit_defaults=True):
    """How far a reader came. `count` rows were there, with the hash `digest` of their ids, none newer than `mark`.

    `seen` is what the rows held that had changed at `mark`: others may have that time too. Within a reading, which goes
    on from the state before it, `until` is the newest time of change at its beginning, `after` the last row taken, and
    `taken` what those held that had changed at `until`.
    """

    count: int = 0
    digest: str = ""
    mark: int = -1
    seen: dict[str, str] = {}
    after: str = ""
    until: int = -1
    taken: dict[str, str] = {}


class RowTurns(Turns):
    """Turns where each item names its prompt: a prompt the one before it (`parent`), any other its own."""

    def __init__(self) -> None:
        super().__init__(TurnsState())
        self._before: dict[str, str] = {}

    def follow(self, own: str, *, is_prompt: bool) -> Turn:
        """Of an item that names nothing: the first prompt, or nothing before it."""
        return self.place(own, "", is_prompt=is_prompt)

    def place(self, own: str, parent: str, *, is_prompt: bool) -> Turn:
        """See `RowTurns`."""
        if is_prompt:
            self._before[own] = parent or SESSION_START
            return Turn(own, self._before[own])
        return Turn(parent, self._before.get(parent, "")) if parent else Turn()

    def know(self, prompt: str, before: str) -> None:
        """A prompt that is not read itself."""
        self._before[prompt] = before or SESSION_START

    def get_state(self) -> TurnsState:
        """Nothing: all of it is told by the rows."""
        return TurnsState()


def read_rows(
    info: SessionInfo, cursor: str | None, rows: Sequence[Row], load: Load, turns: Turns, label: str
) -> Iterator[Window]:
    """The rows, in their order, that are new or changed since the cursor; see `Store.read`.

    A row that cannot be read is counted as `damaged_row`. Raises `SessionUnreadable` for a file that is gone.
    """
    reader = _Reader(info, cursor, rows, load, turns)
    try:
        yield from reader.read()
    except OSError as error:
        raise make_unreadable(info, label, error) from error


def digest_ids(rows: Sequence[Row]) -> str:
    """What tells these rows, in this order, from any others."""
    return blake2b("\n".join(row.id for row in rows).encode(), digest_size=12).hexdigest()


def decode_cursor(text: str | None) -> RowCursor:
    """The cursor that was encoded, or that of a beginning."""
    try:
        return msgspec.json.decode(text or "{}", type=RowCursor)
    except (msgspec.DecodeError, UnicodeError):
        return RowCursor()


class _Reader:
    """One reading. `_base` is the state before it, `_after` the last row that was taken whole."""

    def __init__(self, info: SessionInfo, cursor: str | None, rows: Sequence[Row], load: Load, turns: Turns) -> None:
        self._info, self._rows, self._load = info, rows, load
        self._base = _fit(decode_cursor(cursor), rows)
        self._until = max([self._base.mark, self._base.until, *(row.updated for row in rows)])
        self._known = {row.id for row in rows[: self._base.count]}
        self._taken = _find_taken(self._base, rows)
        self._after = self._base.after
        self._seen = dict(self._base.seen) if self._until == self._base.mark else {}
        self._seen |= self._base.taken if self._until == self._base.until else {}
        self._builder = WindowBuilder(info, turns, self._encode)

    def read(self) -> Iterator[Window]:
        if self._info.parent is not None and self._base == RowCursor():
            self._builder.link(self._info.parent)
        for row in self._rows:
            if self._is_due(row):
                yield from self._take(row)
        self._after = ""
        yield self._builder.close(at_end=True)

    def _is_due(self, row: Row) -> bool:
        if row.id in self._taken and row.updated <= self._base.until:
            return False
        return row.id not in self._known or row.updated >= self._base.mark

    def _take(self, row: Row) -> Iterator[Window]:
        try:
            loaded = self._load(row)
        except sqlite3.OperationalError as error:
            raise as_os_error(error, self._info.path) from error
        except sqlite3.DatabaseError:
            self._builder.count(["damaged_row"])
            return
        if loaded is None:
            return
        content = blake2b(loaded.raw.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        if row.updated == self._base.mark and self._base.seen.get(row.id) == content:
            return
        yield from self._builder.add(loaded.items)
        self._after = row.id
        if row.updated == self._until and len(self._seen) < _MAX_SEEN:
            self._seen[row.id] = content

    def _encode(self, state: dict[str, str]) -> str:  # noqa: ARG002  (turns have no state here)
        base = self._base
        if self._after:
            at = RowCursor(base.count, base.digest, base.mark, base.seen, self._after, self._until, self._seen)
        else:
            at = RowCursor(len(self._rows), digest_ids(self._rows), self._until, self._seen)
        return msgspec.json.encode(at).decode()


def _fit(cursor: RowCursor, rows: Sequence[Row]) -> RowCursor:
    """The cursor, or that of a beginning where the rows that it knew are no more: undone, restored, replaced."""
    return cursor if cursor.digest in ("", digest_ids(rows[: cursor.count])) else RowCursor()


def _find_taken(cursor: RowCursor, rows: Sequence[Row]) -> frozenset[str]:
    """The rows that a reading which did not come to its end had taken."""
    ids = [row.id for row in rows]
    return frozenset(ids[: ids.index(cursor.after) + 1]) if cursor.after in ids else frozenset()
