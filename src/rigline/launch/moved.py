"""Whether a line of another checkout belongs to this one now: the evidence, and what it proves. Pure.

A checkout that was renamed or moved on its disk is the same by its git directory's inode. One that was copied to
another disk, or cloned anew, is the same repository in which something of the line is found: a native session that was
recorded here, or the last commit that a run left. A former place that still has the checkout makes this one a copy,
and a line is never taken away from where it is.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

#: how much of a commit's id people are shown
_COMMIT_CHARS = 10


class Former(StrEnum):
    """What is at a line's former place now: nothing, its checkout still, or something else."""

    GONE = "gone"
    THERE = "there"
    REPLACED = "replaced"


class Verdict(StrEnum):
    """What the evidence comes to.

    `moved`: the line belongs here. `copied`: its checkout is still where it was. `unproved`: it may belong here, and
    nothing proves it. `foreign`: nothing speaks for it.
    """

    MOVED = "moved"
    COPIED = "copied"
    UNPROVED = "unproved"
    FOREIGN = "foreign"


class Clues(Struct, frozen=True, kw_only=True):
    """What is known of a line and the checkout that may be its own.

    `has_remote` says that this repository is told by its remotes. `commit` is the last one that a run of the line left,
    `has_commit` whether it is here (None: not known). `session` names a session of the line that was recorded here.
    `is_named` says that the user named this very line, or its former place.
    """

    former: Former
    is_same_inode: bool = False
    is_same_repository: bool = False
    is_same_path: bool = False
    has_remote: bool = False
    commit: str | None = None
    has_commit: bool | None = None
    session: str = ""
    is_named: bool = False


class Judgement(Struct, frozen=True, kw_only=True):
    """A verdict with its reason: the evidence, or what stands against it."""

    verdict: Verdict
    reason: str


def judge(clues: Clues) -> Judgement:
    """What the clues prove."""
    if clues.former is Former.THERE:
        return _judge_copy(clues)
    if clues.is_same_inode:
        return _moved("it is the same git directory, under another path")
    if clues.is_same_repository:
        return _judge_repository(clues)
    if clues.has_commit:
        return _judge_commit(clues)
    return _judge_named(clues)


def _moved(reason: str) -> Judgement:
    return Judgement(verdict=Verdict.MOVED, reason=reason)


def _unproved(reason: str) -> Judgement:
    return Judgement(verdict=Verdict.UNPROVED, reason=reason)


def _judge_copy(clues: Clues) -> Judgement:
    is_related = clues.is_same_inode or clues.is_same_repository or clues.has_commit or clues.is_named
    reason = "its checkout is still there, so this one is a copy of it or another clone"
    return Judgement(verdict=Verdict.COPIED if is_related else Verdict.FOREIGN, reason=reason)


def _judge_repository(clues: Clues) -> Judgement:
    """The same repository, and the former checkout is gone."""
    if clues.session:
        return _moved(f"it is the same repository, and {clues.session} was recorded here")
    if clues.has_commit:
        return _moved(f"it is the same repository, its former folder is gone, and {_name_commit(clues)} is here")
    if clues.is_named:
        return _moved("it is the same repository, its former folder is gone, and you named it")
    if clues.commit is not None and clues.has_commit is False:
        return _unproved(f"it is the same repository, but {_name_commit(clues)} is not here")
    return _unproved("it is the same repository, but no session and no commit of the line is here")


def _judge_commit(clues: Clues) -> Judgement:
    """Its last commit is here, but the repository is told by something else: a path that is gone, or other remotes."""
    if clues.has_remote and not clues.is_named and not clues.is_same_path:
        return _unproved(f"{_name_commit(clues)} is here, but the remotes are others than they were there")
    return _moved(f"its former folder is gone, and {_name_commit(clues)} is in this repository")


def _judge_named(clues: Clues) -> Judgement:
    """Nothing of git's speaks for it: without a commit there never was anything."""
    is_here = clues.is_same_path or clues.is_named
    if clues.commit is not None:
        reason = f"it is another repository: {_name_commit(clues)} is not here"
        return _unproved(reason) if is_here else Judgement(verdict=Verdict.FOREIGN, reason=reason)
    if clues.is_same_path:
        return _moved("it is the same folder, which git sees otherwise now")
    if clues.is_named:
        return _moved("its former folder is gone, and you named it")
    return Judgement(verdict=Verdict.FOREIGN, reason="nothing here speaks for it")


def _name_commit(clues: Clues) -> str:
    return f"its last commit {(clues.commit or '')[:_COMMIT_CHARS]}"
