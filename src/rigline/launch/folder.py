"""The private folder of one run: what a crash leaves behind, and what the start hook reads and writes.

    launcher        whose folder it is: pid and start
    run.json        everything that is needed to collect the run's session without its launcher
    hook.json       which session the packet is for
    answer-N        what the start hook prints as part N of it, in the harness's own form
    observed.jsonl  what hooks were given, one line each, appended
    lock            held by whoever collects the run

The folder is made before the child starts and removed when the run is collected to its end.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from rigline import liveness, paths
from rigline.errors import LedgerUnreachable
from rigline.model import RunRef, Scope


class RunState(Struct, frozen=True, kw_only=True):
    """What is known of a run when it starts.

    `store_env` holds what the harness's store depends on. `has_hooks` says that the start hook should name the session,
    unless the harness is one that names a fork's parent. In an interactive run nothing may be said at all.
    """

    run: RunRef
    scope: Scope
    store_env: dict[str, str]
    since_ms: int
    expected_id: str | None
    created_via: str
    parent_id: str | None
    has_hooks: bool
    is_interactive: bool
    child_pid: int | None = None
    child_started: str = ""


class RunFolder:
    """One run's folder. Writes are whole files, renamed into place; 0600."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._observed_at = 0

    @classmethod
    def create(cls, home: str, run_id: str) -> RunFolder:
        """Make the folder, with this process as its launcher; raises `LedgerUnreachable` when it cannot be made."""
        folder = cls(paths.run_dir(home, run_id))
        paths.make_private(folder.path)
        folder.write("launcher", f"{os.getpid()} {liveness.process_start(os.getpid())}")
        return folder

    def write(self, name: str, text: str) -> str:
        """Write a file below the folder and return its path."""
        target = os.path.join(self.path, name)
        paths.make_private(os.path.dirname(target))
        try:
            partial = target + ".part"
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            os.replace(partial, target)
        except OSError as error:
            raise LedgerUnreachable(
                f"{target} cannot be written: {error.strerror}. rigline needs its data folder to start a managed run.",
                path=target,
            ) from error
        return target

    def write_state(self, state: RunState) -> None:
        """Keep the state for whoever collects the run."""
        self.write("run.json", msgspec.json.encode(state).decode())

    def read_state(self) -> RunState | None:
        """The state, or None when the launcher died before it was written."""
        try:
            with open(os.path.join(self.path, "run.json"), "rb") as file:
                return msgspec.json.decode(file.read(), type=RunState)
        except (OSError, msgspec.DecodeError):
            return None

    def read_new_payloads(self) -> list[dict[str, object]]:
        """What hooks were given since the last call; a line that is still being written waits."""
        try:
            with open(os.path.join(self.path, "observed.jsonl"), "rb") as file:
                file.seek(self._observed_at)
                data = file.read()
        except OSError:
            return []
        complete, newline, _ = data.rpartition(b"\n")
        self._observed_at += len(complete) + len(newline)
        return [found for line in complete.splitlines() if (found := _decode(line)) is not None]

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Whether this process alone may collect the run; never waits."""
        descriptor = os.open(os.path.join(self.path, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """Take the folder away, with everything in it. What cannot be removed stays, for the next to come."""
        for parent, folders, files in os.walk(self.path, topdown=False):
            _remove(os.unlink, [os.path.join(parent, name) for name in files])
            inside = [os.path.join(parent, name) for name in folders]
            _remove(os.unlink, filter(os.path.islink, inside))  # never what a link leads to
            _remove(os.rmdir, inside)
        _remove(os.rmdir, [self.path])


def _remove(remove: Callable[[str], None], paths_to_remove: Iterable[str]) -> None:
    """By hand, since importing shutil costs as much as Python's own start (it loads every compression there is)."""
    for path in paths_to_remove:
        try:
            remove(path)
        except OSError:
            continue


def _decode(line: bytes) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, object])
    except msgspec.DecodeError:
        return None


def list_folders(home: str) -> list[RunFolder]:
    """The folders of all runs that were not collected to their end, this process's own included."""
    try:
        names = os.listdir(os.path.join(home, "runs"))
    except OSError:
        return []
    return [RunFolder(os.path.join(home, "runs", name)) for name in sorted(names)]
