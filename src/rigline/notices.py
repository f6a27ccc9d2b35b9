"""Notices on stderr, `rigline: ...`, laid out for the terminal that they go to."""

from __future__ import annotations

import os
import sys

from rigline.readable import fill

PREFIX = "rigline: "
#: narrower ones break the lines themselves
_LEAST_COLUMNS = 40


def write_notice(message: str) -> None:
    """Say it in one line, or on a terminal in as many as keep its words whole. A terminal that is gone is no fault."""
    write_stderr(f"{lay_out(message, _count_columns())}\n")


def write_stderr(text: str) -> None:
    """Text as it is, as far as there is still somebody to read it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def lay_out(message: str, columns: int) -> str:
    """The notice; what is beyond the first line stands below its first word."""
    if columns < _LEAST_COLUMNS:
        return PREFIX + message
    return PREFIX + ("\n" + " " * len(PREFIX)).join(fill(message, columns - len(PREFIX)))


def _count_columns() -> int:
    """The terminal's width; 0 where stderr is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 0
