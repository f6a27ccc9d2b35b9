"""Deliveries: packets offered, found again in transcripts, and so confirmed. Inside the caller's transaction.

Sources are named "harness:native id" in what is offered, so that a remote ledger and a rebuilt one read it alike.
"""

from __future__ import annotations

from msgspec import json

from rigline.store.sessions import find_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rigline.model import Delivery, RunRef
    from rigline.store.sqlite import Database


def name_source(harness: str, native_id: str) -> str:
    """A session's name in a delivery."""
    return f"{harness}:{native_id}"


def offer(db: Database, run: RunRef, delivery: Delivery, now_ms: int) -> None:
    """Record an offer. Earlier unconfirmed ones to the same receiver, or to none, are superseded; a late sighting
    confirms those all the same. Idempotent."""
    db.run(
        "supersede_deliveries",
        id=delivery.id,
        workstream_id=run.workstream_id,
        harness=run.harness,
        native_id=delivery.native_id,
    )
    db.run(
        "insert_delivery",
        id=delivery.id,
        workstream_id=run.workstream_id,
        run_id=run.run_id,
        harness=run.harness,
        native_id=delivery.native_id,
        parts=delivery.parts,
        through=json.encode(delivery.through).decode(),
        now_ms=now_ms,
    )


def find_unsighted(db: Database, session_key: int, packets: Iterable[tuple[str, int, int]]) -> list[tuple[str, int]]:
    """(delivery, part) of the markers that tell something new about this session. Unknown deliveries tell nothing."""
    news = []
    for delivery_id, part, _ in dict.fromkeys(packets):
        row = db.one("find_delivery", id=delivery_id)
        if row is None or not 1 <= part <= row[0]:
            continue
        if db.one("has_sighting", delivery_id=delivery_id, session_key=session_key, part=part) is None:
            news.append((delivery_id, part))
    return news


def sight(
    db: Database, session_key: int, native_id: str, sightings: Iterable[tuple[str, int]], now_ms: int
) -> tuple[list[str], dict[str, int]]:
    """Record sightings. Returns the deliveries that they confirm, and how far that shows the session each source.

    All parts of a packet, seen in one session, prove that it was shown what the packet covers: a fork that holds
    its parent's packets, too. The delivery is confirmed by the first session in which that is so.
    """
    confirmed: list[str] = []
    shown: dict[str, int] = {}
    touched = dict.fromkeys(delivery_id for delivery_id, _ in sightings)
    for delivery_id, part in sightings:
        db.run("insert_sighting", delivery_id=delivery_id, session_key=session_key, part=part)
    for delivery_id in touched:
        row = db.one("find_delivery", id=delivery_id)
        assert row
        parts, through, state = row
        if db.value("count_sightings", delivery_id=delivery_id, session_key=session_key) < parts:
            continue
        if state != "confirmed":
            db.run("confirm_delivery", id=delivery_id, native_id=native_id, now_ms=now_ms)
            confirmed.append(delivery_id)
        for source, position in json.decode(through, type=dict[str, int]).items():
            shown[source] = max(position, shown.get(source, 0))
    mark_shown(db, session_key, shown, now_ms)
    return confirmed, shown


def mark_shown(db: Database, receiver_key: int, shown: Mapping[str, int], now_ms: int) -> None:
    """Record that a session was shown each source through a position. It only grows; unknown sources are skipped."""
    for source, through in shown.items():
        harness, _, native_id = source.partition(":")
        source_key = find_key(db, harness, native_id)
        if source_key is not None and source_key != receiver_key:
            db.run("put_seen", receiver_key=receiver_key, source_key=source_key, through=through, now_ms=now_ms)
