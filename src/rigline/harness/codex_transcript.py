"""A Codex thread, read in windows from a cursor on: its rollouts, one after the other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b

import msgspec
from msgspec import Struct

from rigline.errors import SessionUnreadable
from rigline.harness.codex_files import Head, build_head, parse_time_ms, read_name
from rigline.harness.codex_records import Extract, extract, find_told, get_dict, get_text
from rigline.harness.journal import Line, decode_cursor, iter_lines, make_cursor, open_at
from rigline.model import Event, Kind, LinkKind, SessionInfo, SessionLink, Window

HARNESS = "codex"
MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a stretch without events gets a cursor of its own as well, so that a crash does not cost all of it
MAX_SOURCE_BYTES = 32 << 20
_MAX_UNKNOWN = 16
#: how many prompts can be taken back by one rollback and still be told apart
_MAX_PROMPTS = 64
#: how many files a lineage is followed through
_MAX_LINEAGE = 64

#: file id -> the rollout's path, or None when it is gone
FindFile = Callable[[str], str | None]


class _State(Struct, omit_defaults=True):
    """What the next window needs to know of those before it.

    `turn_id` and `count` are Codex's turn and how many items it has so far. `prompts` are the keys of the latest
    prompts, `root` that of the one before them. `doubtful` is the key of a user's text that was left out, with the
    text's hash.
    """

    turn_id: str = ""
    count: int = 0
    prompts: list[str] = []
    root: str = ""
    doubtful: tuple[str, str] | None = None


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
    name = os.path.basename(known.path) if known is not None else None
    return next((place for place, path in enumerate(paths) if os.path.basename(path) == name), None)


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


def find_prompt_before(file_id: str, end: int | None, find_file: FindFile, depth: int = _MAX_LINEAGE) -> str:
    """The key of the last prompt before ordinal `end` in a rollout or in those it continues; empty when unknown."""
    path = find_file(file_id) if depth else None
    if path is None:
        return ""
    turns = _Turns(_State(), file_id)
    base: Head | None = None
    try:
        for line in iter_lines(path):
            record = line.record or {}
            ordinal = record.get("ordinal")
            if end is not None and isinstance(ordinal, int) and ordinal >= end:
                break
            base = base or build_head(record)
            turns.take(record, extract(record), line.offset)
    except OSError:
        return ""
    if turns.state.prompts:
        return turns.state.prompts[-1]
    if base is None or base.base_id is None:
        return turns.state.root
    return find_prompt_before(base.base_id, base.base_end, find_file, depth - 1)


class _Turns:
    """Gives each record its key, and its place in the order of prompts."""

    def __init__(self, state: _State, file_id: str) -> None:
        self.state = state
        self._file_id = file_id

    def take(self, record: dict[str, object], found: Extract, offset: int) -> tuple[str, str]:
        """(record key, copy key) of a record that may be an event; empty for all others.

        A key is made of the turn's id, which is unique, and the item's own id, its call's, or its number in the
        turn: a fork's copy has the same (0.120.0 writes neither ids nor ordinals). Ordinals have been seen twice.
        """
        payload = get_dict(record, "payload")
        kind = record.get("type")
        if kind in ("event_msg", "turn_context"):
            self._take_event(payload, str(kind))
            return "", ""
        if kind not in ("response_item", "compacted"):
            return "", ""
        name = self._name(payload, str(kind))
        self.state.count += 1
        own_turn = get_text(get_dict(payload, "internal_chat_message_metadata_passthrough"), "turn_id")
        turn = own_turn or self.state.turn_id
        if not turn and not get_text(payload, "id"):
            return f"{self._file_id}@{offset}", ""
        key = f"{turn}:{name}" if turn else name
        if found.is_prompt:
            self.add_prompt(key)
        if found.doubtful:
            self.state.doubtful = (key, _hash(found.doubtful))
        return key, key

    def _name(self, payload: dict[str, object], kind: str) -> str:
        if kind == "compacted":
            return f"compacted-{self.state.count}"
        call_id = get_text(payload, "call_id")
        suffix = "-output" if get_text(payload, "type").endswith("_output") else ""
        return get_text(payload, "id") or (call_id + suffix if call_id else str(self.state.count))

    def _take_event(self, payload: dict[str, object], kind: str) -> None:
        if kind == "turn_context" or payload.get("type") == "task_started":
            turn_id = get_text(payload, "turn_id")
            if turn_id and turn_id != self.state.turn_id:
                self.state.turn_id, self.state.count = turn_id, 0
        elif payload.get("type") == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))

    def _roll_back(self, turns: object) -> None:
        """The user went back: the next prompt comes after an earlier one (0.120.0, the same file)."""
        prompts = self.state.prompts
        if not isinstance(turns, int) or turns <= 0:
            return
        if turns > len(prompts):
            self.state.root = ""
        del prompts[-turns:]

    def add_prompt(self, key: str) -> None:
        """A prompt was typed."""
        if key in self.state.prompts[-1:]:
            return
        self.state.prompts.append(key)
        while len(self.state.prompts) > _MAX_PROMPTS:
            self.state.root = self.state.prompts.pop(0)

    def settle_doubt(self, told: str) -> str:
        """The key of the text that was left out, when an event tells that the user typed it; else empty."""
        doubtful = self.state.doubtful
        if doubtful is None or not told or _hash(told) != doubtful[1]:
            return ""
        self.state.doubtful = None
        self.add_prompt(doubtful[0])
        return doubtful[0]

    @property
    def turn(self) -> tuple[str, str]:
        """(key of the current prompt, key of the one before it)."""
        prompts = self.state.prompts
        if not prompts:
            return self.state.root if self.state.root else "", ""
        return prompts[-1], prompts[-2] if len(prompts) > 1 else self.state.root


def _hash(text: str) -> str:
    return blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class _Reader:
    """Fills one window after the other from one rollout. `_end` is where the last line that was taken ends."""

    def __init__(self, info: SessionInfo, path: str, state: dict[str, str], offset: int, find_file: FindFile) -> None:
        self._info, self._path, self._find_file = info, path, find_file
        name = read_name(path)
        self._file_id = name.file_id if name is not None else info.native_id
        self._turns = _Turns(_decode_state(state), self._file_id)
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
            size = _measure(found.text)
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
        key, copy_key = self._turns.take(record, found, offset)
        if record.get("type") == "event_msg":
            told = find_told(get_dict(record, "payload"))
            key = copy_key = self._turns.settle_doubt(told)
            if key:
                found = Extract(kind=Kind.MESSAGE, role="user", text=told)
                self._losses["meta"] -= 1
        if found.kind is not None and key:
            self._events.append(self._build_event(record, found, key, copy_key))
            self._text_bytes += _measure(found.text)
        self._packets.extend(found.packets)
        self._count(found.losses)

    def _take_head(self, record: dict[str, object]) -> None:
        """The first head is the thread's own; a copied one of its parent may follow (0.120.0)."""
        head = build_head(record)
        if head is None:
            return
        self._is_begun = True
        if self._file_id == self._info.native_id:
            self._links.extend(build_links(self._info.native_id, head))
        root = find_prompt_before(head.base_id, head.base_end, self._find_file) if head.base_id else ""
        self._turns.state.root = root

    def _build_event(self, record: dict[str, object], found: Extract, key: str, copy_key: str) -> Event:
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
            copy_key=copy_key,
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


def _decode_state(state: dict[str, str]) -> _State:
    text = state.get("codex", "")
    try:
        return msgspec.json.decode(text, type=_State) if text else _State()
    except msgspec.DecodeError:
        return _State()


def _measure(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
