"""Where things live on this machine, and folders that nobody else can look into.

On the start-up path of every command: only `os` and `sys` are imported. The places are those that platformdirs 4
gives for the application `rigline`; its rule is written out here because importing it costs more than Python's own
start, and a test compares the two.
"""

from __future__ import annotations

import os
import sys

from rigline.errors import LedgerUnreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_APPLICATION = "rigline"


def user_home(env: Mapping[str, str]) -> str:
    """The user's home: `HOME` if it is absolute, else what the system's user database says."""
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home.rstrip("/") or "/"
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def data_home(env: Mapping[str, str]) -> str:
    """The folder of the ledger and all that belongs to it: `RIGLINE_HOME`, else the platform's place for user data.

    Linux: `$XDG_DATA_HOME/rigline` or `~/.local/share/rigline`; macOS: the former too, else
    `~/Library/Application Support/rigline`. A blank `RIGLINE_HOME` counts as unset, a relative one is taken from the
    current directory, a relative `XDG_DATA_HOME` is ignored as its specification asks. Nothing is created.
    """
    return _own_home(env) or _platform_folder(env, "XDG_DATA_HOME", ".local/share")


def config_file(env: Mapping[str, str]) -> str:
    """The user's configuration file: `config.toml` in `RIGLINE_HOME` if that is set, else in the platform's place.

    Linux: `$XDG_CONFIG_HOME/rigline` or `~/.config/rigline`; macOS: the former too, else
    `~/Library/Application Support/rigline`. The file need not exist.
    """
    folder = _own_home(env) or _platform_folder(env, "XDG_CONFIG_HOME", ".config")
    return os.path.join(folder, "config.toml")


def run_dir(home: str, run_id: str) -> str:
    """The private folder of one run, for what is written for its launch."""
    return os.path.join(home, "runs", run_id)


def make_private(path: str) -> None:
    """Make `path` a folder that only its owner can enter (0700 whatever the umask), with its missing parents.

    Raises `LedgerUnreachable` when it cannot be made, is a symbolic link or no folder, or belongs to somebody else.
    """
    try:
        _make_folders(path)
        _restrict(path)
    except OSError as error:
        raise LedgerUnreachable(
            f"The folder {path} cannot be used: {describe_obstacle(path, error)}. rigline keeps its history there and "
            "needs a folder of your own; give it another one with RIGLINE_HOME.",
            path=path,
        ) from error


def describe_obstacle(path: str, error: OSError) -> str:
    """Why a folder cannot be used, in a clause."""
    if os.path.islink(path):
        return f"it is a symbolic link to {os.readlink(path)}"
    if os.path.lexists(path) and not os.path.isdir(path):
        return "it is not a folder"
    return error.strerror or str(error)


def find_program(name: str, search_path: str, *, absolute_only: bool = False) -> tuple[str | None, str | None]:
    """A program by its bare name, looked up as a shell does: (the first that can be executed, else the first that
    is there but cannot).

    `absolute_only` skips entries of the search path that depend on the current directory, so that a checkout cannot
    slip in a program of its own.
    """
    refused = None
    for folder in search_path.split(os.pathsep):
        if absolute_only and not os.path.isabs(folder):
            continue
        candidate = os.path.join(os.path.abspath(folder), name)
        if not os.path.isfile(candidate):
            continue
        if os.access(candidate, os.X_OK):
            return candidate, None
        refused = refused or candidate
    return None, refused


def _own_home(env: Mapping[str, str]) -> str | None:
    folder = env.get("RIGLINE_HOME", "")
    if not folder.strip():
        return None
    if folder == "~" or folder.startswith("~/"):
        folder = user_home(env) + folder[1:]
    return os.path.abspath(folder)


def _platform_folder(env: Mapping[str, str], variable: str, below_home: str) -> str:
    base = env.get(variable, "")
    if not os.path.isabs(base):
        below_home = "Library/Application Support" if sys.platform == "darwin" else below_home
        base = os.path.join(user_home(env), below_home)
    return os.path.join(base, _APPLICATION)


def _make_folders(path: str) -> None:
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent) and parent != path:
        _make_folders(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    os.chmod(path, 0o700)  # the umask may have taken even the owner's bits


def _restrict(path: str) -> None:
    """Through a descriptor, so that what was looked at is what is changed."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        info = os.fstat(folder)
        if info.st_uid != os.geteuid():
            raise PermissionError(f"it belongs to user {info.st_uid}, not to you (user {os.geteuid()})")
        if info.st_mode & 0o777 != 0o700:
            os.fchmod(folder, 0o700)
    finally:
        os.close(folder)
