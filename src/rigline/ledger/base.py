"""The Ledger: what `run` and every other command know of the history's keeper.

A local file and a remote hub are the same to their callers. Every mutation of a run is fenced by its
generation in one transaction; a refused one raises `RunSuperseded` and changes nothing. All methods may raise
`LedgerUnreachable`. Times are the ledger's own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from rigline.model import (
    Binding,
    Checkpoint,
    Delivery,
    Grant,
    Holder,
    Kind,
    RunRef,
    Scope,
    SessionInfo,
    SessionLink,
    Window,
    Workstream,
)


class PrepareRequest(Struct, frozen=True, kw_only=True):
    """A launcher asks for a workstream's lease.

    `name` selects an existing workstream, `new_name` creates one; neither: the scope's most recently selected
    one, created as `main` when there is none. `dead_holder` is the run whose process the caller has seen to
    be gone: its lease is taken over at once. On the holder's own host no other one is, not even a lapsed one: clocks
    are set and machines sleep, and there the process can be looked at.
    """

    scope: Scope
    harness: str
    host: str
    pid: int
    pid_started: str
    name: str | None = None
    new_name: str | None = None
    dead_holder: str | None = None


class Appended(Struct, frozen=True, kw_only=True):
    """What became of one window: new events, changed ones, copies of events the ledger has, and packets confirmed.

    `losses` counts by kind what the ledger now knows to be missing from it: skipped, damaged, redacted, cut.
    """

    added: int = 0
    revised: int = 0
    copied: int = 0
    confirmed: tuple[str, ...] = ()
    losses: dict[str, int] = {}


class HistoryEvent(Struct, frozen=True, kw_only=True):
    """An event as the ledger tells it. `seq` grows over the whole ledger."""

    seq: int
    harness: str
    native_id: str
    kind: Kind
    text: str
    role: str | None = None
    at_ms: int | None = None
    tool: str | None = None
    call_id: str | None = None
    status: str | None = None
    is_abandoned: bool = False


class Unseen(Struct, frozen=True, kw_only=True):
    """What one native session has not been shown of its workstream, oldest first.

    `events` holds the newest of them, bounded, each text cut at 65,536 characters; `counts` counts all of them by
    kind, those included, and those on abandoned branches under `abandoned`. `through` maps each source session's
    name ("harness:native id") to the last event considered. `checkpoint` is what the last ended run left, with
    its harness.
    """

    events: tuple[HistoryEvent, ...]
    counts: dict[str, int]
    through: dict[str, int]
    checkpoint: Checkpoint | None = None
    checkpoint_harness: str | None = None


class SessionRecord(Struct, frozen=True, kw_only=True):
    """A native session as the ledger knows it. `copies` says how many of its `events` another session had first."""

    harness: str
    native_id: str
    path: str | None
    cwd: str | None
    store: str | None
    cursor: str | None
    title: str | None
    is_subagent: bool
    events: int
    first_ms: int | None
    last_ms: int | None
    losses: dict[str, int]
    copies: int = 0
    workstream_ids: tuple[str, ...] = ()
    links: tuple[SessionLink, ...] = ()


class RunRecord(Struct, frozen=True, kw_only=True):
    """A launch as the ledger knows it. `state` is active, finished, cancelled, expired or superseded."""

    id: str
    workstream_id: str
    harness: str
    state: str
    generation: int
    host: str
    pid: int
    pid_started: str
    cwd: str
    started_ms: int
    expires_ms: int
    ended_ms: int | None = None
    exit_code: int | None = None
    native_id: str | None = None


class CheckpointRecord(Struct, frozen=True, kw_only=True):
    """Git state at the `moment` (start or end) of a run."""

    run_id: str
    harness: str
    moment: str
    checkpoint: Checkpoint


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """A packet's way as the ledger knows it. `state` is offered, confirmed or superseded."""

    id: str
    run_id: str
    harness: str
    native_id: str | None
    parts: int
    state: str
    offered_ms: int
    confirmed_ms: int | None = None


class LineRecord(Struct, frozen=True, kw_only=True):
    """A workstream with what tells it from others in a list.

    `last_words` is the latest message of its sessions, its text cut at 1,000 characters; `holder` the run that has its
    lease; `checkpoint` what the last ended run left.
    """

    workstream: Workstream
    last_words: HistoryEvent | None = None
    holder: Holder | None = None
    checkpoint: Checkpoint | None = None


class MoveRecord(Struct, frozen=True, kw_only=True):
    """A workstream was re-attached to another checkout: from where, to where, on what evidence."""

    from_cwd: str
    to_cwd: str
    evidence: str
    at_ms: int


