"""The sessions of Kimi Code: `sessions/<workspace>/session_<uuid>/`, with `state.json` and a journal for each agent.

From what 2.1.0 wrote. The workspace folder's name cannot be traced back to a directory, so that is read in `state.json`
alone. Journals are described in `kimi_records`. kimi-cli, the program before it, kept other files in `~/.kimi`: a
session of its is named as such, and not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from rigline.harness.file_store import FileStore, iter_folder, list_folders, list_present, read_head, read_tail
from rigline.harness.journal import decode_json, open_regular
from rigline.harness.kimi_records import extract, find_typed, read_limit
from rigline.harness.windows import as_dict, as_text, as_time_ms, read_journal
from rigline.model import LinkKind, Lookup, Presence, SessionInfo, SessionLink, Window

NAME = "kimi-code"
LABEL = "Kimi Code"
#: `protocol_version` of a journal's first record
FORMATS = ("1.5",)
#: `version` of `state.json`; None stands before 2, and 2.1.0 still reads it
STATE_VERSIONS = (2, None)
MAIN = "main"
#: a session, and an agent within it
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}(?:/[A-Za-z0-9_-]{1,128})?")
_WIRE = "wire.jsonl"
_STATES = ("state.json", os.path.join("session-meta", "state.json"))
_STATE_CAP_BYTES = 4 << 20


class KimiStore(FileStore):
    """The store below a home folder; `legacy_root` is where kimi-cli kept its own."""

    label = LABEL

    def __init__(self, root: str, legacy_root: str = "") -> None:
        super().__init__(root)
        self._legacy_root = legacy_root

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """See `FileStore.find_files`."""
        for bucket in iter_folder(os.path.join(self._root, "sessions")):
            for session in iter_folder(bucket.path):
                yield from _find_journals(session.path)

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """See `FileStore.find_candidates`. A subagent's id is its session's and its own, with a slash between."""
        if not _ID.fullmatch(native_id):
            return ()
        session_id, _, agent = native_id.partition("/")
        buckets = list_folders(os.path.join(self._root, "sessions"))
        return list_present(os.path.join(bucket, session_id, "agents", agent or MAIN, _WIRE) for bucket in buckets)

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """See `Store.look_up`. A session of kimi-cli's is there, but not to be read."""
        found = super().look_up(native_id, cwd)
        if found.presence is not Presence.MISSING or not self._is_legacy(native_id):
            return found
        reason = f"it is a session of kimi-cli, whose format is not read; `kimi migrate` brings it over to {LABEL}"
        return Lookup(presence=Presence.UNREADABLE, resumable=False, reason=reason)

    def _is_legacy(self, native_id: str) -> bool:
        if not self._legacy_root or not _ID.fullmatch(native_id):
            return False
        buckets = iter_folder(os.path.join(self._legacy_root, "sessions"))
        return any(os.path.isfile(os.path.join(bucket.path, native_id, "context.jsonl")) for bucket in buckets)

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. A `state.json` that contradicts its folder or itself describes no session."""
        folder, agent = _split(path)
        state = read_state(folder)
        head = read_head(path)
        if state is None or find_fault(folder, state) or _find_format(head) not in FORMATS:
            return None
        session_id, status = os.path.basename(folder), os.stat(path)
        is_main = agent == MAIN
        return SessionInfo(
            harness=NAME,
            native_id=session_id if is_main else f"{session_id}/{agent}",
            path=path,
            cwd=_find_cwd(state),
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=_find_start(state if is_main else head[0]),
            title=as_text(state.get("title")) or None if is_main else None,
            first_prompt=next((text for record in head if (text := find_typed(record))), None),
            version=_find_format(head),
            is_subagent=not is_main,
            is_archived=state.get("archived") is True,
            parent=_find_parent(session_id, agent, state),
        )

    def glance_at_cwd(self, path: str) -> str | None:
        """See `FileStore.glance_at_cwd`."""
        return _find_cwd(read_state(_split(path)[0]) or {})

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        folder = _split(path)[0]
        state = read_state(folder)
        fault = find_fault(folder, state) if state is not None else "its `state.json` is missing or damaged"
        if fault:
            return fault
        found = _find_format(read_head(path, 1))
        if not found or found in FORMATS:
            return super().explain_refusal(path)
        return f"{LABEL} wrote its journal in format {found}, and rigline knows {', '.join(FORMATS)}"

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """See `Store.related`: the subagents of a main session."""
        if info.is_subagent:
            return []
        paths = [path for path in _find_journals(_split(info.path)[0]) if path != info.path]
        return [found for path in paths if (found := self._describe_if_in(path, None)) is not None]

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`. The program gives up after some tries and says why where the turn ends."""
        try:
            tail = read_tail(info.path)
        except OSError:
            return None
        for record in reversed(tail):
            if record.get("type") == "turn.prompt":
                break
            if record.get("type") == "turn.ended":
                return read_limit(as_dict(record.get("error")))
        return None

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, LABEL)


def read_state(folder: str) -> dict[str, object] | None:
    """A session's `state.json`, where either layout has it; None when it is missing or damaged. Raises OSError."""
    for name in _STATES:
        try:
            with open_regular(os.path.join(folder, name)) as file:
                value = decode_json(file.read(_STATE_CAP_BYTES))
        except FileNotFoundError:
            continue
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None
    return None


def find_fault(folder: str, state: dict[str, object]) -> str:
    """What is wrong with a session's `state.json`, in a sentence; empty when it can be trusted."""
    version = state.get("version")
    if version not in STATE_VERSIONS:
        return f"{LABEL} wrote its `state.json` in version {version}, and rigline knows 2"
    named = as_text(state.get("id"))
    if version is not None and named != os.path.basename(folder):
        return f"its `state.json` belongs to session {named or 'without an id'}"
    cwd, work_dir = as_text(state.get("cwd")), as_text(state.get("workDir"))
    if cwd and work_dir and cwd != work_dir:
        return f"its `state.json` names two directories, {cwd} and {work_dir}"
    return ""


def _find_journals(folder: str) -> Iterator[str]:
    for agent in iter_folder(os.path.join(folder, "agents")):
        path = os.path.join(agent.path, _WIRE)
        if os.path.isfile(path):
            yield path


def _split(path: str) -> tuple[str, str]:
    """(the session's folder, the agent's name) of a journal."""
    agent_folder = os.path.dirname(path)
    return os.path.dirname(os.path.dirname(agent_folder)), os.path.basename(agent_folder)


def _find_cwd(state: dict[str, object]) -> str | None:
    """The directory; before 0.34 the field was called `workDir` (by the program's own migration, 2.1.0)."""
    return as_text(state.get("cwd")) or as_text(state.get("workDir")) or None


def _find_format(head: list[dict[str, object]]) -> str:
    return as_text(head[0].get("protocol_version")) if head and head[0].get("type") == "metadata" else ""


def _find_start(record: dict[str, object]) -> int | None:
    return as_time_ms(record.get("createdAt", record.get("created_at")))


def _find_parent(session_id: str, agent: str, state: dict[str, object]) -> SessionLink | None:
    if agent != MAIN:
        evidence = f"its journal lies in the session's folder, as {agent}"
        child_id = f"{session_id}/{agent}"
        return SessionLink(child_id=child_id, parent_id=session_id, kind=LinkKind.SUBAGENT, evidence=evidence)
    parent_id = as_text(state.get("forkedFrom"))
    if not parent_id:
        return None
    evidence = "`forkedFrom` in its state.json"
    return SessionLink(child_id=session_id, parent_id=parent_id, kind=LinkKind.FORK, evidence=evidence)
