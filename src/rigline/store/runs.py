"""Runs and the lease: who may write a workstream, and until when. Inside the caller's transaction, always.

A run is active until it finishes, is cancelled, or another run takes its lapsed lease over (expired). An expired
run that reports its end after all was alive when it was replaced: it becomes superseded.
"""

from __future__ import annotations

from msgspec import json

from rigline.errors import LeaseHeld, RunSuperseded
from rigline.ids import new_id
from rigline.model import Checkpoint, Holder, RunRef, Workstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rigline.model import Scope
    from rigline.store.sqlite import Database, Row

LEASE_MS = 90_000


def take_over(db: Database, workstream: Workstream, host: str, dead_holder: str | None, now_ms: int) -> Holder | None:
    """End the lease that stands in the way, when its holder is dead, or on another host and it has lapsed; raises
    `LeaseHeld` otherwise."""
    holder = find_holder(db, workstream.id)
    if holder is None:
        return None
    is_lost = holder.expires_ms <= now_ms and holder.host != host
    if holder.run_id != dead_holder and not is_lost:
        raise _describe_conflict(workstream, holder, now_ms)
    db.run("expire_run", id=holder.run_id, now_ms=now_ms)
    return holder


def find_holder(db: Database, workstream_id: str) -> Holder | None:
    """Who has a workstream's lease, lapsed or not."""
    row = db.one("find_active_run", workstream_id=workstream_id)
    if row is None:
        return None
    return Holder(
        run_id=row[0],
        harness=row[1],
        host=row[2],
        pid=row[3],
        pid_started=row[4],
        since_ms=row[5],
        expires_ms=row[6],
        generation=row[7],
    )


def _describe_conflict(workstream: Workstream, holder: Holder, now_ms: int) -> LeaseHeld:
    left_s = (holder.expires_ms - now_ms + 999) // 1000
    until = f"its lease runs for another {left_s} s unless renewed"
    if left_s <= 0:
        until = "its lease has lapsed, as when a machine slept or its clock was set, but that process is not gone"
    return LeaseHeld(
        f"Workstream {workstream.name!r} is being written by {holder.harness} (pid {holder.pid} on {holder.host}); "
        f"{until}. End that run, wait, or begin another line with --new.",
        workstream=workstream.name,
        workstream_id=workstream.id,
        now_ms=now_ms,
        **{name: getattr(holder, name) for name in Holder.__struct_fields__},
    )


def grant(
    db: Database, workstream_id: str, scope: Scope, *, harness: str, host: str, pid: int, pid_started: str, now_ms: int
) -> tuple[RunRef, int]:
    """Select the workstream, raise its generation and start a run with it; returns the run and its lease's end."""
    run_id = new_id()
    expires_ms = now_ms + LEASE_MS
    db.run(
        "select_workstream",
        id=workstream_id,
        cwd=scope.cwd,
        repo_fingerprint=scope.repo_fingerprint,
        inode_fingerprint=scope.inode_fingerprint,
        now_ms=now_ms,
    )
    db.run(
        "insert_run",
        id=run_id,
        workstream_id=workstream_id,
        harness=harness,
        host=host,
        pid=pid,
        pid_started=pid_started,
        cwd=scope.cwd,
        now_ms=now_ms,
        expires_ms=expires_ms,
    )
    row = db.one("find_run", id=run_id)
    assert row
    return RunRef(run_id=run_id, workstream_id=workstream_id, harness=harness, generation=row[2]), expires_ms


def get_state(db: Database, run: RunRef) -> str:
    """The run's state; raises `RunSuperseded` for one that the ledger does not know as it is presented."""
    row = db.one("find_run", id=run.run_id)
    if row is None or row[1] != run.workstream_id or row[2] != run.generation:
        raise RunSuperseded(
            f"The ledger knows no run {run.run_id} of generation {run.generation}. Start the agent again with "
            "`rigline run`; what it wrote meanwhile is imported then.",
            run_id=run.run_id,
            generation=run.generation,
        )
    state: str = row[0]
    return state


def check_fence(db: Database, run: RunRef) -> None:
    """Let an active run pass; raises `RunSuperseded` for any other."""
    state = get_state(db, run)
    if state != "active":
        raise RunSuperseded(
            f"Run {run.run_id} is {state}: it does not write its workstream any more. What the agent says is still "
            "imported as history; start it again with `rigline run` to go on under a lease.",
            run_id=run.run_id,
            generation=run.generation,
            state=state,
        )


def renew(db: Database, run: RunRef, now_ms: int) -> int:
    """Extend the lease and return its new end. It may have lapsed, while nobody took over."""
    check_fence(db, run)
    db.run("renew_run", id=run.run_id, expires_ms=now_ms + LEASE_MS)
    return now_ms + LEASE_MS


def finish(db: Database, run: RunRef, exit_code: int | None, now_ms: int) -> bool:
    """End the run; whether this call did. On one that was taken over only its exit code is recorded."""
    state = get_state(db, run)
    if state == "active":
        db.run("finish_run", id=run.run_id, state="finished", exit_code=exit_code, now_ms=now_ms)
    elif state == "expired":
        db.run("supersede_run", id=run.run_id, exit_code=exit_code)
    return state == "active"


def cancel(db: Database, run: RunRef, now_ms: int) -> None:
    """End an active run whose child never started."""
    if get_state(db, run) == "active":
        db.run("finish_run", id=run.run_id, state="cancelled", exit_code=None, now_ms=now_ms)


def put_checkpoint(db: Database, run_id: str, moment: str, checkpoint: Checkpoint) -> None:
    """Store git state at `start` or `end` of a run."""
    db.run(
        "put_checkpoint",
        run_id=run_id,
        moment=moment,
        at_ms=checkpoint.at_ms,
        head=checkpoint.head,
        branch=checkpoint.branch,
        status_hash=checkpoint.status_hash,
        paths=json.encode(checkpoint.paths).decode(),
        paths_left_out=checkpoint.paths_left_out,
    )


def find_newest_checkpoint(db: Database, workstream_id: str) -> tuple[Checkpoint | None, str | None]:
    """What the last ended run of a workstream left behind, and its harness."""
    row = db.one("find_newest_checkpoint", workstream_id=workstream_id)
    if row is None:
        return None, None
    return build_checkpoint(row[:6]), row[6]


def build_checkpoint(row: Row) -> Checkpoint:
    """A row of checkpoints, from `at_ms` on, as a value."""
    return Checkpoint(
        at_ms=row[0],
        head=row[1],
        branch=row[2],
        status_hash=row[3],
        paths=json.decode(row[4], type=tuple[str, ...]),
        paths_left_out=row[5],
    )


def count_events(db: Database, run_ids: Sequence[str], now_ms: int) -> dict[str, int]:
    """By run id, the events of its workstream's sessions of its harness that were written while it ran."""
    return dict(db.all("count_events_of_runs", run_ids=json.encode(list(run_ids)).decode(), now_ms=now_ms))
