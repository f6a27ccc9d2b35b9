"""What OpenCode's rows say: messages with their parts, and the newer entries that hold both. Pure.

Parts (`message`, `part`; also as files of versions before 1.2) as 1.18.33 writes them; entries (`session_message`) as
that version's own projector makes them, for programs that write nothing else. A tool's call and result are one part.
Left out, and counted by kind:

    hidden_reasoning   reasoning
    meta               text that the program adds to a prompt: read files, reminders, agents that were named
    own_packet         a packet of rigline's, or a tool's output that repeats one
    system_prompt      changes of context and skills, which entries hold
    api_error          an answer that ended with an error of the service
    attachment_image   a picture; attachment_file alike
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import re
from hashlib import blake2b

from msgspec import Struct, structs

from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, encode_arguments
from rigline.model import Kind

#: parts without words or actions. The `compaction` mark stands on a prompt; the summary is the answer to it
_BOOKKEEPING = frozenset({"agent", "compaction", "patch", "retry", "snapshot", "step-finish", "step-start"})
_ENTRY_BOOKKEEPING = frozenset({"agent-switched", "idle", "location-switched", "model-switched"})
#: how `opencode run "two words"` stores its prompt: an argument with a space in quotes, those within it escaped
_QUOTED = re.compile(r'"((?:[^"]|(?<=\\)")* (?:[^"]|(?<=\\)")*)"', re.DOTALL)
#: titles that stand for none yet
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT")


class Message(Struct, frozen=True, kw_only=True):
    """A message without its parts. `prompt` is the message of the prompt that it answers, or for one the one before."""

    id: str
    created_ms: int
    role: str = ""
    parent: str = ""
    is_prompt: bool = False
    is_summary: bool = False
    has_error: bool = False
    prompt: str = ""


def read_message(native_id: str, created_ms: int, data: dict[str, object]) -> Message:
    """A message as far as its own record tells."""
    return Message(
        id=native_id,
        created_ms=created_ms,
        role=as_text(data.get("role")),
        parent=as_text(data.get("parentID")),
        is_summary=data.get("summary") is True,
        has_error=bool(data.get("error")),
    )


def extract_message(message: Message) -> Item:
    """What a message says without its parts: that it failed."""
    return Item(key=message.id, parent=message.prompt, losses=("api_error",) if message.has_error else ())


def extract_part(message: Message, place: int, part_id: str, data: dict[str, object]) -> Item:
    """What the part at that place of a message says.

    The words of a prompt have the message's id, so that answers can name it. A fork's copy has other ids, but the same
    times and calls.
    """
    kind = as_text(data.get("type"))
    if kind == "text" and message.role == "user":
        return _extract_user(message, place, data)
    if kind == "text":
        return _extract_answer(message, part_id, data)
    if kind == "tool":
        return _extract_tool(message, part_id, data)
    return Item(key=part_id, parent=message.prompt, losses=_leave_out(kind, data))


def is_typed(data: dict[str, object]) -> bool:
    """Whether a text part holds a user's own words."""
    return data.get("type") == "text" and data.get("synthetic") is not True and data.get("ignored") is not True


def unquote(text: str) -> str:
    """The prompt as it was given to `opencode run`, without the quotes that it adds. Others stay as they are."""
    match = _QUOTED.fullmatch(text)
    return match[1].replace('\\"', '"') if match else text


def read_title(value: object) -> str | None:
    """A session's title; None for the one that stands there before there is one."""
    title = as_text(value)
    return None if not title or _NO_TITLE.match(title) else title


def _extract_user(message: Message, place: int, data: dict[str, object]) -> Item:
    text = as_text(data.get("text"))
    packets = tuple(find_markers(text[: text.find("\n") + 1] or text)) if data.get("synthetic") is True else ()
    if packets:
        return Item(key=f"{message.id}/{place}", parent=message.prompt, losses=("own_packet",), packets=packets)
    if not is_typed(data):
        return Item(key=f"{message.id}/{place}", parent=message.prompt, losses=("meta",))
    words = unquote(text)
    copy_key = f"{message.created_ms}-{_hash(text)}"
    piece = Piece(kind=Kind.MESSAGE, role="user", text=words, block=place, copy_key=copy_key)
    return Item(
        key=message.id,
        parent=message.prompt,
        is_prompt=True,
        at_ms=message.created_ms,
        pieces=(piece,) if words.strip() else (),
    )


def _extract_answer(message: Message, part_id: str, data: dict[str, object]) -> Item:
    text = as_text(data.get("text"))
    began_ms = _get_time(data, "start")
    kind = Kind.COMPACTION if message.is_summary else Kind.MESSAGE
    # a part of a time of its own is told by it, since its text still grows; older versions have none
    copy_key = f"{message.created_ms}-{began_ms if began_ms is not None else _hash(text)}"
    piece = Piece(kind=kind, role="assistant", text=text, copy_key=copy_key)
    return Item(
        key=part_id,
        parent=message.prompt,
        at_ms=began_ms or message.created_ms,
        pieces=(piece,) if text.strip() else (),
        losses=() if not data.get("synthetic") else ("meta",),
    )


def _extract_tool(message: Message, part_id: str, data: dict[str, object]) -> Item:
    state = as_dict(data.get("state"))
    call_id = as_text(data.get("callID"))
    call, losses = _read_call(as_text(data.get("tool")), call_id, state, f"{message.created_ms}-{call_id}")
    return Item(
        key=part_id,
        parent=message.prompt,
        at_ms=_get_time(state, "start") or message.created_ms,
        pieces=call,
        losses=losses,
    )


