"""One record of a Claude Code transcript: what of it is history, and what is left out and why. Pure.

Shapes as 2.1.197 and 2.1.332 write them, and those of older versions where they differ. What is not a message,
a tool call, a tool result, or a compaction is either the program's own bookkeeping, or counted by kind:

    hidden_reasoning   thinking, redacted thinking
    meta               what the program says in the user's name: reminders, local commands, listings, notices
    synthetic          placeholders that stand for an answer after a crash
    api_error          an error that the program wrote as an answer
    system_prompt      requests with the system prompt and the tools
    own_packet         a tool result that repeats a packet of rigline's
    sidechain          a subagent's record inside its parent's transcript (older versions)
    attachment_image   a picture; attachment_document, attachment_file alike
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b

import msgspec
from msgspec import Struct

from rigline.harness.claude_fields import content_of
from rigline.harness.claude_typed import drop_last_reminders, drop_reminders, read_typed
from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import name_unknown
from rigline.harness.windows import Piece, as_dict, as_text
from rigline.model import Kind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: types that hold neither words nor actions
_BOOKKEEPING = _words(
    "agent-name ai-title atis-latch cost-state custom-title file-history-snapshot last-prompt mode"
    " permission-mode progress queue-operation tools-used worktree-state"
)
_REQUESTS = frozenset({"api-request", "api-request-blob", "api-request-shape"})
#: text that the program shows the model beside the conversation
_INJECTED = _words(
    "agent_listing_delta auto_mode date deferred_tools_delta environment model remote_session_change"
    " session_context skill_listing task_status total_tokens_reminder"
)
_ATTACHED_BOOKKEEPING = frozenset({"command_permissions"})
_SYSTEM_NOTICES = frozenset({"informational", "local_command"})
_SYSTEM_BOOKKEEPING = frozenset({"compact_boundary", "stop_hook_summary", "turn_duration"})
#: what the program writes as an answer that no model gave
_PLACEHOLDERS = frozenset({"No response requested.", "(no content)"})
_MEDIA = frozenset({"image", "document", "file"})
_REASONING = frozenset({"thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "server_tool_use"})

#: ids that a vendor's server gave out; proxies hand out short ones that repeat from session to session
_CALL_ID = re.compile(r"[A-Za-z]+_[A-Za-z0-9]{20,}")
_MESSAGE_ID = re.compile(r"msg_[A-Za-z0-9_]{20,}")
#: a compaction that failed leaves the error in the summary's place
_FAILED_SUMMARY = re.compile(r"(?:This session is being continued.{0,400}?Summary:)?\s*API Error\b", re.DOTALL)


class Extract(Struct):
    """What a record holds. `is_prompt` marks the words of a user, which begin a turn."""

    pieces: list[Piece]
    losses: list[str]
    packets: list[tuple[str, int, int]]
    is_prompt: bool = False


def extract(record: dict[str, object], *, is_subagent: bool = False) -> Extract:
    """The history in one record. Never raises, whatever a field holds."""
    found = Extract([], [], [])
    kind = as_text(record.get("type"))
    if record.get("isSidechain") is True and not is_subagent and kind in ("user", "assistant"):
        found.losses.append("sidechain")
    elif kind in _READERS:
        _READERS[kind](record, found)
    elif kind in _REQUESTS:
        found.losses.append("system_prompt")
    elif kind not in _BOOKKEEPING:
        found.losses.append(name_unknown(kind))
    return found


def _blocks_of(content: object) -> list[dict[str, object]]:
    """The content as blocks; a text of its own is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _read_user(record: dict[str, object], found: Extract) -> None:
    content = content_of(record)
    if record.get("isCompactSummary") is True:
        _add_compaction("\n".join(as_text(block.get("text")) for block in _blocks_of(content)), found)
        return
    if record.get("isMeta") is True and not _is_from_peer(record):
        found.losses.append("meta")
        return
    for place, block in enumerate(_blocks_of(content)):
        if block.get("type") == "text":
            _add_typed(as_text(block.get("text")), place, found)
        elif block.get("type") == "tool_result":
            _add_result(block, place, found)
        else:
            _leave_out(block, found)


def _is_from_peer(record: dict[str, object]) -> bool:
    """Whether another session sent it: kept as meta by 2.1.332, but words all the same."""
    return as_dict(record.get("origin")).get("kind") == "peer"


def _add_compaction(text: str, found: Extract) -> None:
    summary = drop_reminders(text)
    if summary != text:
        found.losses.append("meta")
    if _FAILED_SUMMARY.match(summary):
        found.losses.append("api_error")
    elif summary.strip():
        found.pieces.append(Piece(kind=Kind.COMPACTION, text=summary))


def _add_typed(text: str, place: int, found: Extract) -> None:
    typed = read_typed(text)
    if typed.has_injected:
        found.losses.append("meta")
    if typed.is_output:
        found.pieces.append(Piece(kind=Kind.TOOL_RESULT, text=typed.text, block=place, role="tool", tool="shell"))
    elif typed.text:
        found.is_prompt = True
        found.pieces.append(Piece(kind=Kind.MESSAGE, text=typed.text, block=place, role="user"))


