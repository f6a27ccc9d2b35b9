"""Antigravity CLI's conversations (public facts about 1.1; the program could not be run).

`~/.gemini/antigravity-cli/conversations/<uuid>.db` is SQLite. What was said lies in it as protobuf without a public
schema, so nothing of it is read but the workspace: the row `main` of `trajectory_metadata_blob`, field 1 of field 1, a
`file://` address. The words come from the program's own log beside it,
`brain/<uuid>/.system_generated/logs/transcript_full.jsonl`; where there is none, from `history.jsonl`, which has the
prompts of all conversations, with their conversation and workspace.

    hidden_reasoning   thinking
    meta               what the program adds to a prompt, its checkpoints and reminders, and commands typed to it
    api_error          an error that the program kept
    unfinished         a step that was not done yet, or was stopped
    own_packet         a tool's output that repeats a packet of rigline's
    unknown:<type>     a step whose type is not known here
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from rigline.harness.content_keys import ContentKeys
from rigline.harness.database import as_os_error, list_columns, open_read_only
from rigline.harness.file_store import FileStore, find_first_prompt, iter_folder, list_present, read_head
from rigline.harness.folders import is_recorded_in
from rigline.harness.grammar import is_uuid
from rigline.harness.journal import iter_lines
from rigline.harness.markers import repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.protobuf import find_field
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, as_time_ms, parse_time_ms, read_journal
from rigline.model import SessionInfo, Window

NAME, LABEL = "antigravity", "Antigravity CLI"
TRANSCRIPT = os.path.join(".system_generated", "logs", "transcript_full.jsonl")
_TABLE = "trajectory_metadata_blob"
_SELECT = "SELECT data FROM trajectory_metadata_blob WHERE id = 'main'"
_DONE = frozenset({"", "DONE", "ERROR"})
_RESULTS = frozenset(
    {"CODE_ACTION", "GENERIC", "GREP_SEARCH", "LIST_DIRECTORY", "RUN_COMMAND", "TOOL_RESPONSE", "VIEW_FILE"}
)
_META = frozenset({"CHECKPOINT", "CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE"})
_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)


class AntigravityStore(FileStore):
    """The conversations below `~/.gemini/antigravity-cli`. `SessionInfo.path` is where the words are read from."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """What each conversation's words are read from."""
        for entry in iter_folder(os.path.join(self._root, "conversations")):
            native_id, ending = os.path.splitext(entry.name)
            if ending == ".db" and is_uuid(native_id):
                yield self._find_words(native_id)

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """What the conversation's words are read from, where it has a database."""
        is_there = is_uuid(native_id) and list_present((self._find_database(native_id),))
        return (self._find_words(native_id),) if is_there else ()

    def _find_database(self, native_id: str) -> str:
        return os.path.join(self._root, "conversations", f"{native_id}.db")

    def _find_words(self, native_id: str) -> str:
        transcript = os.path.join(self._root, "brain", native_id, TRANSCRIPT)
        return transcript if os.path.exists(transcript) else self._find_database(native_id)

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. A conversation whose workspace cannot be told is none that can be used."""
        native_id = _find_id(path)
        database = self._find_database(native_id)
        workspace = read_workspace(database) if is_uuid(native_id) and os.path.exists(database) else None
        if workspace is None:
            return None
        has_transcript = path.endswith(TRANSCRIPT)
        records = read_head(path) if has_transcript else list(_find_prompts(self._history, native_id, workspace))
        if has_transcript and not records:
            return None
        items = [read_step(r, "") if has_transcript else read_prompt(r, "", native_id, workspace) for r in records]
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path if has_transcript or not records else self._history,
            cwd=workspace,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=next((item.at_ms for item in items if item.at_ms), None),
            first_prompt=find_first_prompt(items),
        )

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:
        """A conversation is not opened from elsewhere: it would go on in the workspace that it was begun in."""
        return "" if is_recorded_in(info.cwd, cwd) else f"it belongs to {info.cwd}, and would go on working there"

    @property
    def _history(self) -> str:
        return os.path.join(self._root, "history.jsonl")

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        if path.endswith(TRANSCRIPT) and read_workspace(self._find_database(_find_id(path))) is not None:
            return super().explain_refusal(path)
        return f"the database of {LABEL} does not name its workspace in the form that is known (1.1)"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`. Where no words can be read there are none, and a loss says so."""
        keys = ContentKeys(info.path)

        def extract_step(record: dict[str, object], offset: int) -> list[Item]:
            return [read_step(record, keys.make(record, offset), info.native_id)]

        def extract_prompt(record: dict[str, object], offset: int) -> list[Item]:
            if not _is_of(record, info.native_id, info.cwd or ""):
                return []
            return [read_prompt(record, keys.make(record, offset), info.native_id, info.cwd or "")]

        if info.path.endswith(".db"):
            return iter((_tell_nothing(info, cursor),))
        extract = extract_step if info.path.endswith(TRANSCRIPT) else extract_prompt
        return read_journal(info, cursor, extract, LABEL)


