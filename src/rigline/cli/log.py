"""`rigline log`: a line of work, or one session, as readable text."""

from __future__ import annotations

import argparse
import time

from msgspec import Struct

from rigline.cli.arguments import CommandParser, add_limit, make_parser, read_moment
from rigline.cli.here import get_line, open_ledger_here, resolve_scope_here
from rigline.cli.output import print_json, print_lines, say, tell_time
from rigline.cli.workstream_report import describe_checkpoint
from rigline.ids import shorten
from rigline.ledger.base import CheckpointRecord, HistoryEvent, Ledger, SessionRecord
from rigline.losses import add_up, describe_losses
from rigline.model import Workstream
from rigline.narrative import Mark, Tools, sort_by_time, tell_story
from rigline.readable import WIDTH, format_count, wrap


class Log(Struct, frozen=True, kw_only=True):
    """What is told: the events shown, how many are left out, and of what sessions they are."""

    line: Workstream | None
    events: list[HistoryEvent]
    left_out: int
    checkpoints: list[CheckpointRecord]
    sessions: list[SessionRecord]
    short: dict[str, str]

    @property
    def losses(self) -> dict[str, int]:
        """What is missing from the sessions, by kind."""
        return add_up(session.losses for session in self.sessions)


def build_parser(now_ms: int = 0) -> CommandParser:
    """The options of `log`."""
    parser = make_parser(
        "rigline log",
        "A line of work as readable text: who said what in which session, tools in one line each, compactions and "
        "git states as marks, abandoned branches named, and at the end what is missing.",
        "rigline log\nrigline log main --since 2d --tools none\nrigline log --session 0a1b2c3d --limit 1000 | less",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("name", metavar="NAME|ID", nargs="?", help="the line; without it the current one here")
    which.add_argument("--session", metavar="ID", help="one native session, by id or its beginning")
    parser.add_argument("--since", metavar="WHEN", type=read_moment(now_ms), help="since 3h, 2d, 1w or an ISO date")
    add_limit(parser, 200, "events are shown, the last ones")
    parser.add_argument(
        "--tools", choices=[str(each) for each in Tools], default="short", help="how much of the tools (default short)"
    )
    return parser


def main(argv: list[str]) -> int:
    """Print the log; returns the exit status."""
    options = build_parser(int(time.time() * 1000)).parse_args(argv)
    with open_ledger_here() as ledger:
        log = collect_session(ledger, options) if options.session else collect_line(ledger, options)
    if options.json:
        print_json(describe_log(log))
        return 0
    if log.left_out:
        say(f"{format_count(log.left_out, 'earlier event')} not shown; --limit and --since choose.")
    print_lines(render_log(log, Tools(options.tools)))
    return 0


def collect_line(ledger: Ledger, options: argparse.Namespace) -> Log:
    """The last events of a line; raises `UnknownWorkstream`."""
    line = get_line(ledger, options.name, resolve_scope_here())
    total = sum(ledger.count_events(line.id).values())
    events = _choose(ledger.get_history(line.id, limit=options.limit, newest=True), options.since)
    left_out = total - len(events)
    since_ms = min((event.at_ms for event in events if event.at_ms), default=0) if left_out else 0
    every = ledger.list_sessions(None)
    bound = {(binding.harness, binding.native_id) for binding in line.bindings}
    return Log(
        line=line,
        events=events,
        left_out=left_out,
        checkpoints=[each for each in ledger.list_checkpoints(line.id) if each.checkpoint.at_ms >= since_ms],
        sessions=[session for session in every if (session.harness, session.native_id) in bound],
        short=shorten(session.native_id for session in every),
    )


def collect_session(ledger: Ledger, options: argparse.Namespace) -> Log:
    """The last events of one session; raises `UsageError` or `AmbiguousId`."""
    session = ledger.get_session(options.session)
    events = ledger.get_session_history(session.harness, session.native_id, limit=options.limit, newest=True)
    chosen = _choose(events, options.since)
    return Log(
        line=None,
        events=chosen,
        left_out=session.events - len(chosen),
        checkpoints=[],
        sessions=[session],
        short=shorten(each.native_id for each in ledger.list_sessions(None)),
    )


def _choose(events: list[HistoryEvent], since_ms: int | None) -> list[HistoryEvent]:
    return [event for event in events if since_ms is None or (event.at_ms is not None and event.at_ms >= since_ms)]


def render_log(log: Log, tools: Tools) -> list[str]:
    """The log as text."""
    if not log.events:
        return ["Nothing was said here yet." if not log.left_out else "Nothing was said since then."]
    marks = [
        Mark(
            at_ms=each.checkpoint.at_ms,
            text=f"{each.moment} of a run of {each.harness}: {describe_checkpoint(each.checkpoint)}",
        )
        for each in log.checkpoints
    ]
    titles = {session.native_id: session.title for session in log.sessions if session.title}
    lines = tell_story(log.events, marks, tools=tools, short=log.short, titles=titles)
    losses = [line for loss in describe_losses(log.losses) for line in wrap(f"- {loss}", WIDTH)]
    return lines + (["", "Not in this history:", *losses] if losses else [])


def describe_log(log: Log) -> dict[str, object]:
    """The log as JSON, its events in the order in which the text tells them."""
    return {
        "workstream": {"id": log.line.id, "name": log.line.name} if log.line else None,
        "left_out": log.left_out,
        "events": [describe_event(event) for event in sort_by_time(log.events)],
        "checkpoints": [
            {
                "run_id": each.run_id,
                "harness": each.harness,
                "moment": each.moment,
                **tell_time("at", each.checkpoint.at_ms),
                "head": each.checkpoint.head,
                "branch": each.checkpoint.branch,
                "status_hash": each.checkpoint.status_hash,
            }
            for each in log.checkpoints
        ],
        "sessions": [
            {"harness": each.harness, "native_id": each.native_id, "title": each.title, "events": each.events}
            for each in log.sessions
        ],
        "losses": log.losses,
    }


def describe_event(event: HistoryEvent) -> dict[str, object]:
    """An event as JSON."""
    return {
        "seq": event.seq,
        "harness": event.harness,
        "native_id": event.native_id,
        "kind": str(event.kind),
        "role": event.role,
        **tell_time("at", event.at_ms),
        "tool": event.tool,
        "call_id": event.call_id,
        "status": event.status,
        "is_abandoned": event.is_abandoned,
        "text": event.text,
    }