class Ledger(Protocol):
    """The keeper of workstreams, runs, bindings, events and deliveries."""

    def prepare(self, request: PrepareRequest) -> Grant:
        """Select or create the workstream and grant its lease, in one transaction.

        Raises `LeaseHeld` (details: the Holder's fields, workstream, now_ms), `UnknownWorkstream` for an unknown
        `name`, `WorkstreamExists` for a taken `new_name`. A lapsed lease of another host, or the one of `dead_holder`
        (a run id), is ended first: its run becomes expired, the generation grows, and `Grant.taken_over` tells.
        """

    def renew(self, run: RunRef) -> int:
        """Extend the lease by 90 s and return its new end. A lapsed lease may be renewed while nobody took over."""

    def bind(self, run: RunRef, info: SessionInfo, *, evidence: str, created_via: str, store: str) -> Binding:
        """Make a native session the workstream's current one of its harness; earlier bindings stay as history.

        Idempotent: a session bound again without change keeps its first evidence.
        """

    def add_link(self, harness: str, link: SessionLink, *, born_ms: int | None = None) -> None:
        """Record that a session came from another. Idempotent.

        A fork begins with what its parent said, and was shown, by the time of its birth (None: just now).
        """

    def record_checkpoint(self, run: RunRef, moment: str, checkpoint: Checkpoint) -> None:
        """Store git state at `moment` (start or end) of the run."""

    def get_cursor(self, harness: str, native_id: str) -> str | None:
        """How far a native session has been imported."""

    def append(self, info: SessionInfo, window: Window, *, scope: Scope | None, run: RunRef | None) -> Appended:
        """Redact and store one window with its cursor, losses, links and packet confirmations, in one transaction.

        An event that is already there is not stored again; one whose text changed is revised; one that another
        session has under the same `copy_key` becomes a member of this session too and is counted once. Without a
        run (an `import`), or with one that was superseded, events are kept as history all the same: this call is
        not fenced. The segment is on disk before the rows.
        """

    def get_unseen(self, workstream_id: str, harness: str, native_id: str | None, limit: int = 2000) -> Unseen:
        """What a session (None: a fresh one) has not been shown: never its own events, nor injected packets.

        The middle of a long tool output may be missing but for its line feeds; all other texts are whole.
        """

    def offer(self, run: RunRef, delivery: Delivery) -> None:
        """Record that a packet is offered. It is confirmed by `append`, when all its parts were seen in the session."""

    def finish(self, run: RunRef, exit_code: int | None, checkpoint: Checkpoint | None) -> None:
        """End the run and release the lease. Idempotent; on a superseded run only its exit code is recorded."""

    def cancel(self, run: RunRef) -> None:
        """Release the lease of a run whose child was never started. Idempotent."""

    def find_workstream(self, scope: Scope, name: str | None = None) -> Workstream | None:
        """The named workstream of a scope, or its most recently selected one."""

    def list_workstreams(self, scope: Scope | None) -> list[Workstream]:
        """Workstreams of a scope (None: all), most recently selected first."""

    def list_lines(self, worktree_fingerprint: str | None) -> list[LineRecord]:
        """The workstreams of a checkout, whatever workspace and project they are in (None: of every checkout), most
        recently selected first."""

    def get_workstream(self, word: str, scope: Scope | None) -> Workstream:
        """By name within the scope, or by id or unique prefix; raises `UnknownWorkstream` or `AmbiguousId`."""

    def rename_workstream(self, workstream_id: str, name: str) -> Workstream:
        """Give it another name; the same name changes nothing; a taken one raises `WorkstreamExists`."""

    def relocate(
        self, workstream_id: str, scope: Scope, *, evidence: str, dead_holder: str | None = None
    ) -> Workstream:
        """Re-attach a workstream to the checkout of `scope`, in one transaction, and select it there.

        Its sessions that were in its former checkout go with it, their subagents too; what else was there goes with
        the last workstream that leaves. Where its name is taken it gets another one. Raises `LeaseHeld` while a run
        has its lease (as `prepare` does, `dead_holder` too), `UnknownWorkstream`.
        """

    def list_moves(self, workstream_id: str) -> list[MoveRecord]:
        """When and why the workstream was re-attached elsewhere, newest first."""

    def list_runs(self, workstream_id: str | None, *, active_only: bool = False) -> list[RunRecord]:
        """Runs, newest first."""

    def get_history(
        self,
        workstream_id: str,
        *,
        after_seq: int = 0,
        limit: int = 500,
        with_subagents: bool = False,
        newest: bool = False,
    ) -> list[HistoryEvent]:
        """Events of every session bound to the workstream, copied prefixes included once, oldest first.

        With subagents, those of the sessions that the bound ones started, too; packets never have them. `newest`
        gives the last `limit` of them instead of the first.
        """

    def get_session_history(
        self, harness: str, native_id: str, *, after_seq: int = 0, limit: int = 500, newest: bool = False
    ) -> list[HistoryEvent]:
        """Events of one session, those that it copied from another included, as `get_history` gives them."""

    def count_events(self, workstream_id: str) -> dict[str, int]:
        """How many events the workstream's bound sessions have by kind, each event once, subagents' not."""

    def count_run_events(self, run_ids: Sequence[str]) -> dict[str, int]:
        """How many events the workstream's sessions of each run's harness wrote while it ran; none is left out."""

    def list_checkpoints(self, workstream_id: str) -> list[CheckpointRecord]:
        """Git states at the starts and ends of the workstream's runs, newest first."""

    def list_deliveries(self, workstream_id: str) -> list[DeliveryRecord]:
        """The packets that were offered to the workstream's sessions, newest first."""

    def list_sessions(self, scope: Scope | None) -> list[SessionRecord]:
        """Every native session that the ledger knows (of a scope: whose recorded checkout it is)."""

    def get_session(self, word: str, harness: str | None = None) -> SessionRecord:
        """By native id or unique prefix; raises `UsageError` or `AmbiguousId`."""

    def close(self) -> None:
        """Release what is held open. Idempotent."""
