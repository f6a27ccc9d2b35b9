"""One writer at a time: granting, renewing, lapsing, taking over, and the fence around every mutation."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from msgspec.structs import replace

from rigline.errors import LeaseHeld, RunSuperseded
from rigline.ledger.base import Ledger
from rigline.model import Checkpoint, Delivery, Grant
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect, expect_equal, expect_refusal, list_texts
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window

_LEASE_MS = 90_000


def a_lease_runs_for_90_seconds(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    expect_equal(grant.expires_ms, clock.now_ms + _LEASE_MS, "end of the lease")
    expect_equal(grant.taken_over, None, "nobody was replaced")
    clock.advance(30_000)
    expect_equal(ledger.renew(grant.run), clock.now_ms + _LEASE_MS, "end of the renewed lease")


def a_held_lease_is_refused_with_its_holder(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request(pid=100))
    since_ms = clock.now_ms
    clock.advance(_LEASE_MS - 1)
    held = expect_refusal(LeaseHeld, lambda: ledger.prepare(make_request(pid=200, harness="codex")), "second launch")
    wanted = {
        "run_id": grant.run.run_id,
        "harness": "claude-code",
        "host": "host-1",
        "pid": 100,
        "pid_started": "started-100",
        "since_ms": since_ms,
        "expires_ms": grant.expires_ms,
        "generation": grant.run.generation,
        "workstream": "main",
        "now_ms": clock.now_ms,
    }
    expect_equal({name: held.details.get(name) for name in wanted}, wanted, "details of the refusal")
    ledger.renew(grant.run)


def a_lapsed_lease_is_taken_over(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    clock.advance(_LEASE_MS)
    second = ledger.prepare(make_request(pid=200, host="host-2"))
    expect(second.taken_over is not None and second.taken_over.run_id == first.run.run_id, "the holder is named")
    expect(second.run.generation > first.run.generation, "the generation grows")
    states = {run.id: run.state for run in ledger.list_runs(first.workstream.id)}
    expect_equal(states, {first.run.run_id: "expired", second.run.run_id: "active"}, "states of the runs")


def a_lapsed_lease_of_the_same_host_is_held_until_its_process_is_gone(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    clock.advance(10 * _LEASE_MS)
    held = expect_refusal(LeaseHeld, lambda: ledger.prepare(make_request(pid=200)), "a launch beside a living process")
    expect_equal(held.details.get("run_id"), first.run.run_id, "the holder that is named")
    ledger.renew(first.run)
    clock.advance(10 * _LEASE_MS)
    second = ledger.prepare(make_request(pid=200, dead_holder=first.run.run_id))
    expect(second.taken_over is not None, "the dead holder is replaced")


def a_dead_holder_is_replaced_at_once(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    second = ledger.prepare(make_request(pid=200, dead_holder=first.run.run_id))
    expect(second.taken_over is not None and second.taken_over.pid == 100, "the holder is named")
    third = make_request(pid=300, dead_holder=first.run.run_id)
    expect_refusal(LeaseHeld, lambda: ledger.prepare(third), "a launch that knows only of an earlier holder's death")


def a_lapsed_lease_may_be_renewed_while_nobody_took_over(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request(pid=100))
    clock.advance(10 * _LEASE_MS)
    ledger.renew(grant.run)
    expect_refusal(LeaseHeld, lambda: ledger.prepare(make_request(pid=200)), "a launch beside the renewed lease")


def a_superseded_run_is_refused_and_changes_nothing(ledger: Ledger, clock: FakeClock) -> None:
    first, second = _replace(ledger, clock)
    run = first.run
    checkpoint = Checkpoint(at_ms=clock.now_ms, head="stale")
    info = make_session("late")
    delivery = Delivery(id="d-late", native_id=None, parts=1, through={})
    before = (ledger.list_runs(None), ledger.get_workstream(second.workstream.id, None))
    for what, call in {
        "renew": lambda: ledger.renew(run),
        "bind": lambda: ledger.bind(run, info, evidence="hook", created_via="run", store="/store"),
        "offer": lambda: ledger.offer(run, delivery),
        "record_checkpoint": lambda: ledger.record_checkpoint(run, "start", checkpoint),
    }.items():
        expect_refusal(RunSuperseded, call, what)
    after = (ledger.list_runs(None), ledger.get_workstream(second.workstream.id, None))
    expect_equal(after, before, "what the refused calls left")


def a_superseded_run_still_reports_its_exit_code(ledger: Ledger, clock: FakeClock) -> None:
    first, second = _replace(ledger, clock)
    for _ in range(2):
        ledger.finish(first.run, 7, Checkpoint(at_ms=clock.now_ms, head="stale"))
    runs = {run.id: run for run in ledger.list_runs(first.workstream.id)}
    expect_equal(runs[first.run.run_id].exit_code, 7, "exit code of the replaced run")
    expect_equal(runs[first.run.run_id].state, "superseded", "state of the replaced run")
    expect_equal(runs[second.run.run_id].state, "active", "state of the run that replaced it")
    unseen = ledger.get_unseen(first.workstream.id, "claude-code", None)
    expect_equal(unseen.checkpoint, None, "the replaced run's checkpoint")


def a_superseded_runs_tail_is_kept_as_history(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    info = make_session("s1")
    ledger.bind(first.run, info, evidence="hook", created_via="run", store="/store")
    clock.advance(_LEASE_MS)
    ledger.prepare(make_request(pid=200, host="host-2"))
    window = make_window("s1", "1", [make_event("s1", "r1", "the tail")])
    ledger.append(info, window, scope=make_scope(), run=first.run)
    expect_equal(list_texts(ledger, first), ["the tail"], "history")


def a_finished_run_releases_the_lease(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    for _ in range(2):
        ledger.finish(first.run, 3, Checkpoint(at_ms=clock.now_ms, head="abc", paths=("a.py",)))
    ledger.cancel(first.run)
    second = ledger.prepare(make_request(pid=200))
    expect_equal(second.taken_over, None, "a finished run is not replaced")
    finished = ledger.list_runs(first.workstream.id)[1]
    expect_equal((finished.state, finished.exit_code), ("finished", 3), "the finished run")
    expect_refusal(RunSuperseded, lambda: ledger.renew(first.run), "renewal of a finished run")


def a_cancelled_run_releases_the_lease(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    for _ in range(2):
        ledger.cancel(first.run)
    ledger.finish(first.run, 0, None)
    second = ledger.prepare(make_request(pid=200))
    expect_equal(second.taken_over, None, "a cancelled run is not replaced")
    expect_equal(ledger.list_runs(first.workstream.id)[1].state, "cancelled", "state of the cancelled run")


def workstreams_have_leases_of_their_own(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(pid=100))
    second = ledger.prepare(make_request(pid=200, new_name="other"))
    third = ledger.prepare(make_request(pid=300, scope=make_scope("tree-2")))
    expect_equal(len({grant.workstream.id for grant in (first, second, third)}), 3, "workstreams written at once")
    active = {run.id for run in ledger.list_runs(None, active_only=True)}
    expect_equal(active, {grant.run.run_id for grant in (first, second, third)}, "active runs")


def a_foreign_generation_is_refused(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    forged = replace(grant.run, generation=grant.run.generation + 1)
    expect_refusal(RunSuperseded, lambda: ledger.renew(forged), "a generation that was never granted")


def _replace(ledger: Ledger, clock: FakeClock) -> tuple[Grant, Grant]:
    first = ledger.prepare(make_request(pid=100))
    clock.advance(_LEASE_MS)
    return first, ledger.prepare(make_request(pid=200, host="host-2"))


CONTRACTS = (
    a_lease_runs_for_90_seconds,
    a_held_lease_is_refused_with_its_holder,
    a_lapsed_lease_is_taken_over,
    a_lapsed_lease_of_the_same_host_is_held_until_its_process_is_gone,
    a_dead_holder_is_replaced_at_once,
    a_lapsed_lease_may_be_renewed_while_nobody_took_over,
    a_superseded_run_is_refused_and_changes_nothing,
    a_superseded_run_still_reports_its_exit_code,
    a_superseded_runs_tail_is_kept_as_history,
    a_finished_run_releases_the_lease,
    a_cancelled_run_releases_the_lease,
    workstreams_have_leases_of_their_own,
    a_foreign_generation_is_refused,
)
