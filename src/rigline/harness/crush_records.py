"""What a message of Crush says: its parts, in one JSON list. Pure; shapes from its public source.

    text {text, hidden}                      reasoning {thinking}
    tool_call {id, name, input, finished}    tool_result {tool_call_id, name, content, is_error}
    shell_command {command, output, exit_code}, of a line that the user began with `!`
    binary {Path, MIMEType, Data}, image_url   finish {reason, message}

Left out, and counted by kind: hidden_reasoning, meta (prompts that the program made up), system_prompt, api_error,
attachment_image and attachment_file, own_packet, unknown:<type>. A call that is still being written is left for later.
"""

from __future__ import annotations

from rigline.harness.journal import decode_json
from rigline.harness.markers import repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text
from rigline.model import Kind


def decode_parts(text: object) -> list[object] | None:
    """A message's parts, None where they are no JSON list."""
    try:
        value = decode_json(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def is_prompt(role: str, parts: list[object] | None, *, is_summary: bool) -> bool:
    """Whether a message holds a user's own words."""
    if role != "user" or is_summary:
        return False
    texts = (as_dict(part) for part in parts or ())
    return any(part.get("type") in ("text", "shell_command") and not _is_hidden(part) for part in texts)


def extract(
    message_id: str, role: str, parts: list[object] | None, *, at_ms: int, is_summary: bool, prompt: str
) -> Item:
    """What a message says. `prompt` is the prompt that it answers, or for one the one before."""
    pieces: list[Piece] = []
    losses: list[str] = [] if parts is not None else ["not_json"]
    for place, each in enumerate(parts or ()):
        part = as_dict(each)
        found, lost = _extract_part(role, as_text(part.get("type")), part, place, is_summary=is_summary)
        pieces += found
        losses += lost
    return Item(
        key=message_id,
        parent=prompt,
        is_prompt=is_prompt(role, parts, is_summary=is_summary),
        at_ms=at_ms,
        pieces=tuple(pieces),
        losses=tuple(losses),
    )


def _extract_part(
    role: str, kind: str, part: dict[str, object], place: int, *, is_summary: bool
) -> tuple[list[Piece], list[str]]:
    data = as_dict(part.get("data"))
    if kind == "text":
        return _extract_text(role, part, place, is_summary=is_summary)
    if kind == "tool_call":
        return _extract_call(data, place), []
    if kind == "tool_result":
        return _extract_result(data, place)
    if kind == "shell_command":
        call = make_call("shell", {"command": data.get("command")}, call_id="", block=place)
        output, failed = as_text(data.get("output")), data.get("exit_code") not in (None, 0)
        result = [make_result(output, call_id="", failed=failed, block=place, tool="shell")] if output.strip() else []
        return [call, *result], []
    return [], _leave_out(kind, data)


def _extract_text(role: str, part: dict[str, object], place: int, *, is_summary: bool) -> tuple[list[Piece], list[str]]:
    text = as_text(as_dict(part.get("data")).get("text"))
    if not text.strip():
        return [], []
    if is_summary:
        return [Piece(kind=Kind.COMPACTION, role="assistant", text=text, block=place)], []
    if role == "system":
        return [], ["system_prompt"]
    if _is_hidden(part):
        return [], ["meta"]
    return [make_message("user" if role == "user" else "assistant", text, block=place)], []


def _extract_call(data: dict[str, object], place: int) -> list[Piece]:
    if data.get("finished") is False:
        return []
    name, call_id = as_text(data.get("name")), as_text(data.get("id"))
    return [make_call(name, as_text(data.get("input")), call_id=call_id, block=place)]


def _extract_result(data: dict[str, object], place: int) -> tuple[list[Piece], list[str]]:
    text = as_text(data.get("content"))
    losses = ["attachment_image"] if as_text(data.get("mime_type")).startswith("image/") else []
    if repeats_packet(text):
        return [], [*losses, "own_packet"]
    if not text.strip():
        return [], losses
    call_id, failed = as_text(data.get("tool_call_id")), data.get("is_error") is True
    return [make_result(text, call_id=call_id, failed=failed, block=place, tool=as_text(data.get("name")))], losses


def _leave_out(kind: str, data: dict[str, object]) -> list[str]:
    if kind == "reasoning":
        return ["hidden_reasoning"] if as_text(data.get("thinking")) else []
    if kind == "finish":
        return ["api_error"] if data.get("reason") == "error" else []
    if kind == "binary":
        return ["attachment_image" if as_text(data.get("MIMEType")).startswith("image/") else "attachment_file"]
    return ["attachment_image"] if kind == "image_url" else [name_unknown(kind)]


def _is_hidden(part: dict[str, object]) -> bool:
    return as_dict(part.get("data")).get("hidden") is True


def read_first_words(parts: list[object] | None) -> str:
    """The text of a prompt's first part that has one."""
    texts = (as_text(as_dict(as_dict(part).get("data")).get("text")) for part in as_list(parts))
    return next((text for text in texts if text.strip()), "")
