"""Single fields of Claude Code's records, which may hold anything. Pure."""

from __future__ import annotations

from rigline.harness.claude_typed import is_clear
from rigline.harness.windows import as_dict, as_text


def content_of(record: dict[str, object]) -> object:
    """`message.content`: a text or a list of blocks, if anything."""
    return as_dict(record.get("message")).get("content")


def find_title(record: dict[str, object]) -> tuple[str, bool] | None:
    """A title that the record gives the session, and whether a person chose it."""
    kind = record.get("type")
    if kind not in ("custom-title", "ai-title"):
        return None
    title = as_text(record.get("customTitle" if kind == "custom-title" else "aiTitle")).strip()
    return (title, kind == "custom-title") if title else None


def is_clear_command(record: dict[str, object]) -> bool:
    """Whether the record is the `/clear` with which a cleared session's transcript begins."""
    return record.get("type") == "user" and is_clear(as_text(content_of(record)))
