"""Which checkout a directory is in, told from files alone: for `search`, which has no time to ask git.

Only the plain cases are answered, those of gitrepository-layout(5) in which git cannot come to another result. For
everything else the answer is None, and the caller asks git (`scope.resolve_scope`).
"""

from __future__ import annotations

import os
import stat

from rigline.scope import fingerprint_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: with these git does not look for the repository in the usual way
_DISCOVERY_VARIABLES = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_POINTER = b"gitdir: "
_POINTER_BYTES = 4096


class Unclear(Exception):
    """Only git can say."""


def find_worktree_fingerprint(cwd: str, env: Mapping[str, str]) -> str | None:
    """The `worktree_fingerprint` of `cwd`'s scope, or None when only git can say."""
    if any(env.get(name) for name in _DISCOVERY_VARIABLES):
        return None
    real = os.path.realpath(cwd)
    try:
        return fingerprint_worktree(_find_git_dir(real), real, env)
    except (Unclear, OSError):
        return None


def _find_git_dir(cwd: str) -> str | None:
    """The checkout's own git directory, or None outside of every repository; raises `Unclear` or OSError."""
    device = os.stat(cwd).st_dev
    folder = cwd
    while True:
        if os.stat(folder).st_dev != device:
            raise Unclear
        found = _read_git_entry(folder)
        if found is not None:
            return found
        if _is_git_dir(folder):
            raise Unclear  # a bare repository, or the inside of a git directory
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _read_git_entry(folder: str) -> str | None:
    """The git directory that `.git` in a folder is or points to; raises `Unclear` for one that git may pass over."""
    path = os.path.join(folder, ".git")
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    if info.st_uid != os.geteuid():
        raise Unclear  # git may refuse it
    if stat.S_ISREG(info.st_mode):
        path = _follow(path, folder)
    if not _is_git_dir(path):
        raise Unclear
    return os.path.realpath(path)


def _follow(path: str, folder: str) -> str:
    with open(path, "rb") as file:
        content = file.read(_POINTER_BYTES)
    if not content.startswith(_POINTER):
        raise Unclear
    target = content[len(_POINTER) :].rstrip(b"\r\n")
    return os.path.join(folder, os.fsdecode(target))


def _is_git_dir(path: str) -> bool:
    """Whether git would take a folder for a git directory: a linked worktree's has `commondir` for the objects."""
    if not os.path.isfile(os.path.join(path, "HEAD")):
        return False
    names = ("objects", "refs")
    return os.path.isfile(os.path.join(path, "commondir")) or all(
        os.path.isdir(os.path.join(path, name)) for name in names
    )
