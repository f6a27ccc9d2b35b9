"""What was said is kept once, redacted, in order, whatever way and however often it is read."""

# ruff: noqa: ARG001  every contract takes the ledger and its clock

from __future__ import annotations

from rigline.ledger.base import Appended, Ledger
from rigline.model import Kind, LinkKind, RunRef, SessionInfo, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts.expect import expect, expect_equal, list_texts
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window

_SECRET = "ghp_" + "a1B2c3D4" * 5


def a_window_read_twice_is_stored_once(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [make_event("s1", "r1"), make_event("s1", "r1", "answer", block=1), make_event("s1", "r2")]
    window = make_window("s1", "c1", events, losses={"reasoning": 2})
    first = ledger.append(info, window, scope=make_scope(), run=grant.run)
    expect_equal(first, Appended(added=3, losses={"reasoning": 2}), "the first time")
    again = ledger.append(info, window, scope=make_scope(), run=grant.run)
    expect_equal(again, Appended(), "the second time")
    expect_equal(list_texts(ledger, grant), ["text of r1", "answer", "text of r2"], "history")
    record = ledger.get_session("s1")
    expect_equal((record.cursor, record.losses), ("c1", {"reasoning": 2}), "cursor and losses")


def a_replay_from_the_beginning_doubles_nothing(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [make_event("s1", f"r{n}") for n in range(4)]
    for cursor, some in (("c1", events[:2]), ("c2", events[2:])):
        window = make_window("s1", cursor, some, losses={"damaged": 1})
        ledger.append(info, window, scope=make_scope(), run=None)
    replay = make_window("s1", "d1", events, losses={"damaged": 2})
    ledger.append(info, replay, scope=make_scope(), run=None)
    expect_equal(len(list_texts(ledger, grant)), 4, "events")
    expect_equal(ledger.get_session("s1").losses, {"damaged": 2}, "losses")
    expect_equal(ledger.get_cursor("claude-code", "s1"), "d1", "cursor")


def a_record_written_again_under_a_new_id_is_one_event(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    first = make_window("s1", "c1", [make_event("s1", "r1", copy_key="k1")])
    replayed = [make_event("s1", "r7", "text of r1", copy_key="k1"), make_event("s1", "r8", copy_key="k8")]
    ledger.append(info, first, scope=make_scope(), run=None)
    appended = ledger.append(info, make_window("s1", "c2", replayed), scope=make_scope(), run=None)
    expect_equal(appended, Appended(added=1), "what the replay brought")
    expect_equal(list_texts(ledger, grant), ["text of r1", "text of r8"], "history")


def a_record_repeated_within_a_window_is_one_event(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [
        make_event("s1", "r1", "half", copy_key="k1"),
        make_event("s1", "r2", "half", copy_key="k1"),
        make_event("s1", "r3", "other"),
        make_event("s1", "r1", "whole", copy_key="k1"),
    ]
    appended = ledger.append(info, make_window("s1", "c1", events), scope=make_scope(), run=None)
    expect_equal((appended.added, appended.revised, appended.copied), (2, 0, 0), "what the window brought")
    expect_equal(list_texts(ledger, grant), ["whole", "other"], "history")


def blocks_that_share_a_copy_key_are_kept_apart(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    blocks = [make_event("s1", "r1", f"block {n}", block=n, copy_key="record-1") for n in range(3)]
    ledger.append(info, make_window("s1", "c1", blocks), scope=make_scope(), run=None)
    expect_equal(list_texts(ledger, grant), ["block 0", "block 1", "block 2"], "history")


def a_changed_text_revises_its_event(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    ledger.append(info, make_window("s1", "c1", [make_event("s1", "r1", "half a")]), scope=make_scope(), run=None)
    whole = make_window("s1", "c2", [make_event("s1", "r1", "half an answer, now whole")])
    expect_equal(ledger.append(info, whole, scope=make_scope(), run=None), Appended(revised=1), "the second reading")
    expect_equal(list_texts(ledger, grant), ["half an answer, now whole"], "history")


def a_fork_is_counted_once_after_its_parent(ledger: Ledger, clock: FakeClock) -> None:
    _check_fork(ledger, ["parent", "fork"])


def a_fork_is_counted_once_before_its_parent(ledger: Ledger, clock: FakeClock) -> None:
    _check_fork(ledger, ["fork", "parent"])


def _check_fork(ledger: Ledger, order: list[str]) -> None:
    grant = ledger.prepare(make_request())
    shared = ["one", "two", "three"]
    own = {"parent": ["parent goes on"], "fork": ["fork goes on"]}
    for native_id in order:
        info = _bind(ledger, grant.run, native_id)
        events = [make_event(native_id, f"{native_id}-{text}", text, copy_key=text) for text in shared + own[native_id]]
        for _ in range(2):
            ledger.append(info, make_window(native_id, "c", events), scope=make_scope(), run=None)
    texts = list_texts(ledger, grant)
    expect_equal(sorted(texts), sorted([*shared, "parent goes on", "fork goes on"]), "history")
    expect_equal(texts[:3], shared, "the copied beginning")
    for native_id in order:
        expect_equal(ledger.get_session(native_id).events, 4, f"events of the {native_id}")


def an_unbound_parents_events_belong_to_its_bound_fork(ledger: Ledger, clock: FakeClock) -> None:
    parent = make_window("parent", "c", [make_event("parent", "p1", "shared", copy_key="k1")])
    ledger.append(make_session("parent"), parent, scope=make_scope(), run=None)
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "fork")
    events = [make_event("fork", "f1", "shared", copy_key="k1"), make_event("fork", "f2", "own", copy_key="k2")]
    appended = ledger.append(info, make_window("fork", "c", events), scope=make_scope(), run=None)
    expect_equal(appended, Appended(added=1, copied=1), "what the fork brought")
    expect_equal(list_texts(ledger, grant), ["shared", "own"], "history")


def events_read_by_lineage_belong_to_both_sessions(ledger: Ledger, clock: FakeClock) -> None:
    """Some harnesses' forks point at the parent's records instead of copying them."""
    grant = ledger.prepare(make_request(harness="codex"))
    info = _bind(ledger, grant.run, "fork", "codex")
    events = [make_event("parent", "1", "from the parent", harness="codex")]
    events.append(make_event("fork", "2", "from the fork", harness="codex"))
    ledger.append(info, make_window("fork", "c", events), scope=make_scope(), run=None)
    parent = make_window("parent", "p", [*events[:1], make_event("parent", "2", "goes on", harness="codex")])
    ledger.append(make_session("parent", "codex"), parent, scope=make_scope(), run=None)
    expect_equal(list_texts(ledger, grant), ["from the parent", "from the fork"], "history of the fork")
    counts = [ledger.get_session(native_id).events for native_id in ("parent", "fork")]
    expect_equal(counts, [2, 2], "events of parent and fork")


def blank_events_are_dropped(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [make_event("s1", "r1", ""), make_event("s1", "r2", " \n\t "), make_event("s1", "r3", "words")]
    appended = ledger.append(info, make_window("s1", "c1", events), scope=make_scope(), run=None)
    expect_equal(appended.added, 1, "events")


def lone_surrogates_are_replaced(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [make_event("s1", "r\ud800", "cut \ud83d here"), make_event("s1", "r2", "whole \ud83d\ude00 pair")]
    window = make_window("s1", "c1", events, title="title \udfff")
    ledger.append(info, window, scope=make_scope(), run=None)
    expect_equal(list_texts(ledger, grant), ["cut \ufffd here", "whole \U0001f600 pair"], "history")


def secrets_are_redacted_before_anything_is_cut(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    filler = "word " * ((1024 * 1024 - 20) // 5)
    events = [make_event("s1", "r1", f"token {_SECRET} used"), make_event("s1", "r2", filler + _SECRET + " tail" * 99)]
    window = make_window("s1", "c1", events, title=f"about {_SECRET}")
    ledger.append(info, window, scope=make_scope(), run=None)
    texts = list_texts(ledger, grant)
    expect(not any("ghp_" in text for text in texts), "a token is in the history")
    expect(len(texts[1]) <= 1024 * 1024, "the long text was cut")
    record = ledger.get_session("s1")
    expect("ghp_" not in (record.title or ""), "a token is in the title")
    expect_equal(record.losses.get("text_cut"), 1, "cuts that were counted")


def subagents_are_history_on_request_only(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    main = _bind(ledger, grant.run, "s1")
    ledger.append(main, make_window("s1", "c", [make_event("s1", "r1", "main")]), scope=make_scope(), run=None)
    link = SessionLink(child_id="sub", parent_id="s1", kind=LinkKind.SUBAGENT, evidence="its file")
    nested = SessionLink(child_id="subsub", parent_id="sub", kind=LinkKind.SUBAGENT, evidence="its file")
    for native_id, each in (("sub", link), ("subsub", nested)):
        info = make_session(native_id, is_subagent=True)
        window = make_window(native_id, "c", [make_event(native_id, "r1", native_id)], links=[each])
        ledger.append(info, window, scope=make_scope(), run=None)
    expect_equal(list_texts(ledger, grant), ["main"], "history")
    everything = ledger.get_history(grant.workstream.id, with_subagents=True)
    expect_equal([each.text for each in everything], ["main", "sub", "subsub"], "history with subagents")
    unseen = ledger.get_unseen(grant.workstream.id, "codex", None)
    expect_equal([each.text for each in unseen.events], ["main"], "what a fresh session is shown")


def abandoned_branches_are_told_apart(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    events = [
        make_event("s1", "t1", "begin", turn="t1"),
        make_event("s1", "t2", "wrong way", turn="t2", parent_turn="t1"),
        make_event("s1", "a2", "further on the wrong way", turn="t2", parent_turn="t1"),
        make_event("s1", "t3", "right way", turn="t3", parent_turn="t1"),
        make_event("s1", "x", "outside of all turns"),
    ]
    ledger.append(info, make_window("s1", "c", events), scope=make_scope(), run=None)
    abandoned = [each.text for each in ledger.get_history(grant.workstream.id) if each.is_abandoned]
    expect_equal(abandoned, ["wrong way", "further on the wrong way"], "abandoned events")
    unseen = ledger.get_unseen(grant.workstream.id, "codex", None)
    expect_equal([each.text for each in unseen.events], ["begin", "right way", "outside of all turns"], "unseen")
    expect_equal(unseen.counts, {"message": 3, "abandoned": 2}, "counts")


def history_comes_in_pages(ledger: Ledger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    info = _bind(ledger, grant.run, "s1")
    kinds = list(Kind)
    events = [make_event("s1", f"r{n}", kind=kinds[n % len(kinds)], at_ms=n) for n in range(7)]
    ledger.append(info, make_window("s1", "c", events), scope=make_scope(), run=None)
    pages, after = [], 0
    while page := ledger.get_history(grant.workstream.id, after_seq=after, limit=3):
        pages.append([(each.text, each.kind, each.at_ms) for each in page])
        after = page[-1].seq
    expect_equal([len(page) for page in pages], [3, 3, 1], "pages")
    found = [entry for page in pages for entry in page]
    expect_equal(found, [(each.text, each.kind, each.at_ms) for each in events], "events")


def _bind(ledger: Ledger, run: RunRef, native_id: str, harness: str = "claude-code") -> SessionInfo:
    info = make_session(native_id, harness)
    ledger.bind(run, info, evidence="hook", created_via="run", store="/store")
    return info


CONTRACTS = (
    a_window_read_twice_is_stored_once,
    a_replay_from_the_beginning_doubles_nothing,
    a_record_written_again_under_a_new_id_is_one_event,
    a_record_repeated_within_a_window_is_one_event,
    blocks_that_share_a_copy_key_are_kept_apart,
    a_changed_text_revises_its_event,
    a_fork_is_counted_once_after_its_parent,
    a_fork_is_counted_once_before_its_parent,
    an_unbound_parents_events_belong_to_its_bound_fork,
    events_read_by_lineage_belong_to_both_sessions,
    blank_events_are_dropped,
    lone_surrogates_are_replaced,
    secrets_are_redacted_before_anything_is_cut,
    subagents_are_history_on_request_only,
    abandoned_branches_are_told_apart,
    history_comes_in_pages,
)
