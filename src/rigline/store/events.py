"""Events: what of a batch is new, what is a copy, what was revised; and their rows and words.

Every function runs inside a writing transaction that its caller opened.
"""

from __future__ import annotations

from msgspec import Struct

from rigline.model import Event
from rigline.store.sessions import get_key, widen
from rigline.store.text import space_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.store.sqlite import Database


class Incoming(Struct):
    """An event ready to be stored: its text redacted, its hashes made, what it lost on the way counted by kind.

    `copy_key` is None where it has none. One without `text_hash` only refers to the event that has its id.
    """

    event: Event
    id: bytes
    copy_key: bytes | None
    text_hash: bytes
    losses: dict[str, int] = {}


class Step(Struct):
    """An event becomes part of a session: newly stored, or as a copy of the one that `seq` and `copied_id` name."""

    incoming: Incoming
    seq: int | None = None
    copied_id: bytes | None = None


class Batch(Struct):
    """A sorted batch: steps in the order of the transcript, and events whose text changed, by their seq."""

    steps: list[Step]
    revised: list[tuple[int, Incoming]]

    @property
    def added(self) -> int:
        """How many events are new to the ledger."""
        return sum(step.seq is None for step in self.steps)


class _Match(Struct):
    seq: int
    session_key: int
    id: bytes
    text_hash: bytes
    is_member: bool


def sort_batch(db: Database, session_key: int, incoming: list[Incoming]) -> Batch:
    """Tell what a session's batch brings: nothing that is already there, whether by identity or as a replay."""
    batch = Batch(steps=[], revised=[])
    if not incoming:
        return batch
    rows = _merge_repeats(incoming)
    by_id, by_copy_key = _match(db, session_key, rows)
    for place, row in enumerate(rows):
        same = by_id.get(place)
        if same and row.text_hash and same.text_hash != row.text_hash:
            batch.revised.append((same.seq, row))
        match = same or by_copy_key.get(place)
        if match is None:
            batch.steps.append(Step(row))
        elif match.session_key != session_key and not match.is_member:
            batch.steps.append(Step(row, match.seq, match.id))
    return batch


def _merge_repeats(incoming: list[Incoming]) -> list[Incoming]:
    """Each event once: the last text of one identity at its first place, and the first of one copy key."""
    by_id: dict[bytes, Incoming] = {}
    owners: dict[tuple[str, bytes], bytes] = {}
    for row in incoming:
        if row.copy_key is not None and owners.setdefault((row.event.native_id, row.copy_key), row.id) != row.id:
            continue
        by_id[row.id] = row
    return list(by_id.values())


def _match(db: Database, session_key: int, rows: list[Incoming]) -> tuple[dict[int, _Match], dict[int, _Match]]:
    db.run("clear_incoming")
    db.run_many("put_incoming", [(place, row.id, row.copy_key) for place, row in enumerate(rows)])
    by_id = _read_matches(db, "match_incoming_by_id", session_key)
    by_copy_key = _read_matches(db, "match_incoming_by_copy_key", session_key)
    return by_id, by_copy_key


def _read_matches(db: Database, query: str, session_key: int) -> dict[int, _Match]:
    matches: dict[int, _Match] = {}
    for place, seq, owner, event_id, text_hash, is_member in db.iterate(query, session_key=session_key):
        match = _Match(seq, owner, event_id, text_hash, bool(is_member))
        known = matches.get(place)
        # several sessions may have stored one copy key before it was known to be one: its own decides
        if known is None or (match.is_member or owner == session_key):
            matches[place] = match
    return matches


def write_batch(db: Database, harness: str, session_key: int, batch: Batch, first_position: int) -> None:
    """Store a sorted batch; its positions begin at `first_position`, which is beyond every one in use."""
    _Writer(db, harness, session_key).write(batch, first_position)


def find_next_position(db: Database) -> int:
    """The first position that nothing has."""
    position: int = db.value("find_last_position")
    return position + 1


class _Writer:
    """The rows of one batch on their way to the tables."""

    def __init__(self, db: Database, harness: str, session_key: int) -> None:
        self._db = db
        self._harness = harness
        self._session_key = session_key
        self._owners: dict[str, int] = {}
        self._events: list[tuple[object, ...]] = []
        self._words: list[tuple[int, str]] = []
        self._copies: list[tuple[int, int, int, str]] = []
        self._turns: dict[tuple[int, str], tuple[str, int]] = {}
        self._times: dict[int, list[int]] = {}

    def write(self, batch: Batch, first_position: int) -> None:
        position = first_position
        for step in batch.steps:
            position = self._take(step, position)
        self._db.run_many("insert_event", self._events)
        self._db.run_many("insert_words", self._words)
        self._db.run_many("insert_copy", self._copies)
        self._db.run_many(
            "put_turn", [(key, turn, parent, last) for (key, turn), (parent, last) in self._turns.items()]
        )
        for key, times in self._times.items():
            widen(self._db, key, times)
        for seq, row in batch.revised:
            self._revise(seq, row)

    def _take(self, step: Step, position: int) -> int:
        """Plan the rows of one step and return the position after it."""
        seq = step.seq
        if seq is None:
            seq = position
            owner = self._get_owner(step.incoming.event.native_id)
            self._events.append(_build_row(step.incoming, seq, owner))
            self._words.append((seq, space_cjk(step.incoming.event.text)))
            self._join(owner, step.incoming.event, seq)
            position += 1
            if owner == self._session_key:
                return position
        self._copies.append((position, self._session_key, seq, step.incoming.event.turn))
        self._join(self._session_key, step.incoming.event, position)
        return position + 1

    def _get_owner(self, native_id: str) -> int:
        if native_id not in self._owners:
            self._owners[native_id] = get_key(self._db, self._harness, native_id)
        return self._owners[native_id]

    def _join(self, session_key: int, event: Event, position: int) -> None:
        if event.turn:
            self._turns[session_key, event.turn] = (event.parent_turn, position)
        if event.at_ms is not None:
            self._times.setdefault(session_key, []).append(event.at_ms)

    def _revise(self, seq: int, row: Incoming) -> None:
        old = self._db.value("get_text", seq=seq)
        self._db.run_many("delete_words", [(seq, space_cjk(old))])
        self._db.run("revise_event", seq=seq, text=row.event.text, text_hash=row.text_hash, status=row.event.status)
        self._db.run_many("insert_words", [(seq, space_cjk(row.event.text))])


def _build_row(incoming: Incoming, seq: int, session_key: int) -> tuple[object, ...]:
    event = incoming.event
    return (
        seq,
        incoming.id,
        session_key,
        str(event.kind),
        event.role,
        event.at_ms,
        event.turn,
        event.tool,
        event.call_id,
        event.status,
        incoming.copy_key,
        incoming.text_hash,
        event.record,
        event.block,
        event.text,
    )


def has_event(db: Database, event_id: bytes) -> bool:
    """Whether the ledger has the event."""
    return db.one("find_event_by_id", id=event_id) is not None
