"""Whether a process that was recorded is still the same one, alive.

A pid alone proves nothing: it is given to another process after the first has gone, and again after a reboot. So a
process is recorded with its start, a text that is only ever compared for equality.
"""

from __future__ import annotations

import os

_BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"


def process_start(pid: int) -> str:
    """When the process began, as a text that no other process with this pid has; "" if it is gone or a zombie.

    Linux: the start in clock ticks since boot (field 22 of `/proc/PID/stat`, proc(5)) and the id of that boot.
    Elsewhere: the start in UTC as `ps` tells it, to the second. "" too when the system does not tell.
    """
    return _find_start(pid) or ""


def is_alive(pid: int, started: str) -> bool:
    """Whether the process that was recorded as (`pid`, `started`) still runs; a zombie does not.

    Where that cannot be disproved it is True: a process without a recorded start, or one that the system hides.
    """
    found = _find_start(pid)
    if found is None:
        return _may_exist(pid)
    return bool(found) and (found == started or not started)


def is_carried(variable: str, value: str) -> bool:
    """Whether another process was started with this in its environment; False where the system does not tell."""
    wanted = f"{variable}={value}".encode("utf-8", "surrogateescape")
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return False
    return any(wanted in _read_environment(pid) for pid in pids)


def _read_environment(pid: str) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _find_start(pid: int) -> str | None:
    """The start; "" when the process is gone or a zombie, None when that cannot be known."""
    if pid <= 0:
        return ""
    return _ask_proc(pid) if os.path.exists(_BOOT_ID_FILE) else _ask_ps(pid)


def _ask_proc(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
        with open(_BOOT_ID_FILE, encoding="ascii") as file:
            boot = file.read().strip()
    except ProcessLookupError:
        return ""
    except OSError:
        return None if _may_exist(pid) else ""
    # The second field is the program's name in parentheses, which may hold blanks and parentheses itself.
    fields = stat[stat.rindex(b")") + 2 :].split()
    return "" if fields[0] in (b"Z", b"X") else f"{fields[19].decode()}@{boot}"


def _ask_ps(pid: int) -> str | None:
    import subprocess

    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC0"}
    try:
        answer = subprocess.run(command, env=env, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    state, *start = answer.stdout.split() or [""]
    return "" if state.startswith("Z") else " ".join(start)


def _may_exist(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
