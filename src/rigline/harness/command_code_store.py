"""Command Code's session store: where transcripts lie, and what one record of them holds (1.64.0).

`~/.commandcode/projects/<directory>/<uuid>.jsonl`: a header, and entries that form a tree. Beside it lie `.meta.json`
(a fork's parent and birth) and `.checkpoints.jsonl` (prompts, for rewinding), which is no transcript. In a fork's file
the header's `id` is its parent's and `sessionId` its own; all entries are copied with their ids and times. A clone
(`/clone`) has a header of its own with `parentSession`, its parent's path.

A turn reaches the disk with its answer. What is left out is counted by kind:

    hidden_reasoning   thinking
    meta               what the program or an extension says in the user's name
    api_error          an error of the model's service, which the program keeps as a message
    own_packet         a packet that rigline's extension has shown, or a tool result that repeats one
    attachment_image   a picture
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import os
import re
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
    read_tail,
)
from rigline.harness.grammar import is_uuid
from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import list_blocks, make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_text, parse_time_ms, read_journal
from rigline.model import Kind, LinkKind, SessionInfo, SessionLink, Window

NAME, LABEL = "command-code", "Command Code"
FORMAT = 3
#: what the extension that a launch brings along writes as the source of its message
OWN_SOURCE = "mod:rigline"
#: words that a person typed: at the prompt, while a turn was running, and behind it
_TYPED = frozenset({"user", "steering", "followup"})
#: "Error: 429 Usage_limit_reached The usage limit has been reached" and its kin (1.64.0); a mere rate limit is none
_LIMIT = re.compile(r"Error: (?:402|429) (?:Usage_limit_reached|Insufficient_quota) (.+)")
_BOOKKEEPING = frozenset({"custom", "effort_change", "label", "model_change", "session"})


class CommandCodeStore(FileStore):
    """The transcripts below `projects`."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript: folders are named in a way that cannot be undone."""
        for folder in iter_folder(self._root):
            for entry in iter_folder(folder.path):
                if entry.name.endswith(".jsonl") and is_uuid(entry.name[: -len(".jsonl")]):
                    yield entry.path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """The files that have the id as their name."""
        if not is_uuid(native_id):
            return ()
        return list_present(os.path.join(folder, f"{native_id}.jsonl") for folder in list_folders(self._root))

    def glance_at_cwd(self, path: str) -> str | None:
        """The header's directory."""
        head = read_head(path, 1)
        return as_text(head[0].get("cwd")) or None if head else None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The header has to name the file's own session, in the one format known."""
        native_id = os.path.basename(path).removesuffix(".jsonl")
        head = read_head(path)
        header = head[0] if head else {}
        own = as_text(header.get("sessionId")) or as_text(header.get("id"))
        cwd = as_text(header.get("cwd"))
        if not is_header(header) or own != native_id or not os.path.isabs(cwd):
            return None
        meta = read_object(path.removesuffix(".jsonl") + ".meta.json")
        status = os.stat(path)
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=cwd,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(meta.get("forkedAt")) or parse_time_ms(header.get("timestamp")),
            title=as_text(meta.get("title")) or None,
            first_prompt=find_first_prompt(item for record in head for item in extract(record, 0)),
            parent=_find_parent(native_id, header, meta),
        )

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        head = read_head(path, 1)
        version = head[0].get("version") if head and head[0].get("type") == "session" else FORMAT
        if version == FORMAT:
            return super().explain_refusal(path)
        return f"{LABEL} wrote it in format {version}, and only format {FORMAT} is known"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, LABEL)

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`: the program's own report, where it is the last message of the session."""
        try:
            records = [record for record in read_tail(info.path) if record.get("type") == "message"]
        except OSError:
            return None
        return _find_limit(as_dict(records[-1].get("message"))) if records else None


def _find_limit(message: dict[str, object]) -> str | None:
    """The vendor's words in a report of the program's, by the names that services give to what is used up."""
    meta = as_dict(message.get("meta"))
    if message.get("role") != "user" or not meta or meta.get("source"):
        return None
    text = "".join(as_text(block.get("text")) for block in list_blocks(message.get("content")))
    found = _LIMIT.match(text)
    return found[1] if found else None


def is_header(record: dict[str, object]) -> bool:
    """Whether a record begins a transcript of the format known."""
    return record.get("type") == "session" and record.get("version") == FORMAT


def _find_parent(native_id: str, header: dict[str, object], meta: dict[str, object]) -> SessionLink | None:
    """The session that this one was forked from, and which of the three places says so."""
    path = as_text(header.get("parentSession"))
    claims = {
        "named by the file beside its transcript": as_text(meta.get("parentSessionId")),
        "named by its header": os.path.basename(path).removesuffix(".jsonl"),
        "its header carries the parent's id": as_text(header.get("id")),
    }
    for evidence, parent_id in claims.items():
        if is_uuid(parent_id) and parent_id != native_id:
            return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.FORK, evidence=evidence)
    return None


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What one entry says. A copy in a fork has the same id and time, which alone may occur in a stranger's file."""
    kind, at = as_text(record.get("type")), as_text(record.get("timestamp"))
    if kind in _BOOKKEEPING:
        return []
    key = as_text(record.get("id")) or f"byte-{offset}"
    item = Item(key=key, copy_key=f"{key}@{at}", parent=as_text(record.get("parentId")), at_ms=parse_time_ms(at))
    return [_READERS.get(kind, _leave_out)(record, item)]


def _leave_out(record: dict[str, object], item: Item) -> Item:
    return msgspec.structs.replace(item, losses=(name_unknown(record.get("type")),))


def _read_title(record: dict[str, object], item: Item) -> Item:
    return msgspec.structs.replace(item, title=as_text(record.get("name")) or None)


def _read_summary(record: dict[str, object], item: Item) -> Item:
    text = as_text(record.get("summary"))
    piece = Piece(kind=Kind.COMPACTION, text=text)
    return msgspec.structs.replace(item, pieces=(piece,) if text.strip() else ())


def _read_branch(record: dict[str, object], item: Item) -> Item:
    """What was said on a branch that was left, in the program's summary."""
    text = as_text(record.get("summary"))
    return msgspec.structs.replace(item, pieces=(make_message("assistant", text),) if text.strip() else ())


def _read_extension(record: dict[str, object], item: Item) -> Item:  # noqa: ARG001
    return msgspec.structs.replace(item, losses=("meta",))


def _read_message(record: dict[str, object], item: Item) -> Item:
    message = as_dict(record.get("message"))
    meta, role = as_dict(message.get("meta")), as_text(message.get("role"))
    blocks = list_blocks(message.get("content"))
    if role not in ("user", "assistant"):
        return msgspec.structs.replace(item, losses=("system_prompt" if role == "system" else "unknown:role",))
    if role == "user" and as_text(meta.get("source")) == OWN_SOURCE:
        packets = tuple(marker for block in blocks for marker in find_markers(as_text(block.get("text"))))
        return msgspec.structs.replace(item, packets=packets, losses=("own_packet",) * bool(packets))
    pieces: list[Piece] = []
    losses: list[str] = []
    for place, block in enumerate(blocks):
        foreign = _find_foreign(meta, role, as_text(block.get("text"))) if block.get("type") == "text" else ""
        if foreign:
            losses.append(foreign)
        else:
            _read_block(block, role, place, pieces, losses)
    is_prompt = any(piece.role == "user" for piece in pieces)
    return msgspec.structs.replace(item, pieces=tuple(pieces), losses=tuple(losses), is_prompt=is_prompt)


def _find_foreign(meta: dict[str, object], role: str, text: str) -> str:
    """What a text is that neither a person nor the model said, or an empty string.

    The program says of each message where it comes from; of its own reports of an error it says nothing (1.64.0).
    Messages of older formats that it took over have no such note at all, and are what their role says.
    """
    source = as_text(meta.get("source"))
    if meta.get("isMeta") is True:
        return "meta"
    if role == "assistant" or not meta or source in _TYPED:
        return ""
    return "api_error" if not source and text.startswith("Error: ") else "meta"


def _read_block(block: dict[str, object], role: str, place: int, pieces: list[Piece], losses: list[str]) -> None:
    kind = as_text(block.get("type"))
    if kind == "text":
        if as_text(block.get("text")).strip():
            pieces.append(make_message(role, as_text(block.get("text")), block=place))
    elif kind == "tool_use":
        call_id = as_text(block.get("id"))
        pieces.append(make_call(as_text(block.get("name")), block.get("input"), call_id=call_id, block=place))
    elif kind == "tool_result":
        _read_result(block, place, pieces, losses)
    else:
        losses.append(_name_loss(kind))


def _read_result(block: dict[str, object], place: int, pieces: list[Piece], losses: list[str]) -> None:
    parts = list_blocks(block.get("content"))
    text = "\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "text")
    losses.extend(_name_loss(as_text(part.get("type"))) for part in parts if part.get("type") != "text")
    if repeats_packet(text):
        losses.append("own_packet")
        return
    call_id, failed = as_text(block.get("tool_use_id")), block.get("is_error") is True
    pieces.append(make_result(text, call_id=call_id, failed=failed, block=place))


def _name_loss(kind: str) -> str:
    return {"thinking": "hidden_reasoning", "redacted_thinking": "hidden_reasoning", "image": "attachment_image"}.get(
        kind
    ) or name_unknown(kind)


_READERS = {
    "message": _read_message,
    "compaction": _read_summary,
    "branch_summary": _read_branch,
    "custom_message": _read_extension,
    "session_info": _read_title,
}
