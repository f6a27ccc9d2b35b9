"""Which running process writes a Codex thread, without touching its lock.

0.171.0 holds an advisory lock on `thread-writer-locks/<id>.lock` for as long as it has a thread open, and refuses a
second writer. Taking the lock to see whether it is free would be that second writer, so the kernel's list of locks
is read instead. Both versions keep the rollout open from the first prompt on. All this is Linux's `/proc`; elsewhere
nothing is known, and the program's own lock still keeps a second writer out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_LOCKS = "thread-writer-locks"
_PROGRAM = "codex"


def find_writer(home: str, thread_id: str, paths: Iterable[str]) -> int | None:
    """The process that has the thread open: by its lock, else by an open rollout. None when there is none to see."""
    pid = _find_lock_holder(os.path.join(home, _LOCKS, f"{thread_id}.lock"))
    if pid is not None:
        return pid
    wanted = {os.path.realpath(path) for path in paths}
    return next((pid for pid in _programs() if wanted.intersection(_open_files(pid))), None)


def find_open_files(pid: int) -> set[str]:
    """The real paths of all files that a process and its children have open, as far as the system tells."""
    parents = dict(_parents())
    family = {pid}
    grown = True
    while grown:
        children = {child for child, parent in parents.items() if parent in family} - family
        grown = bool(children)
        family |= children
    return {path for member in family for path in _open_files(member)}


def is_daemon(pid: int) -> bool:
    """Whether the process is a shared app server, which outlives the terminals that it serves."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"app-server" in file.read(65536).split(b"\0")
    except OSError:
        return False


def _find_lock_holder(path: str) -> int | None:
    try:
        status = os.stat(path)
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for row in rows:
        # 3: FLOCK  ADVISORY  WRITE 25412 fe:00:1696035 0 EOF; waiting ones have an arrow behind the number
        if len(row) != 8 or not row[4].isdigit() or row[5].rpartition(":")[2] != str(status.st_ino):
            continue
        pid = int(row[4])
        # Some file systems are listed under another device than stat tells.
        if row[5].startswith(device) or os.path.realpath(path) in _open_files(pid):
            return pid
    return None


def _programs() -> Iterator[int]:
    for pid, _ in _parents():
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                if file.read().startswith(_PROGRAM):
                    yield pid
        except OSError:
            continue


def _parents() -> Iterator[tuple[int, int]]:
    """(process, its parent) of all processes."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                yield int(name), int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue


def _open_files(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(os.path.join(folder, name))
        except OSError:
            continue
