"""JSON with comments, as two harnesses let their settings be written. Pure."""

from __future__ import annotations

import re

import msgspec

#: a string, which may hold what looks like a comment, or a comment
_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)


def decode_object(text: str) -> dict[str, object] | None:
    """The object in a text, comments and a byte order mark passed over; None where there is none."""
    plain = _STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
    try:
        value = msgspec.json.decode(plain)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
