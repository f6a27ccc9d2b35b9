"""A Claude Code transcript, read in windows from a cursor on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from rigline.harness.claude_fields import find_title, is_clear_command
from rigline.harness.claude_records import extract
from rigline.harness.journal import open_at
from rigline.harness.turns import Turns, TurnsState
from rigline.harness.windows import Item, JournalReader, as_text, decode_state, make_unreadable, parse_time_ms
from rigline.model import LinkKind, SessionInfo, SessionLink, Window

HARNESS = "claude-code"
LABEL = "Claude Code"
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
        yield from _Reader(info, start.offset, decode_state(start.state, "claude", _State), has_record).read()
    except OSError as error:
        raise make_unreadable(info, LABEL, error) from error


class _Reader(JournalReader):
    def __init__(self, info: SessionInfo, offset: int, state: _State, has_record: HasRecord) -> None:
        super().__init__(info, info.path, offset, Turns(state.turns))
        self._owner = info.parent.parent_id if info.is_subagent and info.parent else info.native_id
        self._has_record = has_record
        self._asked: Counter[str] = Counter()
        self._state = state
        if info.parent is not None and offset == 0:
            self._keep(info.parent)

    def take_record(self, record: dict[str, object], offset: int) -> Iterator[Window]:
        """See `JournalReader.take_record`."""
        yield from self._builder.add([self._make_item(record, offset)])
        title = find_title(record)
        self._state.has_custom_title |= title is not None and title[1]
        self._state.began_with_clear |= not self._turns.current.prompt and is_clear_command(record)
        self._take_link(record)

    def get_state(self) -> dict[str, str]:
        """See `JournalReader.get_state`."""
        self._state.turns = self._turns.get_state()
        return {"claude": msgspec.json.encode(self._state).decode()}

    def _make_item(self, record: dict[str, object], offset: int) -> Item:
        """The record as an item. One without a `uuid` has no place in the tree, and belongs to the turn before it."""
        found = extract(record, is_subagent=self._info.is_subagent)
        if found.pieces and record.get("sessionId") not in (None, self._owner):
            found.losses.append("foreign_session")
        own, title = as_text(record.get("uuid")), find_title(record)
        is_title = title is not None and (title[1] or not self._state.has_custom_title)
        return Item(
            key=own or _make_key(record, offset),
            pieces=tuple(found.pieces),
            parent=as_text(record.get("parentUuid") or record.get("logicalParentUuid")) if own else None,
            is_prompt=found.is_prompt and bool(own),
            at_ms=parse_time_ms(record.get("timestamp")),
            losses=tuple(found.losses),
            packets=tuple(found.packets),
            title=title[0] if title is not None and is_title else None,
        )

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
            self._keep(link)

    def _keep(self, link: SessionLink) -> None:
        self._state.linked.append(link.parent_id)
        self._builder.link(link)

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


def _make_key(record: dict[str, object], offset: int) -> str:
    """A record without `uuid`: older summaries name the leaf that they sum up, anything else goes by its place."""
    leaf = record.get("leafUuid")
    return f"summary-{leaf}" if isinstance(leaf, str) and leaf else f"byte-{offset}"
