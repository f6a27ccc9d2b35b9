"""What the records of a Kimi Code journal (`wire.jsonl`) say. Pure.

From what 2.1.0 wrote. Everything that is said stands there twice: as `context.*` records and as events
(`"kind":"event"`). Only the former are read. Left out, and counted by kind:

    hidden_reasoning    what the model thinks
    system_prompt       the prompt of a profile
    meta                what the program says in the user's name: reminders, skills, hooks, timers, tasks
    own_packet          history that rigline had shown, and what repeats it
    attachment_<kind>   a picture and its like; api_error: a turn that the service refused
    unknown:<type>      a type that is not known here
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, as_time_ms
from rigline.model import Kind

_USER = "user"
_QUOTA = "APIProviderQuotaExhaustedError"
_HOOK = "hook_result"
_MEDIA = {
    "image_url": "attachment_image",
    "audio_url": "attachment_audio",
    "video_url": "attachment_video",
    "image": "attachment_image",
    "file": "attachment_file",
}
#: types that hold no words of anyone's, by what stands before the first dot
_BOOKKEEPING_WORDS = (
    "agent compaction config context cron error event file_history forked full_compaction goal hook interaction llm mcp"
    " metadata permission plan plan_mode plugin plugin_command profile prompt runtime session shell skill subagent"
    " swarm_mode task token_counting tool tools tower tower_mode turn usage warning"
)
_BOOKKEEPING = frozenset(_BOOKKEEPING_WORDS.split())
_STEPS = frozenset({"step.begin", "step.end"})


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What of a record is history. Never raises."""
    if record.get("kind") == "event":
        return []
    kind = as_text(record.get("type"))
    item = Item(key=f"byte-{offset}", at_ms=as_time_ms(record.get("time")))
    if kind == "context.append_message":
        return [_read_message(item, as_dict(record.get("message")))]
    if kind == "context.append_loop_event":
        return _read_step(item, as_dict(record.get("event")))
    if kind == "context.apply_compaction":
        return [_read_compaction(item, record)]
    if kind == "profile.bind":
        return [replace(item, losses=("system_prompt",))] if record.get("systemPrompt") else []
    if kind == "turn.ended" and record.get("error"):
        return [replace(item, losses=("api_error",))]
    return [] if kind.partition(".")[0] in _BOOKKEEPING else [replace(item, losses=(name_unknown(kind),))]


def find_typed(record: dict[str, object]) -> str:
    """What a person typed, in a record of a message; an empty text for anything else."""
    message = as_dict(record.get("message"))
    if record.get("type") != "context.append_message" or not _is_prompt(message):
        return ""
    return _join(message.get("content"))[0].strip()


def read_limit(error: dict[str, object]) -> str | None:
    """The vendor's words in a turn's error, when it says that nothing is left to go on with.

    What is only called a rate limit may be a busy service's, after the program's own tries.
    """
    return as_text(error.get("message")) or None if error.get("name") == _QUOTA else None


def _find_origin(message: dict[str, object]) -> str:
    return as_text(as_dict(message.get("origin")).get("kind"))


def _is_prompt(message: dict[str, object]) -> bool:
    """Whether a person typed it, or, in a subagent's journal, the agent that started it."""
    origin = as_dict(message.get("origin"))
    is_task = origin.get("kind") == "system_trigger" and origin.get("name") == "subagent"
    return message.get("role") == "user" and (origin.get("kind") == _USER or is_task)


def _name_by_content(item: Item, value: object) -> str:
    """A key for a record without an id: its time and what it says. Both are the same in a fork's copy."""
    digest = blake2b(msgspec.json.encode(value), digest_size=8).hexdigest()
    return f"{item.at_ms or 0}-{digest}"


def _join(content: object) -> tuple[str, list[str]]:
    """(the text of a message, the losses)."""
    if isinstance(content, str):
        return content, []
    texts, losses = [], []
    for part in as_list(content):
        kind = as_text(as_dict(part).get("type"))
        if kind == "text":
            texts.append(as_text(as_dict(part).get("text")))
        elif kind in ("think", "thinking"):
            losses.append("hidden_reasoning")
        else:
            losses.append(_MEDIA.get(kind) or name_unknown(kind))
    return "\n".join(text for text in texts if text), losses


def _read_message(item: Item, message: dict[str, object]) -> Item:
    role, origin = message.get("role"), _find_origin(message)
    text, losses = _join(message.get("content"))
    key = as_text(message.get("id")) or _name_by_content(item, message)
    if origin == _HOOK:
        packets = tuple(find_markers(text))
        return replace(item, key=key, packets=packets, losses=("own_packet",) * len(packets) or ("meta",))
    if _is_prompt(message):
        pieces = (make_message("user", text),) if text.strip() else ()
        return replace(item, key=key, pieces=pieces, is_prompt=bool(pieces), losses=tuple(losses))
    if role == "assistant" and not origin:
        return replace(item, key=key, pieces=_read_answer(text, message), losses=tuple(losses))
    if role == "tool":
        return _read_result(item, key, message.get("content"), as_text(message.get("toolCallId")), failed=False)
    return replace(item, key=key, losses=("system_prompt" if role == "system" else "meta",))


def _read_answer(text: str, message: dict[str, object]) -> tuple[Piece, ...]:
    pieces = [make_message("assistant", text)] if text.strip() else []
    for block, each in enumerate(as_list(message.get("toolCalls")), 1):
        call = as_dict(each)
        function = as_dict(call.get("function")) or call
        name, call_id = as_text(function.get("name")), as_text(call.get("id"))
        pieces.append(make_call(name, function.get("arguments"), call_id=call_id, block=block))
    return tuple(pieces)


def _read_step(item: Item, event: dict[str, object]) -> list[Item]:
    kind = as_text(event.get("type"))
    if kind in _STEPS:
        return []
    key = as_text(event.get("uuid")) or as_text(event.get("parentUuid")) or _name_by_content(item, event)
    if kind == "content.part":
        text, losses = _join([event.get("part")])
        pieces = (make_message("assistant", text),) if text.strip() else ()
        return [replace(item, key=key, pieces=pieces, losses=tuple(losses))]
    call_id = as_text(event.get("toolCallId"))
    if kind == "tool.call":
        return [
            replace(item, key=key, pieces=(make_call(as_text(event.get("name")), event.get("args"), call_id=call_id),))
        ]
    if kind == "tool.result":
        result = as_dict(event.get("result"))
        failed = result.get("isError") is True
        return [_read_result(item, f"{key}-result", result.get("output"), call_id, failed=failed)]
    return [replace(item, key=key, losses=(name_unknown(kind),))]


def _read_result(item: Item, key: str, output: object, call_id: str, *, failed: bool) -> Item:
    text, losses = _join(output)
    if repeats_packet(text):
        return replace(item, key=key, losses=("own_packet",))
    return replace(item, key=key, pieces=(make_result(text, call_id=call_id, failed=failed),), losses=tuple(losses))


def _read_compaction(item: Item, record: dict[str, object]) -> Item:
    text = as_text(record.get("summary"))
    pieces = (Piece(kind=Kind.COMPACTION, text=text, role="assistant"),) if text.strip() else ()
    return replace(item, key=_name_by_content(item, text), pieces=pieces)
