"""Which harness, and which of its sessions. Pure: facts in, a decision with its reason out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

from msgspec import Struct

from rigline.errors import NothingToContinue, SessionHeld, UsageError
from rigline.harness.base import Classification, Selector
from rigline.model import Binding, LiveSession, Lookup, Presence, Scope, SessionInfo, Workstream


class Start(StrEnum):
    """How the native session of a run begins."""

    FRESH = "fresh"
    RESUME = "resume"
    EXPLICIT = "explicit"


class HarnessChoice(Struct, frozen=True, kw_only=True):
    """The harness that a bare `rigline run` takes, why, and the local session it adopts (if any)."""

    harness: str
    reason: str
    adopt: SessionInfo | None = None


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What the store said about the session in question: the user's own choice, or else the bound one."""

    binding: Binding | None = None
    lookup: Lookup | None = None
    live: LiveSession | None = None


class SessionChoice(Struct, frozen=True, kw_only=True):
    """The decision, with what the person has to be told. `may_adopt` leaves room for an older local session."""

    start: Start
    native_id: str | None = None
    notices: tuple[str, ...] = ()
    reason: str = ""
    may_adopt: bool = False


def choose_harness(
    workstream: Workstream | None,
    available: Collection[str],
    local: Sequence[SessionInfo],
    cwd: str,
) -> HarnessChoice:
    """For a run without HARNESS: the most recently bound harness that is installed, else the newest local session's.

    Raises `NothingToContinue` when there is neither. Once a workstream is established, a local session that merely
    has a newer date is not taken for its own.
    """
    bound = [b.harness for b in workstream.bindings if b.is_current] if workstream else []
    for harness in bound:
        if harness in available:
            passed = [name for name in bound[: bound.index(harness)] if name not in available]
            why = f"; {', '.join(passed)} used later is not installed here" if passed else ""
            return HarnessChoice(harness=harness, reason=f"used last on this line{why}")
    for info in sorted(local, key=lambda session: -session.updated_ms):
        if info.harness in available:
            if workstream is not None and workstream.is_established:
                reason = f"{', '.join(bound) or 'the former harness'} is not installed here"
                return HarnessChoice(harness=info.harness, reason=reason)
            return HarnessChoice(harness=info.harness, reason="newest session of this checkout", adopt=info)
    missing = sorted({info.harness for info in local} | set(bound))
    if missing:
        raise NothingToContinue(
            f"The sessions of {cwd} belong to {', '.join(missing)}, which is not installed or not on PATH. "
            "Install it, or start another agent by name: `rigline run claude` or `rigline run codex`."
        )
    raise NothingToContinue(
        f"There is nothing to continue in {cwd} yet. Start an agent by name: "
        "`rigline run claude` or `rigline run codex`."
    )


def find_moved(lines: Sequence[Workstream], scope: Scope, exists: Callable[[str], bool]) -> Workstream | None:
    """The most recent line of another checkout which may be this one under its former path.

    That is one of the same git directory, else one of the same repository whose folder is gone.
    """
    elsewhere = [line for line in lines if line.worktree_fingerprint != scope.worktree_fingerprint]
    renamed = [line for line in elsewhere if is_same_inode(line, scope)]
    gone = [line for line in elsewhere if line.repo_fingerprint == scope.repo_fingerprint and not exists(line.cwd)]
    return next(iter([*renamed, *gone]), None)


def is_same_inode(line: Workstream, scope: Scope) -> bool:
    """Whether a line's checkout is this one, whatever its path was."""
    return line.inode_fingerprint is not None and line.inode_fingerprint == scope.inode_fingerprint


def check_request(classification: Classification, *, fresh: bool, new: bool) -> None:
    """Refuse what contradicts itself, before any lease: `--fresh` or `--new` with a selector of the user's own."""
    if classification.selector is None or not (fresh or new):
        return
    ours = "--fresh" if fresh else "--new"
    raise UsageError(
        f"{ours} asks for a new session, but {' '.join(classification.selector.words)} chooses an existing one. "
        "Leave one of them out."
    )