def _tell_nothing(info: SessionInfo, cursor: str | None) -> Window:
    losses = {} if cursor == "protobuf" else {"unreadable_steps": 1}
    return Window(
        native_id=info.native_id, cursor="protobuf", events=[], losses=losses, packets=[], links=[], at_end=True
    )


def _find_id(path: str) -> str:
    """The conversation that a database or a transcript belongs to."""
    if path.endswith(os.sep + TRANSCRIPT):
        return os.path.basename(path.removesuffix(os.sep + TRANSCRIPT))
    return os.path.splitext(os.path.basename(path))[0]


def read_workspace(database: str) -> str | None:
    """The directory that a conversation was begun in, None where it is not told in the form known; raises OSError."""
    try:
        with open_read_only(database) as connection:
            if not {"id", "data"} <= list_columns(connection, _TABLE):
                return None
            row = connection.execute(_SELECT).fetchone()
    except sqlite3.Error as error:
        raise as_os_error(error, database) from error
    data = row["data"] if row is not None else None
    inner = find_field(data, 1) if isinstance(data, bytes) else None
    address = find_field(inner, 1) if inner is not None else None
    return _parse_address(address) if address is not None else None


def _parse_address(address: bytes) -> str | None:
    """The absolute path in a `file://` address of this machine."""
    try:
        parts = urlsplit(address.decode("ascii"))
    except ValueError:
        return None
    path = unquote(parts.path)
    is_ours = parts.scheme == "file" and parts.netloc in ("", "localhost") and not parts.query and not parts.fragment
    return path if is_ours and os.path.isabs(path) and "\0" not in path else None


def _find_prompts(history: str, native_id: str, workspace: str) -> Iterator[dict[str, object]]:
    try:
        for line in iter_lines(history):
            if line.record is not None and _is_of(line.record, native_id, workspace):
                yield line.record
    except OSError:
        return


def _is_of(record: dict[str, object], native_id: str, workspace: str) -> bool:
    return record.get("conversationId") == native_id and record.get("workspace") == workspace


def read_prompt(record: dict[str, object], key: str, native_id: str, workspace: str) -> Item:
    """A prompt in `history.jsonl`; one with a type is a command to the program."""
    text, at_ms = as_text(record.get("display")), as_time_ms(record.get("timestamp"))
    if not _is_of(record, native_id, workspace) or record.get("type") is not None or not text.strip():
        return Item(key=key, at_ms=at_ms, losses=("meta",))
    copy_key = f"{native_id}/{key}"
    return Item(key=key, copy_key=copy_key, at_ms=at_ms, pieces=(make_message("user", text),), is_prompt=True)


def read_step(record: dict[str, object], key: str, native_id: str = "") -> Item:
    """What one step of a transcript says."""
    kind, source = as_text(record.get("type")), as_text(record.get("source"))
    pieces: list[Piece] = []
    losses: list[str] = []
    if as_text(record.get("status")) not in _DONE:
        losses.append("unfinished")
    elif kind == "USER_INPUT":
        _read_input(as_text(record.get("content")), source, pieces, losses)
    elif kind == "PLANNER_RESPONSE":
        _read_response(record, pieces, losses)
    elif kind in _RESULTS:
        _read_result(record, kind, pieces, losses)
    else:
        losses.append("meta" if kind in _META else "api_error" if kind == "ERROR_MESSAGE" else name_unknown(kind))
    return Item(
        key=key,
        copy_key=f"{native_id}/{key}",
        at_ms=parse_time_ms(record.get("created_at")),
        pieces=tuple(pieces),
        losses=tuple(losses),
        is_prompt=kind == "USER_INPUT" and bool(pieces),
    )


def _read_input(content: str, source: str, pieces: list[Piece], losses: list[str]) -> None:
    """What was typed: the request alone, where the program marks it within what it adds."""
    if source != "USER_EXPLICIT":
        losses.append("meta")
        return
    requests = _REQUEST.findall(content)
    if requests and _REQUEST.sub("", content).strip():
        losses.append("meta")
    words = "\n".join(requests) if requests else content
    if words.strip():
        pieces.append(make_message("user", words))


def _read_response(record: dict[str, object], pieces: list[Piece], losses: list[str]) -> None:
    if record.get("thinking"):
        losses.append("hidden_reasoning")
    text = as_text(record.get("content"))
    if text.strip():
        pieces.append(make_message("assistant", text))
    for place, call in enumerate(map(as_dict, as_list(record.get("tool_calls"))), 1):
        pieces.append(make_call(as_text(call.get("name")), call.get("args"), call_id="", block=place))


def _read_result(record: dict[str, object], kind: str, pieces: list[Piece], losses: list[str]) -> None:
    text = as_text(record.get("content"))
    if repeats_packet(text):
        losses.append("own_packet")
    else:
        pieces.append(make_result(text, call_id="", failed=record.get("status") == "ERROR", tool=kind.lower()))
