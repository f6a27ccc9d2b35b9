"""The store that the contracts work on, and what they see it with."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from rigline.harness.base import Harness, Store
from rigline.model import Event, SessionInfo, Window


class HarnessCase(Struct, frozen=True, kw_only=True):
    """A harness with a store of its own making.

    `folder` holds the store; `make_env` gives the variables that make an adapter see the store in such a folder.
    All its sessions were begun in `cwd`, which exists. `canaries` stand in the store where nothing may be read.
    `make_tool_output` makes a transcript's line with that text as a tool's output. `command_lines` are native
    command lines worth planning, `unknown_id` is the id of no session in it.
    """

    harness: Harness
    folder: str
    make_env: Callable[[str], dict[str, str]]
    cwd: str
    canaries: tuple[str, ...]
    make_tool_output: Callable[[str], bytes]
    command_lines: tuple[tuple[str, ...], ...]
    unknown_id: str

    def open(self, folder: str = "") -> Store:
        """The store in the case's folder, or in a copy of it."""
        return self.harness.open_store(self.make_env(folder or self.folder))


class Reading:
    """Everything that some windows told, and where they ended."""

    def __init__(self, windows: Iterator[Window]) -> None:
        self.events: list[Event] = []
        self.losses: Counter[str] = Counter()
        self.packets: list[tuple[str, int, int]] = []
        self.links: list[tuple[str, str]] = []
        self.cursor: str | None = None
        self.add(windows)

    def add(self, windows: Iterator[Window]) -> None:
        for window in windows:
            self.events += window.events
            self.losses.update(window.losses)
            self.packets += window.packets
            self.links += [(link.parent_id, link.kind) for link in window.links]
            self.cursor = window.cursor

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(event.kind, event.text) for event in self.events]

    def expect(self, other: Reading, what: str) -> None:
        expect(self.events == other.events, f"{what}: {_describe_difference(self.events, other.events)}")
        expect(self.losses == other.losses, f"{what}: losses {dict(self.losses)}, not {dict(other.losses)}")
        expect(self.packets == other.packets, f"{what}: packets {self.packets}, not {other.packets}")
        expect(set(self.links) == set(other.links), f"{what}: links {self.links}, not {other.links}")


def _describe_difference(found: list[Event], expected: list[Event]) -> str:
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"event {place} is {one}, not {other}"
    return f"{len(found)} events, not {len(expected)}"


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


@contextmanager
def open_copy(case: HarnessCase) -> Iterator[tuple[Store, list[SessionInfo]]]:
    """A copy of the store that may be changed, and its sessions as they were before."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "store")
        shutil.copytree(case.folder, copy, symlinks=True)
        store = case.open(copy)
        yield store, sorted(store.iter_sessions(), key=lambda info: info.native_id)


#: about how many places each transcript is cut at
CUTS = 7


def choose_cuts(whole: bytes) -> list[int]:
    """Ends of lines and places within them, spread over the file."""
    ends = [place + 1 for place, byte in enumerate(whole) if byte == 0x0A]
    chosen = ends[:: max(1, len(ends) // CUTS)]
    return sorted({0, *chosen, *(end - 9 for end in chosen if end > 9), *(end - 1 for end in chosen)})


def list_ids(store: Store, cwd: str) -> set[str]:
    return {info.native_id for info in store.list_sessions(cwd, 1000)}


def read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def append_bytes(path: str, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def walk(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield os.path.join(parent, name)


def read_tree(folder: str) -> bytes:
    return b"".join(read_bytes(path) for path in walk(folder))


def fingerprint(folder: str) -> dict[str, tuple[int, int, str]]:
    found = {}
    for path in walk(folder):
        status = os.stat(path)
        found[path] = (status.st_mtime_ns, status.st_mode, hashlib.sha256(read_bytes(path)).hexdigest())
    return found
