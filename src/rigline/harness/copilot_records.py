"""What the events of a GitHub Copilot CLI session say. Pure.

From what 1.0.102 wrote and the schema of its events that comes with it. Read are messages, tool calls and results, and
compaction summaries. Left out, and counted by kind:

    hidden_reasoning   reasoning, readable or not
    system_prompt      system messages
    meta               what the program says in the user's name: skills, continuations, other agents
    own_packet         history that rigline had shown, and what repeats it
    sidechain          a subagent's record, which stands in its parent's log
    attachment_<kind>  what was attached to a prompt; api_error: an answer that the service refused
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from rigline.harness.copilot_events import KNOWN
from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, parse_time_ms
from rigline.model import Kind, LinkKind, SessionLink

_ID = "([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
#: `Forked from "a name" (its id) as "another" (the fork's).`; a name may hold anything
_FORKED = re.compile(rf"Forked from .*\({_ID}\) as .*\({_ID}\)\.?", re.DOTALL)


def extract(record: dict[str, object], offset: int, native_id: str = "") -> list[Item]:
    """What of an event is history. Every event has its place, so that the next one can hang on it.

    `native_id` is the session's that the log belongs to, to be linked with the one that it was forked from.
    """
    kind = as_text(record.get("type"))
    item = Item(
        key=as_text(record.get("id")) or f"byte-{offset}",
        parent=as_text(record.get("parentId")),
        at_ms=parse_time_ms(record.get("timestamp")),
    )
    if is_subagents(record):
        return [_leave_out(item, "sidechain")] if kind in _READERS else [item]
    if kind in _READERS:
        return [_READERS[kind](item, as_dict(record.get("data")))]
    if kind == "session.info":
        return [_read_info(item, as_dict(record.get("data")), native_id)]
    if kind in _LEFT_OUT:
        return [_leave_out(item, _LEFT_OUT[kind])]
    return [item if kind in KNOWN else _leave_out(item, name_unknown(kind))]


def read_limit(error: dict[str, object]) -> str | None:
    """The vendor's words, when the account is out. Without a code of its own a rate limit may be a busy service's."""
    is_user_s = error.get("errorType") == "rate_limit" and as_text(error.get("errorCode")).startswith("user_")
    return as_text(error.get("message")) or None if error.get("errorType") == "quota" or is_user_s else None


def is_subagents(record: dict[str, object]) -> bool:
    """Whether an event is of a subagent, whose events stand in its parent's log."""
    return bool(record.get("agentId") or as_dict(record.get("data")).get("parentToolCallId"))


def find_typed(record: dict[str, object]) -> str:
    """What a person typed, in an event of a prompt; an empty text for anything else."""
    data = as_dict(record.get("data"))
    is_typed = record.get("type") == "user.message" and not is_subagents(record) and _is_typed(data)
    return as_text(data.get("content")).strip() if is_typed else ""


def _is_typed(data: dict[str, object]) -> bool:
    """Whether a person wrote it: only what others put in the user's place names a source."""
    return not data.get("source") and data.get("isAutopilotContinuation") is not True


def _leave_out(item: Item, *losses: str) -> Item:
    return replace(item, losses=(*item.losses, *losses))


def _read_user(item: Item, data: dict[str, object]) -> Item:
    packets = tuple(find_markers(as_text(data.get("transformedContent"))))
    losses = ["own_packet"] * len(packets)
    losses += [f"attachment_{_name_attachment(each)}" for each in as_list(data.get("attachments"))]
    text = as_text(data.get("content"))
    if not _is_typed(data):
        losses.append("meta")
    is_prompt = _is_typed(data) and bool(text.strip())
    pieces = (make_message("user", text),) if is_prompt else ()
    return replace(item, pieces=pieces, is_prompt=is_prompt, losses=tuple(losses), packets=packets)


def _name_attachment(attachment: object) -> str:
    kind = as_text(as_dict(attachment).get("type"))
    return kind if kind.isidentifier() and len(kind) <= 40 else "file"


def _read_assistant(item: Item, data: dict[str, object]) -> Item:
    text = as_text(data.get("content"))
    pieces: list[Piece] = [make_message("assistant", text)] if text.strip() else []
    for block, request in enumerate(as_list(data.get("toolRequests")), 1):
        call = as_dict(request)
        name, call_id = as_text(call.get("name")), as_text(call.get("toolCallId"))
        pieces.append(make_call(name, call.get("arguments"), call_id=call_id, block=block))
    hidden = any(data.get(name) for name in ("reasoningText", "reasoningOpaque", "encryptedContent", "reasoningBlocks"))
    return replace(item, pieces=tuple(pieces), losses=("hidden_reasoning",) if hidden else ())


def _read_result(item: Item, data: dict[str, object]) -> Item:
    text = as_text(as_dict(data.get("result")).get("content")) or as_text(as_dict(data.get("error")).get("message"))
    if repeats_packet(text):
        return _leave_out(item, "own_packet")
    code = as_dict(data.get("shellExecution")).get("exitCode")
    failed = data.get("success") is False or code not in (None, 0)
    return replace(item, pieces=(make_result(text, call_id=as_text(data.get("toolCallId")), failed=failed),))


def _read_compaction(item: Item, data: dict[str, object]) -> Item:
    text = as_text(data.get("summaryContent"))
    if not text.strip() or data.get("success") is not True:
        return item
    return replace(item, pieces=(Piece(kind=Kind.COMPACTION, text=text, role="assistant"),))


def _read_info(item: Item, data: dict[str, object], native_id: str) -> Item:
    """A fork begins with copies of its parent's events, and then says where it comes from (1.0.102).

    Where the parent was a fork itself, its own such words are copied too.
    """
    found = _FORKED.fullmatch(as_text(data.get("message"))) if data.get("infoType") == "fork" else None
    if found is None or found[2] != native_id or found[1] == native_id:
        return item
    evidence = "its log says so where the copied events end"
    link = SessionLink(child_id=native_id, parent_id=found[1], kind=LinkKind.FORK, evidence=evidence)
    return replace(item, links=(link,))


_READERS: dict[str, Callable[[Item, dict[str, object]], Item]] = {
    "user.message": _read_user,
    "assistant.message": _read_assistant,
    "tool.execution_complete": _read_result,
    "session.compaction_complete": _read_compaction,
}
_LEFT_OUT = {
    "assistant.reasoning": "hidden_reasoning",
    "model.messages_snapshot": "system_prompt",
    "session.error": "api_error",
    "system.message": "system_prompt",
    "system.notification": "meta",
    "tool.user_requested": "meta",
}
