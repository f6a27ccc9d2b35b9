"""`rigline search`: find words in everything that was said and done.

On the fast path: an agent calls it in the middle of its work. sqlite3 and argparse are what it loads, and git is asked
only where files do not tell the checkout.
"""

from __future__ import annotations

import os
import time

from rigline.cli import search_hits
from rigline.cli.arguments import CommandParser, add_limit, make_parser, read_count, read_harness, read_moment
from rigline.cli.output import print_json, print_lines, say
from rigline.errors import UsageError
from rigline.ledger.search import SearchQuery, parse_terms, search
from rigline.ledger.search_place import PlaceReader
from rigline.leftovers import collect_leftovers, find_leftovers
from rigline.paths import data_home
from rigline.store.sqlite import open_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

KINDS = ("message", "tool_call", "tool_result", "compaction")
OWN_LINE_VARIABLE = "RIGLINE_WORKSTREAM_ID"
#: the exit status when nothing was found, as grep has it
NOTHING_FOUND = 1


class Place:
    """Where is searched. `what` is workstream, checkout, session or all; `told` says it to a person."""

    def __init__(
        self, what: str, told: str, *, workstream_id: str | None = None, checkout: str | None = None, name: str = ""
    ) -> None:
        self.what = what
        self.told = told
        self.workstream_id = workstream_id
        self.checkout = checkout
        self.name = name


def build_parser(now_ms: int = 0) -> CommandParser:
    """The options of `search`."""
    parser = make_parser(
        "rigline search",
        "Find words in what was said and done: messages, tool calls, their results, compactions. All words must be "
        'there; "a phrase" in double quotes, word* for its beginning; case and accents make no difference. Without '
        "words: the newest events. Inside an agent that rigline started its own line is searched, elsewhere everything "
        "of this checkout.",
        "rigline search migration rollback\nrigline search '\"connection refused\"' --kind tool_result --since 2d\n"
        "rigline search 'parse*' --workstream main --context 2\nrigline search --all --harness codex -- --fork-session",
        usage="rigline search [options] [WORDS ...]",
    )
    parser.add_argument("words", metavar="WORDS", nargs="*", help="what to look for; after `--` also words with a dash")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--workstream", metavar="NAME|ID", help="in one line of work and its subagents")
    place.add_argument("--all", action="store_true", help="in everything that the ledger has")
    parser.add_argument("--session", metavar="ID", help="in one native session, by id or its beginning")
    parser.add_argument("--harness", metavar="NAME", type=read_harness, help="what one harness's sessions hold")
    parser.add_argument("--kind", choices=KINDS, help="events of one kind")
    parser.add_argument("--role", metavar="ROLE", help="what one role said: user or assistant")
    parser.add_argument("--since", metavar="WHEN", type=read_moment(now_ms), help="since 3h, 2d, 1w or an ISO date")
    parser.add_argument("--context", metavar="N", type=read_count, default=0, help="N events before and after each hit")
    add_limit(parser, 20, "hits are shown")
    parser.add_argument("--offset", metavar="N", type=read_count, default=0, help="leave out the first N hits")
    return parser


def main(argv: list[str]) -> int:
    """Search and print; returns 0, or 1 when nothing was found."""
    options = parse(argv, int(time.time() * 1000))
    text = " ".join(options.words)
    if text.strip() and not parse_terms(text):
        raise UsageError(f"There is no letter or digit to look for in {text!r}.", words=options.words)
    home = data_home(os.environ)
    if find_leftovers(home):
        collect_leftovers(home, say)
    path = os.path.join(home, "ledger.db")
    if not os.path.exists(path):
        return _answer_without_ledger(options)
    connection = open_reader(path)
    try:
        reader = PlaceReader(connection, path)
        place = choose_place(options, reader, os.environ)
        query = build_query(options, text, place)
        hits = search(connection, query)
        found = search_hits.Found(text, place, hits[: options.limit], len(hits) > options.limit, query)
        return _print(found, reader, as_json=options.json)
    finally:
        connection.close()


def parse(argv: list[str], now_ms: int) -> argparse.Namespace:
    """The options; raises `UsageError`. Words may stand anywhere between them, and all that follows `--` is words."""
    end = argv.index("--") if "--" in argv else len(argv)
    options = build_parser(now_ms).parse_intermixed_args(argv[:end])
    options.words += argv[end + 1 :]
    return options


def build_query(options: argparse.Namespace, text: str, place: Place) -> SearchQuery:
    """The query of a command line. One hit more is asked for than is shown, to know whether there is one."""
    return SearchQuery(
        text,
        harness=options.harness,
        kind=options.kind,
        role=options.role,
        since_ms=options.since,
        workstream_id=place.workstream_id,
        session=options.session,
        checkout=place.checkout,
        limit=options.limit + 1,
        offset=options.offset,
        context=options.context,
    )


def choose_place(options: argparse.Namespace, reader: PlaceReader, env: Mapping[str, str]) -> Place:
    """Where to search: what is named, else an agent's own line, else this checkout.

    Raises `UnknownWorkstream`, `AmbiguousId`, and `UsageError` when the checkout is meant and its directory gone.
    """
    if options.workstream is not None:
        found, name = reader.get_workstream(options.workstream, find_checkout(env)[1])
        return Place("workstream", f"line {name!r}", workstream_id=found, name=name)
    if options.all:
        return Place("all", "everything in the ledger")
    if options.session is not None:
        return Place("session", f"session {options.session}")
    own = env.get(OWN_LINE_VARIABLE, "")
    own_name = reader.find_name(own) if own else None
    if own_name is not None:
        return Place("workstream", f"this agent's own line {own_name!r}", workstream_id=own, name=own_name)
    cwd, fingerprint = find_checkout(env)
    return Place("checkout", f"this checkout ({cwd})", checkout=fingerprint, name=cwd)


def find_checkout(env: Mapping[str, str]) -> tuple[str, str]:
    """The current directory and the fingerprint of its checkout; git is asked only where files do not tell."""
    from rigline.checkout import find_worktree_fingerprint
    from rigline.scope import current_directory, resolve_scope

    cwd = current_directory()
    fingerprint = find_worktree_fingerprint(cwd, env)
    if fingerprint is not None:
        return cwd, fingerprint
    notes: list[str] = []
    scope = resolve_scope(cwd, env=env, notes=notes)
    for note in notes:
        say(note)
    return cwd, scope.worktree_fingerprint


def _print(found: search_hits.Found, reader: PlaceReader, *, as_json: bool) -> int:
    if as_json:
        print_json(search_hits.describe(found))
    elif found.hits:
        say(search_hits.tell_place(found))
        print_lines(search_hits.render(found.hits, reader.list_session_ids()))
    if found.hits:
        return 0
    say(search_hits.tell_how_to_widen(found, is_known=_is_known(found, reader)))
    return NOTHING_FOUND


def _is_known(found: search_hits.Found, reader: PlaceReader) -> bool:
    """Whether the ledger has anything at all where was searched."""
    return found.place.checkout is None or reader.has_checkout(found.place.checkout)


def _answer_without_ledger(options: argparse.Namespace) -> int:
    if options.json:
        print_json({"hits": [], "has_more": False, "scope": None})
    say("there is no history yet. `rigline import` reads the sessions that agents left in this checkout.")
    return NOTHING_FOUND
