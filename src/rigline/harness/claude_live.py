"""The sessions that running Claude Code processes have open: `sessions/<pid>.json` of the configuration folder.

Written at the launch, before any transcript, and kept true through forks and clears; removed at the end, but
not when the process is killed with -9 (2.1.197, 2.1.332). So the process itself is asked as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from rigline import liveness
from rigline.harness.journal import open_regular

_MAX_BYTES = 1 << 20
#: processes between a launcher and the agent that it started: wrappers, shells
_MAX_PARENTS = 16


class LiveRecord(Struct, frozen=True, rename="camel"):
    """One file's content. `status` is idle, busy, or waiting, `waiting_for` then what for."""

    pid: int
    session_id: str
    proc_start: str = ""
    cwd: str | None = None
    status: str = ""
    waiting_for: str = ""


def iter_live(config: str) -> Iterator[LiveRecord]:
    """The records of all processes that still run, in no order. A file that cannot be read is passed over."""
    folder = os.path.join(config, "sessions")
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        record = _read(os.path.join(folder, name)) if name.endswith(".json") else None
        if record is not None and _is_running(record):
            yield record


def find_of_process(config: str, pid: int) -> LiveRecord | None:
    """The session of a process, or of its nearest descendant: the agent may have been started through a wrapper."""
    found = [(distance, record) for record in iter_live(config) if (distance := _count_steps(record.pid, pid)) >= 0]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _read(path: str) -> LiveRecord | None:
    try:
        with open_regular(path) as file:
            return msgspec.json.decode(file.read(_MAX_BYTES), type=LiveRecord)
    except (OSError, msgspec.DecodeError):
        return None


def _is_running(record: LiveRecord) -> bool:
    """Linux: the process with that start, in ticks since boot. Elsewhere any process with that pid."""
    started = liveness.process_start(record.pid)
    ticks, at, _ = started.partition("@")
    if at and record.proc_start.isdigit():
        return ticks == record.proc_start
    return bool(started) or liveness.is_alive(record.pid, "")


def _count_steps(pid: int, ancestor: int) -> int:
    """How many parents lie between a process and its ancestor; -1 when it is none."""
    for steps in range(_MAX_PARENTS):
        if pid == ancestor:
            return steps
        pid = _find_parent(pid)
        if pid <= 1:
            break
    return -1


def _find_parent(pid: int) -> int:
    """The parent by `/proc/PID/stat`, field 4 (proc(5)); 0 where that is not told."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
        return int(stat[stat.rindex(b")") + 2 :].split()[1])
    except (OSError, ValueError):
        return 0
