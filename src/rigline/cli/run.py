"""`rigline run`: see `launch/run.py` for the line that it follows."""

from __future__ import annotations

import os

from rigline.errors import UsageError


def main(argv: list[str]) -> int:
    """Run an agent; returns its exit code."""
    from rigline.launch.options import parse_run

    options = parse_run(argv)
    from rigline.launch.console import Console
    from rigline.launch.run import run

    return run(options, os.environ, current_directory(), Console())


def current_directory() -> str:
    """The directory one stands in; raises `UsageError` when it is gone."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("The current directory does not exist any more. Go to one that does.") from error
