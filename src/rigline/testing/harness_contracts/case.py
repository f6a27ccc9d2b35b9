"""The store that the contracts work on, and how a session in it may be changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from msgspec import Struct

from rigline.harness.base import Harness, Store
from rigline.model import SessionInfo

#: puts a session into one state of its growth
Stage = Callable[[], None]


class Form(StrEnum):
    """How a harness keeps a session, which decides what "the same" means when it was read in several goes.

    APPENDED: records are only added at the end. The events of all goes, one after the other, are those of one go.
    REVISED: records are written anew, repeat an id, or are rows that change. The same events by identity (record,
    block, kind), each in the form in which it was told last; how often one was told does not count. The kinds of what
    was left out are at least the same.
    """

    APPENDED = "appended"
    REVISED = "revised"


class Unknown(Struct, frozen=True, kw_only=True):
    """A session of a format that no adapter knows: its id, the version it names, and those that are known."""

    native_id: str
    seen: str
    known: tuple[str, ...]


class HarnessCase(Struct, frozen=True, kw_only=True):
    """A harness with a store of its own making.

    `folder` holds the store; `make_env` gives the variables that make an adapter see the store in such a folder.
    All its sessions were begun in `cwd`, which exists, and whose parent folder belongs to the case as well.
    `command_lines` are native command lines worth planning, `unknown_id` is the id of no session in it. `settings` are
    such as the adapter's `read_settings` would find. `canaries` stand in the store, each in a place where nothing may
    be read.

    How sessions are changed:

    make_tool_output   a transcript's line (or lines) with that text as a tool's output, for stores of lines
    form               see `Form`; `withdraws` says that the harness itself takes events back, as an undo does
    make_stages        (folder, session) -> the states of its growth in order, the last as it is now; by default
                       beginnings of the file at `session.path`, cut between lines and within them
    grow               (folder, session, texts) adds a tool's output for each text; by default lines at the file's end
    damage             (folder, session) adds rubbish that costs no record; by default between all lines
    spoil              (folder, session) makes it unreadable; by default its file is emptied
    plant_unknown      (folder) adds a session of a format version that is not known. None where files name no version
    goldens            a folder with what is read from each session, `<id>.txt`; see `rigline.testing.golden`

    A store that has no lines gives the four from `make_stages` to `spoil`. All work on a copy of the store.
    """

    harness: Harness
    folder: str
    make_env: Callable[[str], dict[str, str]]
    cwd: str
    canaries: tuple[str, ...]
    command_lines: tuple[tuple[str, ...], ...]
    unknown_id: str
    make_tool_output: Callable[[str], bytes] | None = None
    form: Form = Form.APPENDED
    withdraws: bool = False
    make_stages: Callable[[str, SessionInfo], Sequence[Stage]] | None = None
    grow: Callable[[str, SessionInfo, Sequence[str]], None] | None = None
    damage: Callable[[str, SessionInfo], None] | None = None
    spoil: Callable[[str, SessionInfo], None] | None = None
    plant_unknown: Callable[[str], Unknown] | None = None
    settings: dict[str, str] = {}
    goldens: str = ""

    def open(self, folder: str = "") -> Store:
        """The store in the case's folder, or in a copy of it."""
        return self.harness.open_store(self.make_env(folder or self.folder))


