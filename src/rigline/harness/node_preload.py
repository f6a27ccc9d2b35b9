"""A module of ours that Node loads before an agent's program (`NODE_OPTIONS`), for programs that take what we bring
along in no other way. What the two sides agree on; the modules themselves belong to the adapters.
"""

from __future__ import annotations

NODE_OPTIONS = "NODE_OPTIONS"
#: the proof in `HookDefinition.trust` that the program is one which Node runs
BY_NODE = "node"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~")


def is_run_by_node(executable: str) -> bool:
    """Whether Node runs the program: a script with a first line that says so, or a wrapper that names Node."""
    try:
        with open(executable, "rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.startswith(b"#!") and b"node" in head


def make_option(path: str) -> str:
    """The option that makes Node load a module, by its absolute path. What is quoted without need means the same."""
    raw = path.encode("utf-8", "surrogateescape")
    return "--import=file://" + "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
