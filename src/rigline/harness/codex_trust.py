"""The proof that Codex wants before it runs a hook that a launch gives.

Codex runs no hook whose hash it does not know, and says nothing about it. The hash of a hook's definition need not
be computed: `codex app-server` tells it (`hooks/list`), and takes it back on the command line as `hooks.state`.
Observed with 0.171.0: the hash depends on the definition alone, so the question is asked in an empty home of its
own and leaves nothing behind; hooks of the user's files keep their own trust and run too; 0.120.0 knows no such
question, and ignores both settings.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping

import msgspec

#: a hook that takes longer is dropped by Codex, and its packet is offered again
_HOOK_TIMEOUT_S = 20
#: in units of four bytes, as the default of 2,500 is: an answer of 9,000 characters may have 36,000 bytes
_ANSWER_LIMIT = 12_000
DEADLINE_S = 10.0
_CACHE_NAME = "codex-hook-trust.json"
_CACHE_ENTRIES = 32
#: a question about hooks needs no network
_QUIET = (
    "features.plugins=false",
    "features.remote_plugin=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
_QUESTION = 2
_INVALID_REQUEST = -32600
_REQUESTS = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "rigline", "version": "1"}}},
    {"method": "initialized"},
)


def write_hooks(commands: Iterable[str]) -> str:
    """The setting that gives the start hooks, one a command, in TOML."""
    hooks = ",".join(
        f'{{type="command",command={write_string(command)},timeout={_HOOK_TIMEOUT_S},'
        f"additionalContextLimit={_ANSWER_LIMIT}}}"
        for command in commands
    )
    return f"hooks.SessionStart=[{{hooks=[{hooks}]}}]"


def write_trust(trust: Iterable[str]) -> str:
    """The setting that proves them, as one table: dotted keys are not heeded (0.171.0)."""
    return "hooks.state={" + ",".join(trust) + "}"


def write_string(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char >= " " and char != "\x7f" else f"\\u{ord(char):04x}" for char in escaped) + '"'


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
    answer = _ask(write_hooks(commands), executable, env)
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
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{_CACHE_NAME}-")
        with open(fd, "wb") as file:
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


class _Reply(msgspec.Struct):
    id: object = None
    method: object = None


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


def _ask(hooks: str, executable: str, env: Mapping[str, str]) -> bytes | None:
    """The program's answer to `hooks/list`, be it an error, or None when there was none in time."""
    settings = [word for setting in (hooks, *_QUIET) for word in ("-c", setting)]
    try:
        home = tempfile.mkdtemp(prefix="rigline-codex-")
    except OSError:
        return None
    try:
        with subprocess.Popen(
            [executable, *settings, "app-server"],
            cwd=home,
            env={**env, "HOME": home, "CODEX_HOME": home},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return _converse(process, home)
            finally:
                _stop(process)
    except OSError:
        return None
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _converse(process: subprocess.Popen[bytes], home: str) -> bytes | None:
    assert process.stdin is not None
    assert process.stdout is not None
    requests = (*_REQUESTS, {"id": _QUESTION, "method": "hooks/list", "params": {"cwds": [home]}})
    process.stdin.write(b"".join(msgspec.json.encode(request) + b"\n" for request in requests))
    process.stdin.flush()
    return _read_reply(process.stdout.fileno(), time.monotonic() + DEADLINE_S)


def _read_reply(fd: int, deadline: float) -> bytes | None:
    """The line that answers the question. The others are answers to the first, and notices."""
    received = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and selector.select(left):
            chunk = os.read(fd, 65536)
            received += chunk
            *lines, received = received.split(b"\n")
            for line in lines:
                if _is_reply(line):
                    return line
            if not chunk:
                return None
    return None


def _is_reply(line: bytes) -> bool:
    try:
        head = msgspec.json.decode(line, type=_Reply)
    except msgspec.DecodeError:
        return False
    return head.id == _QUESTION and head.method is None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it started: all are in a process group of their own. It ends by itself at once."""
    assert process.stdin is not None
    try:
        process.stdin.close()
    except OSError:
        pass
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