class Copy:
    """A copy of a case's store that may be changed, and its sessions as they were before."""

    def __init__(self, case: HarnessCase, folder: str) -> None:
        self._case = case
        self.folder = folder
        self.store = case.open(folder)
        self.sessions = sorted(self.store.iter_sessions(), key=lambda info: info.native_id)

    def list_stages(self, info: SessionInfo) -> Sequence[Stage]:
        """The states of a session's growth."""
        if self._case.make_stages is not None:
            return self._case.make_stages(self.folder, info)
        return cut_file(info.path)

    def list_shorter(self, info: SessionInfo) -> Sequence[Stage]:
        """The session without its end, and whole again."""
        if self._case.make_stages is not None:
            return self._case.make_stages(self.folder, info)[-2:]
        whole = read_bytes(info.path)
        last = whole.splitlines(keepends=True)[-1:]
        return cut_file(info.path, [len(whole) - len(b"".join(last))])

    def grow(self, info: SessionInfo, texts: Sequence[str]) -> None:
        """Add a tool's output for each text."""
        if self._case.grow is not None:
            return self._case.grow(self.folder, info, texts)
        expect(self._case.make_tool_output is not None, "the case gives neither `grow` nor `make_tool_output`")
        assert self._case.make_tool_output is not None
        with open(info.path, "ab") as file:
            file.writelines(self._case.make_tool_output(text) for text in texts)
        return None

    def damage(self, info: SessionInfo) -> None:
        """Put rubbish beside what is there."""
        if self._case.damage is not None:
            return self._case.damage(self.folder, info)
        expect(self._case.make_tool_output is not None, "the case of a store without lines gives no `damage`")
        lines = read_bytes(info.path).splitlines(keepends=True)
        noisy = [line + NOISE[place % len(NOISE)] for place, line in enumerate(lines)]
        return write_bytes(info.path, b"".join(noisy))

    def spoil(self, info: SessionInfo) -> None:
        """Make a session unreadable."""
        if self._case.spoil is not None:
            return self._case.spoil(self.folder, info)
        expect(self._case.make_tool_output is not None, "the case of a store without lines gives no `spoil`")
        return write_bytes(info.path, b"")


NOISE = (b"\n\x00\x00\x00\n", b'{"type":"user","message":{"ro\n', b"\xff\xfe not text\n", b"[1, 2]\n", b"\r\n", b"}{\n")
#: about how many places each transcript is cut at
CUTS = 7


@contextmanager
def open_copy(case: HarnessCase) -> Iterator[Copy]:
    """A copy of the store, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "store")
        shutil.copytree(case.folder, copy, symlinks=True)
        yield Copy(case, copy)


def cut_file(path: str, lengths: Sequence[int] | None = None) -> list[Stage]:
    """Beginnings of a file as stages, the last of them the whole; by default cut at about seven places."""
    whole = read_bytes(path)
    chosen = choose_cuts(whole) if lengths is None else lengths
    return [_make_beginning(path, whole, length) for length in (*(each for each in chosen if each >= 0), len(whole))]


def _make_beginning(path: str, whole: bytes, length: int) -> Stage:
    return lambda: write_bytes(path, whole[:length])


def choose_cuts(whole: bytes) -> list[int]:
    """Ends of lines and places within them, spread over the file."""
    ends = [place + 1 for place, byte in enumerate(whole) if byte == 0x0A]
    chosen = ends[:: max(1, len(ends) // CUTS)]
    return sorted({0, *chosen, *(end - 9 for end in chosen if end > 9), *(end - 1 for end in chosen)})


def expect(holds: bool, message: str) -> None:
    """Raise AssertionError where something does not hold."""
    if not holds:
        raise AssertionError(message)


def list_ids(store: Store, cwd: str) -> set[str]:
    """The sessions of a directory."""
    return {info.native_id for info in store.list_sessions(cwd, 1000)}


def read_bytes(path: str) -> bytes:
    """A file's content."""
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path: str, data: bytes) -> None:
    """Write a file anew."""
    with open(path, "wb") as file:
        file.write(data)


def walk(folder: str) -> Iterator[str]:
    """All files below a folder."""
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield os.path.join(parent, name)


def read_tree(folder: str) -> bytes:
    """The content of all files below a folder."""
    return b"".join(read_bytes(path) for path in walk(folder) if os.path.isfile(path))


def fingerprint(folder: str) -> dict[str, tuple[int, int, str]]:
    """What would tell a change below a folder: of a file, of its time or mode, or a file that came or went."""
    found = {}
    for parent, _, names in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            status = os.lstat(path)
            content = hashlib.sha256(read_bytes(path)).hexdigest() if os.path.isfile(path) else ""
            found[path] = (status.st_mtime_ns, status.st_mode, content)
    return found
