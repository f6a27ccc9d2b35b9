"""The sessions of Qwen Code: `projects/<directory>/chats/<uuid>.jsonl`, and those of their subagents.

From what 0.24.4 wrote. A record has its own id, its parent's, and what the program was at that moment; there is no
format version in a file. Read are messages, tool calls and results, compaction summaries and titles. Left out, and
counted by kind:

    hidden_reasoning   thoughts
    meta               telemetry, snapshots, commands, and prompts of the program itself: notifications, timers, goals
    own_packet         history that rigline had shown, and what repeats it
    api_error          an answer that the service refused
    attachment_<kind>  what was attached to a prompt
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from rigline.harness.content_parts import join_texts, list_parts, read_parts
from rigline.harness.file_store import (
    FileStore,
    iter_folder,
    list_folders,
    list_present,
    read_head,
    read_object,
    read_tail,
)
from rigline.harness.grammar import is_uuid
from rigline.harness.journal import iter_lines
from rigline.harness.markers import find_markers
from rigline.harness.pieces import name_unknown
from rigline.harness.processes import is_program
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, parse_time_ms, read_journal
from rigline.model import Kind, LinkKind, LiveSession, SessionInfo, SessionLink, Window

NAME, LABEL = "qwen-code", "Qwen Code"
_PROJECTS, _CHATS, _ARCHIVE, _SUBAGENTS = "projects", "chats", "archive", "subagents"
_AGENT = re.compile(r"agent-([A-Za-z0-9_-]{1,200})\.jsonl")
_HOOK_OPENING = "<qwen:user-prompt-submit-context>"
#: what the program says in the user's name
_NOT_TYPED = frozenset({"cron", "goal_runtime", "notification"})
#: kinds of the program's own records
_NOTE_WORDS = (
    "agent_bootstrap agent_launch_prompt agent_retry agent_session_ready at_command attribution_snapshot"
    " background_task_completed branch_checkpoint file_history_snapshot goal_runtime goal_state goal_turn_end"
    " omni_recall parent_session realtime_message rewind session_artifact_event session_artifact_snapshot"
    " session_model session_source session_sources_snapshot slash_command turn_result ui_telemetry"
)
_NOTES = frozenset(_NOTE_WORDS.split())
#: how services say that nothing is left to go on with; a mere rate limit is none
_LIMIT = re.compile(
    r"usage limit|exceeded your current quota|insufficient[ _]quota|quota exceeded|insufficient balance", re.IGNORECASE
)
_STATUS = re.compile(r"^(?:402|429) ")


class QwenStore(FileStore):
    """The store below the folder for what the program writes."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript: different directories may share a folder."""
        for project in self._find_projects():
            for folder in (os.path.join(project, _CHATS), os.path.join(project, _CHATS, _ARCHIVE)):
                yield from (entry.path for entry in iter_folder(folder) if _is_chat(entry.name))
            for session in iter_folder(os.path.join(project, _SUBAGENTS)):
                yield from (entry.path for entry in iter_folder(session.path) if _AGENT.fullmatch(entry.name))

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """See `FileStore.find_candidates`. A subagent's id is its session's and its own, with a slash between."""
        session_id, _, agent = native_id.partition("/")
        if not is_uuid(session_id) or (agent and not _AGENT.fullmatch(f"agent-{agent}.jsonl")):
            return ()
        names = [os.path.join(_CHATS, f"{session_id}.jsonl"), os.path.join(_CHATS, _ARCHIVE, f"{session_id}.jsonl")]
        if agent:
            names = [os.path.join(_SUBAGENTS, session_id, f"agent-{agent}.jsonl")]
        projects = list_folders(os.path.join(self._root, _PROJECTS))
        return list_present(os.path.join(project, name) for project in projects for name in names)

    def _find_projects(self) -> list[str]:
        return [entry.path for entry in iter_folder(os.path.join(self._root, _PROJECTS)) if entry.is_dir()]

    def glance_at_cwd(self, path: str) -> str | None:
        """The first record's directory."""
        head = read_head(path, 1)
        return as_text(head[0].get("cwd")) or None if head else None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The first record has to name the session that the file is called after."""
        native_id, session_id = find_ids(path)
        head = read_head(path)
        first = head[0] if head else {}
        cwd = as_text(first.get("cwd"))
        if not first.get("uuid") or as_text(first.get("sessionId")) != session_id or not os.path.isabs(cwd):
            return None
        if _is_of_another_program(head):
            return None
        parent = _find_parent(native_id, session_id, first)
        status = os.stat(path)
        items = [item for record in head for item in extract(record, 0)]
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=cwd,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=_find_start(path, head),
            title=next((item.title for item in reversed(items) if item.title), None),
            first_prompt=next((item.pieces[0].text for item in items if item.is_prompt), None),
            version=as_text(first.get("version")) or None,
            is_subagent=native_id != session_id,
            is_archived=os.path.basename(os.path.dirname(path)) == _ARCHIVE,
            parent=parent,
        )

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:
        """See `FileStore.find_obstacle`."""
        if info.is_archived:
            return f"it is archived, and {LABEL} resumes it only after it was taken back"
        return super().find_obstacle(info, cwd)

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """See `Store.related`: the subagents of a main session, and the session that a fork continues."""
        project = info.path[: info.path.rfind(f"{os.sep}{_CHATS}{os.sep}")]
        if info.is_subagent:
            return []
        paths = [entry.path for entry in iter_folder(os.path.join(project, _SUBAGENTS, info.native_id))]
        if info.parent is not None:
            paths.append(os.path.join(project, _CHATS, f"{info.parent.parent_id}.jsonl"))
        paths = [path for path in paths if _AGENT.fullmatch(os.path.basename(path)) or _is_chat(os.path.basename(path))]
        return [found for path in paths if (found := self._describe_if_in(path, None)) is not None]

    def find_live(self, native_id: str) -> LiveSession | None:
        """See `Store.find_live`. A terminal's process leaves its number beside the transcript (0.24.4)."""
        if not is_uuid(native_id):
            return None
        for project in self._find_projects():
            found = read_object(os.path.join(project, _CHATS, f"{native_id}.runtime.json"))
            pid = found.get("pid")
            is_here = found.get("session_id") == native_id and found.get("hostname") == os.uname().nodename
            if is_here and isinstance(pid, int) and is_program(pid, "qwen"):
                return LiveSession(native_id=native_id, pid=pid, cwd=as_text(found.get("work_dir")) or None)
        return None

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`: what the service answered last, where no answer followed."""
        try:
            tail = read_tail(info.path)
        except OSError:
            return None
        for record in reversed(tail):
            if record.get("type") != "system":
                return None
            event = _find_event(record)
            if event.get("event.name") == "qwen-code.api_error":
                message = as_text(event.get("error_message"))
                is_limit = event.get("status_code") in (402, 429) and _LIMIT.search(message)
                return _STATUS.sub("", message) if is_limit else None
        return None

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, LABEL)


def _is_chat(name: str) -> bool:
    return name.endswith(".jsonl") and is_uuid(name.removesuffix(".jsonl"))


def find_ids(path: str) -> tuple[str, str]:
    """(the id of what a transcript holds, the id of the session that it belongs to), from its place."""
    name = os.path.basename(path)
    agent = _AGENT.fullmatch(name)
    session_id = os.path.basename(os.path.dirname(path)) if agent else name.removesuffix(".jsonl")
    return (f"{session_id}/{agent[1]}" if agent else session_id), session_id


def _is_of_another_program(head: list[dict[str, object]]) -> bool:
    """Whether messages stand there without the parts that Qwen's have: Claude Code's records are alike but for that."""
    messages = [as_dict(record["message"]) for record in head if "message" in record]
    return bool(messages) and not any("parts" in message for message in messages)


def _find_parent(native_id: str, session_id: str, first: dict[str, object]) -> SessionLink | None:
    if native_id != session_id:
        return SessionLink(
            child_id=native_id, parent_id=session_id, kind=LinkKind.SUBAGENT, evidence="it lies in the session's folder"
        )
    parent_id = as_text(as_dict(first.get("forkedFrom")).get("sessionId"))
    if not is_uuid(parent_id) or parent_id == native_id:
        return None
    evidence = "named by `forkedFrom` on the records that it copied"
    return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.FORK, evidence=evidence)


def _find_start(path: str, head: list[dict[str, object]]) -> int | None:
    """When the session's own records begin: a fork's copied ones have their old times."""
    own = next((record for record in head if not record.get("forkedFrom")), None)
    if own is None:
        records = (line.record for line in iter_lines(path) if line.record is not None)
        own = next((record for record in records if not record.get("forkedFrom")), None)
    return parse_time_ms(own.get("timestamp")) if own is not None else None


def _find_event(record: dict[str, object]) -> dict[str, object]:
    return as_dict(as_dict(record.get("systemPayload")).get("uiEvent"))


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What one record says. A fork's copy has the same id."""
    item = Item(
        key=as_text(record.get("uuid")) or f"byte-{offset}",
        parent=as_text(record.get("parentUuid")),
        at_ms=parse_time_ms(record.get("timestamp")),
    )
    kind = as_text(record.get("type"))
    reader = _READERS.get(kind)
    return [reader(item, record) if reader is not None else replace(item, losses=(name_unknown(kind),))]


def _read_user(item: Item, record: dict[str, object]) -> Item:
    if record.get("subtype") in _NOT_TYPED or record.get("provenance") == "system":
        return replace(item, losses=("meta",))
    parts = list_parts(as_dict(record.get("message")).get("parts"))
    hooks = [text for part in parts if (text := as_text(part.get("text"))).startswith(_HOOK_OPENING)]
    packets = tuple(marker for text in hooks for marker in find_markers(text))
    pieces, losses = read_parts([{} if part.get("text") in hooks else part for part in parts], "user")
    losses += tuple("own_packet" if find_markers(text) else "meta" for text in hooks)
    return replace(item, pieces=pieces, losses=losses, packets=packets, is_prompt=bool(pieces))


def _read_answer(item: Item, record: dict[str, object]) -> Item:
    pieces, losses = read_parts(list_parts(as_dict(record.get("message")).get("parts")), "assistant")
    return replace(item, pieces=pieces, losses=losses)


def _read_result(item: Item, record: dict[str, object]) -> Item:
    status = as_dict(record.get("toolCallResult")).get("status")
    failed = status != "success" if isinstance(status, str) else None
    pieces, losses = read_parts(list_parts(as_dict(record.get("message")).get("parts")), "user", failed=failed)
    return replace(item, pieces=pieces, losses=losses)


def _read_note(item: Item, record: dict[str, object]) -> Item:
    kind, payload = as_text(record.get("subtype")), as_dict(record.get("systemPayload"))
    if kind == "chat_compression":
        return _read_compaction(item, payload)
    if kind == "custom_title":
        return replace(item, title=as_text(payload.get("customTitle")) or None)
    if kind not in _NOTES:
        return replace(item, losses=(name_unknown(kind),))
    has_failed = _find_event(record).get("event.name") == "qwen-code.api_error"
    return replace(item, losses=("api_error" if has_failed else "meta",))


def _read_compaction(item: Item, payload: dict[str, object]) -> Item:
    """The summary comes first; what was left as it was follows it, and stands in the session already."""
    first = next((as_dict(each) for each in as_list(payload.get("compressedHistory"))), {})
    text = join_texts(first.get("parts"))
    return replace(item, pieces=(Piece(kind=Kind.COMPACTION, text=text),) if text.strip() else ())


_READERS = {
    "user": _read_user,
    "assistant": _read_answer,
    "tool_result": _read_result,
    "system": _read_note,
}
