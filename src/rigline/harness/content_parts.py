"""Messages whose content is Google's parts (`text`, `functionCall`, `functionResponse` ...), as two harnesses keep
them. Pure. A message is a list of parts; a text alone stands for one part.
"""

from __future__ import annotations

from rigline.harness.markers import repeats_packet
from rigline.harness.pieces import make_call, make_message, make_result
from rigline.harness.windows import Piece, as_dict, as_list, as_text, encode_arguments

#: parts that are attachments, and those that only describe another one
_ATTACHED = ("inlineData", "fileData")


def list_parts(content: object) -> list[dict[str, object]]:
    """The content as parts."""
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, dict):
        return [content]
    return [{"text": part} if isinstance(part, str) else as_dict(part) for part in as_list(content)]


def join_texts(content: object) -> str:
    """What the text parts say, without thoughts."""
    return "".join(as_text(part.get("text")) for part in list_parts(content) if part.get("thought") is not True)


def read_parts(
    parts: list[dict[str, object]], role: str, *, failed: bool | None = None
) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """(pieces, losses) of a message of `user` or `assistant`; each piece's block is its part's place.

    `failed` says whether the tool that answers in it failed; None: where its answer is an error.
    """
    pieces: list[Piece] = []
    losses: list[str] = []
    for place, part in enumerate(parts):
        found = _read_part(part, role, place, failed)
        if isinstance(found, Piece):
            pieces.append(found)
        elif found:
            losses.append(found)
    return tuple(pieces), tuple(losses)


def _read_part(part: dict[str, object], role: str, place: int, failed: bool | None) -> Piece | str:
    """A piece, or what kind of thing is left out; an empty text for a part that says nothing."""
    if part.get("thought") is True:
        return "hidden_reasoning"
    if "text" in part:
        text = as_text(part["text"])
        return make_message(role, text, block=place) if text.strip() else ""
    if "functionCall" in part:
        call = as_dict(part["functionCall"])
        return make_call(as_text(call.get("name")), call.get("args"), call_id=as_text(call.get("id")), block=place)
    if "functionResponse" in part:
        return _read_answer(as_dict(part["functionResponse"]), place, failed)
    attached = next((as_dict(part[name]) for name in _ATTACHED if name in part), None)
    if attached is not None:
        return "attachment_image" if as_text(attached.get("mimeType")).startswith("image/") else "attachment_file"
    return "unknown:part" if part else ""


def _read_answer(answer: dict[str, object], place: int, failed: bool | None) -> Piece | str:
    response = as_dict(answer.get("response"))
    output = response.get("output", response.get("error", response))
    text = output if isinstance(output, str) else encode_arguments(output)
    if repeats_packet(text):
        return "own_packet"
    has_failed = "error" in response and "output" not in response if failed is None else failed
    name, call_id = as_text(answer.get("name")), as_text(answer.get("id"))
    return make_result(text, call_id=call_id, failed=has_failed, block=place, tool=name)
