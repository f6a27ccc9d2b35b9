"""`rigline continue`: go on with the newest line of work on this machine, wherever one is."""

from __future__ import annotations

import os
import shlex
import time

from rigline import lines
from rigline.cli.arguments import CommandParser, make_parser
from rigline.cli.here import open_ledger_here
from rigline.cli.output import print_json, print_lines, say
from rigline.cli.starting import add_run_flags, become_run, read_settings, shorten_home
from rigline.errors import NothingToContinue
from rigline.picking import Line, build_words, choose_harness, describe_line
from rigline.readable import WIDTH, format_age, wrap


def build_parser() -> CommandParser:
    """The options of `continue`."""
    parser = make_parser(
        "rigline continue",
        "Go on with the line of work that was worked on last, in whichever checkout it is, in the agent used last on "
        "it. Which one that is gets told before it starts. Nothing else is taken in its place when its folder is gone.",
        "rigline continue\nrigline continue --dry-run\nrigline continue --json",
    )
    parser.add_argument("--dry-run", action="store_true", help="tell what would be started, and start nothing")
    add_run_flags(parser)
    return parser


def main(argv: list[str]) -> int:
    """Tell which line it is, and become its run; returns the exit status."""
    options = build_parser().parse_args(argv)
    env = dict(os.environ)
    with open_ledger_here() as ledger:
        found = lines.list_lines(ledger, None)[:1]
    if not found:
        raise NothingToContinue(
            "There is no line of work on this machine yet. `rigline run claude` or `rigline run codex` begins one."
        )
    line, installed = found[0], lines.find_installed(env, read_settings())
    words = build_words(line, choose_harness(line, installed), yolo=options.yolo, fresh=options.fresh)
    if options.json:
        told = describe_line(line, lines.Looker(env).look(line), installed)
        print_json({"line": told, "command": ["rigline", *words]})
        return 0
    lines.check_place(line, env)
    if options.dry_run:
        commands = [f"cd {shlex.quote(line.cwd)}", shlex.join(["rigline", *words])]
        print_lines([*wrap(announce(line, installed), WIDTH), *commands])
        return 0
    say(announce(line, installed))
    return become_run(line.cwd, words, env)


def announce(line: Line, installed: tuple[str, ...]) -> str:
    """Which line is gone on with, where, in what, and how old it is, in a sentence."""
    harness = choose_harness(line, installed) or "the agent of its newest session"
    age = format_age(int(time.time() * 1000) - line.active_ms)
    when = f"last active {age if age == 'just now' else f'{age} ago'}"
    title = f" ({line.title})" if line.title else ""
    return f"going on with line {line.name!r}{title} in {shorten_home(line.cwd)} with {harness}, {when}."
