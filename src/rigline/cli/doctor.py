"""`rigline doctor`: what is installed, whether it works, and what will not."""

from __future__ import annotations

import os

from rigline import paths
from rigline.cli.arguments import CommandParser, make_parser
from rigline.cli.output import print_json, print_lines, say
from rigline.doctor.check import Check, Level, find_worst
from rigline.doctor.examination import examine
from rigline.errors import RiglineError
from rigline.leftovers import collect_leftovers
from rigline.readable import WIDTH, pad, wrap
from rigline.scope import current_directory

SOMETHING_FAILED = 1
_INDENT = 6


def build_parser() -> CommandParser:
    """The options of `doctor`."""
    parser = make_parser(
        "rigline doctor",
        "Look at everything that rigline depends on: its data folder and ledger, git, each agent's program and "
        "sessions, whether the sessions of this line will resume, and what an agent's vendor will soon delete that is "
        "not in the ledger. Nothing of the agents' own is changed.",
        "rigline doctor\nrigline doctor --deep\nrigline doctor --json",
    )
    parser.add_argument("--deep", action="store_true", help="also read the whole ledger and every segment")
    return parser


def main(argv: list[str]) -> int:
    """Print the checks; returns 0, or 1 when one failed."""
    options = build_parser().parse_args(argv)
    home = paths.data_home(os.environ)
    _collect(home)
    checks = examine(home, os.environ, current_directory(), deep=options.deep)
    has_failed = find_worst(checks) is Level.FAIL
    if options.json:
        print_json({"ok": not has_failed, "checks": [describe_check(check) for check in checks]})
    else:
        print_lines(render_checks(checks))
    return SOMETHING_FAILED if has_failed else 0


def _collect(home: str) -> None:
    """What interrupted runs left; a ledger that cannot take it is one of the findings."""
    try:
        collect_leftovers(home, say)
    except RiglineError:
        return


def render_checks(checks: list[Check]) -> list[str]:
    """The checks as a table, each with what to do where there is something."""
    names = max((len(check.name) for check in checks), default=0)
    lines: list[str] = []
    for check in checks:
        start = pad(pad(str(check.level), _INDENT) + check.name, _INDENT + names + 2)
        texts = wrap(check.text, WIDTH - len(start)) or [""]
        lines += [start + texts[0], *(" " * len(start) + text for text in texts[1:])]
        if check.next_step:
            lines += [" " * len(start) + text for text in wrap(f"→ {check.next_step}", WIDTH - len(start))]
    counts = [f"{n} {level}" for level in Level if (n := sum(check.level is level for check in checks))]
    return [*lines, ", ".join(counts) + "."]


def describe_check(check: Check) -> dict[str, object]:
    """A check as JSON."""
    return {
        "name": check.name,
        "level": str(check.level),
        "text": check.text,
        "next_step": check.next_step or None,
        "details": check.details,
    }
