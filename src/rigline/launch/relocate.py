"""Lines of a checkout that was renamed, moved or cloned anew: found by evidence, and re-attached where it is now.

Nothing of the agents' own is changed: their sessions stay where they are, and each one's store tells whether it will
resume from here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from msgspec import Struct

from rigline.errors import LeaseHeld, RiglineError
from rigline.harness import find_harness, get_harness
from rigline.harness.folders import is_recorded_in
from rigline.ids import shorten_one
from rigline.launch.choose import find_moved, is_same_inode
from rigline.launch.console import Console
from rigline.launch.lease import find_dead_holder
from rigline.launch.moved import Clues, Former, Judgement, Verdict, judge
from rigline.launch.session import Place
from rigline.ledger.base import Ledger
from rigline.lines import find_checkout_here
from rigline.model import Binding, Lookup, Presence, Scope, Workstream
from rigline.scope import FROM_REMOTE, has_commit, resolve_scope


class Outlook(Struct, frozen=True, kw_only=True):
    """What becomes of a native session here: it `resumes`, or the line goes on in a fresh one, for that reason."""

    harness: str
    label: str
    native_id: str
    resumes: bool
    reason: str = ""


class Candidate(Struct, frozen=True, kw_only=True):
    """A line of another checkout that may belong here, and what would become of its current sessions."""

    line: Workstream
    judgement: Judgement
    outlooks: tuple[Outlook, ...] = ()


class Search(Struct, frozen=True, kw_only=True):
    """Which lines are asked for: by `word`, a name or the beginning of an id, and by the place where they were."""

    word: str | None = None
    former: str | None = None

    def takes(self, line: Workstream) -> bool:
        """Whether a line is among those asked for."""
        is_meant = self.word is None or line.name == self.word or self._is_its_id(line)
        root = (self.former or "").rstrip("/")
        return is_meant and (self.former is None or line.cwd == self.former or line.cwd.startswith(f"{root}/"))

    def names(self, line: Workstream) -> bool:
        """Whether it is this very line that the user means: by its id, or by the directory where it was."""
        return self._is_its_id(line) or (self.former is not None and line.cwd == self.former)

    def _is_its_id(self, line: Workstream) -> bool:
        return self.word is not None and len(self.word) >= MIN_ID_CHARS and line.id.startswith(self.word.lower())


#: a shorter word may be the beginning of an id by chance
MIN_ID_CHARS = 6


def find_candidates(ledger: Ledger, scope: Scope, env: Mapping[str, str], search: Search) -> list[Candidate]:
    """The lines of other checkouts for which something speaks, most recently selected first."""
    elsewhere = [
        line
        for line in ledger.list_workstreams(None)
        if line.worktree_fingerprint != scope.worktree_fingerprint and search.takes(line)
    ]
    judged = [(line, judge(collect_clues(ledger, line, scope, env, is_named=search.names(line)))) for line in elsewhere]
    return [
        Candidate(line=line, judgement=judgement, outlooks=tuple(foresee(line, scope, env)))
        for line, judgement in judged
        if judgement.verdict is not Verdict.FOREIGN
    ]


def collect_clues(ledger: Ledger, line: Workstream, scope: Scope, env: Mapping[str, str], *, is_named: bool) -> Clues:
    """Look at a line, its former place and this one. git is asked only where its answer counts."""
    is_inode, is_repository = is_same_inode(line, scope), line.repo_fingerprint == scope.repo_fingerprint
    is_path = _is_same_path(line, scope)
    has_remote = scope.repo_source == FROM_REMOTE
    may_be = is_inode or is_repository or is_named or is_path or not has_remote
    commit = _find_last_commit(ledger, line) if may_be and not is_inode else None
    return Clues(
        former=look_at_former(line, env, is_same_inode=is_inode) if may_be else Former.THERE,
        is_same_inode=is_inode,
        is_same_repository=is_repository,
        is_same_path=is_path,
        has_remote=has_remote,
        commit=commit,
        has_commit=has_commit(scope.cwd, commit, env=env) if commit else None,
        session=_find_session_here(line, scope, env) if is_repository and not is_inode else "",
        is_named=is_named,
    )


def look_at_former(line: Workstream, env: Mapping[str, str], *, is_same_inode: bool) -> Former:
    """What is at the place where a line's checkout was. The folder of its last run alone may be missing.

    Where this is the line's git directory itself, another one may have been put in its place under the former path.
    """
    folder = line.cwd
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        if find_checkout_here(folder, env) == line.worktree_fingerprint:
            is_other = is_same_inode and resolve_scope(folder, env=env).inode_fingerprint != line.inode_fingerprint
            return Former.REPLACED if is_other else Former.THERE
    except (OSError, RiglineError):
        pass
    return Former.REPLACED if folder == line.cwd else Former.GONE


def _is_same_path(line: Workstream, scope: Scope) -> bool:
    root = (scope.toplevel or scope.cwd).rstrip("/")
    return line.cwd == root or line.cwd.startswith(f"{root}/")


def _find_last_commit(ledger: Ledger, line: Workstream) -> str | None:
    heads = (record.checkpoint.head for record in ledger.list_checkpoints(line.id))
    return next((head for head in heads if head is not None), None)


def _find_session_here(line: Workstream, scope: Scope, env: Mapping[str, str]) -> str:
    """A session of the line that its store has for this very directory, by a name for people."""
    for binding in line.bindings:
        lookup = _look_up(binding, scope, env)
        info = lookup.info if lookup is not None else None
        if info is not None and (is_recorded_in(info.cwd, scope.cwd) or is_recorded_in(info.cwd, scope.toplevel or "")):
            return f"its {get_harness(binding.harness).label} session {shorten_one(binding.native_id)}"
    return ""


def _look_up(binding: Binding, scope: Scope, env: Mapping[str, str]) -> Lookup | None:
    harness = find_harness(binding.harness)
    if harness is None:
        return None
    return harness.open_store(env).look_up(binding.native_id, scope.cwd)


def foresee(line: Workstream, scope: Scope, env: Mapping[str, str]) -> Iterable[Outlook]:
    """What becomes of each current session of a line in this directory."""
    for binding in line.bindings:
        if not binding.is_current:
            continue
        lookup = _look_up(binding, scope, env)
        resumes = lookup is not None and lookup.presence is Presence.EXISTS and lookup.resumable
        label = get_harness(binding.harness).label if lookup is not None else binding.harness
        reason = "" if resumes else _explain(lookup)
        yield Outlook(harness=binding.harness, label=label, native_id=binding.native_id, resumes=resumes, reason=reason)


def _explain(lookup: Lookup | None) -> str:
    if lookup is None:
        return "this rigline has no adapter for it"
    if lookup.presence is Presence.UNREADABLE:
        return f"it cannot be read and is tried all the same: {lookup.reason}"
    return lookup.reason


def relocate(ledger: Ledger, candidate: Candidate, scope: Scope) -> Workstream:
    """Re-attach a line here, on its evidence; raises `LeaseHeld` while a run that lives writes it."""
    line, evidence = candidate.line, candidate.judgement.reason
    try:
        return ledger.relocate(line.id, scope, evidence=evidence)
    except LeaseHeld as held:
        dead = find_dead_holder(held, scope.host)
        if dead is None:
            raise
    return ledger.relocate(line.id, scope, evidence=evidence, dead_holder=dead)


def offer_moved(ledger: Ledger, place: Place, console: Console) -> None:
    """Ask whether a renamed checkout gets its lines back, before a run begins another one.

    Only where the git directory itself proves it. Somebody who says no is not asked again: then there is a line here.
    """
    scope = place.scope
    found = find_moved(ledger.list_workstreams(None), scope, os.path.isdir)
    if found is None or not is_same_inode(found, scope):
        return
    moved = [each for each in find_candidates(ledger, scope, place.env, Search()) if is_same_inode(each.line, scope)]
    moved = [each for each in moved if each.judgement.verdict is Verdict.MOVED]
    if not moved or not _agrees(moved, console):
        return
    for candidate in reversed(moved):
        try:
            relocate(ledger, candidate, scope)
        except LeaseHeld as error:
            console.say(str(error))


def _agrees(moved: list[Candidate], console: Console) -> bool:
    names = ", ".join(repr(candidate.line.name) for candidate in moved)
    what = f"Line {names} was" if len(moved) == 1 else f"Lines {names} were"
    answer = console.ask(
        f"This checkout was renamed. {what} in {moved[0].line.cwd}, the same git directory.\nGo on with it here? [Y/n] "
    )
    return answer is not None and answer.lower() in ("", "y", "yes")
