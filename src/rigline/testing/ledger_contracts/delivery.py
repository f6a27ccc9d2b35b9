"""A session is shown what it has not seen, once, and only what a transcript proves was shown counts as shown."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from rigline.ledger.base import Ledger
from rigline.model import Checkpoint, Delivery, Grant, Kind, LinkKind, SessionInfo, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect_equal, list_unseen
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window


def own_events_are_never_echoed(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "s1", "said by s1")
    _say(ledger, grant, "t1", "said by t1", harness="codex")
    expect_equal(list_unseen(ledger, grant, "s1"), ["said by t1"], "unseen by s1")
    expect_equal(list_unseen(ledger, grant, "t1", "codex"), ["said by s1"], "unseen by t1")
    expect_equal(list_unseen(ledger, grant, None), ["said by s1", "said by t1"], "unseen by a fresh session")
    expect_equal(list_unseen(ledger, grant, "unheard-of"), ["said by s1", "said by t1"], "unseen by an unknown one")


def the_newest_events_are_given_and_all_are_counted(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "s1", *[f"event {n}" for n in range(10)])
    unseen = ledger.get_unseen(grant.workstream.id, "codex", None, limit=3)
    expect_equal([each.text for each in unseen.events], ["event 7", "event 8", "event 9"], "events")
    expect_equal(unseen.counts, {"message": 10}, "counts")


def what_was_said_is_given_whole_and_of_a_long_output_the_ends(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    told = "begin " + "word " * 40_000 + "end"
    output = "\n".join(f"line {n}" for n in range(40_000))
    info = make_session("s1")
    ledger.bind(grant.run, info, evidence="hook", created_via="run", store="/store")
    result = make_event("s1", "r2", output, kind=Kind.TOOL_RESULT, role=None)
    window = make_window("s1", "c1", [make_event("s1", "r1", told), result])
    ledger.append(info, window, scope=make_scope(), run=grant.run)
    message, ends = (each.text for each in ledger.get_unseen(grant.workstream.id, "codex", None).events)
    expect_equal(message == told, True, "the message as it was said")
    expect_equal((ends[:6], ends[-10:]), ("line 0", "line 39999"), "the ends of the output")
    expect_equal(ends.count("\n"), output.count("\n"), "line feeds of the output")
    expect_equal(len(ends) < len(output) // 2, True, "the output is cut")


def an_offer_alone_proves_nothing(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "s1")
    expect_equal(list_unseen(ledger, grant, "s1"), ["news"], "unseen after the offer")


def a_packet_seen_whole_is_confirmed(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "s1", parts=2)
    expect_equal(_see(ledger, "s1", "c1", ("d1", 1, 2)), (), "confirmed by the first part")
    expect_equal(list_unseen(ledger, grant, "s1"), ["news"], "unseen after one part of two")
    expect_equal(_see(ledger, "s1", "c2", ("d1", 2, 2)), ("d1",), "confirmed by the second part")
    expect_equal(list_unseen(ledger, grant, "s1"), [], "unseen after both")
    expect_equal(_see(ledger, "s1", "c3", ("d1", 2, 2)), (), "confirmed by a marker that is read again")
    _say(ledger, grant, "t1", "more news", harness="codex")
    expect_equal(list_unseen(ledger, grant, "s1"), ["more news"], "unseen later")


def a_packet_covers_no_more_than_was_there(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "before", harness="codex")
    _offer(ledger, grant, "d1", "s1")
    _say(ledger, grant, "t1", "after", harness="codex")
    _see(ledger, "s1", "c1", ("d1", 1, 1))
    expect_equal(list_unseen(ledger, grant, "s1"), ["after"], "unseen")


def a_lost_packet_is_offered_again_and_a_late_one_counts(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "s1")
    _offer(ledger, grant, "d2", "s1")
    expect_equal(_see(ledger, "s1", "c1", ("d1", 1, 1)), ("d1",), "confirmed by the first packet after all")
    expect_equal(list_unseen(ledger, grant, "s1"), [], "unseen")


def unknown_markers_prove_nothing(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "s1")
    markers = (("nonsense", 1, 1), ("d1", 0, 1), ("d1", 2, 1), ("d1", -1, 1), ("", 1, 1))
    expect_equal(_see(ledger, "s1", "c1", *markers), (), "confirmed")
    expect_equal(list_unseen(ledger, grant, "s1"), ["news"], "unseen")


def a_fresh_sessions_packet_is_confirmed_where_it_is_seen(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", None)
    expect_equal(_see(ledger, "s-new", "c1", ("d1", 1, 1)), ("d1",), "confirmed")
    expect_equal(list_unseen(ledger, grant, "s-new"), [], "unseen by the session that saw it")
    expect_equal(list_unseen(ledger, grant, "s-other"), ["news"], "unseen by another one")


def a_session_bound_late_is_still_shown(ledger: Ledger, clock: FakeClock) -> None:
    _append(ledger, "old", "said before there was a workstream")
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "s1")
    _see(ledger, "s1", "c1", ("d1", 1, 1))
    ledger.bind(grant.run, make_session("old"), evidence="adopted", created_via="adopted", store="/store")
    expect_equal(list_unseen(ledger, grant, "s1"), ["said before there was a workstream"], "unseen")


def a_fork_was_shown_what_its_parent_was_shown(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "old news", harness="codex")
    _say(ledger, grant, "parent", "by the parent")
    _offer(ledger, grant, "d1", "parent")
    _see(ledger, "parent", "c9", ("d1", 1, 1))
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.FORK, evidence="launched so")
    ledger.add_link("claude-code", link)
    expect_equal(list_unseen(ledger, grant, "fork"), [], "unseen by the fork at its birth")
    _say(ledger, grant, "t1", "later news", harness="codex")
    _say(ledger, grant, "parent", "later by the parent")
    expect_equal(list_unseen(ledger, grant, "fork"), ["later news", "later by the parent"], "unseen by the fork later")


def a_fork_told_of_late_was_not_shown_what_came_after_its_birth(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "parent", "before", at_ms=100)
    _say(ledger, grant, "parent", "after", at_ms=300)
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.BRANCH, evidence="its store")
    ledger.add_link("claude-code", link, born_ms=200)
    expect_equal(list_unseen(ledger, grant, "fork"), ["after"], "unseen by the fork")


def a_fork_that_was_read_is_known_by_what_it_copied(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "parent", "shared")
    _copy(ledger, grant, "fork", "shared", of="parent")
    _say(ledger, grant, "parent", "after")
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.FORK, evidence="found later")
    ledger.add_link("claude-code", link)
    expect_equal(list_unseen(ledger, grant, "fork"), ["after"], "unseen by the fork")


def a_fork_found_by_its_records_was_shown_what_its_parent_was(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "parent")
    _see(ledger, "parent", "c1", ("d1", 1, 1))
    clock.advance(1000)
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.FORK, evidence="its records")
    info = make_session("fork", started_ms=clock.now_ms)
    ledger.append(info, make_window("fork", "c", [make_event("fork", "f1")], links=[link]), scope=None, run=None)
    expect_equal(list_unseen(ledger, grant, "fork"), [], "unseen by the fork")


def a_link_told_by_another_session_says_nothing_of_its_birth(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "parent")
    _see(ledger, "parent", "c1", ("d1", 1, 1))
    clock.advance(1000)
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.FORK, evidence="a third session's records")
    info = make_session("third", started_ms=clock.now_ms)
    ledger.append(info, make_window("third", "c", [make_event("third", "r1")], links=[link]), scope=None, run=None)
    expect_equal(list_unseen(ledger, grant, "fork"), ["news"], "unseen by the fork")


def a_session_that_proves_to_be_a_subagents_is_left_out(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "s1", "said in doubt")
    info = make_session("s1", is_subagent=True)
    ledger.append(info, make_window("s1", "c2", [make_event("s1", "r2")]), scope=None, run=None)
    expect_equal(list_unseen(ledger, grant, None), [], "unseen")


def a_fork_found_late_is_not_taken_for_shown(ledger: Ledger, clock: FakeClock) -> None:
    """What its parent was shown after the fork was born, the fork never saw."""
    grant = ledger.prepare(make_request())
    born_ms = clock.now_ms
    _say(ledger, grant, "parent", "by the parent")
    clock.advance(1000)
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "parent")
    _see(ledger, "parent", "c9", ("d1", 1, 1))
    link = SessionLink(child_id="fork", parent_id="parent", kind=LinkKind.FORK, evidence="its records")
    copied = make_event("fork", "parent-by the parent", "by the parent", copy_key="parent-by the parent")
    info = make_session("fork", started_ms=born_ms)
    ledger.append(info, make_window("fork", "c", [copied], links=[link]), scope=make_scope(), run=None)
    expect_equal(list_unseen(ledger, grant, "fork"), ["news"], "unseen by the fork")


def a_forks_copy_of_a_packet_proves_that_it_was_shown(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    _say(ledger, grant, "t1", "news", harness="codex")
    _offer(ledger, grant, "d1", "parent")
    _see(ledger, "parent", "c1", ("d1", 1, 1))
    expect_equal(_see(ledger, "fork", "c1", ("d1", 1, 1)), (), "confirmed a second time")
    expect_equal(list_unseen(ledger, grant, "fork"), [], "unseen by the fork")


def an_event_that_two_sessions_have_is_shown_once(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request(harness="codex"))
    _say(ledger, grant, "parent", "shared")
    _offer(ledger, grant, "d1", "t1", harness="codex")
    _see(ledger, "t1", "c1", ("d1", 1, 1), harness="codex")
    fork = make_session("fork")
    ledger.bind(grant.run, fork, evidence="hook", created_via="run", store="/store")
    events = [make_event("fork", "parent-shared", "shared", copy_key="parent-shared"), make_event("fork", "f2", "own")]
    ledger.append(fork, make_window("fork", "c", events), scope=make_scope(), run=None)
    expect_equal(list_unseen(ledger, grant, "t1", "codex"), ["own"], "unseen by the other harness")
    expect_equal(list_unseen(ledger, grant, "parent"), ["own"], "unseen by the parent")


def an_event_shown_as_a_copy_is_not_shown_again_by_its_owner(ledger: Ledger, clock: FakeClock) -> None:
    owner = _append(ledger, "owner", "shared")
    grant = ledger.prepare(make_request(harness="codex"))
    _copy(ledger, grant, "fork", "shared", of="owner")
    _offer(ledger, grant, "d1", "t1", harness="codex")
    _see(ledger, "t1", "c1", ("d1", 1, 1), harness="codex")
    ledger.bind(grant.run, owner, evidence="adopted", created_via="adopted", store="/store")
    expect_equal(list_unseen(ledger, grant, "t1", "codex"), [], "unseen")


def an_old_event_that_a_session_copies_late_is_still_shown(ledger: Ledger, clock: FakeClock) -> None:
    _append(ledger, "owner", "old")
    grant = ledger.prepare(make_request(harness="codex"))
    _say(ledger, grant, "s1", "newer")
    _offer(ledger, grant, "d1", "t1", harness="codex")
    _see(ledger, "t1", "c1", ("d1", 1, 1), harness="codex")
    _copy(ledger, grant, "s1", "old", of="owner")
    expect_equal(list_unseen(ledger, grant, "t1", "codex"), ["old"], "unseen")


def an_older_packet_found_late_takes_nothing_back(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    for number, text in enumerate(("first", "second")):
        _say(ledger, grant, "t1", text, harness="codex")
        _offer(ledger, grant, f"d{number}", "s1")
    _see(ledger, "s1", "c1", ("d1", 1, 1))
    _see(ledger, "s1", "c2", ("d0", 1, 1))
    expect_equal(list_unseen(ledger, grant, "s1"), [], "unseen")


def the_last_ended_run_left_the_checkpoint(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request())
    ledger.record_checkpoint(first.run, "start", Checkpoint(at_ms=1, head="start"))
    end = Checkpoint(at_ms=2, head="end", branch="main", status_hash="abc", paths=("a", "b"), paths_left_out=3)
    ledger.finish(first.run, 0, end)
    second = ledger.prepare(make_request(harness="codex"))
    ledger.record_checkpoint(second.run, "start", Checkpoint(at_ms=3, head="now"))
    unseen = ledger.get_unseen(second.workstream.id, "codex", None)
    expect_equal((unseen.checkpoint, unseen.checkpoint_harness), (end, "claude-code"), "what the last run left")


def _append(
    ledger: Ledger, native_id: str, *texts: str, harness: str = "claude-code", at_ms: int | None = None
) -> SessionInfo:
    info = make_session(native_id, harness)
    events = [
        make_event(native_id, f"{native_id}-{text}", text, harness=harness, copy_key=f"{native_id}-{text}", at_ms=at_ms)
        for text in texts
    ]
    ledger.append(info, make_window(native_id, f"after {texts[-1]}", events), scope=make_scope(), run=None)
    return info


def _say(
    ledger: Ledger,
    grant: Grant,
    native_id: str,
    *texts: str,
    harness: str = "claude-code",
    at_ms: int | None = None,
) -> None:
    info = _append(ledger, native_id, *texts, harness=harness, at_ms=at_ms)
    ledger.bind(grant.run, info, evidence="hook", created_via="run", store="/store")


def _copy(ledger: Ledger, grant: Grant, native_id: str, text: str, *, of: str) -> None:
    """The session's transcript has a copy of what another one said."""
    info = make_session(native_id)
    ledger.bind(grant.run, info, evidence="hook", created_via="run", store="/store")
    event = make_event(native_id, f"copy of {text}", text, copy_key=f"{of}-{text}")
    ledger.append(info, make_window(native_id, f"copied {text}", [event]), scope=make_scope(), run=None)


