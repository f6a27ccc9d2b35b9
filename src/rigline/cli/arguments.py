"""What the commands' parsers share: one parser class, and the kinds of values that options take."""

from __future__ import annotations

import argparse

from rigline.errors import UsageError
from rigline.readable import WIDTH, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


class CommandParser(argparse.ArgumentParser):
    """A command's parser: complaints are `UsageError`s, options are written in full, help fits the terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # Without a width argparse asks for the terminal's, through a module that costs as much as Python's start.
        options.setdefault("formatter_class", _make_formatter)
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog.removeprefix('rigline ')}: {message}. See `{self.prog} --help`.")


def _make_formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH, max_help_position=26)


def make_parser(prog: str, description: str, examples: str, *, usage: str | None = None) -> CommandParser:
    """A parser with `--json`, which every command has. `examples` are lines of the epilog."""
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    text = "\n".join(wrap(description, WIDTH))
    parser = CommandParser(prog=prog, usage=usage, description=text, epilog=f"examples:\n{lines}")
    add_json(parser)
    return parser


def add_json(parser: argparse.ArgumentParser, *, default: bool | str = False) -> None:
    """`--json`. A parser below another one takes `argparse.SUPPRESS`, so that the word counts in either place."""
    parser.add_argument(
        "--json", action="store_true", default=default, help="one JSON value on stdout, notices on stderr"
    )


def add_limit(parser: argparse.ArgumentParser, default: int, what: str) -> None:
    """`--limit N`: how many of `what` are shown."""
    parser.add_argument(
        "--limit", metavar="N", type=read_positive, default=default, help=f"how many {what} (default {default})"
    )


def read_positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    return _read_number(text, 1, "a whole number above 0")


def read_count(text: str) -> int:
    """A whole number, 0 too, for argparse."""
    return _read_number(text, 0, "a whole number")


def _read_number(text: str, least: int, what: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not {what}")


def read_moment(now_ms: int) -> Callable[[str], int]:
    """A reader for argparse of a moment: `90m`, `3h`, `2d`, `1w` before `now_ms`, or an ISO 8601 date or time.

    A date without a zone is taken in the local one. Returns UTC milliseconds.
    """

    def read(text: str) -> int:
        number, unit = text[:-1], text[-1:].lower()
        if unit in _UNITS_MS and number.isascii() and number.isdigit() and len(number) < 7:
            return now_ms - int(number) * _UNITS_MS[unit]
        from datetime import datetime

        try:
            return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no moment: write 30m, 3h, 2d, 1w, or a date such as 2026-03-31 or 2026-03-31T18:00"
            ) from None

    return read


def read_harness(text: str) -> str:
    """A harness by name or alias, for argparse."""
    from rigline.harness import find_name

    name = find_name(text)
    if name is None:
        from rigline.harness import list_words

        words = sorted(list_words())
        raise argparse.ArgumentTypeError(
            f"there is no harness {text!r}{suggest(text, words)}; known: {', '.join(words)}"
        )
    return name


def suggest(word: str, known: list[str]) -> str:
    """` (did you mean 'x'?)`, or nothing when nothing is near."""
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""
