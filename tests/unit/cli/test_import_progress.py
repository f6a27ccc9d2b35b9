"""An import tells how far it is: often on a terminal, now and then elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from rigline.cli.import_progress import Progress, describe_progress
from rigline.importing import Outcome
from rigline.readable import WIDTH


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock whose one value is the time."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return clock


def tell_for(seconds: int, progress: Progress, now: list[float]) -> None:
    for tenth in range(1, seconds * 10 + 1):
        now[0] = tenth / 10
        progress.tell(Outcome(sessions=tenth, size_bytes=tenth * 100_000, added=tenth * 10))


def test_sessions_megabytes_events_and_their_rate_are_told() -> None:
    outcome = Outcome(sessions=12, size_bytes=45_200_000, added=23_456)
    told = describe_progress(outcome, 340, 101_000_000, 10.0)
    assert told == "12 of 340 sessions, 45.2 MB of 101.0 MB, 23,456 new events, 2,346/s"
    assert describe_progress(Outcome(), 1, 0, 0.0).endswith("0/s")


def test_a_terminal_has_one_line_that_changes_and_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(100, 10_000_000)
    tell_for(2, progress, now)
    lines = terminal.getvalue().split("\r")[1:]
    assert 5 <= len(lines) <= 11
    assert all(len(line) < WIDTH for line in lines)
    assert "\n" not in terminal.getvalue()
    progress.clear()
    assert terminal.getvalue().endswith("\r" + " " * (WIDTH - 1) + "\r")


def test_elsewhere_a_line_comes_each_ten_seconds_at_most(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    progress = Progress(1000, 10_000_000)
    tell_for(35, progress, now)
    progress.clear()
    assert log.getvalue().count("\n") == 3
    assert "\r" not in log.getvalue()


def test_a_short_import_says_nothing(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(1, 10)
    progress.tell(Outcome(sessions=1))
    progress.clear()
    assert terminal.getvalue() == ""


def test_a_terminal_that_is_gone_does_not_end_the_import(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    progress = Progress(1, 10)
    gone = io.StringIO()
    gone.close()
    monkeypatch.setattr(sys, "stderr", gone)
    tell_for(20, progress, now)
