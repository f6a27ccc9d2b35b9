"""What is told of a workstream: its events by kind and by run, its git states, its packets, its newest history."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from rigline.ledger.base import CheckpointRecord, Ledger
from rigline.model import Checkpoint, Delivery, Event, Kind, LinkKind, RunRef, SessionInfo, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect, expect_equal
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window


def events_are_counted_by_kind_and_a_copy_once(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    original = [make_event("s1", "r1", copy_key="k1"), make_event("s1", "r2", kind=Kind.TOOL_CALL, copy_key="k2")]
    _append(ledger, _bind(ledger, grant.run, "s1"), original)
    copies = [make_event("s2", f"r{n}", copy_key=f"k{n}") for n in (1, 3)]
    _append(ledger, _bind(ledger, grant.run, "s2"), copies)
    expect_equal(ledger.count_events(grant.workstream.id), {"message": 2, "tool_call": 1}, "counts")
    expect_equal(ledger.get_session("s2").copies, 1, "copies of the second session")
    expect_equal({each.native_id: each.copies for each in ledger.list_sessions(None)}, {"s1": 0, "s2": 1}, "copies")


def a_subagents_events_are_not_counted_as_the_lines_own(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _append(ledger, _bind(ledger, grant.run, "s1"), [make_event("s1", "r1")])
    link = SessionLink(child_id="sub", parent_id="s1", kind=LinkKind.SUBAGENT, evidence="its file")
    _append(ledger, make_session("sub", is_subagent=True), [make_event("sub", "r1")], links=[link])
    expect_equal(ledger.count_events(grant.workstream.id), {"message": 1}, "counts")


def a_runs_events_are_those_written_while_it_ran(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request()).run
    info = _bind(ledger, first, "s1")
    began_ms = clock.now_ms
    clock.advance(1000)
    ledger.finish(first, 0, None)
    clock.advance(1000)
    second = ledger.prepare(make_request()).run
    times = {"before": began_ms - 1, "during": began_ms + 500, "between": began_ms + 1500, "later": began_ms + 2001}
    _append(ledger, info, [make_event("s1", name, at_ms=at_ms) for name, at_ms in times.items()])
    clock.advance(10)
    counts = ledger.count_run_events([first.run_id, second.run_id])
    expect_equal(counts, {first.run_id: 1, second.run_id: 1}, "events of the runs")
    expect_equal(ledger.count_run_events([]), {}, "events of no run")


def a_run_of_another_harness_has_none_of_its_events(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request()).run
    info = _bind(ledger, first, "s1")
    ledger.finish(first, 0, None)
    other = ledger.prepare(make_request(harness="codex")).run
    _append(ledger, info, [make_event("s1", "r1", at_ms=clock.now_ms)])
    expect_equal(ledger.count_run_events([other.run_id]), {other.run_id: 0}, "events of the other run")


def git_states_are_listed_newest_first(ledger: Ledger, clock: FakeClock) -> None:
    run = ledger.prepare(make_request()).run
    start = Checkpoint(at_ms=1, head="a" * 40, branch="main")
    end = Checkpoint(at_ms=2, head="b" * 40, branch="main", status_hash="h", paths=("x",), paths_left_out=3)
    ledger.record_checkpoint(run, "start", start)
    ledger.finish(run, 0, end)
    told = [
        CheckpointRecord(run_id=run.run_id, harness="claude-code", moment=moment, checkpoint=checkpoint)
        for moment, checkpoint in (("end", end), ("start", start))
    ]
    expect_equal(ledger.list_checkpoints(run.workstream_id), told, "checkpoints")


def packets_are_listed_newest_first_with_their_state(ledger: Ledger, clock: FakeClock) -> None:
    run = ledger.prepare(make_request()).run
    info = _bind(ledger, run, "s1")
    for name in ("d1", "d2"):
        ledger.offer(run, Delivery(id=name, native_id="s1", parts=1, through={}))
    ledger.append(info, make_window("s1", "c1", [], packets=[("d2", 1, 1)]), scope=make_scope(), run=run)
    told = [(each.id, each.state, each.confirmed_ms is not None) for each in ledger.list_deliveries(run.workstream_id)]
    expect_equal(told, [("d2", "confirmed", True), ("d1", "superseded", False)], "deliveries")


def the_newest_history_is_its_end_oldest_first(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _append(ledger, _bind(ledger, grant.run, "s1"), [make_event("s1", f"r{n}") for n in range(5)])
    newest = ledger.get_history(grant.workstream.id, limit=2, newest=True)
    expect_equal([event.text for event in newest], ["text of r3", "text of r4"], "the newest two")


def a_session_tells_its_own_history_with_what_it_copied(ledger: Ledger, clock: FakeClock) -> None:
    _append(ledger, make_session("s1"), [make_event("s1", "r1", copy_key="k1"), make_event("s1", "r2")])
    _append(ledger, make_session("s2"), [make_event("s2", "q1", copy_key="k1"), make_event("s2", "q2")])
    history = ledger.get_session_history("claude-code", "s2")
    expect_equal([event.text for event in history], ["text of r1", "text of q2"], "history of the copy")
    newest = ledger.get_session_history("claude-code", "s2", limit=1, newest=True)
    expect_equal([event.text for event in newest], ["text of q2"], "its newest event")
    expect_equal(ledger.get_session_history("codex", "s2"), [], "history of a session that is not there")


def lines_are_listed_by_checkout_the_last_selected_first(ledger: Ledger, clock: FakeClock) -> None:
    for scope in (make_scope(), make_scope(project="other"), make_scope("tree-2"), make_scope()):
        ledger.finish(ledger.prepare(make_request(scope=scope)).run, 0, None)

    def list_places(worktree: str | None) -> list[tuple[str, str]]:
        found = [record.workstream for record in ledger.list_lines(worktree)]
        return [(line.worktree_fingerprint, line.project) for line in found]

    here = [("tree-1", "project"), ("tree-1", "other")]
    expect_equal(list_places("tree-1"), here, "lines of the checkout, in every project")
    expect_equal(list_places(None), [here[0], ("tree-2", "project"), here[1]], "lines of every checkout")
    expect_equal(list_places("tree-3"), [], "lines of an unknown checkout")


def a_line_is_listed_with_its_latest_words(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    expect_equal(_find_last_words(ledger), None, "words of a line on which nothing was said")
    call = make_event("s1", "r3", kind=Kind.TOOL_CALL, at_ms=30)
    _append(ledger, _bind(ledger, grant.run, "s1"), [make_event("s1", "r1", "x" * 2000, at_ms=20), call])
    # imported later, but said earlier
    _append(ledger, _bind(ledger, grant.run, "s2"), [make_event("s2", "r1", "before", at_ms=10)])
    link = SessionLink(child_id="sub", parent_id="s1", kind=LinkKind.SUBAGENT, evidence="its file")
    _append(ledger, make_session("sub", is_subagent=True), [make_event("sub", "r1", at_ms=40)], links=[link])
    expect_equal(_find_last_words(ledger), "x" * 1000, "the latest message, cut")


def a_line_of_copies_alone_is_listed_with_the_last_of_them(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request(scope=make_scope("tree-2"))).run
    _append(ledger, _bind(ledger, first, "s1"), [make_event("s1", f"r{n}", copy_key=f"k{n}") for n in (1, 2)])
    fork = _bind(ledger, ledger.prepare(make_request()).run, "s2")
    _append(ledger, fork, [make_event("s2", f"r{n}", f"text of r{n}", copy_key=f"k{n}") for n in (1, 2)])
    expect_equal(_find_last_words(ledger), "text of r2", "the last copy")


def a_line_is_listed_with_its_holder_and_what_the_last_run_left(ledger: Ledger, clock: FakeClock) -> None:
    left = Checkpoint(at_ms=2, head="b" * 40, branch="topic", status_hash="h", paths=("x.py",))
    first = ledger.prepare(make_request()).run
    ledger.finish(first, 0, left)
    second = ledger.prepare(make_request(harness="codex", pid=7)).run
    ledger.record_checkpoint(second, "start", Checkpoint(at_ms=3, head="c" * 40))
    record = ledger.list_lines("tree-1")[0]
    expect_equal(record.checkpoint, left, "what the last ended run left")
    expect(record.holder is not None and record.holder.run_id == second.run_id, "the run that writes it is told")
    ledger.finish(second, 0, None)
    record = ledger.list_lines("tree-1")[0]
    expect_equal((record.holder, record.checkpoint and record.checkpoint.head), (None, "c" * 40), "after its end")


def _find_last_words(ledger: Ledger) -> str | None:
    words = ledger.list_lines("tree-1")[0].last_words
    return words.text if words else None


def _bind(ledger: Ledger, run: RunRef, native_id: str) -> SessionInfo:
    info = make_session(native_id)
    ledger.bind(run, info, evidence="hook", created_via="fresh", store="/store")
    return info


def _append(ledger: Ledger, info: SessionInfo, events: list[Event], *, links: list[SessionLink] | None = None) -> None:
    window = make_window(info.native_id, "c1", events, links=links)
    ledger.append(info, window, scope=make_scope(), run=None)


CONTRACTS = (
    events_are_counted_by_kind_and_a_copy_once,
    a_subagents_events_are_not_counted_as_the_lines_own,
    a_runs_events_are_those_written_while_it_ran,
    a_run_of_another_harness_has_none_of_its_events,
    git_states_are_listed_newest_first,
    packets_are_listed_newest_first_with_their_state,
    the_newest_history_is_its_end_oldest_first,
    a_session_tells_its_own_history_with_what_it_copied,
    lines_are_listed_by_checkout_the_last_selected_first,
    a_line_is_listed_with_its_latest_words,
    a_line_of_copies_alone_is_listed_with_the_last_of_them,
    a_line_is_listed_with_its_holder_and_what_the_last_run_left,
)
