"""What a picker's screen shows, at any size, with wide characters, and without any colour."""

from __future__ import annotations

import itertools

import pytest

from rigline.model import Checkpoint, SessionInfo
from rigline.picking import Checkout, Line, Place, Standing
from rigline.readable import measure
from rigline.tui.browse import Browse, fit
from rigline.tui.draw import STYLES, Screen, count_rows, draw
from rigline.tui.items import (
    AUTO,
    CHECKOUT_COLUMNS,
    LINE_COLUMNS,
    Item,
    build_auto_item,
    build_checkout_item,
    build_harness_item,
    build_line_item,
    describe_option,
)
from tests.unit.test_picking import make_line

MINUTE_MS = 60_000
LONG = "修正する 🙂🙂🙂 解析器の問題を " * 30


def make_items(count: int = 30, *, has_place: bool = True) -> list[Item]:
    lines = [
        make_line(
            f"line-{number}" if number % 3 else f"行-{number}-🙂漢字漢字漢字漢字",
            title=LONG if number % 2 else "Fix the parser",
            words=LONG,
            speaker="you",
            cwd=f"/src/アプリ-{number}/" + "x" * 90,
            harnesses=("claude-code", "codex"),
            checkpoint=Checkpoint(at_ms=0, branch="main"),
        )
        for number in range(count)
    ]
    return [build_line_item(line, None, now_ms=MINUTE_MS * 5, has_place=has_place) for line in lines]


def render(screen: Screen, width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in draw(screen, width, height)]


def make_screen(items: list[Item], **fields: object) -> Screen:
    values: dict[str, object] = {"title": "Lines", "items": items, "total": len(items), "browse": Browse(), **fields}
    return Screen(**{"columns": LINE_COLUMNS, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "height"), list(itertools.product((1, 2, 7, 20, 33, 34, 59, 60, 80, 200), (1, 2, 3, 4, 9, 10, 24, 60)))
)
def test_every_line_fits_the_screen(width: int, height: int) -> None:
    items = make_items()
    for at, typed, message in ((0, "", ""), (17, LONG, ""), (29, "", LONG)):
        browse = fit(Browse(at=at, typed=typed), count=len(items), page=count_rows(height))
        drawn = draw(
            make_screen(items, browse=browse, option="auto (codex)", keys=LONG, message=message), width, height
        )
        assert len(drawn) == height
        assert max(measure("".join(text for text, _ in line)) for line in drawn) <= width
        assert {style for line in drawn for _, style in line} <= set(STYLES)


@pytest.mark.parametrize("height", [1, 3, 9, 24])
def test_the_chosen_row_is_marked_and_reversed_on_every_screen(height: int) -> None:
    browse = fit(Browse(at=20), count=30, page=count_rows(height))
    drawn = draw(make_screen(make_items(), browse=browse), 80, height)
    chosen = [line for line in drawn if any(style == "chosen" for _, style in line)]
    assert len(chosen) == 1
    assert chosen[0][0][0].startswith("> line-20")
    assert sum(line[0][0].startswith("> ") for line in drawn if line) == 1


def test_columns_stand_below_each_other_whatever_the_characters() -> None:
    rows = render(make_screen(make_items(has_place=False)), 80, 24)[2:10]
    places = {measure(row[: row.index("claude-code")]) for row in rows}
    assert len(places) == 1
    assert all(row.endswith("   5 min") for row in rows)


def test_a_screen_of_80_by_24_tells_all_of_a_line() -> None:
    line = make_line(
        title="Fix the parser",
        words="The tests pass now.",
        speaker="agent",
        harnesses=("codex", "claude-code"),
        checkpoint=Checkpoint(at_ms=0, head="a" * 40, branch="main"),
    )
    now = Checkpoint(at_ms=1, head="b" * 40, branch="topic", status_hash="x", paths=("a",))
    standing = Standing(place=Place.SAME, now=now, missing=0, added=3)
    item = build_line_item(line, standing, now_ms=3 * MINUTE_MS, has_place=True)
    rows = render(make_screen([item], option="auto (codex)", keys="Enter start"), 80, 24)
    assert rows[0].endswith(" 1")
    assert rows[2].split() == [">", "main", "Fix", "the", "parser", "app", "main", "+3", "*", "codex", "+1", "3", "min"]
    told = "\n".join(rows)
    for fact in (
        "/src/app",
        "used in codex and claude-code",
        " on main",
        "3 commits since",
        "branch topic instead of main",
        "1 file changed",
    ):
        assert fact in told
    assert "agent: The tests pass now." in told
    assert rows[-1] == "with < auto (codex) >  Enter start"


