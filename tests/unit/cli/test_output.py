"""Columns and facts fit the terminal; JSON is one line of ASCII."""

from __future__ import annotations

import io
import sys

import pytest

from rigline.cli.output import print_json, print_text, render_columns, render_facts, say, tell_time
from rigline.readable import measure


def test_columns_are_aligned_and_end_without_blanks() -> None:
    assert render_columns([("a", "bb", ""), ("ccc", "d", "e")]) == ["a    bb", "ccc  d   e"]
    assert render_columns([]) == []


def test_the_widest_column_gives_way() -> None:
    (line,) = render_columns([("id-12345", "x" * 200, "3 events")])
    assert measure(line) <= 80
    assert line.startswith("id-12345  xxx")
    assert line.endswith("…  3 events")


def test_wide_characters_keep_the_columns_straight() -> None:
    first, second = render_columns([("日本", "x"), ("abcd", "y")])
    assert measure(first) == measure(second)


def test_facts_are_wrapped_below_their_value() -> None:
    lines = render_facts({"name": "word " * 20, "list": ["one", "two"]}, indent=2)
    assert lines[0].startswith("  name  word")
    assert lines[1].startswith("        word")
    assert lines[-2:] == ["  list  one", "        two"]
    assert max(map(measure, lines)) <= 80


def test_json_is_one_line_of_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "é\n\udcff日"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1


def test_text_that_the_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    print_text("naïve 日本\n")
    assert raw.getvalue() == b"na\xefve \\u65e5\\u672c\n"


def test_a_notice_survives_a_terminal_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    say("nobody hears this")


def test_a_moment_is_told_twice() -> None:
    assert tell_time("began", 0) == {"began": "1970-01-01T00:00:00.000Z", "began_ms": 0}
    assert tell_time("ended", None) == {"ended": None, "ended_ms": None}
