"""Native records made into windows: bounded, each with the cursor behind the last record in it.

An adapter says what one record holds (`Item`); everything else about reading is here. `read_journal` reads JSON-lines
files; where a record's meaning depends on those before it, an adapter has a `JournalReader` of its own. A reader of
something else (a database) drives `WindowBuilder` itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from rigline.errors import SessionUnreadable
from rigline.harness.journal import Line, iter_lines, make_cursor, open_at
from rigline.harness.turns import Turn, Turns, TurnsState
from rigline.model import Event, Kind, SessionInfo, SessionLink, Window

MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a stretch without events gets a cursor of its own as well, so that a crash does not cost all of it
MAX_SOURCE_BYTES = 32 << 20
_MAX_UNKNOWN = 16
#: what is more is no time
LATEST_MS = 100_000_000_000_000

_State = TypeVar("_State")


class Piece(Struct, frozen=True, kw_only=True, gc=False):
    """A part of a record that is history. `copy_key` is what a fork's copy of it has as well; by default its key."""

    kind: Kind
    text: str
    block: int = 0
    role: str | None = None
    tool: str | None = None
    call_id: str | None = None
    status: str | None = None
    copy_key: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """What one native record says. Pure data; an adapter makes it without looking at other records.

    `key` is the record's own id within its session, and stays the same however often the file is read or rewritten.
    `copy_key`, where the id alone may occur in strangers' sessions too, is what a fork's copy shares; by default `key`.
    With `parent` records form a tree; None: they only follow each other. `is_prompt` marks the words of a user. Where
    the reader knows the order of prompts otherwise, it says the `turn`.
    """

    key: str
    pieces: tuple[Piece, ...] = ()
    copy_key: str = ""
    parent: str | None = None
    is_prompt: bool = False
    turn: Turn | None = None
    at_ms: int | None = None
    losses: tuple[str, ...] = ()
    packets: tuple[tuple[str, int, int], ...] = ()
    links: tuple[SessionLink, ...] = ()
    title: str | None = None


#: (record, byte offset of its line) -> what it says; a record without an id is keyed by `byte-<offset>`
Extract = Callable[[dict[str, object], int], Sequence[Item]]


class WindowBuilder:
    """Fills one window after the other.

    `make_cursor` encodes the reader's place, with the state it is given: what `get_state` says a reader that goes on
    from there has to know, by default the turns alone.
    """

    def __init__(
        self,
        info: SessionInfo,
        turns: Turns,
        make_cursor: Callable[[dict[str, str]], str],
        get_state: Callable[[], dict[str, str]] | None = None,
    ) -> None:
        self._info, self._turns, self._make_cursor = info, turns, make_cursor
        self._get_state = get_state or (lambda: encode_turns(turns))
        self._clear()

    def _clear(self) -> None:
        self._events: list[Event] = []
        self._losses: Counter[str] = Counter()
        self._packets: list[tuple[str, int, int]] = []
        self._links: list[SessionLink] = []
        self._title: str | None = None
        self._text_bytes = 0

    def add(self, items: Sequence[Item]) -> Iterator[Window]:
        """Take what one record says; yields the window that it does not fit into any more, and those it fills alone.

        The caller's place must still be before the record: windows within a record have the cursor before it, so that
        after a crash it is read again from its first piece.
        """
        sizes = [measure(piece.text) for item in items for piece in item.pieces]
        if self.is_full(len(sizes), sum(sizes)):
            yield self.close()
        before = self._get_state() if len(sizes) > 1 and self._overflows(len(sizes), sum(sizes)) else None
        for item in items:
            turn = self._place(item)
            for piece in item.pieces:
                if self.is_full(1, measure(piece.text)):
                    yield self.close(before)
                self._events.append(_build_event(self._info, item, piece, turn))
                self._text_bytes += measure(piece.text)
            self._packets.extend(item.packets)
            self._links.extend(item.links)
            self._title = item.title or self._title
            self.count(item.losses)

    def link(self, link: SessionLink) -> None:
        """Keep a link that no single record tells."""
        self._links.append(link)

    def count(self, losses: Iterable[str]) -> None:
        """Count by kind; the kinds that a file may invent freely are bounded."""
        for kind in losses:
            is_new = kind.startswith("unknown:") and kind not in self._losses
            is_too_many = is_new and sum(name.startswith("unknown:") for name in self._losses) >= _MAX_UNKNOWN
            self._losses["unknown:other" if is_too_many else kind] += 1

    def is_full(self, events: int, text_bytes: int) -> bool:
        """Whether so many more events, with so much text, belong into the next window."""
        return bool(self._events) and self._overflows(events, text_bytes)

    def close(self, state: dict[str, str] | None = None, *, at_end: bool = False) -> Window:
        """The window so far, and a new one begun. `state` is what to go on with from the cursor, if not the latest."""
        window = Window(
            native_id=self._info.native_id,
            cursor=self._make_cursor(state or self._get_state()),
            events=self._events,
            losses=dict(self._losses),
            packets=self._packets,
            links=self._links,
            title=self._title,
            at_end=at_end,
        )
        self._clear()
        return window

    def _place(self, item: Item) -> Turn:
        if item.turn is not None:
            return item.turn
        if item.parent is None:
            return self._turns.follow(item.key, is_prompt=item.is_prompt)
        return self._turns.place(item.key, item.parent, is_prompt=item.is_prompt)

    def _overflows(self, events: int, text_bytes: int) -> bool:
        return len(self._events) + events > MAX_EVENTS or self._text_bytes + text_bytes > MAX_TEXT_BYTES


