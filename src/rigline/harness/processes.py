"""What a running process is, for stores that name one in a file which outlives it."""

from __future__ import annotations

from rigline import liveness


def is_program(pid: int, word: str) -> bool:
    """Whether the process runs and its command line names the program: a pid may have been given to another since.

    Where the system does not tell command lines, any process that runs is taken for it.
    """
    if not liveness.is_alive(pid, ""):
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(65536).split(b"\0")
    except OSError:
        return True
    return any(word.encode() in part for part in words[:3])
