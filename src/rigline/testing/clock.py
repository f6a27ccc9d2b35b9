"""A clock that stands still until it is told to move."""

from __future__ import annotations


class FakeClock:
    """Calling it gives UTC milliseconds since 1970. It may also be set back, as real clocks are."""

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms

    def advance(self, ms: int) -> int:
        """Move by `ms`, which may be negative, and return the new time."""
        self.now_ms += ms
        return self.now_ms
