"""Search over the ledger's words, for a process that does nothing else: sqlite3 is all that it loads.

The newest matches are found first and ranked among themselves, `RANKED_MATCHES` at a time: a word that stands in
a hundred thousand events costs no more than the page that is shown.
"""

from __future__ import annotations

import sqlite3

from rigline.ledger.snippet import Term, cut_snippet, shorten_text
from rigline.store.queries import load_queries
from rigline.store.sqlite import explain
from rigline.store.text import replace_surrogates, space_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Hit = dict[str, Any]

RANKED_MATCHES = 1000
#: more words than anyone means; SQLite takes a bounded depth of expression
MAX_TERMS = 64
_LAST_SEQ = (1 << 63) - 1


class SearchQuery:
    """What is looked for, and where.

    `text` is as the user typed it; an empty one asks for the newest events. `workstream_id` is a whole id and
    brings the workstream's subagents with it; `session` is a native id or the beginning of one; `checkout` is the
    fingerprint of a worktree, whose sessions are meant. Without any of them the whole ledger is searched.
    `context` events before and after each hit come with it.
    """

    def __init__(
        self,
        text: str = "",
        *,
        harness: str | None = None,
        kind: str | None = None,
        role: str | None = None,
        since_ms: int | None = None,
        workstream_id: str | None = None,
        session: str | None = None,
        checkout: str | None = None,
        limit: int = 20,
        offset: int = 0,
        context: int = 0,
        snippet_chars: int = 240,
    ) -> None:
        self.text = text
        self.harness = harness
        self.kind = kind
        self.role = role
        self.since_ms = since_ms
        self.workstream_id = workstream_id
        self.session = session
        self.checkout = checkout
        self.limit = limit
        self.offset = offset
        self.context = context
        self.snippet_chars = snippet_chars


def parse_terms(text: str) -> list[Term]:
    """What a query asks for: words, "phrases" in double quotes, beginnings of words* with an asterisk.

    Whatever else is typed is taken as text. Words without a letter or digit ask for nothing. Pure.
    """
    terms: list[Term] = []
    for place, part in enumerate(replace_surrogates(text).replace("\0", " ").split('"')):
        is_phrase = place % 2 == 1
        for word in [part] if is_phrase else part.split():
            _add_term(terms, word, is_phrase=is_phrase)
    return terms[:MAX_TERMS]


def _add_term(terms: list[Term], word: str, *, is_phrase: bool) -> None:
    is_prefix = word.endswith("*") and not is_phrase
    cleaned = word.strip().rstrip("*") if is_prefix else word.strip()
    if any(char.isalnum() for char in cleaned):
        terms.append(Term(cleaned, is_prefix=is_prefix))


def build_match(text: str) -> str:
    """The index's own expression for a query: every term must be there. Empty when it asks for no word. Pure."""
    return _build_match(parse_terms(text))


def _build_match(terms: list[Term]) -> str:
    return " ".join(f'"{space_cjk(term.text)}"' + ("*" if term.is_prefix else "") for term in terms)


def search(connection: sqlite3.Connection, query: SearchQuery) -> list[Hit]:
    """One page of hits, best first among the newest; those of a query with a word* newest first.

    A hit has seq, harness, native_id, title, kind, role, at_ms, tool, call_id, status, workstreams (id, name),
    snippet, highlight (start and end in the snippet, or None), text_chars, before and after. No text raises;
    a ledger that fails raises a `LedgerError`.
    """
    try:
        return _Search(connection, query).run()
    except sqlite3.Error as error:
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        raise explain(error, path) from error


