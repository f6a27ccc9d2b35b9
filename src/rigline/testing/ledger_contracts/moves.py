"""A workstream is re-attached to another checkout: what goes with it, what stays, and who may not do it."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from rigline.errors import LeaseHeld, RunSuperseded, UnknownWorkstream
from rigline.ledger.base import Ledger, MoveRecord
from rigline.model import Grant, LinkKind, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect, expect_equal, expect_refusal
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window

_OLD, _NEW = make_scope("tree-1"), make_scope("tree-2", project="renamed")


def a_relocated_workstream_is_of_its_new_checkout_alone(ledger: Ledger, clock: FakeClock) -> None:
    former = _begin(ledger, "s1").workstream
    found = ledger.relocate(former.id, _NEW, evidence="the same inode")
    place = (found.workspace, found.project, found.worktree_fingerprint, found.inode_fingerprint, found.cwd)
    wanted = (_NEW.workspace, _NEW.project, _NEW.worktree_fingerprint, _NEW.inode_fingerprint, _NEW.cwd)
    expect_equal(place, wanted, "its place")
    expect_equal((found.id, found.name), (former.id, former.name), "what it is")
    expect_equal([each.native_id for each in found.bindings], ["s1"], "its sessions")
    expect_equal(ledger.list_workstreams(_OLD), [], "workstreams of the former checkout")
    again = ledger.prepare(make_request(scope=_NEW))
    expect_equal(again.workstream.id, former.id, "what the next launch goes on with")


def a_move_is_told_newest_first(ledger: Ledger, clock: FakeClock) -> None:
    line = _begin(ledger, "s1").workstream
    ledger.relocate(line.id, _NEW, evidence="first")
    clock.advance(5)
    ledger.relocate(line.id, _OLD, evidence="and back")
    there = MoveRecord(from_cwd=_OLD.cwd, to_cwd=_NEW.cwd, evidence="first", at_ms=clock.now_ms - 5)
    back = MoveRecord(from_cwd=_NEW.cwd, to_cwd=_OLD.cwd, evidence="and back", at_ms=clock.now_ms)
    expect_equal(ledger.list_moves(line.id), [back, there], "moves")


def the_sessions_of_a_relocated_workstream_go_with_it(ledger: Ledger, clock: FakeClock) -> None:
    first, second = _begin(ledger, "s1"), _begin(ledger, "t1", new_name="other")
    link = SessionLink(child_id="sub", parent_id="s1", kind=LinkKind.SUBAGENT, evidence="its file")
    window = make_window("sub", "c", [make_event("sub", "r")], links=[link])
    ledger.append(make_session("sub", is_subagent=True), window, scope=_OLD, run=None)
    ledger.append(make_session("loose"), make_window("loose", "c", [make_event("loose", "r")]), scope=_OLD, run=None)
    ledger.relocate(first.workstream.id, _NEW, evidence="e")
    expect_equal(_list(ledger, "tree-2"), {"s1", "sub"}, "sessions that went with the first workstream")
    expect_equal(_list(ledger, "tree-1"), {"t1", "loose"}, "sessions that stayed with the other one")
    ledger.relocate(second.workstream.id, _NEW, evidence="e")
    expect_equal(_list(ledger, "tree-2"), {"s1", "sub", "t1", "loose"}, "sessions after the last one has left")


def a_session_of_a_third_checkout_stays_there(ledger: Ledger, clock: FakeClock) -> None:
    grant = _begin(ledger, "s1")
    elsewhere = make_window("s9", "c", [make_event("s9", "r")])
    ledger.append(make_session("s9"), elsewhere, scope=make_scope("tree-3"), run=None)
    again = ledger.prepare(make_request())
    ledger.bind(again.run, make_session("s9"), evidence="hook", created_via="selector", store="/store")
    ledger.finish(again.run, 0, None)
    ledger.relocate(grant.workstream.id, _NEW, evidence="e")
    expect_equal(_list(ledger, "tree-3"), {"s9"}, "sessions of the third checkout")


def a_taken_name_gets_the_id_behind_it(ledger: Ledger, clock: FakeClock) -> None:
    line = _begin(ledger, "s1").workstream
    ledger.finish(ledger.prepare(make_request(scope=_NEW)).run, 0, None)
    found = ledger.relocate(line.id, _NEW, evidence="e")
    expect(found.name != "main" and found.name.startswith("main-"), "another name")
    expect_equal(len(ledger.list_workstreams(_NEW)), 2, "workstreams of the new checkout")
    expect_equal(ledger.relocate(line.id, _NEW, evidence="e").name, found.name, "the name when it is there already")


def a_held_workstream_is_not_relocated(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request(pid=100))
    relocate = partial(ledger.relocate, grant.workstream.id, _NEW, evidence="e")
    expect_refusal(LeaseHeld, relocate, "a workstream with a run at work")
    expect_equal(len(ledger.list_workstreams(_OLD)), 1, "workstreams that are still where they were")
    expect_equal(ledger.list_moves(grant.workstream.id), [], "moves")
    found = ledger.relocate(grant.workstream.id, _NEW, evidence="e", dead_holder=grant.run.run_id)
    expect_equal(found.worktree_fingerprint, "tree-2", "its place, once the holder is known to be dead")
    expect_refusal(RunSuperseded, lambda: ledger.renew(grant.run), "what the dead holder asks for")


def an_unknown_workstream_is_not_relocated(ledger: Ledger, clock: FakeClock) -> None:
    expect_refusal(UnknownWorkstream, lambda: ledger.relocate("nope", _NEW, evidence="e"), "an unknown id")


def a_launch_keeps_what_survives_a_rename(ledger: Ledger, clock: FakeClock) -> None:
    ledger.finish(ledger.prepare(make_request(scope=replace(_OLD, inode_fingerprint=None))).run, 0, None)
    found = ledger.find_workstream(_OLD)
    expect(found is not None and found.inode_fingerprint is None, "nothing, where it was not known")
    grant = ledger.prepare(make_request())
    expect_equal(grant.workstream.inode_fingerprint, _OLD.inode_fingerprint, "what the latest launch saw")


def _begin(ledger: Ledger, native_id: str, *, new_name: str | None = None) -> Grant:
    """A workstream of the old checkout with one session in which something was said; nobody has its lease."""
    grant = ledger.prepare(make_request(new_name=new_name))
    info = make_session(native_id)
    ledger.bind(grant.run, info, evidence="hook", created_via="fresh", store="/store")
    ledger.append(info, make_window(native_id, "c1", [make_event(native_id, "r1")]), scope=_OLD, run=grant.run)
    ledger.finish(grant.run, 0, None)
    return grant


def _list(ledger: Ledger, worktree: str) -> set[str]:
    return {each.native_id for each in ledger.list_sessions(make_scope(worktree))}


CONTRACTS = (
    a_relocated_workstream_is_of_its_new_checkout_alone,
    a_move_is_told_newest_first,
    the_sessions_of_a_relocated_workstream_go_with_it,
    a_session_of_a_third_checkout_stays_there,
    a_taken_name_gets_the_id_behind_it,
    a_held_workstream_is_not_relocated,
    an_unknown_workstream_is_not_relocated,
    a_launch_keeps_what_survives_a_rename,
)
