"""Where Codex keeps what: its folders, the names of its rollouts, and what a rollout's first record says.

A thread has one file, `rollout-<local time>-<thread id>.jsonl`, and one more for each time its user went back and
asked something else: `rollout-<local time>-<thread id>_<file id>.jsonl` (0.171.0). Ids are UUIDs, of version 7 where
Codex made them, so that they tell their time of birth.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from rigline.harness.folders import find_root
from rigline.harness.journal import iter_lines, open_regular

SESSIONS = "sessions"
ARCHIVED = "archived_sessions"
#: years, months, days
_DEPTH = 4
_GLANCE_BYTES = 4 << 10
#: most heads are far shorter; a long one holds long instructions
_HEAD_BYTES = 64 << 10
_HEAD_CAP_BYTES = 8 << 20
_LATE_HEAD_LINES = 64
_TAIL_BYTES = 64 << 10
_TAIL_CAP_BYTES = 32 << 20

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
_NAME = re.compile(rf"rollout-[0-9T-]{{10,32}}-(?P<thread>{_UUID})(?:_(?P<file>{_UUID}))?\.jsonl")
_ANY_UUID = re.compile(r"(?:urn:uuid:|\{)?(?P<digits>[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12})\}?")


def find_home(env: Mapping[str, str]) -> str:
    """`$CODEX_HOME`, or `.codex` in the home folder; a blank value counts as unset."""
    return find_root(env, "CODEX_HOME", ".codex")


def normalise_id(text: str) -> str | None:
    """The id as Codex writes it, from any form of a UUID that it accepts; None for a name."""
    match = _ANY_UUID.fullmatch(text)
    if match is None:
        return None
    digits = match["digits"].replace("-", "").lower()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def find_birth_ms(uuid: str) -> int | None:
    """When a version 7 UUID was made, else None."""
    return int(uuid[:8] + uuid[9:13], 16) if uuid[14:15] == "7" else None


class Rollout(Struct, frozen=True):
    """A rollout as its name tells it. `file_id` is what a later file's lineage calls it."""

    path: str
    thread_id: str
    file_id: str

    @property
    def is_archived(self) -> bool:
        """Whether it lies in the folder of archived threads."""
        return os.path.basename(os.path.dirname(self.path)) == ARCHIVED


def read_name(path: str) -> Rollout | None:
    """What the name of a rollout says, or None for any other file."""
    match = _NAME.fullmatch(os.path.basename(path))
    return Rollout(path, match["thread"], match["file"] or match["thread"]) if match else None


def find_rollouts(home: str, blocked: list[str] | None = None) -> Iterator[Rollout]:
    """Every rollout, the latest days first, archived ones last. Nothing is opened, and only regular files count.

    Folders that cannot be read are passed over and added to `blocked`. Linked ones are followed, as both versions do.
    """
    for name in (SESSIONS, ARCHIVED):
        folder = os.path.join(home, name)
        yield from _walk(folder, _DEPTH, [] if blocked is None else blocked, [os.path.realpath(folder)])


def _walk(folder: str, depth: int, blocked: list[str], known: list[str]) -> Iterator[Rollout]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name, reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        blocked.append(folder)
        return
    for entry in found:
        rollout = read_name(entry.path)
        if rollout is not None:
            if entry.is_file():
                yield rollout
        elif depth > 1 and entry.is_dir() and not (entry.is_symlink() and _is_below(entry.path, known)):
            yield from _walk(entry.path, depth - 1, blocked, known)


def _is_below(link: str, known: list[str]) -> bool:
    """Whether a link leads to where one comes anyway, by the store's own folders or those that links led to before."""
    target = os.path.realpath(link)
    is_below = any(target == each or target.startswith(each + os.sep) for each in known)
    known.append(target)
    return is_below


class Head(Struct, frozen=True, kw_only=True):
    """What a rollout's first record says about its thread.

    `base_id` is the file whose records come before this one's, up to but without ordinal `base_end`; None in a file
    that holds all of its history. `forked_from` is the thread it was forked from.
    """

    thread_id: str
    cwd: str | None = None
    version: str | None = None
    began_at: str | None = None
    is_paginated: bool = False
    is_subagent: bool = False
    parent_thread: str | None = None
    nickname: str | None = None
    forked_from: str | None = None
    base_id: str | None = None
    base_end: int | None = None


