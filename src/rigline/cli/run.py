"""`rigline run`: see `launch/run.py` for the line that it follows."""

from __future__ import annotations

import os
import sys

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
        _load_msgspec()
        return _run(argv, inspection, notes)
    finally:
        inspection.stop()


def _load_msgspec() -> None:
    """Load msgspec as if there were no typing_extensions, which it would load, and Textual brings.

    On Python 3.11 and later it takes the same names from `typing`, and every run starts 8 ms sooner. Whoever imports
    typing_extensions afterwards gets it.
    """
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def _run(argv: list[str], inspection: Inspection, notes: list[str]) -> int:
    from rigline.cli.run_arguments import parse_run
    from rigline.launch.console import Console

    options: RunOptions = parse_run(argv)
    from rigline.launch.run import run

    return run(options, os.environ, inspection, notes, Console())
