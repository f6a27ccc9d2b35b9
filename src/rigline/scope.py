"""From a directory to its scope and its checkpoint, by what git says. Nothing here changes a checkout.

Three questions are put to git at once. They are answered beside whatever the caller does between `start_inspection`
and `finish`, so little is imported before that. git that is missing, refuses or does not answer within
`GIT_DEADLINE_S` degrades the result and is said in `notes`: sentences for the user.

Fingerprints are SHA-256 over a label and its values. Whatever is a path on this machine has the host's id with it, and
no path is told from another by case below WSL's Windows drives.

    repo_fingerprint       of the remotes (see `remotes.py`), else the common git directory, else the directory
    worktree_fingerprint   of the checkout's own git directory, else the directory
    inode_fingerprint      of the same as the file system knows it, without its path: a rename leaves it as it is

Paths in the results are text: bytes that are not UTF-8 become U+FFFD, as agents write them too; fingerprints are made
from the bytes.
"""

from __future__ import annotations

import os
import time

from rigline import git
from rigline.errors import UsageError
from rigline.paths import find_program, user_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rigline.config import Marker
    from rigline.model import Checkpoint, Scope

GIT_DEADLINE_S = 10.0
DEFAULT_WORKSPACE = "default"
#: the questions for scope and checkpoint
_INSPECTION = ("repository", "remotes", "status")
_HEX_DIGITS = frozenset("0123456789abcdef")
#: `Scope.repo_source`: what the repository's fingerprint was made from
FROM_REMOTE, FROM_GIT_DIR, FROM_DIRECTORY = "remote", "git_dir", "directory"


class Inspection:
    """git at work on one directory. `finish` once, or `stop`."""

    def __init__(self, cwd: str, env: Mapping[str, str], questions: Iterable[str], notes: list[str] | None) -> None:
        self._cwd = _real_directory(cwd)
        self._env = env
        self._notes = [] if notes is None else notes
        self._deadline = time.monotonic() + GIT_DEADLINE_S
        self._repository: git.Repository | None = None
        self._is_outside = False
        self._asked: dict[str, git.Question] = {}
        self._ask(questions)

    def finish(
        self, now_ms: int, *, workspace: str | None = None, project: str | None = None
    ) -> tuple[Scope, Checkpoint]:
        """The scope and the checkpoint; what they raise is said at `resolve_scope`."""
        try:
            return self.scope(workspace, project), self.checkpoint(now_ms)
        finally:
            self.stop()

    def stop(self) -> None:
        """End what still runs. Idempotent."""
        for question in self._asked.values():
            question.stop()
        self._asked.clear()

    def scope(self, workspace: str | None, project: str | None) -> Scope:
        from rigline.config import find_marker, read_marker
        from rigline.host import host_name
        from rigline.model import Scope

        marker_path = find_marker(self._cwd, os.path.realpath(user_home(self._env)))
        marker = read_marker(marker_path) if marker_path else None
        repository = self._find_repository()
        names = _choose_names(marker, workspace, project, repository.folder if repository else self._cwd)
        source, repo, worktree = self._take_fingerprints(repository)
        return Scope(
            workspace=names[0],
            project=names[1],
            repo_fingerprint=repo,
            worktree_fingerprint=worktree,
            cwd=_as_text(self._cwd),
            host=host_name(),
            repo_source=source,
            inode_fingerprint=fingerprint_inode(repository.git_dir if repository else None, self._cwd, self._env),
            toplevel=_as_text(repository.toplevel) if repository and repository.toplevel else None,
            marker=_as_text(marker_path) if marker_path else None,
        )

    def checkpoint(self, now_ms: int) -> Checkpoint:
        from rigline.model import UNKNOWN_STATUS, Checkpoint

        repository = self._find_repository()
        answer = self._read("status")
        if repository is None:
            return Checkpoint(at_ms=now_ms, status_hash=None if self._is_outside else UNKNOWN_STATUS)
        if repository.toplevel is None:
            self._notes.append("This is a git directory without a work tree, so checkpoints hold no state of files.")
            return Checkpoint(at_ms=now_ms, head=repository.head, branch=repository.branch)
        if answer is None or answer.code != 0:
            why = answer.complaint if answer else "git could not be started"
            self._notes.append(f"The checkpoint has no state of files: {why}.")
            return Checkpoint(at_ms=now_ms, head=repository.head, branch=repository.branch, status_hash=UNKNOWN_STATUS)
        return _build_checkpoint(now_ms, git.read_status(answer.out))

    def _ask(self, questions: Iterable[str]) -> None:
        program, _ = find_program("git", self._env.get("PATH", os.defpath), absolute_only=True)
        problem = "git is not on PATH"
        if program is not None:
            env = git.build_environment(self._env)
            try:
                for name in questions:
                    self._asked[name] = git.Question(name, program, self._cwd, env)
                return
            except OSError as error:
                self.stop()
                problem = f"{program} cannot be started ({error.strerror})"
        self._notes.append(f"{problem}: this directory counts as a project of its own, without checkpoints.")

    def _read(self, name: str) -> git.Answer | None:
        question = self._asked.pop(name, None)
        return question.read(self._deadline) if question else None

    def _find_repository(self) -> git.Repository | None:
        answer = self._read("repository")
        if answer is not None:
            self._repository = git.read_repository(answer)
            self._is_outside = self._repository is None and not answer.complaint
            if self._repository is None and answer.complaint:
                self._notes.append(_explain_refusal(answer))
        return self._repository

    def _take_fingerprints(self, repository: git.Repository | None) -> tuple[str, str, str]:
        """(source, of the repository, of the worktree)."""

        def local(label: str, path: str) -> str:
            return _fingerprint_path(label, path, self._env)

        remotes = self._read("remotes")
        worktree = fingerprint_worktree(repository.git_dir if repository else None, self._cwd, self._env)
        if repository is None:
            return FROM_DIRECTORY, local("directory", self._cwd), worktree
        identities = self._identify_remotes(remotes, repository, lambda path: local("local remote", path))
        if identities:
            return FROM_REMOTE, _fingerprint("remotes", identities), worktree
        return FROM_GIT_DIR, local("git directory", repository.common_dir), worktree

    def _identify_remotes(
        self, answer: git.Answer | None, repository: git.Repository, local: Callable[[str], str]
    ) -> list[str]:
        from rigline.remotes import choose_urls, find_local_path, identify, strip_repository_suffix

        if answer is None or answer.code not in (0, 1):  # 1: nothing matches
            why = answer.complaint if answer else "git could not be started"
            self._notes.append(f"The repository's remotes are not known: {why}.")
            return []
        base = repository.toplevel or repository.git_dir
        identities = set()
        for url in choose_urls(git.read_settings(answer)):
            path = find_local_path(url)
            if path is None:
                identities.add(identify(url))
            else:
                identities.add(local(strip_repository_suffix(os.path.realpath(os.path.join(base, path)))))
        return sorted(identities)