def glance_at_cwd(path: str) -> str | None:
    """The directory that a rollout's first few thousand bytes name, if they do. Raises OSError."""
    with open_regular(path, buffering=_GLANCE_BYTES) as file:
        match = _CWD.search(file.read(_GLANCE_BYTES))
    try:
        return msgspec.json.decode(match[1], type=str) if match else None
    except msgspec.DecodeError:
        return None


def read_head(path: str) -> Head | None:
    """The head of a rollout, or None when it does not begin with one. Raises OSError when it cannot be read.

    Blank lines may stand before it; nothing else may, not even a byte-order mark (0.171.0).
    """
    with open_regular(path, buffering=_HEAD_BYTES) as file:
        line = file.readline(_HEAD_CAP_BYTES)
        while line.isspace():
            line = file.readline(_HEAD_CAP_BYTES)
    try:
        return build_head(msgspec.json.decode(line))
    except (ValueError, RecursionError):
        return None


def find_late_head(path: str, thread_id: str) -> Head | None:
    """A thread's head behind something that Codex would stop at. Raises OSError when the rollout cannot be read."""
    for number, line in enumerate(iter_lines(path)):
        head = build_head(line.record)
        if head is not None and head.thread_id == thread_id:
            return head
        if number >= _LATE_HEAD_LINES:
            break
    return None


def build_head(record: object) -> Head | None:
    """The head that a decoded record is, or None for any other record."""
    if not isinstance(record, dict) or record.get("type") != "session_meta":
        return None
    payload = _find_dict(record, "payload")
    thread_id = normalise_id(_find_text(payload, "id") or "")
    if thread_id is None:
        return None
    base = _find_dict(payload, "history_base")
    source = _find_dict(payload, "source")
    base_end = base.get("end_ordinal_exclusive")
    return Head(
        thread_id=thread_id,
        cwd=_find_text(payload, "cwd"),
        version=_find_text(payload, "cli_version"),
        began_at=_find_text(payload, "timestamp"),
        is_paginated=payload.get("history_mode") == "paginated",
        is_subagent="subagent" in source or payload.get("thread_source") == "subagent",
        parent_thread=_find_text(payload, "parent_thread_id") or _find_spawner(source),
        nickname=_find_text(payload, "agent_nickname"),
        forked_from=_find_text(payload, "forked_from_id"),
        base_id=_find_text(base, "thread_id"),
        base_end=base_end if isinstance(base_end, int) else None,
    )


def _find_spawner(source: dict[str, object]) -> str | None:
    return _find_text(_find_dict(_find_dict(source, "subagent"), "thread_spawn"), "parent_thread_id")


def _find_dict(record: dict[str, object], name: str) -> dict[str, object]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _find_text(record: dict[str, object], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value else None


class _Ordinal(Struct):
    ordinal: int | None = None


def ends_without_ordinal(path: str) -> bool:
    """Whether the last record of a paginated rollout has no ordinal: 0.171.0 then refuses to resume or fork it.

    Records before the last may lack one, and a broken last line does not count. Raises OSError.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = _TAIL_BYTES
        while True:
            file.seek(max(0, size - length))
            lines = file.read(length).split(b"\n")
            for line in reversed(lines if length >= size else lines[1:]):
                try:
                    return msgspec.json.decode(line, type=_Ordinal).ordinal is None
                except msgspec.DecodeError:
                    continue
            if length >= min(size, _TAIL_CAP_BYTES):
                return False
            length *= 8


def read_names(home: str) -> dict[str, str]:
    """The threads' names, the last one given to each. Empty when there is no such file."""
    names = {}
    try:
        for line in iter_lines(os.path.join(home, "session_index.jsonl")):
            thread_id, name = (_find_text(line.record or {}, key) for key in ("id", "thread_name"))
            if thread_id and name:
                names[thread_id] = name
    except OSError:
        return {}
    return names
