"""`rigline workstreams`: the lines of work. Lists them; shows, renames one; tells what happened on one when."""

from __future__ import annotations

import argparse
import time
from itertools import groupby

from msgspec import Struct

from rigline.cli import workstream_history, workstream_report
from rigline.cli.arguments import CommandParser, add_json, add_limit, make_parser
from rigline.cli.here import get_line, open_ledger_here, resolve_scope_here
from rigline.cli.output import print_json, print_lines, render_columns, tell_time
from rigline.errors import UsageError
from rigline.ids import shorten
from rigline.ledger.base import Ledger
from rigline.model import Scope, Workstream
from rigline.readable import WIDTH, clean, clip_path, format_age, format_count


class Row(Struct, frozen=True, kw_only=True):
    """A workstream as the list shows it."""

    line: Workstream
    is_current: bool
    events: dict[str, int]
    short_id: str


def build_parser() -> CommandParser:
    """The options of `workstreams` and of the verbs below it."""
    parser = make_parser(
        "rigline workstreams",
        "The lines of work of this checkout, the current one first and marked: name, last activity, the agents whose "
        "sessions are on it, events, id. The verbs below tell more of one line, or rename it.",
        "rigline workstreams\nrigline workstreams --all\nrigline workstreams show main\n"
        "rigline workstreams rename main parser-rewrite\nrigline workstreams history main --limit 50",
    )
    parser.add_argument("--all", action="store_true", help="those of every checkout")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    show = _add_verb(verbs, "show", "all that is known of one line")
    show.add_argument("name", metavar="NAME|ID", nargs="?", help="the line; without it the current one")
    rename = _add_verb(verbs, "rename", "give a line another name")
    rename.add_argument("old", metavar="OLD", help="the line's name, or its id or the beginning of it")
    rename.add_argument("new", metavar="NEW", help="its new name")
    history = _add_verb(verbs, "history", "its runs and sessions in time")
    history.add_argument("name", metavar="NAME|ID", nargs="?", help="the line; without it the current one")
    add_limit(history, 20, "runs and sessions are shown")
    return parser


def _add_verb(verbs: argparse._SubParsersAction[CommandParser], name: str, what: str) -> CommandParser:
    parser = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    add_json(parser, default=argparse.SUPPRESS)
    return parser


def main(argv: list[str]) -> int:
    """List, show, rename, or tell the history; returns the exit status."""
    options = build_parser().parse_args(argv)
    if options.all and options.verb:
        raise UsageError(f"--all lists every checkout's lines; it says nothing to `{options.verb}`. Leave it out.")
    with open_ledger_here() as ledger:
        if options.all:
            return list_lines(ledger, None, as_json=options.json)
        scope = resolve_scope_here()
        if options.verb is None:
            return list_lines(ledger, scope, as_json=options.json)
        if options.verb == "rename":
            return rename(ledger, scope, options)
        line = get_line(ledger, options.name, scope)
        if options.verb == "show":
            return workstream_report.show(ledger, line, as_json=options.json)
        return workstream_history.show(ledger, line, limit=options.limit, as_json=options.json)


def list_lines(ledger: Ledger, scope: Scope | None, *, as_json: bool) -> int:
    """Print the lines of a checkout, or of all of them."""
    rows = collect_rows(ledger, scope)
    if as_json:
        print_json({"workstreams": [describe_row(row) for row in rows]})
    else:
        print_lines(render_list(rows, scope, now_ms=int(time.time() * 1000)))
    return 0


def collect_rows(ledger: Ledger, scope: Scope | None) -> list[Row]:
    """The list's rows. The current line of a checkout is the one that was selected last."""
    every = ledger.list_workstreams(None)
    short = shorten(line.id for line in every)
    seen: set[tuple[str, ...]] = set()
    rows = []
    for line in ledger.list_workstreams(scope) if scope else every:
        place = (line.workspace, line.project, line.repo_fingerprint, line.worktree_fingerprint)
        is_current = place not in seen
        seen.add(place)
        rows.append(Row(line=line, is_current=is_current, events=ledger.count_events(line.id), short_id=short[line.id]))
    return rows


def render_list(rows: list[Row], scope: Scope | None, *, now_ms: int) -> list[str]:
    """The list as text, grouped by checkout when it is of all of them."""
    if scope is not None:
        place = clip_path(scope.toplevel or scope.cwd, WIDTH - 17)
        if not rows:
            return [f"No line of work in {place} yet.", "`rigline run claude` or `rigline run codex` begins one."]
        return [f"Lines of work in {place}", *_render_rows(rows, now_ms)]
    if not rows:
        return ["No line of work anywhere yet. `rigline run claude` or `rigline run codex` begins one."]
    lines: list[str] = []
    by_checkout = sorted(rows, key=lambda row: (row.line.cwd, row.line.worktree_fingerprint, not row.is_current))
    for (cwd, _), group in groupby(by_checkout, key=lambda row: (row.line.cwd, row.line.worktree_fingerprint)):
        lines += [clip_path(cwd, WIDTH), *_render_rows(list(group), now_ms)]
    return lines


def _render_rows(rows: list[Row], now_ms: int) -> list[str]:
    cells = [
        (
            "*" if row.is_current else " ",
            clean(row.line.name),
            format_age(now_ms - row.line.active_ms),
            ", ".join(list_harnesses(row.line)) or "no session yet",
            format_count(sum(row.events.values()), "event"),
            row.short_id,
        )
        for row in rows
    ]
    return render_columns(cells)


def list_harnesses(line: Workstream) -> list[str]:
    """The harnesses of a line's current sessions, the last bound first."""
    return [binding.harness for binding in line.bindings if binding.is_current]


def describe_row(row: Row) -> dict[str, object]:
    """A row as JSON."""
    return {
        "id": row.line.id,
        "name": row.line.name,
        "is_current": row.is_current,
        "workspace": row.line.workspace,
        "project": row.line.project,
        "cwd": row.line.cwd,
        **tell_time("created", row.line.created_ms),
        **tell_time("active", row.line.active_ms),
        "harnesses": list_harnesses(row.line),
        "events": sum(row.events.values()),
        "events_by_kind": row.events,
    }


def rename(ledger: Ledger, scope: Scope, options: argparse.Namespace) -> int:
    """Give a line another name and say so."""
    line = get_line(ledger, options.old, scope)
    renamed = ledger.rename_workstream(line.id, options.new)
    if options.json:
        print_json({"id": renamed.id, "name": renamed.name, "former_name": line.name})
    else:
        is_new = renamed.name != line.name
        print_lines([f"{line.name} is now {renamed.name}." if is_new else f"Its name is {line.name} already."])
    return 0
