"""OpenCode's sessions of before 1.2, each thing a JSON file. Read-only.

    storage/session/<project>/<session>.json    storage/message/<session>/<message>.json
    storage/part/<message>/<part>.json

Shapes as the program's own migration (1.2 and later) reads them: a file's name is its id, whatever stands in it. That
migration leaves the files, so most of these sessions are in the database as well; some never got there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from rigline.harness.file_store import iter_folder, read_object
from rigline.harness.journal import decode_json, open_regular
from rigline.harness.opencode_records import (
    extract_message,
    extract_part,
    is_typed,
    read_message,
    read_title,
)
from rigline.harness.opencode_tables import HARNESS, Conversation
from rigline.harness.row_windows import Loaded, Row
from rigline.harness.windows import as_dict, as_text
from rigline.model import LinkKind, SessionInfo, SessionLink

_ENDING = ".json"


def iter_sessions(root: str) -> Iterator[SessionInfo]:
    """The sessions in OpenCode's data folder, in no order; one whose file cannot be read is passed over."""
    for project in iter_folder(os.path.join(root, "storage", "session")):
        for entry in iter_folder(project.path):
            info = describe(entry.path)
            if info is not None:
                yield info


def find_session(root: str, native_id: str) -> SessionInfo | None:
    """The session with that id."""
    if os.path.basename(native_id) != native_id:
        return None
    for project in iter_folder(os.path.join(root, "storage", "session")):
        path = os.path.join(project.path, native_id + _ENDING)
        if os.path.isfile(path):
            return describe(path)
    return None


def describe(path: str) -> SessionInfo | None:
    """The session that a file describes, None for any other file."""
    name = os.path.basename(path)
    data = read_object(path) if name.startswith("ses_") and name.endswith(_ENDING) else {}
    if not as_text(data.get("directory")):
        return None
    native_id, times, parent = name.removesuffix(_ENDING), as_dict(data.get("time")), as_text(data.get("parentID"))
    link = SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.SUBAGENT, evidence="`parentID` in its file")
    return SessionInfo(
        harness=HARNESS,
        native_id=native_id,
        path=path,
        cwd=as_text(data.get("directory")),
        updated_ms=_as_int(times.get("updated")),
        size_bytes=os.path.getsize(path),
        started_ms=_as_int(times.get("created")),
        title=read_title(data.get("title")),
        version=as_text(data.get("version")) or None,
        is_subagent=bool(parent),
        is_archived=times.get("archived") is not None,
        parent=link if parent else None,
    )


class Files(Conversation):
    """A session's messages and parts; a file's time of change is the row's, in milliseconds."""

    def __init__(self, path: str, native_id: str) -> None:
        super().__init__()
        self._places: dict[str, tuple[str, str, int]] = {}
        storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        folder = os.path.join(storage, "message", native_id)
        messages = [(entry, read_object(entry.path)) for entry in iter_folder(folder) if entry.name.endswith(_ENDING)]
        messages.sort(key=lambda each: (_get_created(each[1]), each[0].name))
        last = ""
        for entry, data in messages:
            last = self._add(entry, data, os.path.join(storage, "part"), last)

    def _add(self, entry: os.DirEntry[str], data: dict[str, object], folder: str, last: str) -> str:
        """Take a message with its parts; returns the newest prompt."""
        message = read_message(entry.name.removesuffix(_ENDING), _get_created(data), data)
        parts = sorted(iter_folder(os.path.join(folder, message.id)), key=lambda part: part.name)
        is_prompt = message.role == "user" and any(is_typed(read_object(part.path)) for part in parts)
        for place, file in enumerate((entry, *parts)):
            row_id = file.name.removesuffix(_ENDING)
            self._places[row_id] = (file.path, message.id, place - 1)
            self.rows.append(Row(row_id, file.stat().st_mtime_ns // 1_000_000))
        return self.add_message(replace(message, is_prompt=is_prompt), last)

    def load(self, row: Row) -> Loaded | None:
        """See `Conversation.load`."""
        path, message_id, place = self._places[row.id]
        message = self.messages[message_id]
        if place < 0:
            return Loaded("error" if message.has_error else "", (extract_message(message),))
        try:
            with open_regular(path) as file:
                raw = file.read()
        except FileNotFoundError:
            return None
        data = _decode(raw)
        item = extract_part(message, place, row.id, data)
        return Loaded(raw.decode("utf-8", "replace"), (item if data else replace(item, losses=("not_json",)),))


def _decode(raw: bytes) -> dict[str, object]:
    try:
        value = decode_json(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _get_created(data: dict[str, object]) -> int:
    return _as_int(as_dict(data.get("time")).get("created"))


def _as_int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
