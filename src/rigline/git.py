"""Questions to git, and its answers. Only `scope.py` asks them, and no other module runs git.

Nothing that is asked changes a checkout: git runs without optional locks, hooks, file system monitor, pager or prompts,
and fetches no missing objects. Variables that say which repository to use (`GIT_DIR` and its like, set while git runs a
hook) are removed: the checkout is the one that the directory is in. Each process is a group of its own, so that a
Ctrl-C for the launcher does not cut an answer short.

Porcelain formats: git-status(1) "Porcelain Format Version 2", git-rev-parse(1), gitrepository-layout(5) "commondir".
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATHS = 256

#: rev-parse prints a word that it does not know as it is, which tells apart answers that may hold line breaks
_SEPARATOR = "--rigline"
QUESTIONS = {
    "repository": (
        "rev-parse",
        *("--absolute-git-dir", _SEPARATOR, "--show-toplevel"),
        *(_SEPARATOR, "HEAD", _SEPARATOR, "--symbolic-full-name", "HEAD"),
    ),
    "remotes": ("config", "-z", "--get-regexp", r"^(remote\..*\.url|url\..*\.insteadof)$"),
    "status": ("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind"),
    "commits": ("rev-list", "--left-right", "--count"),
    "object": ("cat-file", "-e"),
}

_OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_SETTINGS = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_REPOSITORY_VARIABLES = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE"),
        *("GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_LITERAL_PATHSPECS"),
        *("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    }
)
_OUTSIDE = "fatal: not a git repository (or any "
#: how many blanks stand before the path, by a status record's kind
_FIELDS_BEFORE_PATH = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}


class Answer:
    """What git said. `code` is its exit status, None when it did not end in time."""

    def __init__(self, code: int | None, out: bytes, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def complaint(self) -> str:
        """Why there is no answer, in a few words; "" when git only says that this is no repository."""
        if self.code is None:
            return "git did not answer in time"
        line = self.err.strip().partition("\n")[0]
        if line.startswith(_OUTSIDE):
            return ""
        return line.removeprefix("fatal: ") or f"git ended with status {self.code}"


class Question:
    """A git process at work. `read` waits for it; one that is not read must be stopped."""

    def __init__(self, name: str, program: str, cwd: str, env: Mapping[str, str], *more: str) -> None:
        """`more` is what it is about, if about something. Raises `OSError` when the program cannot be started."""
        words = ["git", "-C", cwd, *_OPTIONS, *QUESTIONS[name], *more]
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        self._chunks: dict[int, list[bytes]] = {out: [], err: []}
        self._out, self._err = out, err
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out_end, 1),
            (os.POSIX_SPAWN_DUP2, err_end, 2),
        ]
        self._pid: int | None = None
        try:
            self._pid = os.posix_spawn(program, words, env, file_actions=actions, setpgroup=0, setsigmask=())
        finally:
            os.close(out_end)
            os.close(err_end)
            if self._pid is None:
                self._close()

    def read(self, deadline: float) -> Answer:
        """The answer, or what there is of it at `deadline` (by `time.monotonic`). Never waits longer."""
        try:
            in_time = self._read_until(deadline)
            code = self._reap() if in_time else None
        finally:
            self.stop()
        return Answer(
            code, b"".join(self._chunks[self._out]), b"".join(self._chunks[self._err]).decode("utf-8", "replace")
        )

    def stop(self) -> None:
        """End the process if it still runs, without waiting for one that cannot be ended. Idempotent."""
        if self._pid is not None:
            pid, self._pid = self._pid, None
            self._close()
            _kill(pid)

    def _read_until(self, deadline: float) -> bool:
        poller = select.poll()
        for pipe in self._chunks:
            poller.register(pipe, select.POLLIN)
        still_open = len(self._chunks)
        while still_open:
            left_s = deadline - time.monotonic()
            ready = poller.poll(left_s * 1000) if left_s > 0 else []
            if not ready:
                return False
            for pipe, _ in ready:
                chunk = os.read(pipe, 1 << 16)
                self._chunks[pipe].append(chunk)
                if not chunk:
                    poller.unregister(pipe)
                    still_open -= 1
        return True

    def _reap(self) -> int:
        pid, self._pid = self._pid, None
        assert pid is not None
        self._close()
        try:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except ChildProcessError:
            return 0  # whoever started us ignores SIGCHLD, so no status is kept; what was said still counts

    def _close(self) -> None:
        os.close(self._out)
        os.close(self._err)


class Repository:
    """Where a checkout's git directories are, and what is checked out.

    `toplevel` is None where there is no work tree: in a bare repository and inside a git directory. `head` and `branch`
    are None without a commit; `branch` also when HEAD is detached.
    """

    def __init__(self, git_dir: str, toplevel: str | None, head: str | None, branch: str | None) -> None:
        self.git_dir = git_dir
        self.common_dir = _find_common_dir(git_dir)
        self.toplevel = toplevel
        self.head = head
        self.branch = branch

    @property
    def folder(self) -> str:
        """The folder that the repository is known by: of a linked worktree, that of its main repository."""
        if self.toplevel and self.git_dir == self.common_dir:
            return self.toplevel
        name = os.path.basename(self.common_dir)
        return os.path.dirname(self.common_dir) if name.startswith(".") else self.common_dir.removesuffix(".git")


class Status:
    """A work tree's state. `entries` are git's own bytes, empty for a clean tree; `paths` at most `MAX_PATHS`."""

    def __init__(self, head: str | None, branch: str | None, entries: bytes, paths: list[str], left_out: int) -> None:
        self.head = head
        self.branch = branch
        self.entries = entries
        self.paths = paths
        self.left_out = left_out


def build_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment that git is asked in."""
    return {name: value for name, value in env.items() if name not in _REPOSITORY_VARIABLES} | _SETTINGS


