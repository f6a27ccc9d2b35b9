"""Write three pages of docs/reference: commands.md from the commands' own parsers, exit-codes.md from the error tree,
and harnesses.md from what the adapters say of themselves. Put the files of the example into adding-a-harness.md.

    python scripts/generate_reference.py [--check]

With --check nothing is written, and the exit status is 1 when a page is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from rigline.cli import COMMANDS
from rigline.cli.harnesses import tell_facts, tell_limits
from rigline.cli.run_arguments import build_parser as build_run_parser
from rigline.errors import RiglineError
from rigline.harness import HARNESSES, get_harness, list_aliases
from rigline.harness.base import Harness

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEAD = """\
# Commands

<!-- Written by scripts/generate_reference.py from the commands' own parsers; change those, then run it. -->

    rigline COMMAND [options]

`rigline --help` lists the commands, `rigline COMMAND --help` explains one, `rigline --version` tells the version.

What a command answers stands on stdout, everything else on stderr. With `--json` stdout holds exactly one JSON value,
also for an error: `{"error": {"code": ..., "message": ..., "exit_status": ...}}`. Times are ISO 8601 in UTC, beside
each the same moment in milliseconds since 1970 (`..._ms`). Ids are shown shortened, and any beginning that is unique
is understood. What exit statuses mean stands [on a page of its own](exit-codes.md).
"""
CODES_HEAD = """\
# Exit codes and errors

<!-- Written by scripts/generate_reference.py from the error tree in errors.py; change that, then run it. -->

`rigline run` ends with the agent's own exit status, 128 + the signal's number when the agent was killed. rigline's own
refusals come before the agent is started. Their statuses are those of sysexits.h from 64 to 75, and 126 and 127 as
shells have them. A passed-through command (`rigline run claude --version`) becomes the agent's program: its status is
that program's.

An error is one paragraph on stderr: what failed, which thing, why, and the next step. With `--json` it is one object on
stdout, `{"error": {"code": ..., "message": ..., "exit_status": ...}}`, with more fields where there are more facts: the
holder of a lease, the file, the names that would have been right. Match on `code`; messages may change.

## Exit statuses
"""
HARNESSES_HEAD = """\
# Harnesses

<!-- Written by scripts/generate_reference.py from the adapters in src/rigline/harness; change those, then run it. -->

The agents that rigline works with. `rigline harnesses` tells which of them are installed, with their versions, and
lists those that packages have brought ([Add a harness](../adding-a-harness.md)).

