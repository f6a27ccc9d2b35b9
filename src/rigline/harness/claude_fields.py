"""Single fields of Claude Code's records, which may hold anything. Pure."""

from __future__ import annotations

from datetime import datetime

from rigline.harness.claude_typed import is_clear


def as_text(value: object) -> str:
    """The text that a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def content_of(record: dict[str, object]) -> object:
    """`message.content`: a text or a list of blocks, if anything."""
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None


def parse_time(value: object) -> int | None:
    """An ISO time with zone as UTC milliseconds; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int(moment.timestamp() * 1000) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


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