def read_repository(answer: Answer) -> Repository | None:
    """The repository, or None when git named none. Git stops at the first part that it cannot tell."""
    parts = os.fsdecode(answer.out).split(f"\n{_SEPARATOR}\n")
    git_dir, toplevel, head, ref = [*parts, "", "", ""][:4]
    if not os.path.isabs(git_dir):
        return None
    has_head = answer.code == 0
    ref = ref.removesuffix("\n")
    return Repository(
        os.path.realpath(git_dir),
        os.path.realpath(toplevel) if os.path.isabs(toplevel) else None,
        head if has_head else None,
        ref.removeprefix("refs/heads/") if has_head and ref != "HEAD" else None,
    )


def read_settings(answer: Answer) -> list[tuple[str, str]]:
    """Configuration as (key, value) pairs, in git's order."""
    entries = os.fsdecode(answer.out).split("\0")
    return [(key, value) for key, separator, value in (entry.partition("\n") for entry in entries) if separator]


def read_status(raw: bytes) -> Status:
    """A status in porcelain format 2 with `-z` and `--branch`. Of a rename both names count as paths."""
    headers: dict[bytes, bytes] = {}
    while raw.startswith(b"# "):
        line, _, raw = raw.partition(b"\0")
        name, _, value = line[2:].partition(b" ")
        headers[name] = value
    paths = _read_paths(raw)
    head, branch = headers.get(b"branch.oid", b"(initial)"), headers.get(b"branch.head", b"(detached)")
    return Status(
        None if head == b"(initial)" else _as_text(head),
        None if branch == b"(detached)" else _as_text(branch),
        raw,
        [_as_text(path) for path in paths[:MAX_PATHS]],
        max(0, len(paths) - MAX_PATHS),
    )


def read_counts(answer: Answer) -> tuple[int, int] | None:
    """How many commits are on the left side of a range alone, and on the right; None when git knows no such range."""
    left, _, right = answer.out.strip().partition(b"\t")
    return (int(left), int(right)) if answer.code == 0 and left.isdigit() and right.isdigit() else None


def _kill(group: int) -> None:
    """A process that hangs in the file system cannot be ended; it is not waited for longer than 0.1 s."""
    try:
        os.killpg(group, 9)
        for _ in range(20):
            if os.waitpid(group, os.WNOHANG)[0]:
                return
            time.sleep(0.005)
    except OSError:
        return


def _read_paths(entries: bytes) -> list[bytes]:
    paths = []
    is_old_name = False
    for record in entries.split(b"\0"):
        kind = record[:1]
        if is_old_name:
            paths.append(record)
            is_old_name = False
        elif kind in _FIELDS_BEFORE_PATH:
            paths.append(record.split(b" ", _FIELDS_BEFORE_PATH[kind])[-1])
            is_old_name = kind == b"2"
    return paths


def _as_text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _find_common_dir(git_dir: str) -> str:
    """What linked worktrees share. Read from the file, since old versions of git tell it wrongly in subdirectories."""
    try:
        with open(os.path.join(git_dir, "commondir"), "rb") as file:
            relative = os.fsdecode(file.read(4096).rstrip(b"\r\n"))
    except OSError:
        return git_dir
    return os.path.realpath(os.path.join(git_dir, relative))
