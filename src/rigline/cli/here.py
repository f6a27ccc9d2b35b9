"""Where a command is called: the data folder, the checkout, and the ledger with what interrupted runs left for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rigline import paths
from rigline.cli.arguments import suggest
from rigline.cli.output import say
from rigline.errors import UnknownWorkstream
from rigline.launch.choose import find_moved
from rigline.ledger.base import Ledger
from rigline.ledger.local import open_ledger
from rigline.leftovers import collect_leftovers
from rigline.model import Scope, Workstream
from rigline.scope import current_directory, resolve_scope


@contextmanager
def open_ledger_here() -> Iterator[Ledger]:
    """This user's ledger, after interrupted runs were collected into it."""
    home = paths.data_home(os.environ)
    ledger = open_ledger(home)
    try:
        collect_leftovers(home, say, ledger)
        yield ledger
    finally:
        ledger.close()


def resolve_scope_here() -> Scope:
    """The scope of the current directory; what git could not tell is said on stderr."""
    notes: list[str] = []
    scope = resolve_scope(current_directory(), env=os.environ, notes=notes)
    for note in notes:
        say(note)
    return scope


def get_line(ledger: Ledger, word: str | None, scope: Scope) -> Workstream:
    """The workstream that `word` names by name or id, else the current one: an agent's own, inside one that rigline
    started, elsewhere the checkout's.

    Raises `UnknownWorkstream` with what would be right, or `AmbiguousId`.
    """
    if word is None:
        own = os.environ.get("RIGLINE_WORKSTREAM_ID")
        return ledger.get_workstream(own, None) if own else _get_current(ledger, scope)
    try:
        return ledger.get_workstream(word, scope)
    except UnknownWorkstream as error:
        names = [line.name for line in ledger.list_workstreams(scope)]
        there = f"This checkout has: {', '.join(names)}." if names else "This checkout has none yet."
        raise UnknownWorkstream(
            f"No line of work has the name or id {word!r}{suggest(word, names)}. {there} "
            "`rigline workstreams --all` lists those of every checkout.",
            workstream=word,
            known=names,
        ) from error


def _get_current(ledger: Ledger, scope: Scope) -> Workstream:
    found = ledger.find_workstream(scope)
    if found is None:
        raise UnknownWorkstream(
            f"There is no line of work in {scope.toplevel or scope.cwd} yet. `rigline run claude` or "
            "`rigline run codex` begins one; `rigline workstreams --all` lists those of other checkouts."
            f"{_hint_at_moved(ledger, scope)}",
            workstream=None,
            known=[],
        )
    return found


def _hint_at_moved(ledger: Ledger, scope: Scope) -> str:
    """Where this checkout's line may be, when it was renamed."""
    moved = find_moved(ledger.list_workstreams(None), scope, os.path.isdir)
    if moved is None:
        return ""
    return (
        f" Line {moved.name!r} was in {moved.cwd}, of the same repository and not there any more: if it was renamed or "
        "moved, `rigline relocate` re-attaches its lines here."
    )
