"""Grok Build's session store (public facts about 0.2 to 1.0; the program could not be run).

`${GROK_HOME:-~/.grok}/sessions/<url-encoded directory>/<uuid>/`: `summary.json` names the session, its directory and,
for a fork, its parent; `chat_history.jsonl` is what the model is sent. Its rows have neither ids nor times, and a
rewind rewrites the file in place, so rows are known by what they say. What the user typed stands in `<user_query>`;
rows with a `synthetic_reason` are the program's.

    hidden_reasoning        reasoning
    system_prompt           the system prompt
    meta                    what the program says in the user's name
    own_packet              a tool result that shows a packet of rigline's
    attachment_image        a picture
    unknown:<type>          a row or part whose type is not known here
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from rigline.harness.content_keys import ContentKeys
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
from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, parse_time_ms, read_journal
from rigline.model import LinkKind, SessionInfo, SessionLink, Window

NAME, LABEL = "grok-build", "Grok Build"
HISTORY = "chat_history.jsonl"
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
#: what the program puts around or before a query
_INJECTED = re.compile(r"\s*<(?:user_info|system-reminder|system_reminder|environment)\b")


class GrokStore(FileStore):
    """The sessions below `sessions`."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript: where a session belongs is told by its summary alone."""
        for bucket in iter_folder(self._root):
            for entry in iter_folder(bucket.path):
                path = os.path.join(entry.path, HISTORY)
                if is_uuid(entry.name) and os.path.isfile(path):
                    yield path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """The transcripts in folders that have the id as their name."""
        if not is_uuid(native_id):
            return ()
        return list_present(os.path.join(bucket, native_id, HISTORY) for bucket in list_folders(self._root))

    def glance_at_cwd(self, path: str) -> str | None:
        """The directory that the summary names."""
        return as_text(as_dict(_read_summary(path).get("info")).get("cwd")) or None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The summary has to name the session and an absolute directory."""
        native_id = os.path.basename(os.path.dirname(path))
        summary, head = _read_summary(path), read_head(path)
        info = as_dict(summary.get("info"))
        cwd, parent_id = as_text(info.get("cwd")), as_text(summary.get("parent_session_id"))
        if not head or info.get("id") != native_id or not os.path.isabs(cwd):
            return None
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=cwd,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(summary.get("created_at")),
            title=as_text(summary.get("generated_title")) or as_text(summary.get("session_summary")) or None,
            first_prompt=find_first_prompt(map(_glance, head)),
            parent=_link(native_id, parent_id),
        )

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`. A fork's copies have the keys of the parent that its summary names."""
        keys = ContentKeys(info.path)
        family = info.parent.parent_id if info.parent is not None else info.native_id

        def extract(record: dict[str, object], offset: int) -> list[Item]:
            key = keys.make(record, offset)
            return [read_row(record, key, f"{family}/{key}")]

        return read_journal(info, cursor, extract, LABEL)


def _read_summary(path: str) -> dict[str, object]:
    return read_object(os.path.join(os.path.dirname(path), "summary.json"))


def _link(native_id: str, parent_id: str) -> SessionLink | None:
    if not is_uuid(parent_id) or parent_id == native_id:
        return None
    return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.FORK, evidence="named by its summary")


def _glance(record: dict[str, object]) -> Item:
    return read_row(record, "glance", "")


def read_row(record: dict[str, object], key: str, copy_key: str) -> Item:
    """What one row says."""
    kind = as_text(record.get("type"))
    pieces: list[Piece] = []
    losses: list[str] = []
    packets: list[tuple[str, int, int]] = []
    if kind == "user":
        _read_user(record, pieces, losses)
    elif kind == "assistant":
        _read_assistant(record, pieces, losses)
    elif kind == "tool_result":
        _read_result(record, pieces, losses, packets)
    elif kind == "backend_tool_call":
        tool = as_dict(record.get("kind"))
        pieces.append(make_call(as_text(tool.get("tool_type")), tool, call_id=as_text(tool.get("call_id"))))
    else:
        losses.append({"system": "system_prompt", "reasoning": "hidden_reasoning"}.get(kind) or name_unknown(kind))
    return Item(
        key=key,
        copy_key=copy_key,
        pieces=tuple(pieces),
        losses=tuple(losses),
        packets=tuple(packets),
        is_prompt=kind == "user" and bool(pieces),
    )


def _read_user(record: dict[str, object], pieces: list[Piece], losses: list[str]) -> None:
    if record.get("synthetic_reason") not in (None, "human"):
        losses.append("meta")
        return
    for place, text in enumerate(_read_parts(record.get("content"), losses)):
        typed = _QUERY.findall(text)
        if _INJECTED.match(text):
            losses.append("meta")
        elif not typed:
            typed = [text]
        words = "\n".join(typed)
        if words.strip():
            pieces.append(make_message("user", words, block=place))


def _read_parts(content: object, losses: list[str]) -> list[str]:
    """The texts of a row's content; what is none is counted."""
    if isinstance(content, str):
        return [content]
    texts = []
    for part in map(as_dict, as_list(content)):
        kind = as_text(part.get("type"))
        if kind == "text":
            texts.append(as_text(part.get("text")))
        else:
            losses.append("attachment_image" if kind in ("image", "image_url") else name_unknown(kind))
    return texts


def _read_assistant(record: dict[str, object], pieces: list[Piece], losses: list[str]) -> None:
    text = "\n".join(_read_parts(record.get("content"), losses))
    if text.strip():
        pieces.append(make_message("assistant", text))
    for place, call in enumerate(map(as_dict, as_list(record.get("tool_calls"))), 1):
        function = as_dict(call.get("function")) or call
        name, call_id = as_text(function.get("name")), as_text(call.get("id"))
        pieces.append(make_call(name, function.get("arguments"), call_id=call_id, block=place))


def _read_result(
    record: dict[str, object], pieces: list[Piece], losses: list[str], packets: list[tuple[str, int, int]]
) -> None:
    """A tool's output. One that shows a packet proves that the model read it: its pointer names a private file."""
    text = "\n".join(_read_parts(record.get("content"), losses))
    if repeats_packet(text):
        losses.append("own_packet")
        packets.extend(find_markers(text))
        return
    call_id, failed = as_text(record.get("tool_call_id")), record.get("is_error") is True
    pieces.append(make_result(text, call_id=call_id, failed=failed))
