"""Reading history back: what a session has not been shown, and a workstream from its beginning.

Every function runs inside a transaction that its caller opened. Rows of events are (seq, harness, native id, kind,
text, role, at_ms, tool, call id, status, session key, turn).
"""

from __future__ import annotations

from itertools import groupby

from msgspec import Struct, json

from rigline.store.deliveries import name_source
from rigline.store.turns import find_abandoned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rigline.store.sqlite import Database, Row

ABANDONED = "abandoned"
#: more characters than any text has
WHOLE_TEXT = 1 << 30


class UnseenRows(Struct):
    """The newest unseen events' rows oldest first, how many there are by kind, and how far each source was read."""

    rows: list[Row]
    counts: dict[str, int]
    through: dict[str, int]


class _Shown:
    """What a session has of its own or was shown already, whichever source it came by."""

    def __init__(self, db: Database, receiver_key: int) -> None:
        self._receiver_key = receiver_key
        self._through: dict[int, int] = dict(db.iterate("list_seen", receiver_key=receiver_key))
        copies = [seq for (seq,) in db.iterate("list_copies", session_key=receiver_key)]
        shown_copies = [seq for (seq,) in db.iterate("list_seen_copies", receiver_key=receiver_key)]
        self._seqs = frozenset(copies + shown_copies)

    def has(self, seq: int, owner: int) -> bool:
        return owner == self._receiver_key or seq <= self._through.get(owner, 0) or seq in self._seqs


class _Turns:
    """Which turns of which sessions are abandoned, looked up once each."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._abandoned: dict[int, frozenset[str]] = {}

    def is_abandoned(self, memberships: Iterable[tuple[int, str]]) -> bool:
        """Whether an event lies on an abandoned branch in every session that has it, as (session key, turn)."""
        return all(turn in self._find(session_key) for session_key, turn in memberships)

    def _find(self, session_key: int) -> frozenset[str]:
        if session_key not in self._abandoned:
            rows = self._db.all("list_turns", session_key=session_key)
            last = max(rows, key=lambda row: row[2], default=("",))[0]
            self._abandoned[session_key] = find_abandoned({turn: parent for turn, parent, _ in rows}, last)
        return self._abandoned[session_key]


def read_unseen(db: Database, workstream_id: str, receiver_key: int | None, limit: int, chars: int) -> UnseenRows:
    """What a session (None: one that the ledger does not know) was not shown of its workstream.

    Of tool outputs longer than `chars` the ends are given. Abandoned branches are counted, and left out.
    """
    # no row has the key 0
    receiver = receiver_key or 0
    counts: dict[str, int] = {}
    through: dict[int, int] = {}
    newest: list[int] = []
    for seq, kind in _iterate_unseen(db, workstream_id, receiver, through):
        counts[kind] = counts.get(kind, 0) + 1
        if kind != ABANDONED and len(newest) < limit:
            newest.append(seq)
    names = {key: name_source(harness, native_id) for key, harness, native_id in _list_sources(db, workstream_id)}
    return UnseenRows(
        rows=_read_events(db, newest, chars),
        counts=counts,
        through={names[key]: position for key, position in through.items()},
    )


def _iterate_unseen(
    db: Database, workstream_id: str, receiver: int, through: dict[int, int]
) -> Iterator[tuple[int, str]]:
    """(seq, kind) of each unseen event once, newest first; notes in `through` how far each source was read."""
    shown, turns = _Shown(db, receiver), _Turns(db)
    rows = db.iterate("list_unseen", workstream_id=workstream_id, receiver_key=receiver)
    for seq, group in groupby(rows, key=lambda row: row[0]):
        members = list(group)
        for _, _, _, source, position, _ in members:
            through[source] = max(position, through.get(source, 0))
        _, kind, owner, *_ = members[0]
        if not shown.has(seq, owner):
            memberships = [(source, turn) for _, _, _, source, _, turn in members]
            yield seq, ABANDONED if turns.is_abandoned(memberships) else kind


def _list_sources(db: Database, workstream_id: str) -> list[Row]:
    return db.all("list_sources", workstream_id=workstream_id)


def _read_events(db: Database, seqs: list[int], chars: int) -> list[Row]:
    return db.all("list_events", seqs=json.encode(seqs).decode(), chars=chars)


def find_sources(db: Database, workstream_id: str, *, with_subagents: bool) -> list[int]:
    """The keys of the sessions whose events make a workstream's history."""
    query = "list_subagents" if with_subagents else "list_sources"
    return [row[0] for row in db.all(query, workstream_id=workstream_id)]


def read_history(
    db: Database, sources: list[int], *, after_seq: int, limit: int, newest: bool
) -> list[tuple[Row, bool]]:
    """The first events of some sessions, or the `newest`, with whether each is abandoned, oldest first, each once."""
    query = "list_newest_history" if newest else "list_history"
    values = json.encode(sources).decode()
    seqs = [seq for (seq,) in db.all(query, sources=values, after_seq=after_seq, limit=limit)]
    rows = _read_events(db, seqs, WHOLE_TEXT)
    memberships = _find_memberships(db, rows, frozenset(sources))
    turns = _Turns(db)
    return [(row, turns.is_abandoned(memberships[row[0]])) for row in rows]


def _find_memberships(db: Database, rows: list[Row], sources: frozenset[int]) -> dict[int, list[tuple[int, str]]]:
    """The sessions among `sources` that have each event, with its turn there."""
    memberships: dict[int, list[tuple[int, str]]] = {row[0]: [] for row in rows}
    for row in rows:
        if row[10] in sources:
            memberships[row[0]].append((row[10], row[11]))
    seqs = json.encode(list(memberships)).decode()
    for seq, session_key, turn in db.iterate("list_copies_of_events", seqs=seqs):
        if session_key in sources:
            memberships[seq].append((session_key, turn))
    return memberships