def start_inspection(cwd: str, *, env: Mapping[str, str], notes: list[str] | None = None) -> Inspection:
    """Put the questions for scope and checkpoint to git, and come back at once. Raises `UsageError` for a bad `cwd`."""
    return Inspection(cwd, env, _INSPECTION, notes)


def inspect_checkout(
    cwd: str,
    now_ms: int,
    *,
    env: Mapping[str, str],
    workspace: str | None = None,
    project: str | None = None,
    notes: list[str] | None = None,
) -> tuple[Scope, Checkpoint]:
    """The scope and the checkpoint of a directory."""
    return start_inspection(cwd, env=env, notes=notes).finish(now_ms, workspace=workspace, project=project)


def resolve_scope(
    cwd: str,
    *,
    env: Mapping[str, str],
    workspace: str | None = None,
    project: str | None = None,
    notes: list[str] | None = None,
) -> Scope:
    """The scope alone. `workspace` and `project` are the user's words and win over the marker file's.

    Without either: workspace `default`, and the main repository's folder name, or the directory's, made into a name.
    Raises `UsageError` for a word that is no name and for a `cwd` that is not there, `ConfigError` for a bad marker.
    """
    inspection = Inspection(cwd, env, ("repository", "remotes"), notes)
    try:
        return inspection.scope(workspace, project)
    finally:
        inspection.stop()


def take_checkpoint(cwd: str, now_ms: int, *, env: Mapping[str, str], notes: list[str] | None = None) -> Checkpoint:
    """The checkpoint alone. A `cwd` that is gone gives an empty one: the end of a run must not fail for that."""
    try:
        inspection = Inspection(cwd, env, ("repository", "status"), notes)
    except UsageError as error:
        if notes is not None:
            notes.append(str(error))
        return _empty_checkpoint(now_ms)
    try:
        return inspection.checkpoint(now_ms)
    finally:
        inspection.stop()


def count_commits(cwd: str, since: str, *, env: Mapping[str, str]) -> tuple[int, int] | None:
    """How many commits `since`, a commit's id, has and HEAD has not, and HEAD has and it has not.

    None when git cannot tell, as when the commit is not in the repository any more.
    """
    program, _ = find_program("git", env.get("PATH", os.defpath), absolute_only=True)
    if program is None or not since or not set(since) <= _HEX_DIGITS:
        return None
    try:
        question = git.Question("commits", program, cwd, git.build_environment(env), f"{since}...HEAD", "--")
    except OSError:
        return None
    return git.read_counts(question.read(time.monotonic() + GIT_DEADLINE_S))


def fingerprint_worktree(git_dir: str | None, cwd: str, env: Mapping[str, str]) -> str:
    """A checkout's `worktree_fingerprint`, from its own git directory or, without one, its directory: real paths."""
    if git_dir is None:
        return _fingerprint_path("worktree directory", cwd, env)
    return _fingerprint_path("worktree", git_dir, env)


