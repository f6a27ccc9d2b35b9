"""The story keeps the order of what happened, and each tool in its line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from rigline.ledger.base import HistoryEvent
from rigline.model import Kind
from rigline.narrative import Mark, Tools, sort_by_time, tell_story
from rigline.readable import measure

MINUTE_MS = 60_000


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def make_event(seq: int, text: str = "", *, session: str = "s1", minute: int | None = 0, **fields: Any) -> HistoryEvent:
    at_ms = None if minute is None else minute * MINUTE_MS
    defaults = {"kind": Kind.MESSAGE, "role": "user", "harness": "claude-code"}
    return HistoryEvent(seq=seq, native_id=session, text=text or f"text {seq}", at_ms=at_ms, **{**defaults, **fields})


def tell(*events: HistoryEvent, marks: tuple[Mark, ...] = (), tools: Tools = Tools.SHORT) -> list[str]:
    return tell_story(events, marks, tools=tools, short={"s1": "s1"}, titles={"s2": "Other\x1b work"})


def test_sessions_worked_on_in_turns_are_told_in_time() -> None:
    events = [
        make_event(1, minute=1),
        make_event(2, minute=5),
        make_event(3, session="s2", minute=2),
        make_event(4, session="s2", minute=9),
    ]
    assert [event.seq for event in sort_by_time(events)] == [1, 3, 2, 4]


def test_a_sessions_own_order_wins_over_clocks_that_went_back() -> None:
    events = [make_event(1, minute=9), make_event(2, minute=3), make_event(3, minute=None), make_event(4, minute=10)]
    assert [event.seq for event in sort_by_time(events)] == [1, 2, 3, 4]


def test_sessions_days_and_speakers_are_told_once() -> None:
    lines = tell(
        make_event(1, "one", minute=61),
        make_event(2, "two", minute=62),
        make_event(3, "three", role="assistant", minute=63),
        make_event(4, "four", session="s2", minute=64, harness="codex"),
    )
    assert lines == [
        "── claude-code s1",
        "1970-01-01",
        "01:01  user",
        "       one",
        "       two",
        "01:03  assistant",
        "       three",
        "",
        "── codex s2  Other work",
        "01:04  user",
        "       four",
    ]


def make_tools(status: str | None = None) -> list[HistoryEvent]:
    call = make_event(1, '{"command": "pytest"}', kind=Kind.TOOL_CALL, tool="Bash", call_id="c1")
    result = make_event(2, "a\n\nb\n", kind=Kind.TOOL_RESULT, tool="Bash", call_id="c1", minute=1, status=status)
    return [call, result]


def test_a_call_and_its_result_share_one_line() -> None:
    assert tell(*make_tools())[2:] == ['00:00  [Bash]  {"command": "pytest"}  → 2 lines']
    assert tell(*make_tools("error"))[2].endswith("→ error, 2 lines")


def test_a_result_without_its_call_has_a_line_of_its_own() -> None:
    assert tell(make_tools()[1])[2:] == ["00:01  [Bash result]  a b"]


def test_tools_are_told_in_full_or_not_at_all() -> None:
    full = tell(*make_tools(), tools=Tools.FULL)
    assert full[2:] == [
        "00:00  [Bash]",
        '       {"command": "pytest"}',
        "00:01  [Bash result]",
        "       a",
        "",
        "       b",
    ]
    assert tell(*make_tools(), tools=Tools.NONE) == []


def test_compactions_checkpoints_and_abandoned_branches_are_marked() -> None:
    lines = tell(
        make_event(1, "left behind", minute=1, is_abandoned=True),
        make_event(2, "the summary", kind=Kind.COMPACTION, minute=3),
        marks=(Mark(at_ms=9 * MINUTE_MS, text="end"), Mark(at_ms=2 * MINUTE_MS, text="start\x07")),
    )
    assert lines[2:] == [
        "00:01  user (abandoned branch)",
        "       left behind",
        "00:02  ── start ",
        "00:03  ══ compaction: what came before was summarised ══",
        "       the summary",
        "00:09  ── end",
    ]


def test_every_line_fits_whatever_was_said() -> None:
    long = "x" * 300 + " 日本語" * 50
    call = make_event(2, long, kind=Kind.TOOL_CALL, tool="A" * 90, call_id="c")
    for tools in Tools:
        lines = tell(make_event(1, long), call, make_event(3, long, kind=Kind.COMPACTION), tools=tools)
        assert max(map(measure, lines)) <= 80
