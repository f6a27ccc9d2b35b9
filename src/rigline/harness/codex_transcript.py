"""A Codex thread, read in windows from a cursor on: its rollouts, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from rigline.harness.codex_files import Head, build_head, read_name
from rigline.harness.codex_records import Extract, extract, find_told
from rigline.harness.codex_turns import FindFile, PromptOrder, PromptsState, find_prompt_before
from rigline.harness.journal import decode_cursor, open_at
from rigline.harness.turns import Turn, Turns, TurnsState
from rigline.harness.windows import (
    Item,
    JournalReader,
    Piece,
    as_dict,
    decode_state,
    make_unreadable,
    measure,
    parse_time_ms,
)
from rigline.model import SESSION_START, Kind, LinkKind, SessionInfo, SessionLink, Window

HARNESS = "codex"
LABEL = "Codex"


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
            reader = _Reader(info, paths[number], offset, state, find_file)
            yield from reader.read(at_end=number == len(paths) - 1)
    except OSError as error:
        raise make_unreadable(info, LABEL, error) from error


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


class _Reader(JournalReader):
    """One rollout at reading."""

    def __init__(self, info: SessionInfo, path: str, offset: int, state: dict[str, str], find_file: FindFile) -> None:
        super().__init__(info, path, offset, Turns(TurnsState()))
        self._find_file = find_file
        name = read_name(path)
        self._file_id = name.file_id if name is not None else info.native_id
        self._order = PromptOrder(decode_state(state, "codex", PromptsState), self._file_id)
        self._is_begun = offset > 0

    def take_record(self, record: dict[str, object], offset: int) -> Iterator[Window]:
        """See `JournalReader.take_record`. Room is made first, as a key counts the records before it."""
        found = extract(record)
        if self._builder.is_full(1, measure(found.text) if found.kind is not None else self._measure_doubt(record)):
            yield self._builder.close()
        if not self._is_begun:
            self._take_head(record)
        key = self._order.take(record, found, offset)
        if found.doubtful and self._order.doubt(key, found.doubtful):
            found.losses.append("meta")
        if self._order.state.doubtful is not None and record.get("type") == "event_msg":
            key, found = self._settle_doubt(record, found)
        yield from self._builder.add([_make_item(record, found, key, Turn(*self._order.turn))])

    def get_state(self) -> dict[str, str]:
        """See `JournalReader.get_state`."""
        return {"codex": msgspec.json.encode(self._order.state).decode()}

    def _settle_doubt(self, record: dict[str, object], found: Extract) -> tuple[str, Extract]:
        """A text that was taken for the program's own is a prompt after all, when the next event says it was typed."""
        told = find_told(as_dict(record.get("payload")))
        key, is_given_up = self._order.settle_doubt(told)
        if key:
            return key, Extract(kind=Kind.MESSAGE, role="user", text=told, is_prompt=True)
        if is_given_up:
            found.losses.append("meta")
        return "", found

    def _measure_doubt(self, record: dict[str, object]) -> int:
        """How long the text is that this event may settle."""
        is_event = self._order.state.doubtful is not None and record.get("type") == "event_msg"
        return measure(find_told(as_dict(record.get("payload")))) if is_event else 0

    def _take_head(self, record: dict[str, object]) -> None:
        """The first head is the thread's own; a copied one of its parent may follow (0.120.0)."""
        head = build_head(record)
        if head is None:
            return
        self._is_begun = True
        if self._file_id == self._info.native_id:
            for link in build_links(self._info.native_id, head):
                self._builder.link(link)
        root = find_prompt_before(head.base_id, head.base_end, self._find_file) if head.base_id else SESSION_START
        self._order.state.root = root


def _make_item(record: dict[str, object], found: Extract, key: str, turn: Turn) -> Item:
    """The record as an item, in the turn that is running now. Without a key it holds nothing."""
    losses, packets = tuple(found.losses), tuple(found.packets)
    if found.kind is None or not key:
        return Item(key=key, turn=turn, losses=losses, packets=packets)
    piece = Piece(
        kind=found.kind,
        text=found.text,
        role=found.role,
        tool=found.tool,
        call_id=found.call_id,
        status=found.status,
        copy_key=key,
    )
    at_ms = parse_time_ms(record.get("timestamp"))
    return Item(key=key, pieces=(piece,), turn=turn, at_ms=at_ms, losses=losses, packets=packets)