class _Search:
    """One search on its way."""

    def __init__(self, connection: sqlite3.Connection, query: SearchQuery) -> None:
        self._connection = connection
        self._query = query
        self._statements = load_queries("search.sql")
        self._terms = parse_terms(query.text)

    def run(self) -> list[Hit]:
        query = self._query
        if query.limit < 1 or (query.text.strip() and not self._terms):
            return []
        sessions = self._find_sessions()
        low, high = self._find_range(sessions)
        if low is None:
            return []
        filters: dict[str, object] = {
            "harness": query.harness,
            "kind": query.kind,
            "role": query.role,
            "since_ms": query.since_ms,
            "sessions": sessions,
        }
        values: dict[str, object] = {**filters, "low": low, "high": high}
        if not self._terms:
            rows = self._all("list_newest", **values, limit=query.limit, offset=query.offset)
            return self._load([seq for seq, _ in rows])
        name = "match_all" if all(each is None for each in filters.values()) else "match_filtered"
        return self._load(self._rank(name, values))

    def _rank(self, name: str, values: dict[str, object]) -> list[int]:
        """The page's seqs. Matches are ranked in blocks, so that each stands on one page only."""
        values["match"] = _build_match(self._terms)
        values["is_ranked"] = not any(term.is_prefix for term in self._terms)
        block, start = divmod(self._query.offset, RANKED_MATCHES)
        page: list[int] = []
        while len(page) < self._query.limit:
            rows = self._all(name, **values, limit=RANKED_MATCHES, offset=block * RANKED_MATCHES)
            rows.sort(key=lambda row: (row[1], -row[0]))
            page += [seq for seq, _ in rows[start:]]
            if len(rows) < RANKED_MATCHES:
                break
            block, start = block + 1, 0
        return page[: self._query.limit]

    def _find_sessions(self) -> str | None:
        """The sessions to look in, as a JSON list of keys, or None for all."""
        query = self._query
        keys: set[int] | None = None
        if query.workstream_id is not None:
            keys = {row[0] for row in self._all("list_sessions_of_workstream", workstream_id=query.workstream_id)}
        if query.session is not None:
            word = replace_surrogates(query.session)
            found = {row[0] for row in self._all("list_sessions_by_prefix", word=word, harness=query.harness)}
            keys = found if keys is None else keys & found
        if query.checkout is not None:
            found = {row[0] for row in self._all("list_sessions_of_checkout", checkout=query.checkout)}
            keys = found if keys is None else keys & found
        return None if keys is None else _write_list(sorted(keys))

    def _find_range(self, sessions: str | None) -> tuple[int | None, int]:
        """The first and last seq that may match: what lies outside is not even looked at."""
        if sessions is None:
            return 0, _LAST_SEQ
        low, high = self._all("find_range", sessions=sessions)[0]
        return low, high

    def _load(self, seqs: list[int]) -> list[Hit]:
        rows = {row[0]: row for row in self._all("get_events", seqs=_write_list(seqs))}
        return [self._build_hit(rows[seq]) for seq in seqs]

    def _build_hit(self, row: tuple[Any, ...]) -> Hit:
        names = ("seq", "harness", "native_id", "title", "kind", "role", "at_ms", "tool", "call_id", "status")
        hit: Hit = dict(zip(names, row, strict=False))
        text, session_key, workstreams = row[10:]
        pairs = [each.split(" ", 1) for each in workstreams.split("\n")] if workstreams else []
        hit["workstreams"] = [{"id": pair[0], "name": pair[1]} for pair in pairs]
        hit["snippet"], hit["highlight"] = cut_snippet(text, self._terms, self._query.snippet_chars)
        hit["text_chars"] = len(text)
        hit["before"] = self._read_context("list_before", session_key, row[0])[::-1]
        hit["after"] = self._read_context("list_after", session_key, row[0])
        return hit

    def _read_context(self, name: str, session_key: int, seq: int) -> list[Hit]:
        if self._query.context < 1:
            return []
        rows = self._all(name, session_key=session_key, seq=seq, limit=self._query.context)
        names = ("seq", "kind", "role", "at_ms", "tool")
        return [
            {**dict(zip(names, row, strict=False)), "snippet": shorten_text(row[5], self._query.snippet_chars)}
            for row in rows
        ]

    def _all(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(self._statements[name], values).fetchall()


def _write_list(numbers: list[int]) -> str:
    return "[" + ",".join(map(str, numbers)) + "]"
