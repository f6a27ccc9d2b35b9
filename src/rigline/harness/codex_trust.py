"""The proof that Codex wants before it runs a hook that a launch gives.

Codex runs no hook whose hash it does not know, and says nothing about it. The hash of a hook's definition need not
be computed: the app server tells it, and the command line takes it as `hooks.state`. Observed with 0.171.0: the hash
depends on the definition alone; hooks of the user's files keep their own trust and run too; 0.120.0 knows no such
question, and ignores both settings.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

import msgspec

from rigline.harness.codex_hooks import write_hooks, write_string

_CACHE_NAME = "codex-hook-trust.json"
_CACHE_ENTRIES = 32
_INVALID_REQUEST = -32600


def find_trust(commands: tuple[str, ...], executable: str, env: Mapping[str, str], cache_dir: str) -> tuple[str, ...]:
    """One entry of `hooks.state` for each command, or none when the program gives no proof. Raises nothing.

    An answer is kept in `cache_dir` for as long as the program's file stays the same; so is that an old version
    does not know the question. A program that does not answer within 10 s is stopped.
    """
    key = _make_key(commands, executable)
    path = os.path.join(cache_dir, _CACHE_NAME)
    known = _read_cache(path)
    if key in known:
        return tuple(known[key])
    # Starting a program takes modules that no other launch needs.
    from rigline.harness.codex_app_server import ask_for_hooks

    answer = ask_for_hooks(write_hooks(commands), executable, env)
    trust = _read_answer(answer, commands) if answer is not None else None
    if trust is not None:
        _write_cache(path, {**known, key: list(trust)})
    return trust or ()


def _make_key(commands: tuple[str, ...], executable: str) -> str:
    """What an answer depends on. Package archives carry no true modification time, so the change time counts too."""
    path = os.path.realpath(executable)
    try:
        status = os.stat(path)
        file = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError:
        file = (0, 0, 0)
    return hashlib.sha256(repr((path, file, write_hooks(commands))).encode("utf-8", "surrogateescape")).hexdigest()


def _read_cache(path: str) -> dict[str, list[str]]:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(1 << 20), type=dict[str, list[str]])
    except (OSError, msgspec.DecodeError):
        return {}


def _write_cache(path: str, entries: dict[str, list[str]]) -> None:
    """Replace the cache as a whole. Without it the question is only asked again."""
    kept = dict(list(entries.items())[-_CACHE_ENTRIES:])
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(msgspec.json.encode(kept))
        os.replace(temporary, path)
    except OSError:
        return


def _read_answer(answer: bytes, commands: tuple[str, ...]) -> tuple[str, ...] | None:
    """The entries for exactly our hooks, in order; none when the program does not know the question; else None."""
    try:
        reply = msgspec.json.decode(answer, type=_Answer)
    except msgspec.DecodeError:
        return None
    if reply.error is not None:
        return () if reply.error.code == _INVALID_REQUEST else None
    hooks = [hook for group in reply.result.data for hook in group.hooks if hook.source == "sessionFlags"]
    if tuple(hook.command for hook in hooks) != commands:
        return None
    return tuple(f"{write_string(hook.key)}={{trusted_hash={write_string(hook.current_hash)}}}" for hook in hooks)


class _Hook(msgspec.Struct, rename="camel"):
    key: str
    command: str | None = None
    source: str = ""
    current_hash: str = ""


class _Group(msgspec.Struct):
    hooks: list[_Hook] = []


class _Result(msgspec.Struct):
    data: list[_Group] = []


class _Error(msgspec.Struct):
    code: int


class _Answer(msgspec.Struct):
    result: _Result = msgspec.field(default_factory=_Result)
    error: _Error | None = None
