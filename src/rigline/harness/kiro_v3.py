"""Kiro CLI's V3 session store (public facts about 2.8 to 3.0; the program could not be run).

`${KIRO_HOME:-~/.kiro}/sessions/<bucket>/sess_<uuid>/{session.json,messages.jsonl}`; the bucket is a hash of the
checkout. 2.16.2 writes below `~/.kiro` even where `KIRO_HOME` is set, so that both are looked into. A session of
several checkouts belongs to the first that it names.

    hidden_reasoning   what the assistant thought
    meta               what the program says beside the conversation; also the record `session_start`, of which public
                       sources disagree whether it repeats the first prompt or holds the system prompt
    api_error          an error that the program kept
    own_packet         a tool result that repeats a packet of rigline's
    unknown:<type>     a record whose type is not known here
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from rigline.harness.file_store import (
    FileStore,
    find_first_prompt,
    iter_folder,
    list_folders,
    list_present,
    read_head,
    read_object,
)
from rigline.harness.grammar import is_uuid
from rigline.harness.kiro_store import LABEL, read_time_ms
from rigline.harness.markers import repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, parse_time_ms, read_journal
from rigline.model import SessionInfo, Window

NAME = "kiro-v3"
SCHEMA, DATA_MODEL = "1.0.0", 1
PREFIX = "sess_"
MESSAGES = "messages.jsonl"
_BOOKKEEPING = frozenset(
    {
        "interaction_resolved",
        "pending_interaction",
        "steering_inclusion",
        "tombstone",
        "turn_end",
        "turn_start",
        "usage_summary",
    }
)
_META = frozenset({"agent_note", "session_start", "system"})


def is_session_id(text: str) -> bool:
    """Whether a word is the id of a V3 session."""
    return text.startswith(PREFIX) and is_uuid(text[len(PREFIX) :])


class KiroV3Store(FileStore):
    """The sessions of V3, below one folder or two."""

    label = f"{LABEL} V3"

    def __init__(self, root: str, *more: str) -> None:
        super().__init__(root)
        self._roots = tuple(dict.fromkeys((root, *more)))

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript: buckets are hashes."""
        for bucket in (each for root in self._roots for each in iter_folder(root)):
            for entry in iter_folder(bucket.path):
                path = os.path.join(entry.path, MESSAGES)
                if is_session_id(entry.name) and os.path.isfile(path):
                    yield path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """The transcripts in folders that have the id as their name."""
        if not is_session_id(native_id):
            return ()
        buckets = [bucket for root in self._roots for bucket in list_folders(root)]
        return list_present(os.path.join(bucket, native_id, MESSAGES) for bucket in buckets)

    def glance_at_cwd(self, path: str) -> str | None:
        """The directory that the file beside the transcript names."""
        return _find_cwd(read_object(_find_meta(path)))

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The file beside the transcript has to name the session, in the one schema known."""
        native_id = os.path.basename(os.path.dirname(path))
        meta, head = read_object(_find_meta(path)), read_head(path)
        if not head or meta.get("id") != native_id or _find_unknown(meta) or _find_cwd(meta) is None:
            return None
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=_find_cwd(meta),
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(meta.get("createdAt")),
            title=as_text(meta.get("title")) or None,
            first_prompt=find_first_prompt(map(_glance, head)),
        )

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        unknown = _find_unknown(read_object(_find_meta(path)))
        if not unknown:
            return super().explain_refusal(path)
        return f"{self.label} wrote it with {unknown}, and only schema {SCHEMA} with data model {DATA_MODEL} is known"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, self.label)


def _find_meta(path: str) -> str:
    return os.path.join(os.path.dirname(path), "session.json")


def _find_cwd(meta: dict[str, object]) -> str | None:
    paths = [as_text(path) for path in as_list(meta.get("workspacePaths"))]
    return paths[0] if paths and os.path.isabs(paths[0]) else None


def _find_unknown(meta: dict[str, object]) -> str:
    """What of the schema is not known here, in words; empty when all is."""
    schema, model = meta.get("schemaVersion"), meta.get("dataModelVersion", DATA_MODEL)
    if schema != SCHEMA:
        return f"schema {schema}" if meta else ""
    return "" if model == DATA_MODEL else f"data model {model}"


def _glance(record: dict[str, object]) -> Item:
    return extract(record, 0)[0]


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What one record says."""
    payload = as_dict(record.get("payload"))
    key = as_text(record.get("id")) or f"byte-{offset}"
    at = record.get("timestamp")
    item = Item(key=key, copy_key=f"{key}@{at}", at_ms=read_time_ms(at))
    kind = as_text(payload.get("type"))
    if kind in _BOOKKEEPING:
        return [item]
    piece, loss = _READERS[kind](payload) if kind in _READERS else (None, _find_loss(kind))
    pieces, losses = (piece,) if piece else (), (loss,) if loss else ()
    return [msgspec.structs.replace(item, pieces=pieces, losses=losses, is_prompt=kind == "user" and bool(piece))]


def _find_loss(kind: str) -> str:
    if kind in _META:
        return "meta"
    return "api_error" if kind == "error" else name_unknown(kind)


def _read_user(payload: dict[str, object]) -> tuple[Piece | None, str]:
    content = payload.get("content")
    if not isinstance(content, str):
        return None, "unknown:content"
    return (make_message("user", content) if content.strip() else None), ""


def _read_assistant(payload: dict[str, object]) -> tuple[Piece | None, str]:
    operation, content = as_text(payload.get("operationType")), as_text(payload.get("content"))
    if operation == "Say":
        return (make_message("assistant", content) if content.strip() else None), ""
    return None, "hidden_reasoning" if operation == "Reasoning" else name_unknown(operation)


def _read_call(payload: dict[str, object]) -> tuple[Piece | None, str]:
    call_id = as_text(payload.get("toolCallId"))
    return make_call(as_text(payload.get("toolName")), payload.get("args"), call_id=call_id), ""


def _read_result(payload: dict[str, object]) -> tuple[Piece | None, str]:
    text = as_text(payload.get("content"))
    if repeats_packet(text):
        return None, "own_packet"
    call_id, failed = as_text(payload.get("toolCallId")), payload.get("success") is False
    return make_result(text, call_id=call_id, failed=failed), ""


_READERS = {"user": _read_user, "assistant": _read_assistant, "tool_call": _read_call, "tool_result": _read_result}
