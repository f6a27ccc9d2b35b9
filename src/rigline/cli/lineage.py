"""`rigline lineage`: where a session came from, and what came from it, with what shows it."""

from __future__ import annotations

from rigline.cli.arguments import CommandParser, make_parser
from rigline.cli.here import get_line, open_ledger_here, resolve_scope_here
from rigline.cli.output import print_json, print_lines
from rigline.errors import AmbiguousId, UnknownWorkstream, UsageError
from rigline.ids import shorten
from rigline.ledger.base import Ledger
from rigline.lineage import Families, Node, SessionKey, count_nodes, describe_node, shorten_keys
from rigline.model import Workstream
from rigline.readable import WIDTH, clean, clip, flatten, format_count

_BRANCH, _LAST, _PASSING, _NOTHING = "├─ ", "└─ ", "│  ", "   "


def build_parser() -> CommandParser:
    """The options of `lineage`."""
    parser = make_parser(
        "rigline lineage",
        "The family of a session or of all sessions of a line: forks, branches, what /clear began, subagents, with "
        "what shows each link and how many events were copied from the parent. The sessions asked for are marked.",
        "rigline lineage\nrigline lineage main\nrigline lineage 0a1b2c3d --json",
    )
    parser.add_argument("word", metavar="SESSION|WORKSTREAM", nargs="?", help="by id or name; without it this line")
    return parser


def main(argv: list[str]) -> int:
    """Print the trees; returns the exit status."""
    options = build_parser().parse_args(argv)
    with open_ledger_here() as ledger:
        asked_for = find_sessions(ledger, options.word)
        records = ledger.list_sessions(None)
    nodes = Families(records).build(asked_for)
    if options.json:
        print_json({"sessions": count_nodes(nodes), "trees": [describe_node(node) for node in nodes]})
        return 0
    short = shorten([record.native_id for record in records] + [key[1] for key in asked_for])
    print_lines(render_trees(nodes, short) or ["This line has no session yet."])
    return 0


def find_sessions(ledger: Ledger, word: str | None) -> list[SessionKey]:
    """What a word asks for: the sessions of the line of that name here, else one session, else those of a line by id.

    Raises `UsageError` when it is neither.
    """
    scope = resolve_scope_here()
    if word is None or ledger.find_workstream(scope, word) is not None:
        return _list_bound(get_line(ledger, word, scope))
    try:
        session = ledger.get_session(word)
        return [(session.harness, session.native_id)]
    except AmbiguousId:
        raise
    except UsageError as unknown_session:
        try:
            return _list_bound(ledger.get_workstream(word, scope))
        except UnknownWorkstream:
            raise UsageError(
                f"{word!r} is neither a session that the ledger knows nor a line of work. `rigline import` reads the "
                "sessions of this checkout, `rigline workstreams` lists its lines.",
                word=word,
            ) from unknown_session


def _list_bound(line: Workstream) -> list[SessionKey]:
    return [(binding.harness, binding.native_id) for binding in line.bindings]


def render_trees(nodes: list[Node], short: dict[str, str]) -> list[str]:
    """The trees as text."""
    lines: list[str] = []
    for node in nodes:
        lines += [*([""] if lines else []), *_render_node(node, short, "", "")]
    return lines


def _render_node(node: Node, short: dict[str, str], first: str, rest: str) -> list[str]:
    lines = [clip(first + _describe(node, short), WIDTH)]
    if node.link is not None:
        lines.append(clip(f"{rest}{_PASSING if node.children else _NOTHING}{clean(node.link.evidence)}", WIDTH))
    for child in node.children:
        is_last = child is node.children[-1]
        lines += _render_node(
            child, short, rest + (_LAST if is_last else _BRANCH), rest + (_NOTHING if is_last else _PASSING)
        )
    return lines


def _describe(node: Node, short: dict[str, str]) -> str:
    record = node.record
    kind = f"{node.link.kind}: " if node.link else ""
    title = flatten(record.title) if record and record.title else ""
    events = format_count(record.events, "event") if record and record.cursor else "not imported"
    copied = f", {record.copies:,} of them copied" if record and record.copies else ""
    mark = "* " if node.is_asked_for else ""
    return f"{mark}{kind}{shorten_keys(short, node.key)}  {events}{copied}{f'  {title}' if title else ''}"