A harness is called by its name or one of the other words, as in `rigline run claude`. A word that begins with `claude`
and is no other name, such as `claude-next`, is Claude Code by the program of that name. **History** is how much of what
others did one session is shown at a launch. A version between two that were tried is taken to work as they do; any
other one may, and `rigline doctor` says so. Where **none** was tried the program could not be run: all that is said of
it stands on what its row "known from" names.
"""
#: what each status means
STATUSES = {
    0: "done",
    1: "nothing was found (`search`), a session failed (`import`), a check failed (`doctor`), something is left "
    "(`recover`)",
    64: "what was asked for cannot be understood, or is not there",
    65: "a session's file cannot be read",
    69: "the ledger cannot be reached, or refuses",
    70: "a fault of rigline's own",
    75: "somebody else has it now; later it may work",
    126: "the agent's program cannot be executed",
    127: "the agent's program was not found",
    130: "interrupted with Ctrl-C",
    141: "whatever read the output has gone",
}
#: what helps, for each code
ADVICE = {
    "usage": "Read the message; `rigline COMMAND --help` lists the options.",
    "unknown_harness": "Take the name that the message suggests.",
    "harness_broken": "Upgrade or remove the package that the message names.",
    "unknown_workstream": "`rigline workstreams` lists those of this checkout, `--all` those of every one.",
    "workstream_exists": "Use it with `--workstream`, or take another name.",
    "ambiguous_id": "Give more of the id.",
    "nothing_to_continue": "Name the agent: `rigline run claude` or `rigline run codex`.",
    "checkout_gone": "`rigline relocate` in the checkout, where it is now, gives its lines back.",
    "no_terminal": "Call it in a terminal, or take `--json`, which only lists.",
    "config": "Put right the key that the message names; nothing is ignored in silence.",
    "ledger": "Read the message; `rigline doctor` looks at the ledger.",
    "ledger_unreachable": "Free the disk, the file or the folder that the message names, then try again.",
    "ledger_newer": "Upgrade rigline.",
    "ledger_corrupt": "`rigline recover --from-segments` builds it anew; the damaged file is kept.",
    "run_superseded": "Start the agent again with `rigline run`; what it said meanwhile is kept.",
    "lease_held": "End the other run, wait, or begin another line with `--new NAME`.",
    "session_held": "Go on in that process, end it, or begin another session with `--fresh`.",
    "harness_not_found": "Install it, put it on PATH, or name it with `--executable`.",
    "harness_not_executable": "Repair the file's permissions, or name another program with `--executable`.",
    "session_unreadable": "Look at the file that the message names; others are imported all the same.",
    "interrupted": "Nothing: no agent was started and the lease is free.",
    "internal": "Report what `crash.log` in the data folder says.",
}


def build_page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, (module, _) in COMMANDS.items():
        parser = build_run_parser() if name == "run" else import_module(module).build_parser()
        parts += [f"## rigline {name}\n", *describe(parser)]
    return "\n".join(parts)


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


def build_codes_page() -> str:
    """The page about exit statuses and errors."""
    return "\n".join([CODES_HEAD, *list_statuses(), "\n## Errors\n", *list_errors()]) + "\n"


def list_statuses() -> Iterator[str]:
    """A row for each exit status: what it means, and the codes of the errors that end with it."""
    codes: dict[int, list[str]] = {}
    for error in iterate_errors(RiglineError):
        codes.setdefault(error.exit_status, []).append(f"`{error.code}`")
    yield "| status | means | codes |"
    yield "| --- | --- | --- |"
    for status in sorted({*STATUSES, *codes}):
        yield f"| {status} | {STATUSES[status]} | {', '.join(codes.get(status, []))} |"


def list_errors() -> Iterator[str]:
    """A row for each error, those of one kind together."""
    yield "| code | status | means | what helps |"
    yield "| --- | --- | --- | --- |"
    for error in iterate_errors(RiglineError):
        yield f"| `{error.code}` | {error.exit_status} | {join_lines(error.__doc__)} | {ADVICE[error.code]} |"


def build_harnesses_page() -> str:
    """The page about harnesses: a table of all, then each."""
    harnesses = [get_harness(name) for name in HARNESSES]
    rows = ["| harness | called | also | program | forks | history | tried with |", "|" + " --- |" * 7]
    parts = [HARNESSES_HEAD, "\n".join([*rows, *map(describe_harness_row, harnesses)]) + "\n"]
    for harness in harnesses:
        parts += [f"## {harness.label}\n" if is_only(harness, harnesses) else f"## {harness.label} ({harness.name})\n"]
        parts += ["\n".join(["| | |", "| --- | --- |", *describe_harness(harness)]) + "\n"]
    return "\n".join(parts)


def is_only(harness: Harness, harnesses: list[Harness]) -> bool:
    """Whether no other harness has the label."""
    return sum(each.label == harness.label for each in harnesses) == 1


def describe_harness_row(harness: Harness) -> str:
    """A harness's row in the table of all."""
    also = ", ".join(f"`{alias}`" for alias in list_aliases(harness.name))
    forks = "yes" if harness.facts.fork else "no"
    tried = ", ".join(harness.known_versions) or "none"
    cells = (f"`{harness.name}`", harness.label, also, f"`{harness.executable}`", forks, tell_limits(harness), tried)
    return f"| {' | '.join(cells)} |"


def describe_harness(harness: Harness) -> Iterator[str]:
    """A row for everything that is known of one."""
    for title, value in tell_facts(harness).items():
        text = value if isinstance(value, str) else "; ".join(value)
        yield f"| {title} | {'none' if text == '-' else escape(text)} |"


def escape(text: str) -> str:
    """A text that may stand in a cell; what looks like a tag is none."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(parts))


def build_example_page() -> str:
    """The page about adding a harness, each `<!-- file: NAME -->` followed by that file of the example."""
    docs = FOLDER.parent

    def show(match: re.Match[str]) -> str:
        content = (docs / "example-harness" / match["name"]).read_text(encoding="utf-8")
        return f"<!-- file: {match['name']} -->\n```{match['language']}\n{content}```\n"

    page = (docs / "adding-a-harness.md").read_text(encoding="utf-8")
    pattern = r"<!-- file: (?P<name>\S+) -->\n```(?P<language>\w+)\n.*?^```\n"
    return re.sub(pattern, show, page, flags=re.MULTILINE | re.DOTALL)


def iterate_errors(error: type[RiglineError]) -> Iterator[type[RiglineError]]:
    """All classes below an error."""
    for below in error.__subclasses__():
        yield below
        yield from iterate_errors(below)


PAGES = {
    "commands.md": build_page,
    "exit-codes.md": build_codes_page,
    "harnesses.md": build_harnesses_page,
    "../adding-a-harness.md": build_example_page,
}


def main() -> int:
    """Write the pages, or compare them."""
    pages = {FOLDER / name: build() for name, build in PAGES.items()}
    if sys.argv[1:] == ["--check"]:
        return int(any(not path.is_file() or path.read_text(encoding="utf-8") != page for path, page in pages.items()))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, page in pages.items():
        path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
