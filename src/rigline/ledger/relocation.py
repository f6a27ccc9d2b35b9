"""A workstream goes over to another checkout: its row, the sessions that go with it, and the segment that tells it.

The caller holds the writing transaction.
"""

from __future__ import annotations

from rigline.ids import SHORT_CHARS
from rigline.ledger.intake import SCOPE_NAMES, read_bindings
from rigline.ledger.segments import Header, SegmentMove, clean_header, write_segment
from rigline.store import workstreams
from rigline.store.events import find_next_position
from rigline.store.text import replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.model import Scope, Workstream
    from rigline.store.sqlite import Database


def relocate(
    db: Database, segments_folder: str, workstream: Workstream, scope: Scope, *, evidence: str, now_ms: int
) -> None:
    """Let the workstream be of `scope`; see `Ledger.relocate`."""
    place = workstreams.scope_values(scope)
    db.run(
        "relocate_workstream",
        id=workstream.id,
        name=_choose_name(db, workstream, scope),
        cwd=scope.cwd,
        inode_fingerprint=scope.inode_fingerprint,
        **place,
    )
    former = workstream.worktree_fingerprint
    moving = db.all("list_sessions_that_move", former=former, workstream_id=workstream.id)
    for key, _, _ in moving:
        db.run("move_session", key=key, **place)
    move = SegmentMove(
        workstream_id=workstream.id,
        from_cwd=workstream.cwd,
        to_cwd=replace_surrogates(scope.cwd),
        evidence=replace_surrogates(evidence),
        at_ms=now_ms,
        sessions=[(harness, native_id) for _, harness, native_id in moving],
    )
    # One that only revised events begins at the next position too, and was written before.
    position = find_next_position(db) + 1
    record_move(db, position, move)
    _write(db, segments_folder, position, move)


def record_move(db: Database, position: int, move: SegmentMove) -> None:
    """Keep that, when and why a workstream was re-attached."""
    values = {name: getattr(move, name) for name in ("workstream_id", "from_cwd", "to_cwd", "evidence", "at_ms")}
    db.run("put_move", position=position, **values)


def _choose_name(db: Database, workstream: Workstream, scope: Scope) -> str:
    """Its own name, or one with its id behind it where another line has that name."""
    holder = workstreams.find_by_name(db, scope, workstream.name)
    if holder is None or holder.id == workstream.id:
        return workstream.name
    return f"{workstream.name}-{workstream.id[:SHORT_CHARS]}"


def _write(db: Database, segments_folder: str, position: int, move: SegmentMove) -> None:
    """Put the move on disk, in a segment of one of the workstream's sessions: without one it is in no segment."""
    key = db.value("find_first_bound_session", workstream_id=move.workstream_id)
    if key is None:
        return
    row = db.all("get_session", key=key)[0]
    place = db.one("find_place", key=key)
    assert place
    header = Header(
        harness=row[0],
        native_id=row[1],
        first_position=position,
        cursor_before=row[5],
        cursor_after=row[5] or "",
        path=row[2] or "",
        cwd=row[3],
        store=row[4],
        title=row[6],
        is_subagent=bool(row[7]),
        scope=dict(zip(SCOPE_NAMES, place[1:], strict=True)) if place[-1] is not None else None,
        bindings=read_bindings(db, key),
        move=move,
    )
    segment = write_segment(segments_folder, clean_header(header), [])
    db.run(
        "insert_segment",
        name=segment.name,
        session_key=key,
        events=segment.events,
        bytes=segment.bytes,
        sha256=segment.sha256,
    )
