"""One thread that looks things up for rows of a list, those on the screen first, so that no screen waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Looker(Generic[T]):
    """Calls `look` once for each key that is wanted, and `tell` with what it gave. A failure is told as None.

    Both are called on the looker's own thread, which never keeps the process from ending.
    """

    def __init__(self, look: Callable[[str], T], tell: Callable[[str, T | None], None]) -> None:
        self._look, self._tell = look, tell
        self._wanted: Sequence[str] = ()
        self._done: set[str] = set()
        self._is_stopped = False
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None

    def want(self, keys: Sequence[str]) -> None:
        """Look these up next, in this order; what was wanted before and not begun is dropped."""
        with self._change:
            self._wanted = keys
            self._change.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="rigline-looker", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Begin nothing more. What is being looked up is not waited for."""
        with self._change:
            self._is_stopped = True
            self._change.notify()

    def _work(self) -> None:
        while (key := self._take()) is not None:
            try:
                found = self._look(key)
            except Exception:  # a row without its facts is still a row
                found = None
            if not self._is_stopped:
                self._tell(key, found)

    def _take(self) -> str | None:
        with self._change:
            while not self._is_stopped:
                key = next((key for key in self._wanted if key not in self._done), None)
                if key is not None:
                    self._done.add(key)
                    return key
                self._change.wait()
        return None
