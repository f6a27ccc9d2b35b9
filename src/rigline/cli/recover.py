"""`rigline recover`: collect what interrupted runs left; build a damaged ledger anew."""

from __future__ import annotations

import os
import sys

from rigline import paths
from rigline.cli.arguments import CommandParser, make_parser
from rigline.cli.output import print_json, print_lines
from rigline.errors import LeaseHeld, UsageError
from rigline.launch.folder import list_folders
from rigline.ledger.local import DATABASE_NAME, SEGMENTS_NAME
from rigline.ledger.rebuild import Rebuilt, rebuild_from_segments
from rigline.leftovers import collect_leftovers, find_leftovers
from rigline.readable import WIDTH, clean, format_count, wrap

SOMETHING_LEFT = 1


def build_parser() -> CommandParser:
    """The options of `recover`."""
    parser = make_parser(
        "rigline recover",
        "Collect the runs whose launcher was killed: what their agents said is imported, their lease given back. Every "
        "other command does so too; this one tells what it does. With --from-segments the ledger's database is built "
        "anew from the segments beside it, and the old file is kept.",
        "rigline recover\nrigline recover --from-segments",
    )
    parser.add_argument("--from-segments", action="store_true", help="build the ledger's database anew")
    parser.add_argument("--yes", action="store_true", help="do not ask before the database is built anew")
    return parser


def main(argv: list[str]) -> int:
    """Recover and tell; returns 0, or 1 when something is left to recover."""
    options = build_parser().parse_args(argv)
    home = paths.data_home(os.environ)
    rebuilt = None
    if options.from_segments:
        if not options.yes and not confirm(home):
            print_lines(["Nothing was changed."])
            return SOMETHING_LEFT
        rebuilt = rebuild(home)
    messages: list[str] = []
    found = find_leftovers(home)
    collected = collect_leftovers(home, messages.append)
    left = find_leftovers(home)
    if options.json:
        print_json(describe(rebuilt, len(found), collected, left, messages))
    else:
        print_lines(render(rebuilt, len(found), collected, left, messages))
    is_whole = rebuilt is None or not (rebuilt.damaged or rebuilt.damaged_lines or rebuilt.missing_copies)
    return 0 if is_whole and not left else SOMETHING_LEFT


def confirm(home: str) -> bool:
    """Ask the person; raises `UsageError` where there is none to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("There is nobody to ask whether the database may be built anew. Say so with --yes.")
    path = os.path.join(home, DATABASE_NAME)
    sys.stderr.write(
        f"{path} is built anew from its segments; the present file is kept beside it.\n"
        "Lines, sessions, events and bindings come back. The list of runs, git states and unconfirmed\n"
        "deliveries do not. Go on? [y/N] "
    )
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def rebuild(home: str) -> Rebuilt:
    """Build the database anew; raises `LeaseHeld` while runs are at work, `LedgerUnreachable` without segments."""
    left = find_leftovers(home)
    at_work = [folder.path for folder in list_folders(home) if folder.path not in left]
    if at_work:
        raise LeaseHeld(
            f"{format_count(len(at_work), 'run')} of an agent still writes this ledger; what it wrote meanwhile would "
            "be lost. End the agents first, then try again.",
            folders=at_work,
        )
    is_terminal = sys.stderr.isatty()

    def tell(done: int, total: int) -> None:
        if is_terminal and (done % 50 == 0 or done == total):
            sys.stderr.write(f"\r{done:,} of {total:,} segments" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return rebuild_from_segments(os.path.join(home, SEGMENTS_NAME), os.path.join(home, DATABASE_NAME), progress=tell)


def render(rebuilt: Rebuilt | None, found: int, collected: int, left: list[str], messages: list[str]) -> list[str]:
    """What was done, as text."""
    lines = _render_rebuilt(rebuilt) if rebuilt is not None else []
    lines += [line for message in messages for line in wrap(clean(message), WIDTH)]
    if not found:
        return [*lines, "There is no interrupted run to collect."]
    lines.append(f"{collected} of {format_count(found, 'interrupted run')} collected.")
    return lines + [f"left: {clean(path)}" for path in left]


def _render_rebuilt(rebuilt: Rebuilt) -> list[str]:
    lines = [
        f"The ledger was built anew from {format_count(rebuilt.segments, 'segment')}:",
        f"{format_count(rebuilt.events, 'event')} of {format_count(rebuilt.sessions, 'session')} on "
        f"{format_count(rebuilt.workstreams, 'line')} of work.",
    ]
    if rebuilt.moved_to:
        lines.append(f"The old database is {clean(rebuilt.moved_to)}")
    lines += [f"A segment that cannot be read was left out: {clean(name)}" for name in rebuilt.damaged]
    if rebuilt.damaged_lines:
        lines.append(f"{format_count(rebuilt.damaged_lines, 'damaged line')} left out.")
    if rebuilt.missing_copies:
        lines.append(f"{format_count(rebuilt.missing_copies, 'copied event')} whose original is in no segment.")
    return lines


def describe(
    rebuilt: Rebuilt | None, found: int, collected: int, left: list[str], messages: list[str]
) -> dict[str, object]:
    """What was done, as JSON."""
    fields = {name: getattr(rebuilt, name) for name in rebuilt.__struct_fields__} if rebuilt is not None else None
    return {"rebuilt": fields, "found": found, "collected": collected, "left": left, "messages": messages}