def read_journal(info: SessionInfo, cursor: str | None, extract: Extract, label: str) -> Iterator[Window]:
    """A JSON-lines transcript from a cursor on; see `Store.read`. Raises `SessionUnreadable`.

    An event of more than 1 MiB is a window of its own. A link in `info` comes with the first window.
    """
    try:
        start = open_at(cursor, info.path)
        turns = Turns(decode_state(start.state, "turns", TurnsState))
        yield from _PlainReader(info, start.offset, turns, extract).read()
    except OSError as error:
        raise make_unreadable(info, label, error) from error


def make_unreadable(info: SessionInfo, label: str, error: OSError) -> SessionUnreadable:
    """The refusal for a transcript that is gone or closed to us."""
    return SessionUnreadable(
        f"The session {info.native_id} of {label} cannot be read: {error.filename or info.path}: "
        f"{error.strerror or error}. What was imported before stays; make the file readable to import the rest.",
        native_id=info.native_id,
        path=info.path,
    )


class JournalReader(ABC):
    """One JSON-lines file at reading. `_end` is where the last line that was taken whole ends."""

    def __init__(self, info: SessionInfo, path: str, offset: int, turns: Turns) -> None:
        self._info, self._path, self._begin, self._end = info, path, offset, offset
        self._turns = turns
        self._builder = WindowBuilder(info, turns, self._encode_cursor, self.get_state)

    @abstractmethod
    def take_record(self, record: dict[str, object], offset: int) -> Iterator[Window]:
        """Give the builder what the record at this byte says; yields the windows that `WindowBuilder.add` yields.

        Its own state changes only behind those: their cursors stand before the record.
        """

    def get_state(self) -> dict[str, str]:
        """What a reader that goes on from here has to know."""
        return encode_turns(self._turns)

    def read(self, *, at_end: bool = True) -> Iterator[Window]:
        """All windows to the end of the file. Without `at_end` another file of the session follows."""
        for line in iter_lines(self._path, self._end):
            yield from self._take(line)
        yield self._builder.close(at_end=at_end)

    def _take(self, line: Line) -> Iterator[Window]:
        if line.record is not None:
            for window in self.take_record(line.record, line.offset):
                self._begin = self._end
                yield window
        if line.damage is not None:
            self._builder.count([line.damage])
        self._end = line.end
        if self._end - self._begin > MAX_SOURCE_BYTES:
            self._begin = self._end
            yield self._builder.close()

    def _encode_cursor(self, state: dict[str, str]) -> str:
        return make_cursor(self._path, self._end, state).encode()


class _PlainReader(JournalReader):
    """A file of which every record speaks for itself."""

    def __init__(self, info: SessionInfo, offset: int, turns: Turns, extract: Extract) -> None:
        super().__init__(info, info.path, offset, turns)
        self._extract = extract
        if info.parent is not None and offset == 0:
            self._builder.link(info.parent)

    def take_record(self, record: dict[str, object], offset: int) -> Iterator[Window]:
        return self._builder.add(self._extract(record, offset))


def encode_turns(turns: Turns) -> dict[str, str]:
    """The turns as a cursor's state."""
    return {"turns": msgspec.json.encode(turns.get_state()).decode()}


def decode_state(state: dict[str, str], name: str, kind: type[_State]) -> _State:
    """What a cursor keeps under that name, encoded as JSON; that of a beginning for anything else."""
    text = state.get(name, "")
    try:
        return msgspec.json.decode(text, type=kind) if text else kind()
    except (msgspec.DecodeError, UnicodeError):
        return kind()


def _build_event(info: SessionInfo, item: Item, piece: Piece, turn: Turn) -> Event:
    return Event(
        harness=info.harness,
        native_id=info.native_id,
        record=item.key,
        kind=piece.kind,
        text=piece.text,
        block=piece.block,
        role=piece.role,
        at_ms=item.at_ms,
        tool=piece.tool,
        call_id=piece.call_id,
        status=piece.status,
        copy_key=piece.copy_key or f"{item.copy_key or item.key}/{piece.block}",
        turn=turn.prompt,
        parent_turn=turn.parent,
    )


def measure(text: str) -> int:
    """The text's length as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def parse_time_ms(value: object) -> int | None:
    """An ISO time with zone as UTC milliseconds; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int(moment.timestamp() * 1000) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def as_time_ms(value: object) -> int | None:
    """A number of milliseconds since 1970, of this age; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LATEST_MS:
        return None
    return int(value)


def as_text(value: object) -> str:
    """The text that a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def as_dict(value: object) -> dict[str, object]:
    """The object that a field holds, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """The list that a field holds, or an empty one."""
    return value if isinstance(value, list) else []


def encode_arguments(value: object) -> str:
    """A tool call's arguments as compact JSON; a text is left as it is."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8", "replace")