def _add_result(block: dict[str, object], place: int, found: Extract) -> None:
    shown = _read_result(block.get("content"), found)
    text = drop_last_reminders(shown)
    if text != shown:
        found.losses.append("meta")
    call_id = as_text(block.get("tool_use_id"))
    if repeats_packet(text):
        found.losses.append("own_packet")
        return
    found.pieces.append(
        Piece(
            kind=Kind.TOOL_RESULT,
            text=text,
            block=place,
            role="tool",
            call_id=call_id or None,
            status="error" if block.get("is_error") is True else None,
            copy_key=f"r:{call_id}" if _CALL_ID.fullmatch(call_id) else "",
        )
    )


def _read_result(content: object, found: Extract) -> str:
    texts = []
    for block in _blocks_of(content):
        if block.get("type") == "text":
            texts.append(as_text(block.get("text")))
        else:
            _leave_out(block, found)
    return "\n".join(texts)


def _leave_out(block: dict[str, object], found: Extract) -> None:
    kind = as_text(block.get("type"))
    if kind in _REASONING:
        found.losses.append("hidden_reasoning")
    elif kind in _MEDIA:
        found.losses.append(f"attachment_{kind}")
    else:
        found.losses.append(name_unknown(kind))


def _read_assistant(record: dict[str, object], found: Extract) -> None:
    if record.get("isApiErrorMessage") is True:
        found.losses.append("api_error")
        return
    message = as_dict(record.get("message"))
    is_synthetic = message.get("model") == "<synthetic>"
    message_id = as_text(message.get("id"))
    for place, block in enumerate(_blocks_of(message.get("content"))):
        if block.get("type") == "text":
            _add_answer(as_text(block.get("text")), place, message_id, is_synthetic, found)
        elif as_text(block.get("type")) in _CALLS:
            _add_call(block, place, found)
        else:
            _leave_out(block, found)


def _add_answer(text: str, place: int, message_id: str, is_synthetic: bool, found: Extract) -> None:
    """An answer. What the program wrote itself is a placeholder, or the part of an answer that came before Esc."""
    if is_synthetic and text.strip() in _PLACEHOLDERS:
        found.losses.append("synthetic")
        return
    if not text.strip():
        return
    is_vendors = _MESSAGE_ID.fullmatch(message_id) is not None
    found.pieces.append(
        Piece(
            kind=Kind.MESSAGE,
            text=text,
            block=place,
            role="assistant",
            status="interrupted" if is_synthetic else None,
            copy_key=f"{message_id}:{_hash_text(text)}" if is_vendors else "",
        )
    )


def _hash_text(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _add_call(block: dict[str, object], place: int, found: Extract) -> None:
    name, call_id = as_text(block.get("name")), as_text(block.get("id"))
    arguments = msgspec.json.encode(block.get("input")).decode()
    found.pieces.append(
        Piece(
            kind=Kind.TOOL_CALL,
            text=f"{name} {arguments}",
            block=place,
            role="assistant",
            tool=name or None,
            call_id=call_id or None,
            copy_key=call_id if _CALL_ID.fullmatch(call_id) else "",
        )
    )


def _read_attachment(record: dict[str, object], found: Extract) -> None:
    attachment = as_dict(record.get("attachment"))
    kind = as_text(attachment.get("type"))
    if kind == "queued_command":
        _read_queued(attachment, found)
    elif kind in ("hook_additional_context", "hook_success"):
        found.packets.extend(_find_shown_markers(attachment.get("content")))
    elif kind == "prompt_snapshot":
        found.losses.append("system_prompt")
    elif kind in _INJECTED:
        found.losses.append("meta")
    elif kind in _MEDIA:
        found.losses.append(f"attachment_{kind}")
    elif kind not in _ATTACHED_BOOKKEEPING and not kind.startswith("hook_"):
        found.losses.append(name_unknown(kind))


def _read_queued(attachment: dict[str, object], found: Extract) -> None:
    """What was typed while a tool ran, and reached the model beside its result."""
    for place, block in enumerate(_blocks_of(attachment.get("prompt"))):
        if attachment.get("commandMode", "prompt") != "prompt":
            found.losses.append("meta")
        elif block.get("type") == "text":
            _add_typed(as_text(block.get("text")), place, found)
        else:
            _leave_out(block, found)


def _find_shown_markers(content: object) -> list[tuple[str, int, int]]:
    """Markers in a hook's answer that the model was shown whole: not in one that was saved to a file instead."""
    texts = content if isinstance(content, list) else [content]
    shown = [text for text in texts if isinstance(text, str) and not text.lstrip().startswith("<persisted-output>")]
    return [marker for text in shown for marker in find_markers(text)]


def _read_system(record: dict[str, object], found: Extract) -> None:
    subtype = as_text(record.get("subtype"))
    if subtype == "api_error":
        found.losses.append("api_error")
    elif subtype in _SYSTEM_NOTICES:
        found.losses.append("meta")
    elif subtype not in _SYSTEM_BOOKKEEPING:
        found.losses.append(name_unknown(subtype))


def _read_summary(record: dict[str, object], found: Extract) -> None:
    _add_compaction(as_text(record.get("summary")), found)


_READERS: dict[str, Callable[[dict[str, object], Extract], None]] = {
    "user": _read_user,
    "assistant": _read_assistant,
    "attachment": _read_attachment,
    "system": _read_system,
    "summary": _read_summary,
}
