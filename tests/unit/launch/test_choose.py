"""Which harness, which session: every case of the decision, with its reason."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rigline.errors import NothingToContinue, SessionHeld, UsageError
from rigline.harness.base import Classification, Mode, Selector
from rigline.launch.choose import (
    SessionFacts,
    Start,
    check_request,
    choose_harness,
    choose_session,
    find_moved,
)
from rigline.model import Binding, LiveSession, Lookup, Presence, SessionInfo, Workstream
from rigline.testing.samples import make_scope

PLAIN = Classification(mode=Mode.SESSION, interactive=True)
BINDING = Binding(
    harness="codex", native_id="c-1", evidence="e", created_via="fresh", bound_ms=2, is_current=True, path="/x"
)


def make_workstream(*bindings: Binding, established: bool = True) -> Workstream:
    return Workstream(
        id="w",
        name="main",
        workspace="default",
        project="p",
        repo_fingerprint="r",
        worktree_fingerprint="t",
        cwd="/w",
        created_ms=0,
        active_ms=0,
        generation=1,
        is_established=established,
        bindings=bindings,
    )


def make_info(harness: str, updated_ms: int, native_id: str = "s") -> SessionInfo:
    return SessionInfo(harness=harness, native_id=native_id, path="/s", cwd="/w", updated_ms=updated_ms, size_bytes=1)


def bind(harness: str, native_id: str) -> Binding:
    return Binding(harness=harness, native_id=native_id, evidence="e", created_via="fresh", bound_ms=1, is_current=True)


def select(**fields: object) -> Classification:
    selector = Selector(words=("--resume", "x"), **fields)  # type: ignore[arg-type]
    return Classification(mode=Mode.SESSION, interactive=True, selector=selector)


def exists(**fields: object) -> Lookup:
    return Lookup(presence=Presence.EXISTS, **fields)  # type: ignore[arg-type]


def test_the_most_recently_bound_harness_outranks_a_newer_local_session() -> None:
    line = make_workstream(bind("codex", "c"), bind("claude-code", "a"))
    choice = choose_harness(line, {"codex", "claude-code"}, [make_info("claude-code", 999)], "/w")
    assert (choice.harness, choice.adopt) == ("codex", None)


def test_a_bound_harness_that_is_gone_is_passed_over_and_named() -> None:
    line = make_workstream(bind("codex", "c"), bind("claude-code", "a"))
    choice = choose_harness(line, {"claude-code"}, [], "/w")
    assert choice.harness == "claude-code"
    assert "codex" in choice.reason


def test_an_empty_line_adopts_the_newest_local_session() -> None:
    sessions = [make_info("codex", 5, "old"), make_info("claude-code", 9, "new")]
    choice = choose_harness(None, {"codex", "claude-code"}, sessions, "/w")
    assert choice.adopt is not None
    assert (choice.harness, choice.adopt.native_id) == ("claude-code", "new")


def test_an_established_line_never_adopts_another_harness_s_session() -> None:
    choice = choose_harness(make_workstream(bind("pi", "p")), {"codex"}, [make_info("codex", 5)], "/w")
    assert (choice.harness, choice.adopt) == ("codex", None)
    assert "pi" in choice.reason


def test_an_empty_directory_says_what_to_type() -> None:
    with pytest.raises(NothingToContinue, match="rigline run claude"):
        choose_harness(None, {"codex"}, [], "/w")


def test_sessions_without_their_program_are_named() -> None:
    with pytest.raises(NothingToContinue, match="codex"):
        choose_harness(None, set(), [make_info("codex", 1)], "/w")


@pytest.mark.parametrize(("fresh", "new"), [(True, False), (False, True)])
def test_fresh_and_a_selector_contradict_each_other(fresh: bool, new: bool) -> None:
    with pytest.raises(UsageError, match="--resume x"):
        check_request(select(native_id="x"), fresh=fresh, new=new)


def choose(classification: Classification, facts: SessionFacts, **fields: object) -> object:
    defaults: dict[str, object] = {"label": "Codex", "workstream": make_workstream(BINDING), "fresh": False}
    return choose_session(classification, facts, **{**defaults, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("classification", "facts", "fields", "start", "native_id", "told"),
    [
        (PLAIN, SessionFacts(binding=BINDING, lookup=exists()), {}, Start.RESUME, "c-1", ""),
        (PLAIN, SessionFacts(binding=BINDING, lookup=exists()), {"fresh": True}, Start.FRESH, None, ""),
        (
            PLAIN,
            SessionFacts(binding=BINDING, lookup=Lookup(presence=Presence.MISSING)),
            {},
            Start.FRESH,
            None,
            "gone from Codex's store",
        ),
        (
            PLAIN,
            SessionFacts(binding=BINDING, lookup=Lookup(presence=Presence.UNREADABLE, reason="permission denied")),
            {},
            Start.RESUME,
            "c-1",
            "permission denied",
        ),
        (
            PLAIN,
            SessionFacts(binding=BINDING, lookup=exists(resumable=False, reason="it is archived.")),
            {},
            Start.FRESH,
            None,
            "archived",
        ),
        (PLAIN, SessionFacts(), {"workstream": None}, Start.FRESH, None, ""),
        (select(native_id="x"), SessionFacts(binding=BINDING, lookup=exists()), {}, Start.EXPLICIT, "x", ""),
        (select(), SessionFacts(binding=BINDING), {}, Start.EXPLICIT, None, ""),
        (
            select(native_id="x"),
            SessionFacts(lookup=Lookup(presence=Presence.MISSING)),
            {},
            Start.EXPLICIT,
            "x",
            "has no session x",
        ),
    ],
)
def test_the_session_is_chosen_by_the_facts(
    classification: Classification,
    facts: SessionFacts,
    fields: dict[str, object],
    start: Start,
    native_id: str | None,
    told: str,
) -> None:
    choice = choose(classification, facts, **fields)
    assert (choice.start, choice.native_id) == (start, native_id)  # type: ignore[attr-defined]
    assert told in " ".join(choice.notices)  # type: ignore[attr-defined]
    assert bool(choice.notices) == bool(told)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("workstream", "may_adopt"),
    [(None, True), (make_workstream(established=False), True), (make_workstream(bind("claude-code", "a")), False)],
)
def test_only_an_empty_line_may_adopt(workstream: Workstream | None, may_adopt: bool) -> None:
    choice = choose(PLAIN, SessionFacts(), workstream=workstream)
    assert choice.may_adopt is may_adopt  # type: ignore[attr-defined]


LIVE = LiveSession(native_id="c-1", pid=77)


@pytest.mark.parametrize("classification", [PLAIN, select(native_id="c-1")])
def test_a_session_that_a_live_process_holds_is_not_opened_twice(classification: Classification) -> None:
    with pytest.raises(SessionHeld, match="77"):
        choose(classification, SessionFacts(binding=BINDING, lookup=exists(), live=LIVE))


def test_a_reason_ends_as_a_sentence() -> None:
    lookup = exists(resumable=False, reason="it is archived")
    notices = choose(PLAIN, SessionFacts(binding=BINDING, lookup=lookup)).notices  # type: ignore[attr-defined]
    assert "it is archived. Starting" in notices[0]


def test_a_live_session_may_be_forked() -> None:
    facts = SessionFacts(binding=BINDING, lookup=exists(), live=LIVE)
    assert choose(select(native_id="c-1", forks=True), facts).start is Start.EXPLICIT  # type: ignore[attr-defined]


def test_a_session_that_is_not_kept_and_cannot_resume_is_a_fresh_one() -> None:
    choice = choose_session(
        Classification(mode=Mode.SESSION, interactive=False, skips_persistence=True, cannot_resume=True),
        SessionFacts(binding=BINDING, lookup=exists()),
        label="Codex",
        workstream=make_workstream(BINDING),
        fresh=False,
    )
    assert (choice.start, choice.native_id) == (Start.FRESH, None)


@pytest.mark.parametrize(
    ("repository", "inode", "is_there", "found"),
    [
        ("r", "other", False, True),
        ("r", "other", True, False),
        ("another", "other", False, False),
        ("another", "i", True, True),
        ("another", None, False, False),
    ],
)
def test_a_line_whose_checkout_is_gone_is_remembered(
    repository: str, inode: str | None, is_there: bool, found: bool
) -> None:
    line = replace(make_workstream(BINDING), inode_fingerprint="i")
    here = replace(make_scope("here"), repo_fingerprint=repository, inode_fingerprint=inode)
    assert (find_moved([line], here, lambda path: is_there) is line) is found


def test_the_renamed_checkout_comes_before_another_clone_that_is_gone() -> None:
    here = replace(make_scope("here"), repo_fingerprint="r", inode_fingerprint="i")
    clone, renamed = make_workstream(BINDING), replace(make_workstream(BINDING), inode_fingerprint="i")
    assert find_moved([clone, renamed], here, lambda path: False) is renamed
    own = replace(renamed, worktree_fingerprint=here.worktree_fingerprint)
    assert find_moved([own], here, lambda path: False) is None