def _offer(
    ledger: Ledger,
    grant: Grant,
    delivery_id: str,
    native_id: str | None,
    *,
    parts: int = 1,
    harness: str = "claude-code",
) -> None:
    through = ledger.get_unseen(grant.workstream.id, harness, native_id).through
    ledger.offer(grant.run, Delivery(id=delivery_id, native_id=native_id, parts=parts, through=through))


def _see(
    ledger: Ledger, native_id: str, cursor: str, *packets: tuple[str, int, int], harness: str = "claude-code"
) -> tuple[str, ...]:
    window = make_window(native_id, cursor, [], packets=list(packets))
    return ledger.append(make_session(native_id, harness), window, scope=make_scope(), run=None).confirmed


CONTRACTS = (
    own_events_are_never_echoed,
    the_newest_events_are_given_and_all_are_counted,
    what_was_said_is_given_whole_and_of_a_long_output_the_ends,
    an_offer_alone_proves_nothing,
    a_packet_seen_whole_is_confirmed,
    a_packet_covers_no_more_than_was_there,
    a_lost_packet_is_offered_again_and_a_late_one_counts,
    unknown_markers_prove_nothing,
    a_fresh_sessions_packet_is_confirmed_where_it_is_seen,
    a_session_bound_late_is_still_shown,
    a_fork_was_shown_what_its_parent_was_shown,
    a_fork_told_of_late_was_not_shown_what_came_after_its_birth,
    a_fork_that_was_read_is_known_by_what_it_copied,
    a_fork_found_by_its_records_was_shown_what_its_parent_was,
    a_link_told_by_another_session_says_nothing_of_its_birth,
    a_session_that_proves_to_be_a_subagents_is_left_out,
    a_fork_found_late_is_not_taken_for_shown,
    a_forks_copy_of_a_packet_proves_that_it_was_shown,
    an_event_that_two_sessions_have_is_shown_once,
    an_event_shown_as_a_copy_is_not_shown_again_by_its_owner,
    an_old_event_that_a_session_copies_late_is_still_shown,
    an_older_packet_found_late_takes_nothing_back,
    the_last_ended_run_left_the_checkpoint,
)