def test_a_held_line_and_one_whose_folder_is_gone_are_told_apart() -> None:
    held = build_line_item(make_line(holder="codex (pid 7) since now"), None, now_ms=0, has_place=False)
    gone = build_line_item(make_line(), Standing(place=Place.GONE), now_ms=0, has_place=False)
    assert (held.age, held.is_odd) == ("running", True)
    assert "being written by codex (pid 7)" in held.details[1]
    assert (gone.columns[2], gone.is_odd) == ("gone", True)


def test_a_message_is_read_whole_where_there_is_room() -> None:
    message = "This line cannot be gone on with: its folder is gone. " + "Do something about it. " * 4
    rows = render(make_screen(make_items(), message=message), 80, 24)
    assert " ".join(" ".join(rows).split()).count("Do something about it.") == 4
    assert render(make_screen(make_items(), message=message), 40, 3)[-1].startswith("This line cannot")


def test_nothing_that_matches_is_said() -> None:
    rows = render(make_screen([], browse=Browse(typed="zzz"), total=9), 80, 24)
    assert rows[0].endswith("0 of 9")
    assert "/ zzz_" in rows[1]
    assert "nothing matches" in rows[2]


def test_narrow_screens_drop_columns_before_they_squeeze_the_text() -> None:
    items = make_items(3, has_place=False)
    assert "claude-code" in render(make_screen(items), 80, 24)[2]
    assert "claude-code" not in render(make_screen(items), 50, 24)[2]
    assert "5 min" not in render(make_screen(items), 30, 24)[2]


def test_checkouts_say_what_is_in_them_or_how_they_were_found() -> None:
    known = Checkout(path="/src/app", lines=("main", "docs"), harnesses=("codex",), active_ms=0)
    found = Checkout(path="/src/new", marker=".git")
    items = [build_checkout_item(each, now_ms=MINUTE_MS * 9) for each in (known, found)]
    rows = render(make_screen(items, columns=CHECKOUT_COLUMNS), 80, 24)
    assert rows[2].split() == [">", "app", "/src/app", "2", "lines", "codex", "9", "min"]
    assert rows[3].split() == ["new", "/src/new"]
    assert "found by its .git" in items[1].details[2]


def test_harnesses_say_which_was_used_and_what_their_newest_session_is() -> None:
    checkout = Checkout(path="/src/app", harnesses=("codex", "pi"))
    info = SessionInfo(
        harness="pi", native_id="s", path="/s", cwd="/src/app", updated_ms=0, size_bytes=1, first_prompt="Hello\nthere"
    )
    assert build_harness_item("codex", checkout, None, now_ms=0).columns == ("used last",)
    pi = build_harness_item("pi", checkout, info, now_ms=MINUTE_MS * 7)
    assert (pi.text, pi.age, pi.columns) == ("Hello there", "7 min", ("used",))
    assert build_harness_item("qwen", checkout, None, now_ms=0).columns == ("",)
    assert build_auto_item(checkout, ("pi", "qwen")).text == "pi, used last"
    assert "newest session" in build_auto_item(checkout, ("qwen",)).text


@pytest.mark.parametrize(
    ("line", "option", "told"),
    [
        (make_line(harnesses=("codex", "pi")), AUTO, "auto (pi)"),
        (make_line(harnesses=("codex",)), AUTO, "auto"),
        (make_line(), "pi", "pi"),
        (None, AUTO, "auto"),
    ],
)
def test_auto_says_what_it_comes_to(line: Line | None, option: str, told: str) -> None:
    assert describe_option(line, option, ("pi", "claude-code")) == told
