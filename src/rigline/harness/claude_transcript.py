"""A Claude Code transcript, read in windows from a cursor on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from rigline.errors import SessionUnreadable
from rigline.harness.claude_fields import as_text, find_title, is_clear_command, parse_time
from rigline.harness.claude_records import Piece, extract
from rigline.harness.journal import Line, iter_lines, make_cursor, open_at
from rigline.harness.turns import Turn, Turns, TurnsState
from rigline.model import Event, LinkKind, SessionInfo, SessionLink, Window

HARNESS = "claude-code"
MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a stretch without events gets a cursor of its own as well, so that a crash does not cost all of it
MAX_SOURCE_BYTES = 32 << 20
_MAX_UNKNOWN = 16
_MAX_LINKS = 8
#: how many records of a fork are looked for in its supposed parent: the copies come first
_MAX_ASKED = 2


class _State(Struct, omit_defaults=True):
    """What the next window needs to know of those before it. `launched` is the first `session_id` of all records."""

    turns: TurnsState = TurnsState()
    has_custom_title: bool = False
    began_with_clear: bool = False
    launched: str = ""
    linked: list[str] = []


#: (session id, record's uuid) -> whether that session's transcript holds the record
HasRecord = Callable[[str, str], bool]


def read_windows(info: SessionInfo, cursor: str | None, has_record: HasRecord) -> Iterator[Window]:
    """See `Store.read`. An event of more than 1 MiB is a window of its own. Raises `SessionUnreadable`."""
    try:
        start = open_at(cursor, info.path)
        reader = _Reader(info, _decode_state(start.state), start.offset, has_record)
        for line in iter_lines(info.path, start.offset):
            yield from reader.take(line)
        yield reader.close(at_end=True)
    except OSError as error:
        raise SessionUnreadable(
            f"The session {info.native_id} of Claude Code cannot be read: {info.path}: {error.strerror or error}. "
            "What was imported before stays; make the file readable to import the rest.",
            native_id=info.native_id,
            path=info.path,
        ) from error


def _decode_state(state: dict[str, str]) -> _State:
    text = state.get("claude", "")
    try:
        return msgspec.json.decode(text, type=_State) if text else _State()
    except msgspec.DecodeError:
        return _State()


class _Reader:
    """Fills one window after the other. `_end` is where the last line that was taken whole ends."""

    def __init__(self, info: SessionInfo, state: _State, offset: int, has_record: HasRecord) -> None:
        self._info = info
        self._owner = info.parent.parent_id if info.is_subagent and info.parent else info.native_id
        self._has_record = has_record
        self._asked: Counter[str] = Counter()
        self._state = state
        self._turns = Turns(state.turns)
        self._end = offset
        self._links: list[SessionLink] = []
        if info.parent is not None and offset == 0:
            self._links.append(info.parent)
            state.linked.append(info.parent.parent_id)
        self._clear()

    def _clear(self) -> None:
        self._begin = self._end
        self._events: list[Event] = []
        self._losses: Counter[str] = Counter()
        self._packets: list[tuple[str, int, int]] = []
        self._title: str | None = None
        self._text_bytes = 0

    def take(self, line: Line) -> Iterator[Window]:
        """Read one line; yields the window that it does not fit into any more, and those that it fills alone."""
        if line.record is not None:
            yield from self._take_record(line.record, line.offset)
        if line.damage is not None:
            self._losses[line.damage] += 1
        self._end = line.end
        if self._end - self._begin > MAX_SOURCE_BYTES:
            yield self.close()

    def _take_record(self, record: dict[str, object], offset: int) -> Iterator[Window]:
        found = extract(record, is_subagent=self._info.is_subagent)
        sizes = [_measure(piece.text) for piece in found.pieces]
        if self._is_full(len(sizes), sum(sizes)):
            yield self.close()
        # Windows within a record have the cursor before it: after a crash it is read again from its first block.
        before = self._encode_state() if len(sizes) > 1 and self._overflows(len(sizes), sum(sizes)) else None
        own, parent = record.get("uuid"), record.get("parentUuid") or record.get("logicalParentUuid")
        turn = self._turns.place(as_text(own), as_text(parent), is_prompt=found.is_prompt)
        self._state.began_with_clear |= not turn.prompt and is_clear_command(record)
        self._take_link(record)
        for piece, size in zip(found.pieces, sizes, strict=True):
            if self._is_full(1, size):
                yield self.close(before)
            self._events.append(_build_event(self._info, record, offset, piece, turn))
            self._text_bytes += size
        self._take_title(record)
        self._packets.extend(found.packets)
        if found.pieces and record.get("sessionId") not in (None, self._owner):
            found.losses.append("foreign_session")
        self._count(found.losses)

    def _is_full(self, events: int, text_bytes: int) -> bool:
        return bool(self._events) and self._overflows(events, text_bytes)

    def _overflows(self, events: int, text_bytes: int) -> bool:
        return len(self._events) + events > MAX_EVENTS or self._text_bytes + text_bytes > MAX_TEXT_BYTES

    def _count(self, losses: list[str]) -> None:
        """Count by kind; the kinds that a file may invent freely are bounded."""
        for kind in losses:
            is_new = kind.startswith("unknown:") and kind not in self._losses
            is_too_many = is_new and sum(name.startswith("unknown:") for name in self._losses) >= _MAX_UNKNOWN
            self._losses["unknown:other" if is_too_many else kind] += 1

    def _take_title(self, record: dict[str, object]) -> None:
        title = find_title(record)
        if title is not None and (title[1] or not self._state.has_custom_title):
            self._title = title[0]
            self._state.has_custom_title |= title[1]

    def _take_link(self, record: dict[str, object]) -> None:
        """Keep where the session came from, as far as a record proves it."""
        state = self._state
        launched = record.get("session_id")
        if not state.launched and isinstance(launched, str):
            state.launched = launched
        if self._info.is_subagent or len(state.linked) >= _MAX_LINKS:
            return
        link = self._find_branch(record) or self._find_clear(record) or self._find_fork(record)
        if link is not None:
            state.linked.append(link.parent_id)
            self._links.append(link)

    def _find_branch(self, record: dict[str, object]) -> SessionLink | None:
        """`/branch` keeps `forkedFrom` in each copied record (both versions)."""
        source = record.get("forkedFrom")
        parent = source.get("sessionId") if isinstance(source, dict) else None
        return self._make_link(parent, LinkKind.BRANCH, f"`forkedFrom` in record {record.get('uuid')}")

    def _find_clear(self, record: dict[str, object]) -> SessionLink | None:
        """2.1.332 writes, interactively, the session its process was launched with; a `/clear` does not change it."""
        if not self._state.began_with_clear:
            return None
        evidence = f"begins with `/clear`; `session_id` in record {record.get('uuid')}"
        return self._make_link(self._state.launched, LinkKind.CLEAR, evidence)

    def _find_fork(self, record: dict[str, object]) -> SessionLink | None:
        """The copies in a fork keep the `session_id` of their writer (2.1.332, interactive).

        So does what is written after a `/resume` within another session's process: only a record that the other
        session holds as well proves a fork.
        """
        launched, own = record.get("session_id"), record.get("uuid")
        link = self._make_link(launched, LinkKind.FORK, f"holds record {own} of that session, with its `session_id`")
        if link is None or not isinstance(own, str) or self._asked[link.parent_id] >= _MAX_ASKED:
            return None
        self._asked[link.parent_id] += 1
        return link if self._has_record(link.parent_id, own) else None

    def _make_link(self, parent: object, kind: LinkKind, evidence: str) -> SessionLink | None:
        if not isinstance(parent, str) or parent in ("", self._info.native_id, *self._state.linked):
            return None
        return SessionLink(child_id=self._info.native_id, parent_id=parent, kind=kind, evidence=evidence)

    def _encode_state(self) -> dict[str, str]:
        self._state.turns = self._turns.get_state()
        return {"claude": msgspec.json.encode(self._state).decode()}

    def close(self, state: dict[str, str] | None = None, *, at_end: bool = False) -> Window:
        """The window so far, and a new one begun. `state` is what to go on with from the cursor, if not the latest."""
        window = Window(
            native_id=self._info.native_id,
            cursor=make_cursor(self._info.path, self._end, state or self._encode_state()).encode(),
            events=self._events,
            losses=dict(self._losses),
            packets=self._packets,
            links=self._links,
            title=self._title,
            at_end=at_end,
        )
        self._links = []
        self._clear()
        return window


def _build_event(info: SessionInfo, record: dict[str, object], offset: int, piece: Piece, turn: Turn) -> Event:
    own = record.get("uuid")
    key = own if isinstance(own, str) and own else _make_key(record, offset)
    return Event(
        harness=info.harness,
        native_id=info.native_id,
        record=key,
        kind=piece.kind,
        text=piece.text,
        block=piece.block,
        role=piece.role,
        at_ms=parse_time(record.get("timestamp")),
        tool=piece.tool,
        call_id=piece.call_id,
        status=piece.status,
        copy_key=piece.copy_key or f"{key}/{piece.block}",
        turn=turn.prompt,
        parent_turn=turn.parent,
    )


def _make_key(record: dict[str, object], offset: int) -> str:
    """A record without `uuid`: older summaries name the leaf that they sum up, anything else goes by its place."""
    leaf = record.get("leafUuid")
    return f"summary-{leaf}" if isinstance(leaf, str) and leaf else f"byte-{offset}"


def _measure(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
