"""A Codex thread, read in windows from a cursor on: its rollouts, one after the other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import msgspec

from rigline.errors import SessionUnreadable
from rigline.harness.codex_files import Head, build_head, parse_time_ms, read_name
from rigline.harness.codex_records import Extract, extract, find_told, get_dict
from rigline.harness.codex_turns import FindFile, Turns, TurnsState, find_prompt_before
from rigline.harness.journal import Line, decode_cursor, iter_lines, make_cursor, open_at
from rigline.model import SESSION_START, Event, Kind, LinkKind, SessionInfo, SessionLink, Window

HARNESS = "codex"
MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a stretch without events gets a cursor of its own as well, so that a crash does not cost all of it
MAX_SOURCE_BYTES = 32 << 20
_MAX_UNKNOWN = 16


def read_windows(info: SessionInfo, paths: list[str], cursor: str | None, find_file: FindFile) -> Iterator[Window]:
    """See `Store.read`; `paths` are the thread's rollouts, the oldest first.

    A cursor belongs to one of them by its name: those before it have been read. An event of more than 1 MiB is a
    window of its own. Raises `SessionUnreadable`.
    """
    place = _find_place(paths, cursor)
    try:
        start = open_at(cursor if place is not None else None, paths[place or 0])
        if start.is_restart:
            place = 0
        for number in range(place or 0, len(paths)):
            offset, state = (start.offset, start.state) if number == place else (0, {})
            reader = _Reader(info, paths[number], state, offset, find_file)
            for line in iter_lines(paths[number], offset):
                yield from reader.take(line)
            yield reader.close(at_end=number == len(paths) - 1)
    except OSError as error:
        raise SessionUnreadable(
            f"The session {info.native_id} of Codex cannot be read: {error.filename or info.path}: "
            f"{error.strerror or error}.",
            native_id=info.native_id,
            path=info.path,
        ) from error


def _find_place(paths: list[str], cursor: str | None) -> int | None:
    known = decode_cursor(cursor)
    if known is None:
        return None
    name = os.path.basename(known.path)
    return next((place for place, path in enumerate(paths) if os.path.basename(path) == name or len(paths) == 1), None)


def build_links(thread_id: str, head: Head) -> list[SessionLink]:
    """Where a thread came from, as its first record tells it: a subagent's parent, and a fork's."""
    links = []
    if head.is_subagent and head.parent_thread:
        evidence = "`parent_thread_id` and `source.subagent` in its first record"
        links.append(_link(thread_id, head.parent_thread, LinkKind.SUBAGENT, evidence))
    if head.forked_from and head.forked_from != thread_id:
        shared = f"records before ordinal {head.base_end}" if head.base_end is not None else "a copy of its records"
        links.append(_link(thread_id, head.forked_from, LinkKind.FORK, f"`forked_from_id`, {shared}"))
    return links


def _link(child_id: str, parent_id: str, kind: LinkKind, evidence: str) -> SessionLink:
    return SessionLink(child_id=child_id, parent_id=parent_id, kind=kind, evidence=evidence)


class _Reader:
    """Fills one window after the other from one rollout. `_end` is where the last line that was taken ends."""

    def __init__(self, info: SessionInfo, path: str, state: dict[str, str], offset: int, find_file: FindFile) -> None:
        self._info, self._path, self._find_file = info, path, find_file
        name = read_name(path)
        self._file_id = name.file_id if name is not None else info.native_id
        self._turns = Turns(_decode_state(state), self._file_id)
        self._end = offset
        self._links: list[SessionLink] = []
        self._is_begun = offset > 0
        self._clear()

    def _clear(self) -> None:
        self._begin = self._end
        self._events: list[Event] = []
        self._losses: Counter[str] = Counter()
        self._packets: list[tuple[str, int, int]] = []
        self._text_bytes = 0

    def take(self, line: Line) -> Iterator[Window]:
        """Read one line; yields the window that it does not fit into any more."""
        if line.record is not None:
            found = extract(line.record)
            size = _measure(found.text) if found.kind is not None else self._measure_doubt(line.record)
            if self._events and (len(self._events) >= MAX_EVENTS or self._text_bytes + size > MAX_TEXT_BYTES):
                yield self.close()
            self._take_record(line.record, found, line.offset)
        if line.damage is not None:
            self._losses[line.damage] += 1
        self._end = line.end
        if self._end - self._begin > MAX_SOURCE_BYTES:
            yield self.close()

    def _take_record(self, record: dict[str, object], found: Extract, offset: int) -> None:
        if not self._is_begun:
            self._take_head(record)
        key = self._turns.take(record, found, offset)
        if found.doubtful and self._turns.doubt(key, found.doubtful):
            found.losses.append("meta")
        if self._turns.state.doubtful is not None and record.get("type") == "event_msg":
            key, found = self._settle_doubt(record, found)
        if found.kind is not None and key:
            self._events.append(self._build_event(record, found, key))
            self._text_bytes += _measure(found.text)
        if found.packets:
            self._packets.extend(found.packets)
        if found.losses:
            self._count(found.losses)

    def _settle_doubt(self, record: dict[str, object], found: Extract) -> tuple[str, Extract]:
        """A text that was taken for the program's own is a prompt after all, when the next event says it was typed."""
        told = find_told(get_dict(record, "payload"))
        key, is_given_up = self._turns.settle_doubt(told)
        if key:
            return key, Extract(kind=Kind.MESSAGE, role="user", text=told, is_prompt=True)
        if is_given_up:
            found.losses.append("meta")
        return "", found

    def _measure_doubt(self, record: dict[str, object]) -> int:
        """How long the text is that this event may settle."""
        is_event = self._turns.state.doubtful is not None and record.get("type") == "event_msg"
        return _measure(find_told(get_dict(record, "payload"))) if is_event else 0

    def _take_head(self, record: dict[str, object]) -> None:
        """The first head is the thread's own; a copied one of its parent may follow (0.120.0)."""
        head = build_head(record)
        if head is None:
            return
        self._is_begun = True
        if self._file_id == self._info.native_id:
            self._links.extend(build_links(self._info.native_id, head))
        root = find_prompt_before(head.base_id, head.base_end, self._find_file) if head.base_id else SESSION_START
        self._turns.state.root = root

    def _build_event(self, record: dict[str, object], found: Extract, key: str) -> Event:
        assert found.kind is not None
        turn, parent = self._turns.turn
        return Event(
            harness=HARNESS,
            native_id=self._info.native_id,
            record=key,
            kind=found.kind,
            text=found.text,
            role=found.role,
            at_ms=parse_time_ms(record.get("timestamp")),
            tool=found.tool,
            call_id=found.call_id,
            status=found.status,
            copy_key=key,
            turn=turn,
            parent_turn=parent,
        )

    def _count(self, losses: list[str]) -> None:
        """Count by kind; the kinds that a file may invent freely are bounded."""
        for kind in losses:
            is_new = kind.startswith("unknown:") and kind not in self._losses
            is_too_many = is_new and sum(name.startswith("unknown:") for name in self._losses) >= _MAX_UNKNOWN
            self._losses["unknown:other" if is_too_many else kind] += 1

    def close(self, *, at_end: bool = False) -> Window:
        """The window so far, and a new one begun."""
        state = {"codex": msgspec.json.encode(self._turns.state).decode()}
        window = Window(
            native_id=self._info.native_id,
            cursor=make_cursor(self._path, self._end, state).encode(),
            events=self._events,
            losses={kind: count for kind, count in self._losses.items() if count > 0},
            packets=self._packets,
            links=self._links,
            at_end=at_end,
        )
        self._links = []
        self._clear()
        return window


def _decode_state(state: dict[str, str]) -> TurnsState:
    text = state.get("codex", "")
    try:
        return msgspec.json.decode(text, type=TurnsState) if text else TurnsState()
    except msgspec.DecodeError:
        return TurnsState()


def _measure(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
