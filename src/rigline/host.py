"""Which machine this is.

`host_name` is for people and may change with the network; `host_id` tells machines apart and does not.
"""

from __future__ import annotations

import os

from rigline.paths import data_home, make_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_OWN_ID_FILE = "host-id"
_HEX_DIGITS = frozenset("0123456789abcdef")


def host_name() -> str:
    """The machine's name, as people know it."""
    return os.uname().nodename


def host_id(env: Mapping[str, str]) -> str:
    """64 hexadecimal digits that are the same on this machine at all times, and on no other.

    Made from the system's machine id (machine-id(5), which asks not to be shown as it is); where there is none, as on
    macOS, from a random one that is kept in the data folder; where that cannot be written, from the host's name.
    """
    from hashlib import sha256

    seed = _machine_id() or _own_id(data_home(env)) or host_name()
    return sha256(f"rigline host\n{seed}".encode("utf-8", "surrogateescape")).hexdigest()


def fold_path(path: str, *, is_wsl: bool) -> str:
    """A real path as it counts for identity: below WSL's Windows drives (`/mnt/c`) case makes no difference."""
    parts = path.split("/", 3)
    is_drive = is_wsl and parts[:2] == ["", "mnt"] and len(parts) > 2 and len(parts[2]) == 1 and parts[2].isalpha()
    return path.lower() if is_drive else path


def is_wsl() -> bool:
    """Whether this is Linux inside Windows; Microsoft's kernels say so in their release."""
    return "microsoft" in os.uname().release.lower()


def _machine_id() -> str:
    for path in _MACHINE_ID_FILES:
        text = _read(path)
        if len(text) == 32 and _HEX_DIGITS.issuperset(text):
            return text
    return ""


def _own_id(home: str) -> str:
    path = os.path.join(home, _OWN_ID_FILE)
    return _read(path) or _make_own_id(home, path)


def _make_own_id(home: str, path: str) -> str:
    """Linked into place whole, so that of two that begin at once both read the same."""
    from rigline.errors import LedgerUnreachable

    draft = f"{path}.{os.urandom(6).hex()}"
    try:
        make_private(home)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(os.urandom(16).hex())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        os.unlink(draft)
    except (OSError, LedgerUnreachable):
        return ""
    return _read(path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read(100).strip()
    except (OSError, UnicodeDecodeError):
        return ""
