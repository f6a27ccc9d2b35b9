"""The database built anew from the segments, when it was damaged or lost. Nothing is ever deleted.

Sessions, events with their order, copies, links, losses, cursors, workstreams with their moves, bindings and what
sessions were shown come back. Runs, checkpoints and unconfirmed deliveries are in no segment.
"""

from __future__ import annotations

import os

from msgspec import Struct

from rigline.errors import LedgerUnreachable
from rigline.ids import SHORT_CHARS
from rigline.ledger.incoming import derive
from rigline.ledger.intake import SCOPE_NAMES
from rigline.ledger.relocation import record_move
from rigline.ledger.segments import (
    Header,
    Line,
    SegmentBinding,
    find_segments,
    hash_segment,
    name_folder,
    read_header,
    read_lines,
)
from rigline.model import Event, Kind, SessionInfo
from rigline.store import deliveries, sessions
from rigline.store.events import Incoming, find_next_position, has_event, sort_batch, write_batch
from rigline.store.sqlite import Database, open_store, read_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: events that are sorted and stored at a time
_BATCH_EVENTS = 400
_COMPANIONS = ("-wal", "-shm")


class Rebuilt(Struct, kw_only=True):
    """What was found. `damaged` names segments that could not be read, `moved_to` the database that was put aside."""

    segments: int = 0
    sessions: int = 0
    events: int = 0
    workstreams: int = 0
    damaged: list[str] = []
    damaged_lines: int = 0
    missing_copies: int = 0
    moved_to: str | None = None


def rebuild_from_segments(
    folder: str,
    target_db: str,
    *,
    clock: Callable[[], int] = read_clock,
    progress: Callable[[int, int], None] | None = None,
) -> Rebuilt:
    """Build `target_db` from the segments below `folder`; a database that is there is moved aside, not deleted.

    `progress` hears how many segments of how many are done. Raises `LedgerUnreachable` when there is no segment at
    all or the disk does not take the new database; the old one is then still in its place.
    """
    names, damaged = _order(folder)
    if not names:
        raise LedgerUnreachable(f"There are no segments in {folder}: nothing to build a ledger from.", path=folder)
    unfinished = f"{target_db}.rebuilding"
    for ending in ("", *_COMPANIONS):
        _remove(unfinished + ending)
    db = open_store(unfinished, clock=clock)
    try:
        builder = _Builder(db, folder, Rebuilt(damaged=damaged), clock())
        for done, name in enumerate(names):
            builder.read(name)
            if progress:
                progress(done + 1, len(names))
        found = builder.finish()
    finally:
        db.close()
    found.moved_to = _put_in_place(unfinished, target_db, clock())
    return found


def _order(folder: str) -> tuple[list[str], list[str]]:
    """Names of the readable segments in the order they were written, and of those that are not readable."""
    ordered: list[tuple[int, str]] = []
    damaged: list[str] = []
    for name in find_segments(folder):
        header = read_header(os.path.join(folder, name))
        if header is None:
            damaged.append(name)
        else:
            ordered.append((header.first_position, name))
    return [name for _, name in sorted(ordered)], sorted(damaged)


