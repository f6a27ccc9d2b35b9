"""Which directory a session belongs to, and where a harness keeps what."""

from __future__ import annotations

import os
from collections.abc import Mapping


def is_same_folder(one: str, other: str) -> bool:
    """Whether both are one existing directory: a deleted or renamed checkout is never the same as another."""
    try:
        return os.path.samefile(one, other) and os.path.isdir(one)
    except OSError:
        return False


def is_recorded_in(recorded: str | None, cwd: str) -> bool:
    """Whether the directory that a session names is this very one, however either is written."""
    return recorded is not None and (recorded == cwd or is_same_folder(recorded, cwd))


def find_home(env: Mapping[str, str]) -> str:
    """The home folder that a child with this environment has."""
    return env.get("HOME") or os.path.expanduser("~")


def find_root(env: Mapping[str, str], variable: str, *default: str) -> str:
    """The folder that a variable names (a blank one counts as unset), else one below the home folder."""
    configured = env.get(variable, "")
    return configured if configured.strip() else os.path.join(find_home(env), *default)
