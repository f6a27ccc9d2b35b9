"""Options are read strictly, and complaints say what would be right."""

from __future__ import annotations

import argparse
import time

import pytest

from rigline.cli.arguments import add_limit, make_parser, read_count, read_harness, read_moment, read_positive
from rigline.errors import UsageError

NOW_MS = 1_774_944_000_000


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("90m", NOW_MS - 90 * 60_000),
        ("3h", NOW_MS - 3 * 3_600_000),
        ("2d", NOW_MS - 2 * 86_400_000),
        ("1W", NOW_MS - 7 * 86_400_000),
        ("2026-03-31T08:00:00Z", NOW_MS),
        ("2026-03-31T10:00:00+02:00", NOW_MS),
    ],
)
def test_a_moment_is_an_age_or_a_date(text: str, at_ms: int) -> None:
    assert read_moment(NOW_MS)(text) == at_ms


def test_a_date_without_a_zone_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert read_moment(NOW_MS)("2026-03-31") == NOW_MS - 8 * 3_600_000 - 9 * 3_600_000
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text", ["", "d", "yesterday", "-2d", "2 d", "1e9d", "\uff12d", "2026-13-01", "99999999d", "0001-01-01"]
)
def test_what_is_no_moment_is_refused_with_examples(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"30m, 3h, 2d|is no moment"):
        read_moment(NOW_MS)(text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "x", "\uff11", "9999999999"])
def test_a_limit_is_a_whole_number_above_zero(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        read_positive(text)
    assert read_positive("12") == 12
    assert read_count("0") == 0


def test_a_harness_is_known_by_name_and_alias() -> None:
    assert read_harness("claude") == read_harness("Claude-Code") == "claude-code"
    with pytest.raises(argparse.ArgumentTypeError, match=r"did you mean 'codex'"):
        read_harness("codx")


def test_complaints_are_usage_errors_that_point_to_the_help() -> None:
    parser = make_parser("rigline thing", "Does a thing.", "rigline thing")
    add_limit(parser, 5, "things")
    for words in (["--limit"], ["--limit", "none"], ["--lim", "3"], ["extra"]):
        with pytest.raises(UsageError, match="See `rigline thing --help`"):
            parser.parse_args(words)
    assert parser.parse_args([]).limit == 5


def test_help_fits_the_terminal() -> None:
    parser = make_parser(
        "rigline thing", "Does a thing, and says so at length. " * 5, "rigline thing\nrigline thing -x"
    )
    assert max(map(len, parser.format_help().splitlines())) <= 80
    assert "  rigline thing -x" in parser.format_help()
