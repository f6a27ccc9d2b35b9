"""Where `search` looks, on its own read-only connection: the checkout, and workstreams by name or id.

On the fast path: `sqlite3` is all that it loads.
"""

from __future__ import annotations

import sqlite3

from rigline.errors import AmbiguousId, UnknownWorkstream
from rigline.ids import find_by_prefix
from rigline.store.queries import load_queries
from rigline.store.sqlite import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class PlaceReader:
    """Asks a ledger for places. Raises `LedgerError` when it fails."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._statements = load_queries("search_place.sql")

    def has_checkout(self, worktree_fingerprint: str) -> bool:
        """Whether the ledger has a workstream or a session of this checkout."""
        return bool(self._all("has_checkout", worktree_fingerprint=worktree_fingerprint)[0][0])

    def find_name(self, workstream_id: str) -> str | None:
        """The name of the workstream with this very id, or None."""
        return next((name for found, name, _ in self._all("list_workstreams") if found == workstream_id), None)

    def get_workstream(self, word: str, worktree_fingerprint: str | None) -> tuple[str, str]:
        """(id, name): by name within the checkout, or else by id or unique prefix.

        Raises `UnknownWorkstream` or `AmbiguousId`.
        """
        rows = self._all("list_workstreams")
        here = [(found, name) for found, name, worktree in rows if worktree == worktree_fingerprint]
        named = [pair for pair in here if pair[1] == word]
        names = {found: name for found, name, _ in rows}
        found = [pair[0] for pair in named] or find_by_prefix(word, names)
        if not found:
            raise _explain_unknown(word, [name for _, name in here])
        if len(found) > 1:
            raise AmbiguousId(f"{len(found)} workstreams go by {word!r}: {', '.join(found)}.", word=word, ids=found)
        return found[0], names[found[0]]

    def list_session_ids(self) -> list[str]:
        """The native ids of all sessions."""
        return [row[0] for row in self._all("list_session_ids")]

    def _all(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(self._statements[name], values).fetchall()
        except sqlite3.Error as error:
            raise explain(error, self._path) from error


def _explain_unknown(word: str, names: list[str]) -> UnknownWorkstream:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    there = f"This checkout has: {', '.join(names)}." if names else "This checkout has none yet."
    return UnknownWorkstream(
        f"No line of work has the name or id {word!r}{hint}. {there} `rigline workstreams --all` lists every one.",
        workstream=word,
        known=names,
    )
