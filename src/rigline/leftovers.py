"""Runs whose launcher died: found by every command, collected by the first one that comes.

The look is cheap (a folder listing, and the launcher's identity in one small file); only when there is something to
collect are the ledger and the adapters loaded.
"""

from __future__ import annotations

import os
import time

from rigline import liveness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rigline.ledger.base import Ledger

#: A folder without a launcher's name this old was made by a launcher that died at once.
NAMELESS_AFTER_S = 60.0


def find_leftovers(home: str) -> list[str]:
    """The run folders whose launcher is gone."""
    runs = os.path.join(home, "runs")
    try:
        names = sorted(os.listdir(runs))
    except OSError:
        return []
    return [path for name in names if _is_left(path := os.path.join(runs, name))]


def _is_left(path: str) -> bool:
    try:
        with open(os.path.join(path, "launcher"), encoding="ascii") as file:
            pid, _, started = file.read().partition(" ")
        return not liveness.is_alive(int(pid), started)
    except (OSError, ValueError):
        return _age_s(path) > NAMELESS_AFTER_S


def _age_s(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0


def collect_leftovers(home: str, say: Callable[[str], None], ledger: Ledger | None = None) -> int:
    """Import what the sessions of dead launchers wrote; returns how many runs were collected to their end.

    Never raises for a single run: it is left for the next command, and said.
    """
    found = find_leftovers(home)
    if not found:
        return 0
    from rigline.launch.recovery import collect_folders

    return collect_folders(home, found, say, ledger)
