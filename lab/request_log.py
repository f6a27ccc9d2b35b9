"""The scripted model's log: one JSON line a request, so that a test can read what history a session sent."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab import completions_wire, gemini_wire, messages_wire, responses_wire
from lab.script import Request

SECRET_HEADERS = {"authorization", "x-api-key", "cookie"}


@dataclass(frozen=True)
class Entry:
    """One logged request. `request` is None where the body is no conversation."""

    n: int
    at: float
    method: str
    path: str
    body: Any
    request: Request | None


class RequestLog:
    """Appends requests to a file; safe to use from many threads. Values of secret headers are left out."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def add(self, method: str, path: str, headers: Mapping[str, str], body: Any) -> None:
        """Append one request."""
        shown = {k: "[redacted]" if k.lower() in SECRET_HEADERS else v for k, v in headers.items()}
        with self._lock, open(self.path, "a", encoding="utf-8") as out:
            entry = {"n": next(self._numbers), "at": time.time(), "method": method, "path": path}
            out.write(json.dumps({**entry, "headers": shown, "body": body}, ensure_ascii=False) + "\n")


def parse_body(path: str, body: Any) -> Request | None:
    """The conversation in a request's body, whichever wire it came by."""
    if not isinstance(body, dict):
        return None
    if "contents" in body:
        return gemini_wire.read_request(body)
    if "input" in body:
        return responses_wire.read_request(body)
    if "messages" in body:
        is_completion = path.split("?")[0].endswith("/chat/completions")
        return completions_wire.read_request(body) if is_completion else messages_wire.read_request(body)
    return None


def read_log(path: str | os.PathLike[str]) -> list[Entry]:
    """Every request of a log, oldest first. A log that is not there yet is empty."""
    if not os.path.exists(path):
        return []
    entries = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            body = raw["body"]
            entries.append(Entry(raw["n"], raw["at"], raw["method"], raw["path"], body, parse_body(raw["path"], body)))
    return entries


def show_log(path: str | os.PathLike[str], number: int | None) -> None:
    """Print one line a request, or the messages of one of them."""
    for entry in read_log(path):
        request = entry.request
        if number is None:
            tail = f" {len(request.messages)} blocks, newest: {request.prompt[:70]!r}" if request else ""
            print(f"{entry.n:4} {entry.method:4} {entry.path}{tail}")
        elif entry.n == number and request:
            for message in request.messages:
                print(f"{message.role:10} {message.kind:8} {message.text[:300]!r}")
