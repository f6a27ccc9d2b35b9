"""The data folder: whose it is, who can look into it, and on what kind of file system it lies."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence

from rigline.doctor.check import Check, fail, ok, warn

MOUNTS_FILE = "/proc/self/mounts"
#: file systems that other machines share, on which SQLite's locks and its shared memory cannot be relied on
NETWORK_TYPES = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gpfs", "beegfs"),
        *("davfs", "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "drvfs", "vboxsf", "virtiofs"),
    }
)


def check_program() -> Check:
    """Which rigline, Python and SQLite these are."""
    import sqlite3

    from rigline import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    versions = {"rigline": __version__, "python": python, "sqlite": sqlite3.sqlite_version}
    return ok("rigline", f"{__version__}, Python {python}, SQLite {sqlite3.sqlite_version}", **versions)


def check_folder(home: str) -> list[Check]:
    """The data folder's owner and modes, and its file system."""
    name = "data folder"
    try:
        info = os.lstat(home)
    except FileNotFoundError:
        return [ok(name, f"{home}: not made yet", path=home)]
    except OSError as error:
        return [fail(name, f"{home} cannot be looked at: {error.strerror}", "Give rigline another RIGLINE_HOME.")]
    problem = _find_problem(home, info)
    if problem:
        return [fail(name, f"{home} {problem}", "Put it right, or give rigline another folder with RIGLINE_HOME.")]
    exposed = find_exposed(home)
    if exposed:
        listed = ", ".join(exposed[:5])
        step = f"chmod -R go-rwx {home}"
        return [warn(name, f"others may look into {len(exposed)} things there: {listed}", step, path=home)]
    return [ok(name, f"{home}, private", path=home), *check_file_system(home)]


def _find_problem(home: str, info: os.stat_result) -> str:
    if not stat.S_ISDIR(info.st_mode):
        return "is not a folder"
    if info.st_uid != os.geteuid():
        return f"belongs to user {info.st_uid}, not to you"
    return "" if os.access(home, os.W_OK | os.X_OK) else "cannot be written to"


def find_exposed(home: str) -> list[str]:
    """What of the data folder other users may read or enter: the folder itself guards all that is below it."""
    if not os.lstat(home).st_mode & 0o077:
        return []
    names = ["", *sorted(os.listdir(home))]
    paths = [os.path.join(home, name) if name else home for name in names]
    return [path for path in paths if not os.path.islink(path) and os.lstat(path).st_mode & 0o077]


def check_file_system(home: str) -> list[Check]:
    """A warning for a ledger on a network file system; nothing where that cannot be told."""
    try:
        with open(MOUNTS_FILE, encoding="utf-8", errors="surrogateescape") as file:
            kind = find_file_system(os.path.realpath(home), file.read().splitlines())
    except OSError:
        return []
    if kind not in NETWORK_TYPES:
        return []
    text = f"the ledger is on a network file system ({kind}), where its locks may fail and damage it"
    return [warn("file system", text, "Set RIGLINE_HOME to a folder on a disk of this machine.", type=kind)]


def find_file_system(path: str, mounts: Sequence[str]) -> str:
    """The type of the file system that a path lies on, by the lines of proc(5)'s mounts file. Pure."""
    best, kind = "", ""
    for line in mounts:
        _, point, found, *_ = [*line.split(" "), "", "", ""]
        point = _unescape(point)
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best):
            best, kind = point, found
    return kind


def _unescape(point: str) -> str:
    """proc(5) writes blanks, tabs, line breaks and backslashes as octal numbers."""
    for number in ("040", "011", "012", "134"):
        point = point.replace(f"\\{number}", chr(int(number, 8)))
    return point


def check_settings(env: Mapping[str, str]) -> Check:
    """Whether the user's settings can be read."""
    from rigline.config import load_settings
    from rigline.errors import ConfigError
    from rigline.harness import NAMES
    from rigline.paths import config_file

    path = config_file(env)
    try:
        load_settings(env, NAMES)
    except ConfigError as error:
        return fail("settings", str(error), "Put it right in that file or variable.", path=path)
    return ok("settings", path if os.path.lexists(path) else "the defaults", path=path)


def check_git(env: Mapping[str, str]) -> Check:
    """Whether there is a git to tell checkouts apart."""
    from rigline.paths import find_program

    program, _ = find_program("git", env.get("PATH", os.defpath), absolute_only=True)
    if program is None:
        step = "Install git: without it each directory counts as a project of its own."
        return warn("git", "there is no git on PATH", step)
    return ok("git", program, path=program)
