"""The sessions of GitHub Copilot CLI: `session-state/<uuid>/events.jsonl` and, beside it, `workspace.yaml`.

From what 1.0.102 wrote. The events are described in `copilot_records`; `session-store.db` is an index of the same and
is not needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from rigline import liveness
from rigline.harness.copilot_records import extract, find_typed, is_subagents, read_limit
from rigline.harness.file_store import FileStore, iter_folder, list_present, read_head, read_tail
from rigline.harness.grammar import is_uuid
from rigline.harness.journal import decode_json, open_regular
from rigline.harness.windows import Item, as_dict, as_text, parse_time_ms, read_journal
from rigline.model import LiveSession, SessionInfo, Window

NAME = "copilot"
LABEL = "GitHub Copilot CLI"
#: `version` of `session.start`
FORMATS = (1,)
_LOG = "events.jsonl"


class CopilotStore(FileStore):
    """The store below a configuration folder."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002  (no folder tells a directory)
        """See `FileStore.find_files`."""
        for entry in iter_folder(os.path.join(self._root, "session-state")):
            path = os.path.join(entry.path, _LOG)
            if os.path.isfile(path):
                yield path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """See `FileStore.find_candidates`. A folder without a log is a session in which nothing was said."""
        if not is_uuid(native_id):
            return ()
        return list_present((os.path.join(self._root, "session-state", native_id, _LOG),))

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The first event names the session that the folder is called by."""
        head = read_head(path)
        start = _read_start(head)
        native_id = as_text(start.get("sessionId"))
        if not native_id or start.get("version") not in FORMATS or os.path.basename(os.path.dirname(path)) != native_id:
            return None
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=as_text(as_dict(start.get("context")).get("cwd")) or None,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(start.get("startTime")),
            title=read_name(os.path.join(os.path.dirname(path), "workspace.yaml")),
            first_prompt=next((text for record in head if (text := find_typed(record))), None),
            version=as_text(start.get("copilotVersion")) or None,
        )

    def glance_at_cwd(self, path: str) -> str | None:
        """See `FileStore.glance_at_cwd`."""
        return as_text(as_dict(_read_start(read_head(path, 1)).get("context")).get("cwd")) or None

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        start = _read_start(read_head(path, 1))
        found = start.get("version")
        if found is None or found in FORMATS:
            return super().explain_refusal(path)
        known = ", ".join(str(number) for number in FORMATS)
        version = as_text(start.get("copilotVersion")) or "of an unknown version"
        return f"{LABEL} {version} wrote it in format {found}, and rigline knows {known}"

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:
        """See `FileStore.find_obstacle`. The program would go on with it, but in its own directory."""
        if not super().find_obstacle(info, cwd):
            return ""
        return f"it belongs to {info.cwd or 'a directory that it does not name'}, and {LABEL} would go on there"

    def find_live(self, native_id: str) -> LiveSession | None:
        """See `Store.find_live`. A new session is locked from the launch on, a resumed one from its first prompt on,
        and the process keeps a second file open for as long (1.0.102).
        """
        if not is_uuid(native_id):
            return None
        folder = os.path.join(self._root, "session-state", native_id)
        for entry in iter_folder(folder):
            pid = entry.name.removeprefix("inuse.").removesuffix(".lock")
            if entry.name != f"inuse.{pid}.lock" or not pid.isdigit() or not liveness.process_start(int(pid)):
                continue
            if _has_open(int(pid), os.path.join(folder, f"inuse.{pid}.hold")):
                return LiveSession(native_id=native_id, pid=int(pid))
        return None

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`."""
        try:
            tail = read_tail(info.path)
        except OSError:
            return None
        for record in reversed(tail):
            if is_subagents(record):
                continue
            if record.get("type") == "session.error":
                return read_limit(as_dict(record.get("data")))
            if record.get("type") in ("user.message", "assistant.message"):
                break
        return None

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""

        def take(record: dict[str, object], offset: int) -> list[Item]:
            return extract(record, offset, info.native_id)

        return read_journal(info, cursor, take, LABEL)


def read_name(path: str) -> str | None:
    """The session's name, from the one line of `workspace.yaml` that holds it."""
    try:
        with open_regular(path) as file:
            lines = file.read(1 << 16).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    value = next((line.removeprefix("name:").strip() for line in lines if line.startswith("name:")), "")
    if value.startswith("'"):
        return value.strip("'").replace("''", "'") or None
    if value.startswith('"'):
        try:
            return str(decode_json(value)) or None
        except ValueError:
            return None
    return None if value[:1] in ("|", ">", "~") or value == "null" else value or None


def _has_open(pid: int, path: str) -> bool:
    """Whether the process has the file open, so that another one with its number does not count; True where the
    system does not tell."""
    if not os.path.exists(path):
        return True
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return True
    return any(_is_same_file(os.path.join(folder, name), path) for name in names)


def _is_same_file(one: str, other: str) -> bool:
    """Whether both names lead to one file that is there."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _read_start(head: list[dict[str, object]]) -> dict[str, object]:
    return as_dict(head[0].get("data")) if head and head[0].get("type") == "session.start" else {}
