"""Write docs/reference/commands.md from the commands' own parsers.

    python scripts/generate_reference.py [--check]

With --check nothing is written, and the exit status is 1 when the page is out of date.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from rigline.cli import COMMANDS
from rigline.cli.run_arguments import build_parser as build_run_parser
from rigline.errors import RiglineError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

<!-- Written by scripts/generate_reference.py from the commands' own parsers; change those, then run it. -->

    rigline COMMAND [options]

`rigline --help` lists the commands, `rigline COMMAND --help` explains one, `rigline --version` tells the version.

What a command answers stands on stdout, everything else on stderr. With `--json` stdout holds exactly one JSON value,
also for an error: `{"error": {"code": ..., "message": ..., "exit_status": ...}}`. Times are ISO 8601 in UTC, beside
each the same moment in milliseconds since 1970 (`..._ms`). Ids are shown shortened, and any beginning that is unique
is understood.
"""


def build_page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, (module, _) in COMMANDS.items():
        parser = build_run_parser() if name == "run" else import_module(module).build_parser()
        parts += [f"## rigline {name}\n", *describe(parser)]
    return "\n".join(parts) + "\n" + describe_statuses()


def describe(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A parser's section: what it does, how it is called, its options, its verbs, examples."""
    yield textwrap.fill(join_lines(parser.description), 120) + "\n"
    yield f"    {describe_usage(parser)}\n"
    rows = [describe_action(action) for action in parser._actions if is_listed(action)]
    if rows:
        yield "\n".join(["| | |", "| --- | --- |", *rows]) + "\n"
    if parser.epilog:
        yield describe_epilog(parser.epilog)
    for verb, below in iterate_verbs(parser):
        yield f"### {parser.prog} {verb}\n"
        yield from describe(below)


def join_lines(text: str | None) -> str:
    """A description as one paragraph."""
    return " ".join((text or "").split())


def describe_epilog(epilog: str) -> str:
    """Examples as a block, any other epilog as a paragraph."""
    title, _, examples = epilog.partition("\n")
    if title != "examples:":
        return f"{join_lines(epilog)}\n"
    return "\n".join(f"    {line.strip()}" for line in examples.splitlines()) + "\n"


def describe_usage(parser: argparse.ArgumentParser) -> str:
    """How the command is called, on one line."""
    if parser.usage:
        return parser.usage
    words = [parser.prog, "[options]"]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words.append("[VERB ...]")
        elif not action.option_strings:
            word = str(action.metavar or action.dest)
            many = " ..." if action.nargs in ("*", "+") else ""
            words.append(f"[{word}{many}]" if action.nargs in ("?", "*") else word + many)
    return " ".join(words)


def is_listed(action: argparse.Action) -> bool:
    """Whether an action has a row: `--help` and the verbs have none."""
    return not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)


def describe_action(action: argparse.Action) -> str:
    """A row: the option with its value, and what it does."""
    value = ""
    if action.nargs != 0:
        value = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else str(action.metavar or action.dest)
    name = ", ".join(action.option_strings)
    call = f"{name} {value}".strip().replace("|", "\\|")
    return f"| `{call}` | {(action.help or '').replace('|', chr(92) + '|')} |"


def iterate_verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The verbs below a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def describe_statuses() -> str:
    """What the exit statuses mean, from the error tree."""
    rows = {
        0: "done",
        1: "nothing found (`search`), a session failed (`import`), a check failed (`doctor`), or something is left "
        "(`recover`)",
        130: "interrupted with Ctrl-C",
    }
    for error in sorted(iterate_errors(RiglineError), key=lambda each: each.code):
        told = f"`{error.code}`: {join_lines(error.__doc__)}"
        known = rows.get(error.exit_status, "")
        rows[error.exit_status] = f"{known} {told}".strip()
    lines = [f"| {status} | {rows[status]} |" for status in sorted(rows)]
    intro = "`rigline run` ends with the agent's own exit status, 128 + the signal's number when it was killed.\n"
    return "\n".join(["## Exit statuses\n", intro, "| | |", "| --- | --- |", *lines, ""])


def iterate_errors(error: type[RiglineError]) -> Iterator[type[RiglineError]]:
    """All classes below an error."""
    for below in error.__subclasses__():
        yield below
        yield from iterate_errors(below)


def main() -> int:
    """Write the page, or compare it."""
    page = build_page()
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page else 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