class _Builder:
    """Takes segments into a new database, one transaction each."""

    def __init__(self, db: Database, folder: str, found: Rebuilt, now_ms: int) -> None:
        self._db = db
        self._folder = folder
        self._found = found
        self._now_ms = now_ms
        self._incomplete: set[int] = set()

    def read(self, name: str) -> None:
        path = os.path.join(self._folder, name)
        header = read_header(path)
        assert header
        with self._db.writing():
            key = self._take_session(header)
            events = self._take_events(key, header, path)
            self._take_bindings(key, header)
            self._take_move(header)
            deliveries.mark_shown(self._db, key, header.shown, self._now_ms)
            size, digest = hash_segment(path)
            self._db.run("insert_segment", name=name, session_key=key, events=events, bytes=size, sha256=digest)
        self._found.segments += 1

    def finish(self) -> Rebuilt:
        """Let sessions that lost something be imported from their beginning, where their transcripts still are."""
        with self._db.writing():
            folders = {os.path.dirname(name) for name in self._found.damaged}
            for key, harness, native_id in self._db.all("list_session_names"):
                if key in self._incomplete or os.path.join(harness, name_folder(native_id)) in folders:
                    self._db.run("set_cursor", key=key, cursor=None)
            self._found.sessions, self._found.events, self._found.workstreams = self._db.all("count_all")[0]
        return self._found

    def _take_session(self, header: Header) -> int:
        key = sessions.get_key(self._db, header.harness, header.native_id)
        info = SessionInfo(
            harness=header.harness,
            native_id=header.native_id,
            path=header.path,
            cwd=header.cwd,
            updated_ms=0,
            size_bytes=0,
            is_subagent=header.is_subagent,
        )
        sessions.describe(self._db, key, info, title=header.title, store=header.store, scope=None)
        if header.scope:
            self._db.run("place_session", key=key, **header.scope)
        for link in header.links:
            sessions.add_link(self._db, header.harness, link)
        if header.move is None:
            self._db.run("set_cursor", key=key, cursor=header.cursor_after)
        return key

    def _take_events(self, key: int, header: Header, path: str) -> int:
        events = 0
        is_news = False
        position = header.first_position
        for incoming in self._read_batches(key, header, path):
            events += len(incoming)
            batch = sort_batch(self._db, key, incoming)
            if batch.steps or batch.revised:
                is_news = True
                position = max(position, find_next_position(self._db))
                write_batch(self._db, header.harness, key, batch, position)
        if is_news:
            sessions.add_losses(self._db, key, header.losses)
        return events

    def _read_batches(self, key: int, header: Header, path: str) -> Iterator[list[Incoming]]:
        batch: list[Incoming] = []
        for line in read_lines(path):
            row = self._read_line(header, line)
            if row is None:
                self._incomplete.add(key)
            else:
                batch.append(row)
            if len(batch) == _BATCH_EVENTS:
                yield batch
                batch = []
        if batch:
            yield batch

    def _read_line(self, header: Header, line: Line | None) -> Incoming | None:
        if line is None:
            self._found.damaged_lines += 1
            return None
        try:
            event = _build_event(header, line)
            copied = bytes.fromhex(line.copy_of)
        except ValueError:
            self._found.damaged_lines += 1
            return None
        if not copied:
            return derive(event, {})
        if not has_event(self._db, copied):
            self._found.missing_copies += 1
            return None
        return Incoming(event=event, id=copied, copy_key=None, text_hash=b"")

    def _take_bindings(self, key: int, header: Header) -> None:
        """The newest segment of a session has its bindings as they were last."""
        for binding in header.bindings:
            self._take_workstream(binding)
            if binding.is_current:
                self._db.run("unset_current", workstream_id=binding.id, harness=header.harness)
            self._db.run(
                "put_binding",
                workstream_id=binding.id,
                session_key=key,
                harness=header.harness,
                is_current=int(binding.is_current),
                evidence=binding.evidence,
                created_via=binding.created_via,
                run_id=None,
                now_ms=binding.bound_ms,
            )

    def _take_move(self, header: Header) -> None:
        """What went elsewhere with a workstream. Its own new place stands in its binding."""
        move = header.move
        place = next((binding for binding in header.bindings if move and binding.id == move.workstream_id), None)
        if move is None or place is None:
            return
        values = {name: getattr(place, name) for name in SCOPE_NAMES}
        for harness, native_id in move.sessions:
            self._db.run("move_session", key=sessions.get_key(self._db, harness, native_id), **values)
        record_move(self._db, header.first_position, move)

    def _take_workstream(self, binding: SegmentBinding) -> None:
        """A name that two had, one after the other, belongs to the later one: the earlier was renamed since."""
        values = {name: getattr(binding, name) for name in binding.__struct_fields__}
        holder = self._db.one("find_workstream_by_name", **values)
        if holder and holder[0] != binding.id:
            self._db.run("rename_workstream", id=holder[0], name=f"{holder[1]}-{holder[0][:SHORT_CHARS]}")
        self._db.run("put_rebuilt_workstream", **values)


def _build_event(header: Header, line: Line) -> Event:
    """The event of a line; raises ValueError for a kind that there is not."""
    return Event(
        harness=header.harness,
        native_id=line.native_id or header.native_id,
        record=line.record,
        kind=Kind(line.kind) if not line.copy_of else Kind.MESSAGE,
        text=line.text,
        block=line.block,
        role=line.role,
        at_ms=line.at_ms,
        tool=line.tool,
        call_id=line.call_id,
        status=line.status,
        copy_key=line.copy_key,
        turn=line.turn,
        parent_turn=line.parent_turn,
    )


def _put_in_place(new: str, target: str, now_ms: int) -> str | None:
    """Put the new database where the old one was, which is kept under another name.

    The old one keeps its place until the new one takes it, so that a crash in between never leaves none: the next
    command would begin an empty ledger.
    """
    try:
        aside = _keep(target, now_ms) if os.path.exists(target) else None
        os.replace(new, target)
    except OSError as error:
        raise LedgerUnreachable(
            f"The new database {new} cannot be put in the place of {target}: {error.strerror}.", path=target
        ) from error
    return aside


def _keep(target: str, now_ms: int) -> str:
    """Give a database a second name, and its companions that one alone: a new database must not meet them."""
    aside = f"{target}.damaged-{now_ms}"
    while os.path.exists(aside):
        aside += "-again"
    try:
        os.link(target, aside)
    except OSError:
        os.rename(target, aside)
    for ending in _COMPANIONS:
        if os.path.exists(target + ending):
            os.rename(target + ending, aside + ending)
    return aside


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        return
