"""What a vendor will delete soon is named before it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.doctor.check import Level
from rigline.doctor.retention import DAY_MS, Retention, find_due, find_retention, judge
from rigline.model import SessionInfo

NOW_MS = 1_774_944_000_000


def make_info(name: str, age_days: float) -> SessionInfo:
    updated_ms = NOW_MS - int(age_days * DAY_MS)
    return SessionInfo(
        harness="claude-code",
        native_id=name,
        path=f"/{name}",
        cwd="/w",
        updated_ms=updated_ms,
        size_bytes=1,
        title="T\x1b",
    )


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 90, "other": {"x": 1}}', 90),
        ('{"cleanupPeriodDays": 0}', 0),
        ('{"cleanupPeriodDays": "many"}', 30),
        ("not json", 30),
    ],
)
def test_claude_codes_own_setting_counts_else_its_default(settings: str | None, days: int, tmp_path: Path) -> None:
    if settings is not None:
        (tmp_path / "settings.json").write_text(settings)
    found = find_retention("claude-code", str(tmp_path))
    assert found is not None
    assert found.days == days
    assert find_retention("codex", str(tmp_path)) is None


def test_sessions_within_a_week_of_their_end_are_due_the_newest_first() -> None:
    sessions = [make_info("fresh", 1), make_info("old", 40), make_info("soon", 24), make_info("safe", 22.9)]
    due = find_due(sessions, Retention(days=30, source="the default"), NOW_MS)
    assert [info.native_id for info in due] == ["soon", "old"]


def test_what_is_not_in_the_ledger_is_warned_of_with_the_command_that_saves_it() -> None:
    unsaved = [make_info(f"s{n}", 25) for n in range(7)]
    check = judge("Claude Code", "claude-code", Retention(days=30, source="the default"), 9, unsaved)
    assert check.level is Level.WARN
    assert "7 sessions that the ledger does not have" in check.text
    assert "s4" in check.text
    assert "s5" not in check.text
    assert check.text.isprintable()
    assert check.next_step == "rigline import --all --harness claude-code"
    assert check.details["sessions"] == [f"s{n}" for n in range(7)]


def test_all_saved_or_none_due_is_well() -> None:
    for due in (0, 3):
        check = judge("Claude Code", "claude-code", Retention(days=30, source="the default"), due, [])
        assert check.level is Level.OK
        assert "30 days" in check.text
