"""One question to Codex's app server, which is started for it and ends with it.

Observed with 0.171.0: it speaks JSON lines on its standard streams, answers within half a second, ends when its input
does, and leaves databases and skills in its home. So it gets an empty home of its own, which is removed.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping

import msgspec

DEADLINE_S = 10.0
#: nothing that would ask the network
_QUIET = (
    "features.plugins=false",
    "features.remote_plugin=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
_QUESTION = 2
_REQUESTS = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "rigline", "version": "1"}}},
    {"method": "initialized"},
)


class _Reply(msgspec.Struct):
    id: object = None
    method: object = None


def ask_for_hooks(hooks: str, executable: str, env: Mapping[str, str]) -> bytes | None:
    """The program's answer to `hooks/list`, be it an error, or None when there was none within 10 s."""
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