def choose_session(
    classification: Classification,
    facts: SessionFacts,
    *,
    label: str,
    workstream: Workstream | None,
    fresh: bool,
) -> SessionChoice:
    """The user's selector; else the bound session if its store has it; else a fresh one, said aloud.

    Raises `SessionHeld` when another live process has the session open.
    """
    if classification.selector is not None:
        return _choose_explicit(classification, facts, label)
    if fresh:
        return SessionChoice(start=Start.FRESH, reason="asked for by --fresh or --new")
    if classification.cannot_resume:
        return SessionChoice(start=Start.FRESH, reason="the command line asks for a session that is not kept")
    if facts.binding is None or facts.lookup is None:
        is_empty = workstream is None or not workstream.is_established
        return SessionChoice(start=Start.FRESH, reason="no session of this harness yet", may_adopt=is_empty)
    if not classification.forks:
        _refuse_held(facts, label, facts.binding.native_id)
    return _choose_bound(facts.binding, facts.lookup, label)


def _choose_explicit(classification: Classification, facts: SessionFacts, label: str) -> SessionChoice:
    selector = classification.selector
    assert selector is not None
    notices: tuple[str, ...] = ()
    if selector.native_id is not None:
        if not selector.forks:
            _refuse_held(facts, label, selector.native_id)
        notices = _describe_doubt(selector, facts.lookup, label)
    return SessionChoice(
        start=Start.EXPLICIT, native_id=selector.native_id, notices=notices, reason="chosen on the command line"
    )


def _describe_doubt(selector: Selector, lookup: Lookup | None, label: str) -> tuple[str, ...]:
    """What speaks against the session of the user's choice. It is left to the harness all the same."""
    if lookup is None or selector.chosen_id is not None:
        return ()
    if lookup.presence is Presence.MISSING and not selector.is_new:
        return (f"{label} has no session {selector.native_id} here; it will say so itself.",)
    if lookup.presence is Presence.EXISTS and not lookup.resumable:
        return (f"{label} session {selector.native_id} would not go on here: {lookup.reason.rstrip('.')}.",)
    return ()


def _choose_bound(binding: Binding, lookup: Lookup, label: str) -> SessionChoice:
    name = f"{label} session {binding.native_id}"
    if lookup.presence is Presence.MISSING:
        notice = (
            f"{name} is gone from {label}'s store. Starting a fresh session with this line's history; "
            "the line points to it once it has been seen."
        )
        return SessionChoice(start=Start.FRESH, notices=(notice,), reason="the bound session is missing")
    if lookup.presence is Presence.UNREADABLE:
        notice = f"{name} cannot be read ({lookup.reason}). Resuming it all the same; `--fresh` starts another one."
        return SessionChoice(
            start=Start.RESUME, native_id=binding.native_id, notices=(notice,), reason="bound, but unreadable"
        )
    if not lookup.resumable:
        why = lookup.reason.rstrip(".")
        notice = f"{name} cannot be resumed here: {why}. Starting a fresh session with this line's history."
        return SessionChoice(start=Start.FRESH, notices=(notice,), reason="the bound session cannot be resumed")
    notices = (f"{name}: {lookup.reason}",) if lookup.reason else ()
    return SessionChoice(start=Start.RESUME, native_id=binding.native_id, notices=notices, reason="bound to this line")


def _refuse_held(facts: SessionFacts, label: str, native_id: str) -> None:
    live = facts.live
    if live is None:
        return
    holder = f"process {live.pid}" if live.pid is not None else "another process"
    raise SessionHeld(
        f"{label} session {native_id} is open in {holder}. Two programs writing one session lose turns: "
        "go on there, end it, or start another session here with `--fresh`.",
        native_id=native_id,
        pid=live.pid,
    )
