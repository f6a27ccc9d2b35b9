"""Which workstream a launch gets, what it is called, and which sessions belong to it."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from rigline.errors import AmbiguousId, UnknownWorkstream, UsageError, WorkstreamExists
from rigline.ledger.base import Ledger
from rigline.model import LinkKind, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect, expect_equal, expect_refusal
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window


def a_first_launch_makes_main(ledger: Ledger, clock: FakeClock) -> None:
    expect_equal(ledger.find_workstream(make_scope()), None, "workstream of an unknown checkout")
    grant = ledger.prepare(make_request())
    expect(grant.is_new_workstream, "it is new")
    expect_equal(grant.workstream.name, "main", "its name")
    expect(not grant.workstream.is_established, "nothing belongs to it yet")
    ledger.finish(grant.run, 0, None)
    again = ledger.prepare(make_request())
    expect(not again.is_new_workstream, "the second launch finds it")
    expect_equal(again.workstream.id, grant.workstream.id, "the second launch's workstream")


def the_most_recently_selected_workstream_is_taken(ledger: Ledger, clock: FakeClock) -> None:
    main = ledger.prepare(make_request())
    ledger.finish(main.run, 0, None)
    other = ledger.prepare(make_request(new_name="other"))
    ledger.finish(other.run, 0, None)
    clock.advance(-1_000_000)
    last = ledger.prepare(make_request(name="main"))
    ledger.finish(last.run, 0, None)
    chosen = ledger.prepare(make_request())
    expect_equal(chosen.workstream.name, "main", "the workstream, although the clock was set back")
    names = [each.name for each in ledger.list_workstreams(make_scope())]
    expect_equal(names, ["main", "other"], "workstreams, the last selected first")


def a_checkout_that_gets_a_remote_keeps_its_workstreams(ledger: Ledger, clock: FakeClock) -> None:
    before = ledger.prepare(make_request())
    ledger.finish(before.run, 0, None)
    scope = replace(make_scope(), repo_fingerprint="of-the-new-remote", repo_source="remotes")
    after = ledger.prepare(make_request(scope=scope))
    expect_equal(after.workstream.id, before.workstream.id, "the workstream after a remote was added")
    found = ledger.get_workstream(after.workstream.id, None)
    expect_equal(found.repo_fingerprint, "of-the-new-remote", "its repository")


def an_unknown_name_is_refused(ledger: Ledger, clock: FakeClock) -> None:
    ledger.finish(ledger.prepare(make_request()).run, 0, None)
    error = expect_refusal(UnknownWorkstream, lambda: ledger.prepare(make_request(name="nope")), "unknown name")
    expect("main" in str(error), "the refusal names those that are there")
    elsewhere = make_request(name="main", scope=make_scope("tree-2"))
    expect_refusal(UnknownWorkstream, lambda: ledger.prepare(elsewhere), "a name of another checkout")


def a_taken_name_is_refused(ledger: Ledger, clock: FakeClock) -> None:
    main = ledger.prepare(make_request())
    other = ledger.prepare(make_request(new_name="other"))
    expect_refusal(WorkstreamExists, lambda: ledger.prepare(make_request(new_name="main")), "new name")
    expect_refusal(WorkstreamExists, partial(ledger.rename_workstream, other.workstream.id, "main"), "rename")
    expect_equal(ledger.rename_workstream(other.workstream.id, "other").name, "other", "rename to the same name")
    expect_equal(ledger.rename_workstream(main.workstream.id, "first").name, "first", "rename")
    elsewhere = ledger.prepare(make_request(new_name="other", scope=make_scope("tree-2")))
    expect(elsewhere.is_new_workstream, "another checkout may use the name")


def a_name_that_could_be_a_path_is_refused(ledger: Ledger, clock: FakeClock) -> None:
    for name in ("", "  ", "a/b", "a\\b", "a\nb", "\x1b[31m", "x" * 129):
        expect_refusal(UsageError, partial(ledger.prepare, make_request(new_name=name)), repr(name))
    expect_equal(ledger.list_workstreams(None), [], "workstreams made by refused launches")


def a_workstream_is_found_by_name_id_and_prefix(ledger: Ledger, clock: FakeClock) -> None:
    here = ledger.prepare(make_request()).workstream
    there = ledger.prepare(make_request(scope=make_scope("tree-2"))).workstream
    expect_equal(ledger.get_workstream("main", make_scope()).id, here.id, "by name")
    expect_equal(ledger.get_workstream(there.id, make_scope()).id, there.id, "by id from another checkout")
    expect_equal(ledger.get_workstream(here.id[:-1], None).id, here.id, "by prefix")
    expect_refusal(UnknownWorkstream, lambda: ledger.get_workstream("zzz", make_scope()), "unknown word")
    common = _find_common_prefix(here.id, there.id)
    if common:
        expect_refusal(AmbiguousId, lambda: ledger.get_workstream(common, None), "a prefix of two")


def the_last_bound_session_of_a_harness_is_current(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    for native_id, harness in (("s1", "claude-code"), ("t1", "codex"), ("s2", "claude-code")):
        clock.advance(1)
        info = make_session(native_id, harness)
        ledger.bind(grant.run, info, evidence=f"hook {native_id}", created_via="run", store="/store")
    bindings = ledger.get_workstream(grant.workstream.id, None).bindings
    current = {(each.harness, each.native_id) for each in bindings if each.is_current}
    expect_equal(current, {("claude-code", "s2"), ("codex", "t1")}, "current sessions")
    expect_equal({each.native_id for each in bindings}, {"s1", "s2", "t1"}, "sessions that belong to it")
    expect(ledger.get_workstream(grant.workstream.id, None).is_established, "it is established")


def the_harness_that_ran_last_comes_first(ledger: Ledger, clock: FakeClock) -> None:
    for harness in ("claude-code", "codex", "claude-code"):
        grant = ledger.prepare(make_request(harness=harness))
        info = make_session(f"s-{harness}", harness)
        ledger.bind(grant.run, info, evidence="hook", created_via="run", store="/store")
        ledger.finish(grant.run, 0, None)
        clock.advance(-1_000_000)
    bound = [each.harness for each in ledger.get_workstream(grant.workstream.id, None).bindings]
    expect_equal(bound, ["claude-code", "codex"], "harnesses, although the clock was set back")


def a_session_bound_again_keeps_its_first_evidence(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = make_session("s1")
    first = ledger.bind(grant.run, info, evidence="hook", created_via="run", store="/store")
    clock.advance(5)
    second = ledger.bind(grant.run, info, evidence="guess", created_via="adopted", store="/store")
    expect_equal(second, first, "the binding")


def a_subagents_session_is_never_bound(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = make_session("sub", is_subagent=True)
    bind = partial(ledger.bind, grant.run, info, evidence="hook", created_via="run", store="/store")
    expect_refusal(UsageError, bind, "binding of a subagent")


def a_session_in_two_workstreams_is_shown_in_both(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.prepare(make_request())
    second = ledger.prepare(make_request(new_name="other"))
    for grant in (first, second):
        ledger.bind(grant.run, make_session("s1"), evidence="hook", created_via="run", store="/store")
    found = ledger.get_session("s1").workstream_ids
    expect_equal(set(found), {first.workstream.id, second.workstream.id}, "workstreams of the session")


def one_native_id_in_two_harnesses_is_two_sessions(ledger: Ledger, clock: FakeClock) -> None:
    for harness in ("claude-code", "codex"):
        window = make_window("same", "1", [make_event("same", "r1", f"by {harness}", harness=harness)])
        ledger.append(make_session("same", harness), window, scope=make_scope(), run=None)
    expect_equal(len(ledger.list_sessions(None)), 2, "sessions")
    expect_refusal(AmbiguousId, lambda: ledger.get_session("same"), "an id that two harnesses use")
    expect_equal(ledger.get_session("same", "codex").harness, "codex", "the session when its harness is told")


def a_session_is_found_by_a_unique_prefix(ledger: Ledger, clock: FakeClock) -> None:
    for native_id in ("abc-1", "abc-2", "abc"):
        window = make_window(native_id, "1", [make_event(native_id, "r1")])
        ledger.append(make_session(native_id), window, scope=make_scope(), run=None)
    expect_equal(ledger.get_session("abc-1").native_id, "abc-1", "by id")
    expect_equal(ledger.get_session("abc").native_id, "abc", "by an id that others begin with")
    expect_refusal(AmbiguousId, lambda: ledger.get_session("ab"), "a prefix of three")
    expect_refusal(UsageError, lambda: ledger.get_session("zzz"), "an unknown one")


def sessions_are_listed_with_their_checkout(ledger: Ledger, clock: FakeClock) -> None:
    window = make_window("s1", "c1", [make_event("s1", "r1", at_ms=5), make_event("s1", "r2", at_ms=9)], title="Title")
    ledger.append(make_session("s1"), window, scope=make_scope(), run=None)
    link = SessionLink(child_id="s1", parent_id="never-imported", kind=LinkKind.FORK, evidence="shared records")
    for _ in range(2):
        ledger.add_link("claude-code", link)
    found = ledger.list_sessions(make_scope())
    expect_equal([each.native_id for each in found], ["s1"], "sessions of the checkout")
    expect_equal(ledger.list_sessions(make_scope("tree-2")), [], "sessions of another checkout")
    record = found[0]
    expect_equal((record.events, record.first_ms, record.last_ms), (2, 5, 9), "extent")
    expect_equal((record.cursor, record.title, record.links), ("c1", "Title", (link,)), "what is known of it")
    expect_equal(ledger.get_session("s1"), record, "the same session by its id")


def a_session_stays_in_the_checkout_where_it_began(ledger: Ledger, clock: FakeClock) -> None:
    for number, scope in enumerate((make_scope("tree-1"), make_scope("tree-2"))):
        window = make_window("s1", f"c{number}", [make_event("s1", f"r{number}")])
        ledger.append(make_session("s1"), window, scope=scope, run=None)
    expect_equal([each.native_id for each in ledger.list_sessions(make_scope("tree-1"))], ["s1"], "where it began")
    expect_equal(ledger.list_sessions(make_scope("tree-2")), [], "where it was read later")


def _find_common_prefix(one: str, other: str) -> str:
    length = next((place for place, pair in enumerate(zip(one, other, strict=True)) if len(set(pair)) > 1), len(one))
    return one[:length]


CONTRACTS = (
    a_first_launch_makes_main,
    the_most_recently_selected_workstream_is_taken,
    a_checkout_that_gets_a_remote_keeps_its_workstreams,
    an_unknown_name_is_refused,
    a_taken_name_is_refused,
    a_name_that_could_be_a_path_is_refused,
    a_workstream_is_found_by_name_id_and_prefix,
    the_last_bound_session_of_a_harness_is_current,
    the_harness_that_ran_last_comes_first,
    a_session_bound_again_keeps_its_first_evidence,
    a_subagents_session_is_never_bound,
    a_session_in_two_workstreams_is_shown_in_both,
    one_native_id_in_two_harnesses_is_two_sessions,
    a_session_is_found_by_a_unique_prefix,
    sessions_are_listed_with_their_checkout,
    a_session_stays_in_the_checkout_where_it_began,
)
