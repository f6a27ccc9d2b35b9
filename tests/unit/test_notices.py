"""A notice is one line, or on a terminal as many as keep its words whole."""

from __future__ import annotations

import pytest

from rigline.notices import lay_out, write_notice

TOLD = "a fresh Claude Code session f6b9bc85 on line 'main', with 2 earlier events of it as history."


def test_a_notice_is_one_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    write_notice(TOLD * 3)
    assert capsys.readouterr().err == f"rigline: {TOLD * 3}\n"


def test_a_notice_breaks_at_words_below_its_first_one() -> None:
    first, second = lay_out(TOLD, 80).split("\n")
    assert first == "rigline: a fresh Claude Code session f6b9bc85 on line 'main', with 2 earlier"
    assert second == "         events of it as history."


def test_a_notice_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in lay_out("a line named \x1b[31mred", 80)
