"""The ledger as a file on this machine: `ledger.db` and the segments beside it. No daemon is needed.

Threads may share one, processes may use one file at the same time. Each method is one transaction.
"""

from __future__ import annotations

import os

from rigline import paths
from rigline.errors import AmbiguousId, LedgerUnreachable, UnknownWorkstream, UsageError
from rigline.ledger.base import (
    Appended,
    CheckpointRecord,
    DeliveryRecord,
    HistoryEvent,
    Ledger,
    LineRecord,
    MoveRecord,
    PrepareRequest,
    RunRecord,
    SessionRecord,
    Unseen,
)
from rigline.ledger.incoming import prepare_events
from rigline.ledger.intake import Intake
from rigline.ledger.records import SessionReader
from rigline.ledger.relocation import relocate
from rigline.model import (
    Binding,
    Checkpoint,
    Delivery,
    Grant,
    Kind,
    RunRef,
    Scope,
    SessionInfo,
    SessionLink,
    Window,
    Workstream,
)
from rigline.store import deliveries, history, runs, sessions, workstreams
from rigline.store.sqlite import Database, open_store, read_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rigline.ledger.incoming import Redactor
    from rigline.store.sqlite import Row

DATABASE_NAME = "ledger.db"
SEGMENTS_NAME = "segments"
#: of longer tool outputs `get_unseen` gives the two ends; what people and agents said is given whole
UNSEEN_TEXT_CHARS = 65_536
#: how much of a line's last words is given: a list shows no more
LAST_WORDS_CHARS = 1_000


def open_ledger(home: str, *, clock: Callable[[], int] | None = None, redactor: Redactor | None = None) -> LocalLedger:
    """The ledger in rigline's data folder `home`, created when there is none.

    Raises `LedgerNewer`, `LedgerCorrupt` or `LedgerUnreachable`. `clock` gives UTC milliseconds.
    """
    try:
        if not os.path.isdir(home):
            os.makedirs(home, mode=0o700)
            os.chmod(home, 0o700)
    except OSError as error:
        raise LedgerUnreachable(
            f"The folder {home} cannot be made: {paths.describe_obstacle(home, error)}. rigline keeps its history "
            "there; name another place with RIGLINE_HOME.",
            path=home,
        ) from error
    clock = clock or read_clock
    database = open_store(os.path.join(home, DATABASE_NAME), clock=clock)
    return LocalLedger(database, os.path.join(home, SEGMENTS_NAME), clock=clock, redactor=redactor)


def has_ledger(home: str) -> bool:
    """Whether there is a ledger in a data folder, in whatever state."""
    return os.path.lexists(os.path.join(home, DATABASE_NAME))


def find_redactor() -> Redactor:
    """Redaction as the user has set it, loaded when something is stored: its engine is no part of a start."""
    from rigline.config import load_redaction
    from rigline.ledger.redact import Redactor as Engine
    from rigline.ledger.redact import redact

    patterns, allow = load_redaction(os.environ)
    return Engine(patterns.value, allow.value).redact if patterns.value or allow.value else redact


