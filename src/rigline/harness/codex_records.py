"""One record of a Codex rollout: what of it is history, and what is left out and why. Pure.

Shapes as 0.120.0 and 0.171.0 write them, and those of versions before and between where they differ. Every text
stands in a rollout twice, for the model (`response_item`) and for people (`event_msg`): the former is history, the
latter only settles who wrote a text that looks like the program's own. Left out, and counted by kind:

    hidden_reasoning   reasoning, summarised or encrypted
    system_prompt      base instructions and developer messages
    meta               what the program says in the user's name: environment, instructions, notices
    own_packet         a tool result that repeats a packet of rigline's
    attachment_image   a picture; attachment_audio, attachment_file alike
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import name_unknown
from rigline.harness.windows import as_dict, as_text, encode_arguments
from rigline.model import Kind

_TYPED = "user.text"
#: what the program writes in the user's name begins like this, where no kinds of content are told (before 0.150)
_INJECTED = (
    "# AGENTS.md instructions",
    "<apps_instructions",
    "<collaboration_mode",
    "<environment_context",
    "<goal_context",
    "<hook_prompt",
    "<instructions",
    "<model_switch",
    "<permissions instructions",
    "<personality_spec",
    "<plugins_instructions",
    "<recommended_plugins",
    "<skill>",
    "<skills_instructions",
    "<subagent_notification",
    "<turn_aborted",
    "<user_instructions",
    "<user_shell_command",
)
_PICTURE_TAG = re.compile(r"<image\b[^>]*>|</image>")
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
#: what stands above a shell's output that has ended (0.120.0 and 0.171.0); of it only a failure's code is worth keeping
_SHELL_FRAME = re.compile(
    r"Chunk ID: \w+\nWall time: [^\n]*\n(Process exited with code (-?\d+)\n)(?:Original token count: \d+\n)?Output:\n"
)
#: an exit code stands above the output, which may hold anything
_STATUS_CHARS = 400

_TEXTS = frozenset({"input_text", "output_text", "text"})
_MEDIA = {"input_image": "attachment_image", "input_audio": "attachment_audio", "input_file": "attachment_file"}
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "tool_search_call": "arguments",
    "local_shell_call": "action",
    "web_search_call": "action",
}
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
#: neither words nor actions, or a compaction in the provider's own cipher
_BOOKKEEPING = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "tool_search_output",
    }
)
_NO_HISTORY = frozenset({"event_msg", "token_usage_record", "turn_context", "world_state"})


class Extract(Struct):
    """What a record holds: at most one event. `is_prompt` marks the words of a user, which begin a turn.

    `doubtful` is a user's text that looks like the program's own. It is not counted here, as the event that follows
    it may tell otherwise.
    """

    kind: Kind | None = None
    text: str = ""
    role: str | None = None
    tool: str | None = None
    call_id: str | None = None
    status: str | None = None
    is_prompt: bool = False
    doubtful: str = ""
    losses: list[str] = []
    packets: list[tuple[str, int, int]] = []


def extract(record: dict[str, object]) -> Extract:
    """What of a record is history. Never raises."""
    found = Extract()
    kind = record.get("type")
    if kind in _NO_HISTORY:
        return found
    payload = as_dict(record.get("payload"))
    if kind == "response_item":
        _read_item(payload, found)
    elif kind == "compacted":
        _read_compaction(payload, found)
    elif kind != "session_meta":
        found.losses.append(name_unknown(kind))
    elif payload.get("base_instructions"):
        found.losses.append("system_prompt")
    if not found.text or found.text.isspace():
        found.kind = None
    return found


def _read_compaction(payload: dict[str, object], found: Extract) -> None:
    found.kind, found.role, found.text = Kind.COMPACTION, "assistant", as_text(payload.get("message"))
    if not found.text.strip():
        found.losses.append("encrypted_compaction")


def find_told(payload: dict[str, object]) -> str:
    """A text that an event for people says the user typed, or an empty string."""
    if payload.get("type") == "user_message":
        return as_text(payload.get("message"))
    item = as_dict(payload.get("item"))
    if payload.get("type") != "item_completed" or item.get("type") != "UserMessage":
        return ""
    return "\n".join(text for text in (as_text(part.get("text")) for part in _get_dicts(item.get("content"))) if text)


def _get_dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _read_item(payload: dict[str, object], found: Extract) -> None:
    kind = as_text(payload.get("type"))
    if kind == "message":
        _read_message(payload, found)
    elif kind == "reasoning":
        found.losses.append("hidden_reasoning")
    elif kind in _CALLS:
        _read_call(payload, found)
    elif kind in _RESULTS:
        _read_result(payload, found)
    elif kind == "image_generation_call":
        found.losses.append("attachment_image")
    elif kind not in _BOOKKEEPING:
        found.losses.append(name_unknown(kind))


def _read_message(payload: dict[str, object], found: Extract) -> None:
    role = payload.get("role")
    if role == "user":
        _read_user(payload, found)
    elif role == "assistant":
        found.kind, found.role, found.text = Kind.MESSAGE, "assistant", _join(payload.get("content"), found)
    elif role in ("developer", "system"):
        _read_developer(payload, found)
    else:
        found.losses.append("unknown:role")


def _read_developer(payload: dict[str, object], found: Extract) -> None:
    """Hooks' answers come as developer messages: the only place where a packet's marker counts."""
    texts = [as_text(part.get("text")) for part in _get_dicts(payload.get("content"))]
    for text in texts:
        markers = find_markers(text[: text.find("\n") + 1] or text)
        found.packets.extend(markers)
        if not markers:
            found.losses.append("system_prompt")


def _read_user(payload: dict[str, object], found: Extract) -> None:
    kinds = as_dict(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    typed, doubtful = [], []
    for place, part in enumerate(_get_dicts(payload.get("content"))):
        kind = kinds[place] if isinstance(kinds, list) and place < len(kinds) else None
        text = _read_part(part, found)
        if _PICTURE_TAG.fullmatch(text) or not text.strip():
            continue
        if kind == _TYPED or (kind in (None, "unknown") and not _looks_injected(text)):
            typed.append(text)
            continue
        if kind in (None, "unknown"):
            doubtful.append(text)
        else:
            found.losses.append("meta")
    if typed:
        found.losses.extend("meta" for _ in doubtful)
    found.kind, found.role, found.text = Kind.MESSAGE, "user", "\n".join(typed)
    found.is_prompt = bool(typed)
    found.doubtful = "" if typed else "\n".join(doubtful)


def _looks_injected(text: str) -> bool:
    return text.lstrip().lower().startswith(_INJECTED_LOWER)


_INJECTED_LOWER = tuple(start.lower() for start in _INJECTED)


def _read_part(part: dict[str, object], found: Extract) -> str:
    kind = as_text(part.get("type"))
    if kind in _TEXTS:
        return as_text(part.get("text"))
    if kind == "refusal":
        return as_text(part.get("refusal"))
    found.losses.append(_MEDIA.get(kind) or name_unknown(kind))
    return ""


def _join(content: object, found: Extract) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for text in (_read_part(part, found) for part in _get_dicts(content)) if text)


def _read_call(payload: dict[str, object], found: Extract) -> None:
    kind = as_text(payload.get("type"))
    name = as_text(payload.get("name")) or kind.removesuffix("_call")
    space = as_text(payload.get("namespace"))
    found.kind, found.role = Kind.TOOL_CALL, "assistant"
    found.tool = f"{space}/{name}" if space else name
    found.text = f"{found.tool} {encode_arguments(payload.get(_CALLS[kind]))}"
    found.call_id = _find_call_id(payload)


def _find_call_id(payload: dict[str, object]) -> str | None:
    return as_text(payload.get("call_id")) or as_text(payload.get("id")) or None


def _read_result(payload: dict[str, object], found: Extract) -> None:
    found.kind, found.role, found.call_id = Kind.TOOL_RESULT, "tool", _find_call_id(payload)
    text, failed = _read_output(payload.get("output"), found)
    if repeats_packet(text):
        found.losses.append("own_packet")
        return
    found.text = text
    found.status = "error" if failed else None


def _read_output(output: object, found: Extract) -> tuple[str, bool]:
    """The text of a tool's output, and whether it tells of a failure."""
    if isinstance(output, str):
        wrapped = _unwrap(output)
        return wrapped if wrapped is not None else (_unframe(output), _tells_failure(output))
    if isinstance(output, dict):
        return as_text(output.get("content")), output.get("success") is False
    if isinstance(output, list):
        text = _join(output, found)
        return text, _tells_failure(text)
    return "", False


def _unframe(output: str) -> str:
    frame = _SHELL_FRAME.match(output)
    if frame is None:
        return output
    kept = "" if frame[2] == "0" else frame[1]
    return kept + output[frame.end() :]


def _unwrap(output: str) -> tuple[str, bool] | None:
    """An output within JSON, `{"output", "metadata": {"exit_code"}}`, as versions before 0.100 wrote it."""
    if not output.startswith('{"output":'):
        return None
    try:
        value = msgspec.json.decode(output, type=_Wrapped)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return value.output, value.metadata.get("exit_code", 0) != 0


class _Wrapped(Struct):
    output: str
    metadata: dict[str, object]


def _tells_failure(text: str) -> bool:
    match = _EXIT_CODE.search(text, 0, _STATUS_CHARS)
    return match[1] != "0" if match else text.startswith("aborted")
