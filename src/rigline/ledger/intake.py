"""One window's way into the ledger: its segment first, then its rows, all within one writing transaction.

The caller holds that transaction, so what is found out here stays true until the rows are there.
"""

from __future__ import annotations

from rigline.ledger.base import Appended
from rigline.ledger.segments import Header, SegmentBinding, build_lines, clean_header, write_segment
from rigline.store import deliveries, sessions
from rigline.store.events import Batch, find_next_position, sort_batch, write_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.model import Scope, SessionInfo, Window
    from rigline.store.events import Incoming
    from rigline.store.sqlite import Database

SCOPE_NAMES = ("workspace", "project", "repo_fingerprint", "worktree_fingerprint")


class Intake:
    """Takes windows in, at one moment of the ledger's clock."""

    def __init__(self, db: Database, segments_folder: str, now_ms: int) -> None:
        self._db = db
        self._segments_folder = segments_folder
        self._now_ms = now_ms

    def take(
        self, info: SessionInfo, window: Window, incoming: list[Incoming], *, title: str | None, scope: Scope | None
    ) -> Appended:
        """Store what the window brings that is not there. One that brings nothing writes nothing."""
        known = self._db.one("find_session", harness=info.harness, native_id=window.native_id)
        key = known[0] if known else sessions.get_key(self._db, info.harness, window.native_id)
        cursor = known[1] if known else None
        batch = sort_batch(self._db, key, incoming)
        sightings = deliveries.find_unsighted(self._db, key, window.packets)
        has_news = bool(batch.steps or batch.revised)
        if known and not (has_news or sightings or window.links) and cursor == window.cursor:
            return Appended()
        sessions.describe(self._db, key, info, title=title, store=None, scope=scope)
        self._link(info, window)
        confirmed, shown = deliveries.sight(self._db, key, window.native_id, sightings, self._now_ms)
        losses = count_losses(window.losses, batch, is_replay=bool(incoming) and not has_news)
        sessions.add_losses(self._db, key, losses)
        if has_news:
            header = self._build_header(key, info, window, title=title, cursor=cursor, losses=losses, shown=shown)
            self._store(key, header, batch)
        self._db.run("set_cursor", key=key, cursor=window.cursor)
        copied = len(batch.steps) - batch.added
        return Appended(
            added=batch.added, revised=len(batch.revised), copied=copied, confirmed=tuple(confirmed), losses=losses
        )

    def _link(self, info: SessionInfo, window: Window) -> None:
        """Keep the links. What a fork's parent was shown before the fork's birth, it was shown too."""
        for link in window.links:
            is_new = sessions.add_link(self._db, info.harness, link)
            if is_new and link.child_id == window.native_id and info.started_ms is not None:
                sessions.inherit(self._db, info.harness, link, info.started_ms)

    def _build_header(
        self,
        key: int,
        info: SessionInfo,
        window: Window,
        *,
        title: str | None,
        cursor: str | None,
        losses: dict[str, int],
        shown: dict[str, int],
    ) -> Header:
        place = self._db.one("find_place", key=key)
        assert place
        store, *names = place
        header = Header(
            harness=info.harness,
            native_id=window.native_id,
            first_position=find_next_position(self._db),
            cursor_before=cursor,
            cursor_after=window.cursor,
            path=info.path,
            cwd=info.cwd,
            store=store,
            title=title,
            is_subagent=info.is_subagent,
            scope=dict(zip(SCOPE_NAMES, names, strict=True)) if names[-1] is not None else None,
            bindings=read_bindings(self._db, key),
            links=window.links,
            losses=losses,
            shown=shown,
        )
        return clean_header(header)

    def _store(self, key: int, header: Header, batch: Batch) -> None:
        lines = build_lines(batch, header.native_id)
        segment = write_segment(self._segments_folder, header, lines)
        write_batch(self._db, header.harness, key, batch, header.first_position)
        self._db.run(
            "insert_segment",
            name=segment.name,
            session_key=key,
            events=segment.events,
            bytes=segment.bytes,
            sha256=segment.sha256,
        )
        for binding in header.bindings:
            self._db.run("touch_workstream", id=binding.id, now_ms=self._now_ms)


def read_bindings(db: Database, session_key: int) -> list[SegmentBinding]:
    """The workstreams that a session belongs to, as a segment tells them."""
    names = SegmentBinding.__struct_fields__
    rows = db.all("list_workstreams_of_session", session_key=session_key)
    return [SegmentBinding(**{**dict(zip(names, row, strict=True)), "is_current": bool(row[8])}) for row in rows]


def count_losses(read: dict[str, int], batch: Batch, *, is_replay: bool) -> dict[str, int]:
    """What the adapter skipped, with what redaction and cutting took from the events that are stored.

    A window whose every event is known is read a second time: what it lost was counted when it was new.
    """
    losses = {} if is_replay else dict(read)
    stored = [step.incoming for step in batch.steps if step.copied_id is None]
    for row in stored + [row for _, row in batch.revised]:
        for kind, count in row.losses.items():
            losses[kind] = losses.get(kind, 0) + count
    return losses
