"""`rigline resume`: choose a line of work, and go on with it where it was left."""

from __future__ import annotations

import argparse
import os
import time

from rigline import lines
from rigline.cli.arguments import CommandParser, make_parser, read_positive
from rigline.cli.here import open_ledger_here
from rigline.cli.output import print_json
from rigline.cli.starting import add_run_flags, become_run, check_terminal, pick, read_settings, shorten_home
from rigline.errors import NothingToContinue, RiglineError
from rigline.ledger.base import Ledger
from rigline.picking import Line, build_words, describe_line, search_lines
from rigline.scope import current_directory
from rigline.tui.items import AUTO, LINE_COLUMNS, Item, build_line_item, describe_option
from rigline.tui.page import Choice, Page


def build_parser() -> CommandParser:
    """The options of `resume`."""
    parser = make_parser(
        "rigline resume",
        "Choose a line of work and go on with it: a list to type into, with what was said last on each line, the "
        "agents that worked on it, and how far its checkout has gone on since. Left and right choose the agent. Enter "
        "starts what `rigline run --workstream NAME [HARNESS]` would start in that checkout.",
        "rigline resume\nrigline resume --all\nrigline resume --search parser\nrigline resume --all --json",
    )
    parser.add_argument("--all", action="store_true", help="the lines of every checkout on this machine")
    parser.add_argument("--search", metavar="TEXT", default="", help="those with TEXT in name, title, words or path")
    parser.add_argument("--limit", metavar="N", type=read_positive, help="at most N of them")
    add_run_flags(parser)
    return parser


def main(argv: list[str]) -> int:
    """List, or let a person choose and become the run; returns the exit status."""
    options = build_parser().parse_args(argv)
    if not options.json:
        check_terminal("resume")
    env = dict(os.environ)
    with open_ledger_here() as ledger:
        resumer = Resumer(ledger, options, env)
        if options.json:
            return resumer.print_list()
        chosen = resumer.ask()
    if chosen is None:
        return 130
    line, harness = chosen
    return become_run(line.cwd, build_words(line, harness, yolo=options.yolo, fresh=options.fresh), env)


class Resumer:
    """The lines to choose from, as the options ask for them."""

    def __init__(self, ledger: Ledger, options: argparse.Namespace, env: dict[str, str]) -> None:
        self._ledger, self._options, self._env = ledger, options, env
        self._cwd = current_directory()
        here = None if options.all else lines.find_checkout_here(self._cwd, env)
        every = lines.list_lines(ledger, here)
        # what is left out for good is only what a limit leaves out: a filter can be cleared
        is_final = options.json or options.limit is not None
        offered = search_lines(every, options.search)[: options.limit] if is_final else every
        self._lines = {line.id: line for line in offered}
        self._installed = lines.find_installed(env, read_settings())
        self._looker = lines.Looker(env)

    def print_list(self) -> int:
        """The lines as JSON, each checkout looked at."""
        told = [describe_line(line, self._looker.look(line), self._installed) for line in self._lines.values()]
        print_json({"installed": list(self._installed), "lines": told})
        return 0

    def ask(self) -> tuple[Line, str | None] | None:
        """The line that a person chose, and the harness if it is a certain one; None when they left.

        Raises `NothingToContinue` where there is no line.
        """
        if not self._lines:
            raise NothingToContinue(self._explain_nothing())
        choice = pick(self._build_page())
        if choice is None:
            return None
        return self._lines[choice.key], None if choice.option == AUTO else choice.option

    def _explain_nothing(self) -> str:
        if self._options.search:
            return f"No line of work has {self._options.search!r} in it."
        where = "anywhere" if self._options.all else f"in {self._cwd}"
        others = "" if self._options.all else " `rigline resume --all` offers those of other checkouts."
        return f"There is no line of work {where} yet. `rigline run claude` or `rigline run codex` begins one.{others}"

    def _build_page(self) -> Page:
        where = "on this machine" if self._options.all else f"in {shorten_home(self._cwd)}"
        return Page(
            title=f"Lines of work {where}",
            items=[self._build_item(line, look=False) for line in self._lines.values()],
            choose=self._check,
            columns=LINE_COLUMNS,
            options=(AUTO, *self._installed),
            tell_option=lambda key, option: describe_option(self._lines.get(key), option, self._installed),
            look=lambda key: self._build_item(self._lines[key], look=True),
            typed=self._options.search,
        )

    def _build_item(self, line: Line, *, look: bool) -> Item:
        standing = self._looker.look(line) if look else None
        now_ms = int(time.time() * 1000)
        return build_line_item(line, standing, now_ms=now_ms, has_place=self._options.all)

    def _check(self, choice: Choice) -> str | None:
        """Why the line cannot be gone on with now; None when it can."""
        line = lines.find_line(self._ledger, self._lines[choice.key])
        if line is None:
            return "This line is not in the ledger any more."
        self._lines[line.id] = line
        if line.holder:
            return f"{line.name} is being written by {line.holder}. End that run, or choose another line."
        try:
            lines.check_place(line, self._env)
        except RiglineError as error:
            return str(error)
        return None
