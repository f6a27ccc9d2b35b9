"""The exclusive right to write a workstream: taken with patience, kept by a thread, given back on every way out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from rigline import liveness
from rigline.errors import LeaseHeld, LedgerError, RunSuperseded, describe_cause
from rigline.launch.console import Console
from rigline.launch.options import RunOptions
from rigline.ledger.base import Ledger, PrepareRequest
from rigline.model import Grant, Holder, RunRef, Scope

BUSY_RETRY_S = 0.25
BUSY_WINDOW_S = 5.0
HEARTBEAT_S = 30.0
#: Slack after a holder's expiry before the last try: clocks and rounding.
EXPIRY_SLACK_S = 1.0


@contextmanager
def take_lease(ledger: Ledger, request: PrepareRequest, console: Console, *, may_wait: bool) -> Iterator[Grant]:
    """The lease of a workstream. Given back if the block fails before `finish` ended the run itself.

    Raises `LeaseHeld` when another live run keeps it: after 5 s, or with `may_wait` when the lease that was seen then
    should have lapsed and did not. Who holds it and until when is said, and Ctrl-C ends the waiting.
    """
    grant = _acquire(ledger, request, console, may_wait)
    try:
        yield grant
    except BaseException:
        _give_back(ledger, grant.run, console)
        raise


def _acquire(ledger: Ledger, request: PrepareRequest, console: Console, may_wait: bool) -> Grant:
    deadline = time.monotonic() + BUSY_WINDOW_S
    has_told = False
    while True:
        try:
            return _prepare(ledger, request, console)
        except LeaseHeld as held:
            if time.monotonic() >= deadline:
                if not may_wait:
                    raise
                return _wait_for_expiry(ledger, request, console, held)
            if not has_told:
                console.say(f"{describe_holder(held)}; it may be finishing, trying for {BUSY_WINDOW_S:.0f} s.")
                has_told = True
        time.sleep(BUSY_RETRY_S)


def _prepare(ledger: Ledger, request: PrepareRequest, console: Console) -> Grant:
    """Prepare once; a holder on this host whose process is gone is taken over at once."""
    try:
        return ledger.prepare(request)
    except LeaseHeld as held:
        dead = find_dead_holder(held, request.host)
        if dead is None:
            raise
    grant = ledger.prepare(replace(request, dead_holder=dead))
    console.say("the former run's launcher is gone; its lease was taken over.")
    return grant


def refuse_nested(ledger: Ledger, env: Mapping[str, str], options: RunOptions, scope: Scope) -> None:
    """Refuse to start an agent inside another one's run with no line named; raises `LeaseHeld`.

    The outer run holds its own line for as long as the inner agent would wait, and the line that happens to be the
    checkout's current one may be quite another.
    """
    run_id = env.get("RIGLINE_RUN_ID")
    if not run_id or options.new is not None or options.workstream is not None:
        return
    outer = next((run for run in ledger.list_runs(None, active_only=True) if run.id == run_id), None)
    line = ledger.get_workstream(outer.workstream_id, None) if outer is not None else None
    if outer is None or line is None or line.worktree_fingerprint != scope.worktree_fingerprint:
        return
    raise LeaseHeld(
        f"This is inside {outer.harness}, which rigline started on line {line.name!r}, and only one run writes a line "
        "at a time. Give the inner agent a line of its own with `rigline run --new NAME ...`, or start it without "
        "rigline.",
        workstream=line.name,
        workstream_id=line.id,
        run_id=outer.id,
        harness=outer.harness,
        pid=outer.pid,
    )


def find_dead_holder(held: LeaseHeld, host: str) -> str | None:
    """The run id of the holder, if its process was on this host and is gone."""
    holder = read_holder(held)
    if holder is None or holder.host != host or liveness.is_alive(holder.pid, holder.pid_started):
        return None
    return holder.run_id


def read_holder(held: LeaseHeld) -> Holder | None:
    """The holder that a refusal names."""
    try:
        return msgspec.convert(held.details, Holder)
    except msgspec.ValidationError:
        return None


def describe_holder(held: LeaseHeld) -> str:
    """Who holds the workstream, in one clause."""
    holder = read_holder(held)
    if holder is None:
        return str(held)
    return (
        f"{holder.harness} (pid {holder.pid} on {holder.host}) has been working on this line since "
        f"{_clock(holder.since_ms)}"
    )


def _clock(at_ms: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_ms / 1000))


def _wait_for_expiry(ledger: Ledger, request: PrepareRequest, console: Console, held: LeaseHeld) -> Grant:
    holder = read_holder(held)
    if holder is None or holder.expires_ms <= time.time() * 1000:
        raise held
    console.say(
        f"it still is. Waiting for it to end, until {_clock(holder.expires_ms)}; Ctrl-C stops. "
        "Another line can be begun with `--new NAME`."
    )
    deadline = time.monotonic() + max(0.0, holder.expires_ms / 1000 - time.time()) + EXPIRY_SLACK_S
    while True:
        time.sleep(1.0)
        try:
            return _prepare(ledger, request, console)
        except LeaseHeld as still:
            if time.monotonic() >= deadline:
                raise still


def _give_back(ledger: Ledger, run: RunRef, console: Console) -> None:
    try:
        ledger.cancel(run)
    except LedgerError as error:
        console.say(f"the lease could not be given back ({error}); it ends by itself within 90 s.")


class Keeper:
    """Renews the lease and does a little work beside the child, on one thread.

    An outage is told once, its end once; a takeover once. Nothing of it ever reaches the child.
    """

    def __init__(
        self, ledger: Ledger, run: RunRef, console: Console, *, work: Callable[[], None], work_every_s: float
    ) -> None:
        self._ledger, self._run, self._console = ledger, run, console
        self._work, self._work_every_s = work, work_every_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_out = False
        self.is_superseded = False

    def start(self) -> None:
        """Begin. Called when the child has been started, so that the thread leaves signals to the main one."""
        self._thread = threading.Thread(target=self._loop, name="rigline-keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the piece of work in hand. Idempotent."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        next_beat = time.monotonic() + HEARTBEAT_S
        while not self._stop.wait(self._work_every_s):
            if time.monotonic() >= next_beat:
                self.beat()
                next_beat = time.monotonic() + HEARTBEAT_S
            self._work()

    def beat(self) -> None:
        """Renew once; says what changed."""
        if self.is_superseded:
            return
        try:
            self._ledger.renew(self._run)
        except RunSuperseded:
            self.is_superseded = True
            self._console.say("another run took this line over; what is said here is still kept as history.")
        except LedgerError as error:
            if not self._is_out:
                self._console.say(
                    f"the ledger does not answer ({describe_cause(error)}); the agent goes on, rigline keeps trying."
                )
            self._is_out = True
        else:
            if self._is_out:
                self._console.say("the ledger answers again.")
            self._is_out = False