class LocalLedger(Ledger):
    """The ledger protocol over SQLite. Promises are those of `rigline.ledger.base.Ledger`."""

    def __init__(
        self,
        database: Database,
        segments_folder: str,
        *,
        clock: Callable[[], int] = read_clock,
        redactor: Redactor | None = None,
    ) -> None:
        self._db = database
        self._segments_folder = segments_folder
        self._clock = clock
        self._redactor = redactor

    def prepare(self, request: PrepareRequest) -> Grant:
        now_ms = self._clock()
        with self._db.writing():
            workstream, is_new = workstreams.choose(self._db, request.scope, request.name, request.new_name, now_ms)
            taken_over = runs.take_over(self._db, workstream, request.host, request.dead_holder, now_ms)
            run, expires_ms = runs.grant(
                self._db,
                workstream.id,
                request.scope,
                harness=request.harness,
                host=request.host,
                pid=request.pid,
                pid_started=request.pid_started,
                now_ms=now_ms,
            )
            granted = workstreams.find_by_id(self._db, workstream.id)
        assert granted
        return Grant(
            run=run,
            workstream=granted,
            expires_ms=expires_ms,
            is_new_workstream=is_new,
            taken_over=taken_over,
        )

    def renew(self, run: RunRef) -> int:
        with self._db.writing():
            return runs.renew(self._db, run, self._clock())

    def bind(self, run: RunRef, info: SessionInfo, *, evidence: str, created_via: str, store: str) -> Binding:
        if info.is_subagent:
            raise UsageError(
                f"Session {info.native_id} is a subagent's: it belongs to its parent and cannot be a workstream's own.",
                native_id=info.native_id,
            )
        with self._db.writing():
            runs.check_fence(self._db, run)
            key = sessions.get_key(self._db, info.harness, info.native_id)
            # no title: `append` tells it, redacted, with the first events
            sessions.describe(self._db, key, info, title=None, store=store, scope=None)
            self._db.run("set_run_session", id=run.run_id, session_key=key)
            return workstreams.bind(
                self._db,
                run.workstream_id,
                key,
                harness=info.harness,
                evidence=evidence,
                created_via=created_via,
                run_id=run.run_id,
                now_ms=self._clock(),
            )

    def add_link(self, harness: str, link: SessionLink, *, born_ms: int | None = None) -> None:
        now_ms = self._clock()
        with self._db.writing():
            if sessions.add_link(self._db, harness, link):
                sessions.inherit(self._db, harness, link, now_ms if born_ms is None else born_ms)
                sessions.inherit_history(self._db, harness, link, born_ms, now_ms)

    def record_checkpoint(self, run: RunRef, moment: str, checkpoint: Checkpoint) -> None:
        with self._db.writing():
            runs.check_fence(self._db, run)
            runs.put_checkpoint(self._db, run.run_id, moment, checkpoint)

    def get_cursor(self, harness: str, native_id: str) -> str | None:
        with self._db.reading():
            return sessions.get_cursor(self._db, harness, native_id)

    def append(
        self,
        info: SessionInfo,
        window: Window,
        *,
        scope: Scope | None,
        run: RunRef | None,  # noqa: ARG002  history is kept whoever imports it
    ) -> Appended:
        incoming = prepare_events(window.events, self._get_redactor()) if window.events else []
        title = (
            self._redact_title(window.title or info.title or info.first_prompt)
            if window.events or window.title
            else None
        )
        with self._db.writing():
            intake = Intake(self._db, self._segments_folder, self._clock())
            return intake.take(info, window, incoming, title=title, scope=scope)

    def get_unseen(self, workstream_id: str, harness: str, native_id: str | None, limit: int = 2000) -> Unseen:
        with self._db.reading():
            key = sessions.find_key(self._db, harness, native_id) if native_id else None
            unseen = history.read_unseen(self._db, workstream_id, key, limit, UNSEEN_TEXT_CHARS)
            checkpoint, checkpoint_harness = runs.find_newest_checkpoint(self._db, workstream_id)
        return Unseen(
            events=tuple(_build_event(row, is_abandoned=False) for row in unseen.rows),
            counts=unseen.counts,
            through=unseen.through,
            checkpoint=checkpoint,
            checkpoint_harness=checkpoint_harness,
        )

    def offer(self, run: RunRef, delivery: Delivery) -> None:
        with self._db.writing():
            runs.check_fence(self._db, run)
            deliveries.offer(self._db, run, delivery, self._clock())

    def finish(self, run: RunRef, exit_code: int | None, checkpoint: Checkpoint | None) -> None:
        with self._db.writing():
            if runs.finish(self._db, run, exit_code, self._clock()) and checkpoint is not None:
                runs.put_checkpoint(self._db, run.run_id, "end", checkpoint)

    def cancel(self, run: RunRef) -> None:
        with self._db.writing():
            runs.cancel(self._db, run, self._clock())

    def find_workstream(self, scope: Scope, name: str | None = None) -> Workstream | None:
        with self._db.reading():
            if name is None:
                return workstreams.find_selected(self._db, scope)
            return workstreams.find_by_name(self._db, scope, name)

    def list_workstreams(self, scope: Scope | None) -> list[Workstream]:
        with self._db.reading():
            return workstreams.list_workstreams(self._db, scope)

    def list_lines(self, worktree_fingerprint: str | None) -> list[LineRecord]:
        with self._db.reading():
            found = workstreams.list_of_checkout(self._db, worktree_fingerprint)
            return [self._describe_line(workstream) for workstream in found]

    def get_workstream(self, word: str, scope: Scope | None) -> Workstream:
        with self._db.reading():
            found = workstreams.find_by_word(self._db, word, scope)
        if not found:
            raise UnknownWorkstream(
                f"No workstream has the name or id {word!r}. `rigline workstreams` lists them.", workstream=word
            )
        if len(found) > 1:
            ids = [each.id for each in found]
            raise AmbiguousId(f"{len(ids)} workstreams begin with {word!r}: {', '.join(ids)}.", word=word, ids=ids)
        return found[0]

    def rename_workstream(self, workstream_id: str, name: str) -> Workstream:
        with self._db.writing():
            workstream = workstreams.find_by_id(self._db, workstream_id)
            if workstream is None:
                raise UnknownWorkstream(f"No workstream has the id {workstream_id!r}.", workstream=workstream_id)
            workstreams.rename(self._db, workstream, name)
            renamed = workstreams.find_by_id(self._db, workstream_id)
        assert renamed
        return renamed

    def relocate(
        self, workstream_id: str, scope: Scope, *, evidence: str, dead_holder: str | None = None
    ) -> Workstream:
        now_ms = self._clock()
        with self._db.writing():
            workstream = workstreams.find_by_id(self._db, workstream_id)
            if workstream is None:
                raise UnknownWorkstream(f"No workstream has the id {workstream_id!r}.", workstream=workstream_id)
            runs.take_over(self._db, workstream, scope.host, dead_holder, now_ms)
            relocate(self._db, self._segments_folder, workstream, scope, evidence=evidence, now_ms=now_ms)
            relocated = workstreams.find_by_id(self._db, workstream_id)
        assert relocated
        return relocated

    def list_moves(self, workstream_id: str) -> list[MoveRecord]:
        with self._db.reading():
            rows = self._db.all("list_moves", workstream_id=workstream_id)
        return [MoveRecord(**dict(zip(MoveRecord.__struct_fields__, row, strict=True))) for row in rows]

    def list_runs(self, workstream_id: str | None, *, active_only: bool = False) -> list[RunRecord]:
        with self._db.reading():
            rows = self._db.all("list_runs", workstream_id=workstream_id, active_only=active_only)
        return [RunRecord(**dict(zip(RunRecord.__struct_fields__, row, strict=True))) for row in rows]

    def get_history(
        self,
        workstream_id: str,
        *,
        after_seq: int = 0,
        limit: int = 500,
        with_subagents: bool = False,
        newest: bool = False,
    ) -> list[HistoryEvent]:
        with self._db.reading():
            sources = history.find_sources(self._db, workstream_id, with_subagents=with_subagents)
            rows = history.read_history(self._db, sources, after_seq=after_seq, limit=limit, newest=newest)
        return [_build_event(row, is_abandoned=is_abandoned) for row, is_abandoned in rows]

    def get_session_history(
        self, harness: str, native_id: str, *, after_seq: int = 0, limit: int = 500, newest: bool = False
    ) -> list[HistoryEvent]:
        with self._db.reading():
            key = sessions.find_key(self._db, harness, native_id)
            sources = [] if key is None else [key]
            rows = history.read_history(self._db, sources, after_seq=after_seq, limit=limit, newest=newest)
        return [_build_event(row, is_abandoned=is_abandoned) for row, is_abandoned in rows]

    def count_events(self, workstream_id: str) -> dict[str, int]:
        with self._db.reading():
            return dict(self._db.all("count_events_of_workstream", workstream_id=workstream_id))

    def count_run_events(self, run_ids: Sequence[str]) -> dict[str, int]:
        with self._db.reading():
            return runs.count_events(self._db, run_ids, self._clock())

    def list_checkpoints(self, workstream_id: str) -> list[CheckpointRecord]:
        with self._db.reading():
            rows = self._db.all("list_checkpoints", workstream_id=workstream_id)
        return [
            CheckpointRecord(run_id=row[0], harness=row[1], moment=row[2], checkpoint=runs.build_checkpoint(row[3:]))
            for row in rows
        ]

    def list_deliveries(self, workstream_id: str) -> list[DeliveryRecord]:
        with self._db.reading():
            rows = self._db.all("list_deliveries", workstream_id=workstream_id)
        return [DeliveryRecord(**dict(zip(DeliveryRecord.__struct_fields__, row, strict=True))) for row in rows]

    def list_sessions(self, scope: Scope | None) -> list[SessionRecord]:
        with self._db.reading():
            return SessionReader(self._db).read_all(scope.worktree_fingerprint if scope else None)

    def get_session(self, word: str, harness: str | None = None) -> SessionRecord:
        with self._db.reading():
            found = sessions.find_by_word(self._db, word, harness)
            if len(found) == 1:
                return SessionReader(self._db).read_one(found[0][0])
        if not found:
            raise UsageError(
                f"The ledger knows no session {word!r}. `rigline import` reads those of this checkout.", word=word
            )
        names = [f"{row[1]} {row[2]}" for row in found]
        raise AmbiguousId(f"{len(names)} sessions begin with {word!r}: {', '.join(names[:8])}.", word=word, ids=names)

    def close(self) -> None:
        self._db.close()

    def _describe_line(self, workstream: Workstream) -> LineRecord:
        row = self._db.one("find_last_message", workstream_id=workstream.id, chars=LAST_WORDS_CHARS)
        return LineRecord(
            workstream=workstream,
            last_words=_build_event(row, is_abandoned=False) if row else None,
            holder=runs.find_holder(self._db, workstream.id),
            checkpoint=runs.find_newest_checkpoint(self._db, workstream.id)[0],
        )

    def _redact_title(self, title: str | None) -> str | None:
        return self._get_redactor()(title)[0] if title else None

    def _get_redactor(self) -> Redactor:
        """Loaded when there is something to store: a run that says nothing must not pay for it."""
        if self._redactor is None:
            self._redactor = find_redactor()
        return self._redactor


def _build_event(row: Row, *, is_abandoned: bool) -> HistoryEvent:
    return HistoryEvent(
        seq=row[0],
        harness=row[1],
        native_id=row[2],
        kind=Kind(row[3]),
        text=row[4],
        role=row[5],
        at_ms=row[6],
        tool=row[7],
        call_id=row[8],
        status=row[9],
        is_abandoned=is_abandoned,
    )
