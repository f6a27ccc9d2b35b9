"""Kiro CLI's V2 session store (public facts about 2.8 to 2.16; the program could not be run).

`${KIRO_HOME:-~/.kiro}/sessions/cli/<uuid>.jsonl` holds envelopes `{"version": "v1", "kind", "data"}`; `<uuid>.json`
beside it names the session, its directory and, for a subagent's, its parent. (`session_created_reason` says
`subagent` of main sessions too.) While a program has a session open, `<uuid>.lock` names its process; a program that
was killed leaves it behind. Not every record has an id, and the file may be rewritten, so records are known by what
they say.

    hidden_reasoning   thinking
    own_packet         a tool result that repeats a packet of rigline's
    unknown:<type>     an envelope or part whose kind or version is not known here
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from rigline.harness.content_keys import ContentKeys
from rigline.harness.file_store import FileStore, find_first_prompt, iter_folder, list_present, read_head, read_object
from rigline.harness.grammar import is_uuid
from rigline.harness.markers import repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.processes import is_program
from rigline.harness.windows import (
    Item,
    Piece,
    as_dict,
    as_list,
    as_text,
    encode_arguments,
    parse_time_ms,
    read_journal,
)
from rigline.model import Kind, LinkKind, LiveSession, SessionInfo, SessionLink, Window

NAME, LABEL = "kiro", "Kiro CLI"
VERSION = "v1"
#: a number of seconds up to this, and of milliseconds above it, is a time of these days
_LARGEST_SECONDS = 100_000_000_000


class KiroStore(FileStore):
    """The sessions of V2. They resume from every directory."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript: all lie in one folder."""
        for entry in iter_folder(self._root):
            if entry.name.endswith(".jsonl") and is_uuid(entry.name[: -len(".jsonl")]):
                yield entry.path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """The file that has the id as its name."""
        path = os.path.join(self._root, f"{native_id}.jsonl")
        return list_present((path,)) if is_uuid(native_id) else ()

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:  # noqa: ARG002
        """None."""
        return ""

    def glance_at_cwd(self, path: str) -> str | None:
        """The directory that the file beside the transcript names."""
        return as_text(read_object(_find_meta(path)).get("cwd")) or None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. Both files have to be there, and to name the same session."""
        native_id = os.path.basename(path).removesuffix(".jsonl")
        meta, head = read_object(_find_meta(path)), read_head(path)
        cwd, parent_id = as_text(meta.get("cwd")), as_text(meta.get("parent_session_id"))
        if (
            not head
            or head[0].get("version") != VERSION
            or meta.get("session_id") != native_id
            or not os.path.isabs(cwd)
        ):
            return None
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=cwd,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(meta.get("created_at")),
            title=as_text(meta.get("title")) or None,
            first_prompt=find_first_prompt(map(_glance, head)),
            is_subagent=bool(parent_id),
            parent=_link(native_id, parent_id),
        )

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        head = read_head(path, 1)
        version = head[0].get("version") if head else None
        if version in (None, VERSION):
            return super().explain_refusal(path)
        return f"{LABEL} wrote it in format {version}, and only format {VERSION} is known"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        keys = ContentKeys(info.path)

        def extract(record: dict[str, object], offset: int) -> list[Item]:
            key = keys.make(record, offset)
            return [read_envelope(record, key, f"{info.native_id}/{key}")]

        return read_journal(info, cursor, extract, LABEL)

    def find_live(self, native_id: str) -> LiveSession | None:
        """The process that the session's lock names, where it still is one of Kiro's."""
        if not is_uuid(native_id):
            return None
        pid = read_object(os.path.join(self._root, f"{native_id}.lock")).get("pid")
        if not isinstance(pid, int) or not is_program(pid, "kiro"):
            return None
        return LiveSession(native_id=native_id, pid=pid)


def _find_meta(path: str) -> str:
    return path.removesuffix("l")


def _link(native_id: str, parent_id: str) -> SessionLink | None:
    if not parent_id:
        return None
    evidence = "named by the file beside its transcript"
    return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.SUBAGENT, evidence=evidence)


def _glance(record: dict[str, object]) -> Item:
    return read_envelope(record, "glance", "")


def read_time_ms(value: object) -> int | None:
    """An ISO time, or a number of seconds or milliseconds since 1970."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _LARGEST_SECONDS * 1000:
        return int(value * 1000) if value < _LARGEST_SECONDS else int(value)
    return parse_time_ms(value)


def read_envelope(record: dict[str, object], key: str, copy_key: str) -> Item:
    """What one envelope says."""
    kind, data = as_text(record.get("kind")), as_dict(record.get("data"))
    at_ms = read_time_ms(as_dict(data.get("meta")).get("timestamp"))
    item = Item(key=key, copy_key=copy_key, at_ms=at_ms)
    if record.get("version") != VERSION:
        return msgspec.structs.replace(item, losses=("unknown:version",))
    if kind == "Compaction" and as_text(data.get("summary")).strip():
        piece = Piece(kind=Kind.COMPACTION, text=as_text(data.get("summary")))
        return msgspec.structs.replace(item, pieces=(piece,))
    if kind not in _ROLES:
        return (
            item if kind in ("Compaction", "ResetTo") else msgspec.structs.replace(item, losses=(name_unknown(kind),))
        )
    pieces: list[Piece] = []
    losses: list[str] = []
    for place, part in enumerate(as_list(data.get("content"))):
        _read_part(as_dict(part), _ROLES[kind], place, pieces, losses)
    is_prompt = any(piece.role == "user" for piece in pieces)
    return msgspec.structs.replace(item, pieces=tuple(pieces), losses=tuple(losses), is_prompt=is_prompt)


_ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}


def _read_part(part: dict[str, object], role: str, place: int, pieces: list[Piece], losses: list[str]) -> None:
    kind, data = as_text(part.get("kind")), part.get("data")
    if kind == "text" and role != "tool":
        if as_text(data).strip():
            pieces.append(make_message(role, as_text(data), block=place))
    elif kind == "toolUse" and role == "assistant":
        call = as_dict(data)
        call_id = as_text(call.get("toolUseId"))
        pieces.append(make_call(as_text(call.get("name")), call.get("input"), call_id=call_id, block=place))
    elif kind == "toolResult" and role == "tool":
        _read_result(as_dict(data), place, pieces, losses)
    else:
        losses.append("hidden_reasoning" if kind == "thinking" else name_unknown(kind))


def _read_result(result: dict[str, object], place: int, pieces: list[Piece], losses: list[str]) -> None:
    texts = []
    for part in map(as_dict, as_list(result.get("content"))):
        if part.get("kind") in ("text", "json"):
            texts.append(encode_arguments(part.get("data")))
        else:
            losses.append(name_unknown(part.get("kind")))
    text = "\n".join(texts)
    if repeats_packet(text):
        losses.append("own_packet")
        return
    call_id, failed = as_text(result.get("toolUseId")), result.get("status") == "error"
    pieces.append(make_result(text, call_id=call_id, failed=failed, block=place))
