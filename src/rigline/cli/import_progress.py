"""How far an import is, on stderr: one line that changes on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time

from rigline.importing import Outcome
from rigline.readable import WIDTH, clip, format_size, pad

TERMINAL_EVERY_S = 0.2
PLAIN_EVERY_S = 10.0


class Progress:
    """Tells an outcome as it grows. `sessions` and `size_bytes` are what there is to do."""

    def __init__(self, sessions: int, size_bytes: int) -> None:
        self._sessions = sessions
        self._size_bytes = size_bytes
        self._is_terminal = _is_terminal()
        self._every_s = TERMINAL_EVERY_S if self._is_terminal else PLAIN_EVERY_S
        self._started = time.monotonic()
        self._next = self._started + self._every_s
        self._is_shown = False

    def tell(self, outcome: Outcome) -> None:
        """Show where the import is, unless that was done a moment ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every_s
        line = describe_progress(outcome, self._sessions, self._size_bytes, now - self._started)
        self._write(f"\r{pad(clip(line, WIDTH - 1), WIDTH - 1)}" if self._is_terminal else f"rigline: {line}\n")
        self._is_shown = True

    def clear(self) -> None:
        """Take the changing line away."""
        if self._is_shown and self._is_terminal:
            self._write("\r" + " " * (WIDTH - 1) + "\r")
        self._is_shown = False

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            return


def describe_progress(outcome: Outcome, sessions: int, size_bytes: int, elapsed_s: float) -> str:
    """One line: sessions, megabytes, events, and events a second. Pure."""
    rate = outcome.added / elapsed_s if elapsed_s > 0 else 0.0
    return (
        f"{outcome.sessions:,} of {sessions:,} sessions, {format_size(outcome.size_bytes)} of "
        f"{format_size(size_bytes)}, {outcome.added:,} new events, {rate:,.0f}/s"
    )


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
