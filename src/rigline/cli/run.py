"""`rigline run`: see `launch/run.py` for the line that it follows."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.launch.options import RunOptions
    from rigline.scope import Inspection


def main(argv: list[str]) -> int:
    """Run an agent; returns its exit code. Git is put to work before the rest is loaded: the two take as long."""
    from rigline.scope import current_directory, start_inspection

    notes: list[str] = []
    inspection = start_inspection(current_directory(), env=os.environ, notes=notes)
    try:
        return _run(argv, inspection, notes)
    finally:
        inspection.stop()


def _run(argv: list[str], inspection: Inspection, notes: list[str]) -> int:
    from rigline.cli.run_arguments import parse_run
    from rigline.launch.console import Console

    options: RunOptions = parse_run(argv)
    from rigline.launch.run import run

    return run(options, os.environ, inspection, notes, Console())
