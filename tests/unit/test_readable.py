"""What people are shown fits its line and cannot drive the terminal."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline import readable
from rigline.readable import fill

HOUR_MS = 3_600_000
ANY_TEXT = st.text(max_size=200)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("", 0), ("日本", 4), ("e\u0301", 1), ("a\u200db", 2), ("→─…", 3), ("\U0001f600", 2)],
)
def test_columns_are_counted_as_a_terminal_fills_them(text: str, columns: int) -> None:
    assert readable.measure(text) == columns


@pytest.mark.parametrize(
    ("text", "width", "clipped"),
    [
        ("short", 5, "short"),
        ("a long text", 6, "a lon…"),
        ("a long text", 3, "a…"),
        ("日本語", 4, "日…"),
        ("日本語", 6, "日本語"),
    ],
)
def test_a_text_is_cut_at_its_end(text: str, width: int, clipped: str) -> None:
    assert readable.clip(text, width) == clipped


def test_a_path_keeps_its_end() -> None:
    assert readable.clip_path("/home/dev/project/src/app", 12) == "…ect/src/app"
    assert readable.clip_path("/short", 12) == "/short"


@given(ANY_TEXT, st.integers(min_value=2, max_value=90))
def test_nothing_that_is_clipped_or_wrapped_spills_over(text: str, width: int) -> None:
    for line in [readable.clip(readable.flatten(text), width), readable.clip_path(text, width)]:
        assert readable.measure(line) <= width
    assert all(readable.measure(line) <= width for line in readable.wrap(text, width))


@given(ANY_TEXT)
def test_no_text_can_drive_the_terminal(text: str) -> None:
    shown = [readable.clean(text), readable.flatten(text), *readable.wrap(text, 20), readable.clip_path(text, 20)]
    assert all(line.isprintable() for line in shown)


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=30)))
def test_wrapping_loses_no_character(words: list[str]) -> None:
    assert "".join("".join(readable.wrap(" ".join(words), 12)).split()) == "".join(words)


def test_wrapping_keeps_lines_and_their_indentation() -> None:
    assert readable.wrap("one\n\n    two three four", 12) == ["one", "", "    two", "    three", "    four"]
    assert readable.wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


@pytest.mark.parametrize(
    ("age_ms", "told"),
    [(-5, "just now"), (59_000, "just now"), (60_000, "1 min"), (2 * HOUR_MS, "2 h"), (72 * HOUR_MS, "3 days")],
)
def test_an_age_is_told_in_its_largest_unit(age_ms: int, told: str) -> None:
    assert readable.format_age(age_ms) == told


@pytest.mark.parametrize(
    ("duration_ms", "told"),
    [(0, "0 s"), (119_999, "119 s"), (120_000, "2 min"), (200 * 60_000, "3 h 20 min"), (100 * HOUR_MS, "4 days")],
)
def test_a_duration_is_told_as_people_say_it(duration_ms: int, told: str) -> None:
    assert readable.format_duration(duration_ms) == told


@pytest.mark.parametrize(("size", "told"), [(0, "0 kB"), (10, "1 kB"), (12_345, "12 kB"), (3_400_000, "3.4 MB")])
def test_a_size_is_told_in_kilobytes_or_megabytes(size: int, told: str) -> None:
    assert readable.format_size(size) == told


def test_counts_take_the_plural() -> None:
    assert readable.format_count(1, "event") == "1 event"
    assert readable.format_count(1204, "event") == "1,204 events"
    assert readable.format_count(2, "copy", "copies") == "2 copies"
    assert readable.format_counts({"tool_call": 1, "message": 3, "a": 1}) == "3 messages, 1 a, 1 tool call"


def test_times_tell_their_zone_or_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert readable.format_iso(1_774_944_000_123) == "2026-03-31T08:00:00.123Z"
        assert readable.format_time(1_774_944_000_123) == "2026-03-31 13:30"
        assert readable.format_clock(1_774_944_000_123) == "13:30"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert readable.format_iso(None) is None
    assert len(readable.format_time(None)) == 16


@pytest.mark.parametrize(
    ("words", "told"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_joined_as_in_a_sentence(words: list[str], told: str) -> None:
    assert readable.join_words(words) == told


def test_a_sentence_is_broken_at_blanks_and_never_inside_a_command() -> None:
    told = "The line is gone; `rigline run --new NAME` begins another, and a_word_that_is_much_too_long_for_it stays."
    lines = fill(told, 24)
    assert " ".join(lines) == told
    assert "`rigline run --new NAME`" in lines
    assert all(len(line) <= 24 for line in lines if "much_too" not in line)


def test_a_sentence_cannot_drive_the_terminal() -> None:
    assert fill("a\x1b[31m b\nc", 80) == ["a [31m b c"]
