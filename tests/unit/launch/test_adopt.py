"""The offer of earlier sessions."""

from __future__ import annotations

import pytest

from rigline.launch.adopt import offer_sessions, read_answer, render_list
from rigline.launch.console import Console
from rigline.model import SessionInfo
from rigline.readable import format_age, format_size

HOUR_MS = 3_600_000


def make_info(number: int, **fields: object) -> SessionInfo:
    defaults: dict[str, object] = {
        "harness": "codex",
        "native_id": f"id-{number}",
        "path": "/p",
        "cwd": "/w",
        "updated_ms": 0,
        "size_bytes": 12_345,
    }
    return SessionInfo(**{**defaults, **fields})  # type: ignore[arg-type]


class ScriptedConsole(Console):
    def __init__(self, *answers: str | None) -> None:
        super().__init__()
        self._answers = list(answers)
        self.written = ""

    def ask(self, question: str) -> str | None:
        self.written += question
        return self._answers.pop(0)

    def write(self, text: str) -> None:
        self.written += text


@pytest.mark.parametrize(
    ("answer", "row"),
    [("", 1), ("1", 1), ("3", 3), ("0", 0), ("n", 0), ("New", 0), ("4", None), ("-1", None), ("x", None), ("²", None)],
)
def test_an_answer_is_a_row_or_nothing(answer: str, row: int | None) -> None:
    assert read_answer(answer, 3) == row


def test_enter_takes_the_newest() -> None:
    sessions = [make_info(1), make_info(2)]
    assert offer_sessions(sessions, ScriptedConsole(""), label="Codex", now_ms=0) is sessions[0]


def test_a_wrong_answer_is_asked_again() -> None:
    console = ScriptedConsole("9", "2")
    sessions = [make_info(1), make_info(2)]
    assert offer_sessions(sessions, console, label="Codex", now_ms=0) is sessions[1]
    assert "from 0 to 2" in console.written


@pytest.mark.parametrize("answer", ["0", None])
def test_zero_and_the_end_of_input_mean_fresh(answer: str | None) -> None:
    assert offer_sessions([make_info(1)], ScriptedConsole(answer), label="Codex", now_ms=0) is None


def test_a_row_shows_title_age_and_size() -> None:
    text = render_list([make_info(1, title="Fix the parser")], label="Codex", now_ms=3 * HOUR_MS)
    assert "Fix the parser" in text
    assert "3 h" in text
    assert "12 kB" in text


def test_stored_text_cannot_drive_the_terminal() -> None:
    text = render_list([make_info(1, title="\x1b]0;owned\x07\x1b[2J")], label="Codex", now_ms=0)
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    ("age_ms", "text"),
    [(-5, "just now"), (59_000, "just now"), (60_000, "1 min"), (2 * HOUR_MS, "2 h"), (72 * HOUR_MS, "3 days")],
)
def test_an_age_is_said_as_people_say_it(age_ms: int, text: str) -> None:
    assert format_age(age_ms) == text


@pytest.mark.parametrize(("size", "text"), [(0, "0 kB"), (10, "1 kB"), (12_345, "12 kB"), (3_400_000, "3.4 MB")])
def test_a_size_is_said_as_people_say_it(size: int, text: str) -> None:
    assert format_size(size) == text