def fingerprint_inode(git_dir: str | None, cwd: str, env: Mapping[str, str]) -> str | None:
    """A checkout's `inode_fingerprint`; None where it cannot be told when the directory was made.

    An inode's number is given anew after a deletion, so it counts together with the time when it was made. Devices are
    numbered anew at a boot and do not count.
    """
    try:
        status = os.stat(git_dir or cwd)
    except OSError:
        return None
    made = _find_birth(git_dir) if git_dir else getattr(status, "st_birthtime", None)
    if made is None:
        return None
    from rigline.host import host_id

    label = "worktree inode" if git_dir else "directory inode"
    return _fingerprint(label, [host_id(env), str(status.st_ino), str(made)])


def _find_birth(git_dir: str) -> int | None:
    """When a git directory was made, by the file that git writes then and never again (gitrepository-layout(5)).

    A linked worktree's has `commondir`, any other `description`, unless the user's templates are without it.
    """
    for name in ("commondir", "description"):
        try:
            return os.stat(os.path.join(git_dir, name)).st_mtime_ns
        except OSError:
            continue
    return None


def has_commit(cwd: str, commit: str, *, env: Mapping[str, str]) -> bool | None:
    """Whether the repository of a directory has a commit, by its full id; None when git does not tell."""
    if len(commit) not in (40, 64) or not set(commit) <= _HEX_DIGITS:
        return None
    program, _ = find_program("git", env.get("PATH", os.defpath), absolute_only=True)
    if program is None:
        return None
    try:
        question = git.Question("object", program, cwd, git.build_environment(env), f"{commit}^{{commit}}")
    except OSError:
        return None
    code = question.read(time.monotonic() + GIT_DEADLINE_S).code
    return None if code is None else code == 0


def build_gone_scope(cwd: str, *, env: Mapping[str, str]) -> Scope:
    """The scope of a directory that is not there any more, so that nothing but its path tells it: a project of its own.

    It is the one that the directory had while it was there, if it was in no repository and under no marker file.
    """
    from rigline.host import host_name
    from rigline.model import Scope

    workspace, project = _choose_names(None, None, None, cwd)
    return Scope(
        workspace=workspace,
        project=project,
        repo_fingerprint=_fingerprint_path("directory", cwd, env),
        worktree_fingerprint=fingerprint_worktree(None, cwd, env),
        cwd=_as_text(cwd),
        host=host_name(),
        repo_source=FROM_DIRECTORY,
    )


def current_directory() -> str:
    """The real path of the working directory; raises `UsageError` when it was deleted."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError(
            "The current directory is not there any more. Change to one that exists and try again.", cwd=None
        ) from error


def _real_directory(cwd: str) -> str:
    real = os.path.realpath(cwd)
    if not os.path.isdir(real):
        reason = "is not a directory" if os.path.lexists(real) else "is not there (any more)"
        raise UsageError(f"{cwd} {reason}. Change to a directory that exists and try again.", cwd=cwd)
    return real


def _choose_names(marker: Marker | None, workspace: str | None, project: str | None, folder: str) -> tuple[str, str]:
    from rigline.config import explain_name, is_name, make_name

    for option, word in (("--workspace", workspace), ("--project", project)):
        if word is not None and not is_name(word):
            raise UsageError(f"{option}: {explain_name(word)}", option=option)
    return (
        workspace or (marker and marker.workspace) or DEFAULT_WORKSPACE,
        project or (marker and marker.project) or make_name(os.path.basename(folder), "project"),
    )


def _explain_refusal(answer: git.Answer) -> str:
    advice = ""
    if "dubious ownership" in answer.complaint:
        advice = " If you trust it, allow it with `git config --global --add safe.directory DIRECTORY`."
    degraded = "git does not open this repository, so the directory counts as a project of its own"
    return f"{degraded}: {answer.complaint}.{advice}"


def _build_checkpoint(now_ms: int, status: git.Status) -> Checkpoint:
    from hashlib import sha256

    from rigline.model import Checkpoint

    return Checkpoint(
        at_ms=now_ms,
        head=status.head,
        branch=status.branch,
        status_hash=sha256(status.entries).hexdigest() if status.entries else None,
        paths=tuple(status.paths),
        paths_left_out=status.left_out,
    )


def _empty_checkpoint(now_ms: int) -> Checkpoint:
    from rigline.model import UNKNOWN_STATUS, Checkpoint

    return Checkpoint(at_ms=now_ms, status_hash=UNKNOWN_STATUS)


def _fingerprint_path(label: str, path: str, env: Mapping[str, str]) -> str:
    from rigline.host import fold_path, host_id, is_wsl

    return _fingerprint(label, [host_id(env), fold_path(path, is_wsl=is_wsl())])


def _fingerprint(label: str, values: Iterable[str]) -> str:
    from hashlib import sha256

    return sha256(os.fsencode("\0".join([f"rigline {label}", *values]))).hexdigest()


def _as_text(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
