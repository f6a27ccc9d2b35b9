"""Sessions that a vendor will delete soon and that are not wholly in the ledger."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from rigline.doctor.agents import Agent
from rigline.doctor.check import Check, ok, warn
from rigline.importing import is_news
from rigline.ledger.base import Ledger
from rigline.model import SessionInfo
from rigline.readable import clip, flatten, format_count

DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS
SHOWN = 5
#: Claude Code deletes transcripts that were not written to for so many days whenever it starts, unless
#: `cleanupPeriodDays` in settings.json says otherwise (its settings documentation; 2.1.197 and 2.1.332)
CLAUDE_DEFAULT_DAYS = 30


class _ClaudeSettings(Struct, rename="camel"):
    cleanup_period_days: int | float | None = None


class Retention(Struct, frozen=True, kw_only=True):
    """How long a vendor keeps a session after its last record, and where that is written."""

    days: float
    source: str


def find_retention(harness: str, root: str) -> Retention | None:
    """What a harness's own settings say, read-only; None for one that deletes nothing by itself."""
    if harness != "claude-code":
        return None
    path = os.path.join(root, "settings.json")
    try:
        with open(path, "rb") as file:
            days = msgspec.json.decode(file.read(), type=_ClaudeSettings).cleanup_period_days
    except (OSError, msgspec.MsgspecError):
        days = None
    if days is None:
        return Retention(days=CLAUDE_DEFAULT_DAYS, source="the default")
    return Retention(days=days, source=path)


def find_due(sessions: Sequence[SessionInfo], retention: Retention, now_ms: int) -> list[SessionInfo]:
    """Sessions that are deleted within a week unless they are written to, the newest first. Pure."""
    newest_ms = now_ms - int(retention.days * DAY_MS) + SOON_MS
    due = [info for info in sessions if info.updated_ms <= newest_ms]
    return sorted(due, key=lambda info: -info.updated_ms)


def check_retention(agent: Agent, ledger: Ledger, now_ms: int) -> list[Check]:
    """A harness's sessions against its own retention; nothing for one that deletes none."""
    retention = find_retention(agent.harness.name, agent.store.root)
    if retention is None or not agent.sessions:
        return []
    due = find_due(agent.sessions, retention, now_ms)
    unsaved = [info for info in due if not is_saved(agent, info, ledger)]
    return [judge(agent.harness.label, agent.harness.name, retention, len(due), unsaved)]


def is_saved(agent: Agent, info: SessionInfo, ledger: Ledger) -> bool:
    """Whether everything that a session's file says is in the ledger; one that cannot be read is not."""
    cursor = ledger.get_cursor(info.harness, info.native_id)
    if cursor is None:
        return False
    try:
        return not any(is_news(window, cursor) for window in agent.store.read(info, cursor))
    except Exception:  # whatever is wrong with the file, it cannot be said to be saved
        return False


def judge(label: str, harness: str, retention: Retention, due: int, unsaved: Sequence[SessionInfo]) -> Check:
    """What the vendor will delete, as a check. Pure."""
    name = f"{harness} retention"
    facts: dict[str, object] = {"days": retention.days, "source": retention.source, "due": due}
    kept = f"{label} deletes sessions {retention.days:g} days after their last record ({retention.source})"
    if not unsaved:
        return ok(
            name, f"{kept}; all that it will delete soon is in the ledger" if due else f"{kept}; none soon", **facts
        )
    newest = [
        f"{info.native_id} {clip(flatten(info.title or info.first_prompt or ''), 40)}".strip()
        for info in unsaved[:SHOWN]
    ]
    text = f"{kept}: within a week {format_count(len(unsaved), 'session')} that the ledger does not have: " + "; ".join(
        newest
    )
    facts["sessions"] = [info.native_id for info in unsaved]
    return warn(name, text, f"rigline import --all --harness {harness}", **facts)