def _read_call(
    tool: str, call_id: str, state: dict[str, object], copy_key: str, block: int = 0
) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """A call, and its result where it has ended."""
    tool = tool or "tool"
    call = Piece(
        kind=Kind.TOOL_CALL,
        role="assistant",
        text=f"{tool} {encode_arguments(state.get('input') or {})}",
        block=block,
        tool=tool,
        call_id=call_id or None,
        copy_key=copy_key,
    )
    status = as_text(state.get("status"))
    text = _read_output(state)
    losses = tuple(_name_attachment(as_dict(each)) for each in as_list(state.get("attachments")))
    if status not in ("completed", "error") or not text.strip():
        return (call,), losses
    if repeats_packet(text):
        return (call,), (*losses, "own_packet")
    result = Piece(
        kind=Kind.TOOL_RESULT,
        role="tool",
        text=text,
        block=block,
        tool=tool,
        call_id=call_id or None,
        status="error" if status == "error" or _has_failed(state) else None,
        copy_key=copy_key,
    )
    return (call, result), losses


def _read_output(state: dict[str, object]) -> str:
    """A tool's output, or why it failed: of a part as a text, of an entry as content."""
    error = state.get("error")
    if state.get("status") == "error" and error:
        return error if isinstance(error, str) else as_text(as_dict(error).get("message"))
    output = as_text(state.get("output"))
    return output or "\n".join(as_text(as_dict(each).get("text")) for each in as_list(state.get("content")))


def _has_failed(state: dict[str, object]) -> bool:
    """Whether a command ended with a status that tells of a failure."""
    return as_dict(state.get("metadata")).get("exit") not in (None, 0)


def _leave_out(kind: str, data: dict[str, object]) -> tuple[str, ...]:
    if kind == "reasoning":
        return ("hidden_reasoning",)
    if kind == "file":
        return (_name_attachment(data),)
    if kind == "subtask":
        return ("meta",)
    return () if kind in _BOOKKEEPING else (name_unknown(kind),)


def _name_attachment(data: dict[str, object]) -> str:
    return "attachment_image" if as_text(data.get("mime")).startswith("image/") else "attachment_file"


def _get_time(data: dict[str, object], name: str) -> int | None:
    value = as_dict(data.get("time")).get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def extract_entry(message: Message, kind: str, data: dict[str, object]) -> Item:
    """What an entry of `session_message` says: a whole message, or something between messages."""
    if kind == "user":
        found = _extract_user(message, 0, {"type": "text", "text": data.get("text")})
        files = tuple(_name_attachment(as_dict(each)) for each in as_list(data.get("files")))
        return _with_losses(found, files)
    if kind == "assistant":
        return _extract_content(message, data)
    if kind == "shell":
        state = {"status": "completed", "input": {"command": data.get("command")}, "output": data.get("output")}
        pieces, losses = _read_call("shell", as_text(data.get("callID")), state, f"{message.created_ms}-shell")
        return Item(key=message.id, parent=message.prompt, at_ms=message.created_ms, pieces=pieces, losses=losses)
    if kind == "compaction":
        text = as_text(data.get("summary"))
        piece = Piece(kind=Kind.COMPACTION, role="assistant", text=text, copy_key=f"{message.created_ms}-summary")
        pieces = (piece,) if text.strip() else ()
        return Item(key=message.id, parent=message.prompt, at_ms=message.created_ms, pieces=pieces)
    return _extract_aside(message, kind, as_text(data.get("text")))


def _extract_aside(message: Message, kind: str, text: str) -> Item:
    packets = tuple(find_markers(text[: text.find("\n") + 1] or text)) if kind == "synthetic" else ()
    if packets:
        return Item(key=message.id, parent=message.prompt, losses=("own_packet",), packets=packets)
    names = {"synthetic": "meta", "system": "system_prompt", "skill": "system_prompt"}
    losses = () if kind in _ENTRY_BOOKKEEPING else (names.get(kind) or name_unknown(kind),)
    return Item(key=message.id, parent=message.prompt, losses=losses)


def _extract_content(message: Message, data: dict[str, object]) -> Item:
    pieces: list[Piece] = []
    losses: list[str] = ["api_error"] if data.get("error") else []
    for place, each in enumerate(as_list(data.get("content"))):
        part = as_dict(each)
        kind, copy_key = as_text(part.get("type")), f"{message.created_ms}-{place}"
        if kind == "text":
            text = as_text(part.get("text"))
            if text.strip():
                pieces.append(Piece(kind=Kind.MESSAGE, role="assistant", text=text, block=place, copy_key=copy_key))
        elif kind == "tool":
            state = as_dict(part.get("state"))
            name, call_id = as_text(part.get("name")), as_text(part.get("id"))
            found, lost = _read_call(name, call_id, state, copy_key, block=place)
            pieces += found
            losses += lost
        else:
            losses += _leave_out(kind, part)
    return Item(
        key=message.id, parent=message.prompt, at_ms=message.created_ms, pieces=tuple(pieces), losses=tuple(losses)
    )


def _with_losses(item: Item, losses: tuple[str, ...]) -> Item:
    return structs.replace(item, losses=(*item.losses, *losses)) if losses else item
