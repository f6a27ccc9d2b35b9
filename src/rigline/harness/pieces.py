"""The pieces that records of most harnesses hold, in the form that all readers share. Pure."""

from __future__ import annotations

import re

from rigline.harness.windows import Piece, as_dict, as_list, encode_arguments
from rigline.model import Kind

_TYPE_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,40}")


def name_unknown(kind: object) -> str:
    """The loss of a record or block whose type is not known. What a file invents as a name is bounded."""
    return f"unknown:{kind}" if isinstance(kind, str) and _TYPE_NAME.fullmatch(kind) else "unknown:other"


def list_blocks(content: object) -> list[dict[str, object]]:
    """A message's content as blocks; a text of its own is one block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else [as_dict(b) for b in as_list(content)]


def make_message(role: str, text: str, *, block: int = 0) -> Piece:
    """What `user` or `assistant` said."""
    return Piece(kind=Kind.MESSAGE, text=text, block=block, role=role)


def make_call(name: str, arguments: object, *, call_id: str, block: int = 0) -> Piece:
    """A tool call: its name and its arguments as compact JSON."""
    return Piece(
        kind=Kind.TOOL_CALL,
        text=f"{name} {encode_arguments(arguments)}",
        block=block,
        role="assistant",
        tool=name or None,
        call_id=call_id or None,
    )


def make_result(text: str, *, call_id: str, failed: bool, block: int = 0, tool: str = "") -> Piece:
    """What a tool gave back."""
    return Piece(
        kind=Kind.TOOL_RESULT,
        text=text,
        block=block,
        role="tool",
        tool=tool or None,
        call_id=call_id or None,
        status="error" if failed else None,
    )
