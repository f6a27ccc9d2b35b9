"""`python -m tests.faults.breaker FAULTS ARGS...`: the `rigline` command on a machine that fails it in some way.

FAULTS are names of `FAULTS`, joined by commas. Those that begin with the child begin right after it was started.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Any

from rigline.cli import main
from rigline.launch import child, collect, lease
from rigline.launch.collect import Collector
from rigline.ledger import segments
from rigline.store import sqlite

HOUR_S = 3600.0


def import_eagerly() -> None:
    """Import after each word, so that a fault is met many times in a short run."""
    child.TICK_S, collect.IMPORT_EVERY_S = 0.05, 0.1


def with_the_child(fault: Callable[[Collector], None]) -> None:
    """Let a fault begin when the child has been started."""
    original = Collector.set_child

    def set_child(self: Collector, pid: int | None) -> None:
        original(self, pid)
        if pid is not None:
            fault(self)

    Collector.set_child = set_child  # type: ignore[method-assign]


def fill_database(collector: Collector) -> None:
    """No page more for the ledger's database, on this connection."""
    connection = get_connection(collector)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def fill_disk(collector: Collector) -> None:
    """No byte more for a segment."""

    def write(handle: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    segments.os.write = write  # type: ignore[attr-defined]


def remove_folder(collector: Collector) -> None:
    """The run's folder is gone before the agent has looked into it."""
    shutil.rmtree(collector._folder.path)


def get_connection(collector: Collector) -> Any:
    """The connection of the ledger that a run writes to."""
    ledger: Any = collector._ledger
    return ledger._db._connection


def make_read_only() -> None:
    """A read-only file system below the data folder, also for root."""
    home = os.environ["RIGLINE_HOME"]
    connect, open_file, make_folder = sqlite3.connect, os.open, os.mkdir

    def refuse(path: Any) -> None:
        if os.path.abspath(os.fspath(path)).startswith(home):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    def open_read_only(path: Any, flags: int, *args: Any, **more: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and not os.path.exists(path):
            refuse(path)
        return open_file(path, flags, *args, **more)

    def mkdir(path: Any, *args: Any, **more: Any) -> None:
        if not os.path.isdir(path):
            refuse(path)
        make_folder(path, *args, **more)

    def connect_read_only(*args: Any, **more: Any) -> Any:
        connection = connect(*args, **more)
        connection.execute("PRAGMA query_only = ON")
        return connection

    os.open, os.mkdir = open_read_only, mkdir
    setattr(sqlite3, "connect", connect_read_only)  # noqa: B010  its type is an overload's


def beat_quickly() -> None:
    """Heartbeats and patience of half a second where half a minute and ten seconds are usual."""
    lease.HEARTBEAT_S = lease.BUSY_WINDOW_S = 0.5
    sqlite.BUSY_TIMEOUT_S = 0.5


def break_python() -> None:
    """The interpreter that the start hook is to be run with is not there."""
    sys.executable = "/nowhere/python"


def set_clock(offset_s: Callable[[], float]) -> None:
    """Let the system's clock be wrong by as much as the function says."""
    read, read_ns = time.time, time.time_ns
    time.time = lambda: read() + offset_s()
    time.time_ns = lambda: read_ns() + int(offset_s() * 1e9)


def jump(*offsets_s: float) -> None:
    """Once the child has been started, let the clock jump: an offset each half second, the last one stays."""
    started: list[float] = []

    def offset_s() -> float:
        place = int(2 * (time.monotonic() - started[0])) if started else -1
        return offsets_s[min(place, len(offsets_s) - 1)] if place >= 0 else 0.0

    set_clock(offset_s)
    with_the_child(lambda _: started.append(time.monotonic()))


FAULTS: dict[str, Callable[[], None]] = {
    "full database": lambda: with_the_child(fill_database),
    "full disk": lambda: with_the_child(fill_disk),
    "eager": import_eagerly,
    "read-only": make_read_only,
    "quick": beat_quickly,
    "no python": break_python,
    "no folder": lambda: with_the_child(remove_folder),
    "clock ahead": lambda: set_clock(lambda: 3 * HOUR_S),
    "clock forward and back": lambda: jump(3 * HOUR_S, 3 * HOUR_S, -3 * HOUR_S),
    "clock back": lambda: jump(-3 * HOUR_S),
}


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        FAULTS[name]()
    sys.exit(main(sys.argv[2:]))
