"""Where Claude Code keeps what: its folders, the names of its files, and which checkouts share sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from rigline.harness.folders import find_root, is_same_folder

_SESSION_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
#: a longer encoded folder name is cut there and gets a hash (both versions)
_NAME_CHARS = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def is_session_id(text: str) -> bool:
    """Whether the text is the id of a main session: always a UUID."""
    return _SESSION_ID.fullmatch(text) is not None


def find_config_folder(env: Mapping[str, str]) -> str:
    """`$CLAUDE_CONFIG_DIR`, or `.claude` in the home folder; a blank value counts as unset."""
    return find_root(env, "CLAUDE_CONFIG_DIR", ".claude")


def encode_folder(cwd: str) -> str:
    """The name of the folder for sessions that begin in `cwd`, a real path.

    Every UTF-16 unit but ASCII letters and digits becomes a dash. Over 200 of them: the first 200, a dash, and
    the base-36 absolute value of the path's 31-multiplier hash over UTF-16 units (2.1.197, 2.1.332).
    """
    data = cwd.encode("utf-16-le", "surrogatepass")
    units = [low | high << 8 for low, high in zip(data[::2], data[1::2], strict=True)]
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    if len(name) <= _NAME_CHARS:
        return name
    total = 0
    for unit in units:
        total = (total * 31 + unit) & 0xFFFFFFFF
    return f"{name[:_NAME_CHARS]}-{_encode_base36(min(total, 2**32 - total))}"


def _encode_base36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text or "0"


def is_resumable_from(recorded: str, cwd: str) -> bool:
    """Whether every known version resumes a session of the directory `recorded` from `cwd`.

    2.1.197 looks into the folder of `cwd` and those of all worktree roots of its repository: a session of a root
    resumes from every sub-folder and linked worktree, one of a sub-folder only there. 2.1.225 and later look
    everywhere.
    """
    if is_same_folder(recorded, cwd):
        return True
    owned = _find_common_git_folder(recorded)
    return owned is not None and owned == _find_repository(cwd)


def _find_repository(cwd: str) -> str | None:
    folder = os.path.realpath(cwd)
    while True:
        found = _find_common_git_folder(folder)
        if found is not None or folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def _find_common_git_folder(root: str) -> str | None:
    """The git folder that all worktrees of a repository share, when `root` is the root of one of them."""
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git):
        return os.path.realpath(dot_git)
    pointer = _read_line(dot_git)
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    own = os.path.join(root, pointer.removeprefix("gitdir:").strip())
    common = _read_line(os.path.join(own, "commondir"))
    return os.path.realpath(os.path.join(own, common)) if common else os.path.realpath(own)


def _read_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return None
