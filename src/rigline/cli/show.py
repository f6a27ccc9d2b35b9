"""`rigline show`: choose a checkout, then an agent, and go on there."""

from __future__ import annotations

import os
import time

from rigline import lines
from rigline.cli.arguments import CommandParser, make_parser, read_positive
from rigline.cli.here import open_ledger_here
from rigline.cli.output import print_json
from rigline.cli.starting import add_run_flags, become_run, check_terminal, pick, read_settings, shorten_home
from rigline.errors import NothingToContinue
from rigline.harness import get_harness
from rigline.picking import Checkout, Place, build_flags, describe_checkout, describe_place, find_matches
from rigline.scope import current_directory
from rigline.tui.items import (
    AUTO,
    CHECKOUT_COLUMNS,
    HARNESS_COLUMNS,
    Item,
    build_auto_item,
    build_checkout_item,
    build_harness_item,
)
from rigline.tui.page import Choice, Page


def build_parser() -> CommandParser:
    """The options of `show`."""
    parser = make_parser(
        "rigline show",
        "Choose a checkout and then an agent: the checkouts of this machine that have lines of work, and those that "
        "the current folder is or holds, told by what is in them (.git, pyproject.toml, package.json and so on). Enter "
        "starts what `rigline run HARNESS` would start there.",
        "rigline show\nrigline show --no-scan\nrigline show --search api --json",
    )
    parser.add_argument("--no-scan", action="store_true", help="only checkouts that have lines of work")
    parser.add_argument("--search", metavar="TEXT", default="", help="those with TEXT in path or line")
    parser.add_argument("--limit", metavar="N", type=read_positive, help="at most N of them")
    add_run_flags(parser)
    return parser


def main(argv: list[str]) -> int:
    """List, or let a person choose and become the run; returns the exit status."""
    options = build_parser().parse_args(argv)
    if not options.json:
        check_terminal("show")
    env = dict(os.environ)
    with open_ledger_here() as ledger:
        known = lines.list_checkouts(lines.list_lines(ledger, None))
    cwd = current_directory()
    found = [*known, *([] if options.no_scan else lines.scan_checkouts(cwd, known, env))]
    shower = Shower(found, cwd, lines.find_installed(env, read_settings()), env)
    if options.json:
        return shower.print_list(options.search, options.limit)
    chosen = shower.ask(options.search, options.limit)
    if chosen is None:
        return 130
    checkout, harness = chosen
    flags = build_flags(yolo=options.yolo, fresh=options.fresh)
    return become_run(checkout.path, ["run", *flags, *([harness] if harness else [])], env)


class Shower:
    """The checkouts to choose from, and the agents that are here."""

    def __init__(self, found: list[Checkout], cwd: str, installed: tuple[str, ...], env: dict[str, str]) -> None:
        self._found, self._cwd, self._installed, self._env = found, cwd, installed, env
        self._by_path = {checkout.path: checkout for checkout in found}
        self._chosen: Checkout | None = None

    def print_list(self, search: str, limit: int | None) -> int:
        """The checkouts as JSON."""
        found = self._search(search)[:limit]
        print_json({"installed": list(self._installed), "checkouts": [describe_checkout(each) for each in found]})
        return 0

    def ask(self, search: str, limit: int | None) -> tuple[Checkout, str | None] | None:
        """The checkout that a person chose, and the harness if it is a certain one; None when they left.

        Raises `NothingToContinue` where there is no checkout.
        """
        offered = self._search(search)[:limit] if limit else self._found
        if not offered:
            raise NothingToContinue(
                f"There is no checkout to choose from: no line of work is on this machine yet, and {self._cwd} neither "
                "is nor holds a folder with a project in it. `rigline run claude` or `rigline run codex` begins a line."
            )
        now_ms = int(time.time() * 1000)
        page = Page(
            title=f"Checkouts with lines of work, and those in {shorten_home(self._cwd)}",
            items=[build_checkout_item(each, now_ms=now_ms) for each in offered],
            choose=self._choose_checkout,
            columns=CHECKOUT_COLUMNS,
            is_last=False,
            typed=search,
        )
        choice = pick(page)
        if choice is None or self._chosen is None:
            return None
        return self._chosen, None if choice.key == AUTO else choice.key

    def _search(self, typed: str) -> list[Checkout]:
        items = [build_checkout_item(each, now_ms=0) for each in self._found]
        return [self._found[place] for place in find_matches([item.folded for item in items], typed)]

    def _choose_checkout(self, choice: Choice) -> str | Page:
        """The page of its agents, or why nothing can be started there."""
        checkout = self._by_path[choice.key]
        problem = self._find_problem(checkout)
        if problem:
            return f"Nothing can be started in {checkout.path}: {problem}. {lines.RELOCATE}"
        self._chosen = checkout
        now_ms = int(time.time() * 1000)
        agents = [build_harness_item(name, checkout, None, now_ms=now_ms) for name in self._installed]
        return Page(
            title=f"Agents for {shorten_home(checkout.path)}",
            items=[build_auto_item(checkout, self._installed), *agents],
            choose=lambda _choice: self._find_problem(checkout) or None,
            columns=HARNESS_COLUMNS,
            look=lambda name: self._look(name, checkout),
        )

    def _find_problem(self, checkout: Checkout) -> str:
        if checkout.fingerprint is None:
            return "" if os.path.isdir(checkout.path) else describe_place(Place.GONE)
        return describe_place(lines.find_place(checkout.path, checkout.fingerprint, self._env))

    def _look(self, name: str, checkout: Checkout) -> Item:
        """The row of an agent with its newest session in the checkout."""
        if name == AUTO:
            return build_auto_item(checkout, self._installed)
        newest = get_harness(name).open_store(self._env).list_sessions(checkout.path, limit=1)
        now_ms = int(time.time() * 1000)
        return build_harness_item(name, checkout, newest[0] if newest else None, now_ms=now_ms)
