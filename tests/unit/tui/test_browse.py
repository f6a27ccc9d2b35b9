"""Keys in a list: where they lead, what they type, and when they choose or leave."""

from __future__ import annotations

import pytest

from rigline.tui.browse import MAX_TYPED, Browse, Wish, fit, press, type_more


@pytest.mark.parametrize(
    ("at", "key", "then"),
    [
        (0, "down", 1),
        (9, "down", 9),
        (0, "up", 0),
        (5, "up", 4),
        (5, "ctrl+n", 6),
        (5, "ctrl+p", 4),
        (2, "pagedown", 6),
        (8, "pagedown", 9),
        (6, "pageup", 2),
        (1, "pageup", 0),
        (5, "home", 0),
        (5, "end", 9),
        (5, "f1", 5),
    ],
)
def test_keys_move_within_the_list(at: int, key: str, then: int) -> None:
    browse, wish = press(Browse(at=at), key, count=10, page=4, options=3)
    assert (browse.at, wish) == (then, Wish.STAY)


@pytest.mark.parametrize("key", ["down", "up", "pagedown", "pageup", "home", "end", "enter"])
def test_no_key_does_anything_in_an_empty_list(key: str) -> None:
    assert press(Browse(typed="x"), key, count=0, page=4, options=1) == (Browse(typed="x"), Wish.STAY)


@pytest.mark.parametrize(
    ("option", "key", "then"), [(0, "right", 1), (2, "right", 0), (0, "left", 2), (1, "left", 0), (0, "tab", 1)]
)
def test_left_and_right_go_round_the_options(option: int, key: str, then: int) -> None:
    assert press(Browse(option=option), key, count=1, page=4, options=3)[0].option == then


def test_without_options_left_and_right_do_nothing() -> None:
    assert press(Browse(), "left", count=1, page=4, options=0) == (Browse(), Wish.STAY)


def test_escape_clears_the_filter_and_then_leaves() -> None:
    browse, wish = press(Browse(typed="abc", at=0, option=2), "escape", count=3, page=4, options=3)
    assert (browse, wish) == (Browse(option=2), Wish.STAY)
    assert press(browse, "escape", count=3, page=4, options=3)[1] is Wish.LEAVE


def test_enter_chooses() -> None:
    assert press(Browse(at=2), "enter", count=3, page=4, options=1) == (Browse(at=2), Wish.CHOOSE)


def test_every_letter_is_typed_and_the_list_begins_anew() -> None:
    browse = Browse(at=7, top=3, option=1)
    for letter in "jk q[":
        browse = type_more(browse, letter)
    assert browse == Browse(typed="jk q[", option=1)
    assert press(browse, "backspace", count=1, page=4, options=1)[0].typed == "jk q"
    assert press(browse, "ctrl+u", count=1, page=4, options=1)[0].typed == ""


def test_backspace_in_an_empty_filter_keeps_the_place() -> None:
    assert press(Browse(at=3, top=1), "backspace", count=9, page=4, options=1)[0] == Browse(at=3, top=1)


@pytest.mark.parametrize(
    ("pasted", "typed"),
    [
        ("two\nlines", "two"),
        ("", ""),
        ("\n", ""),
        ("a\x1b[31m\x00b", "a[31mb"),
        ("漢字", "漢字"),
        ("x" * 999, "x" * MAX_TYPED),
    ],
)
def test_what_is_pasted_is_one_line_without_control_characters(pasted: str, typed: str) -> None:
    assert type_more(Browse(), pasted).typed == typed


@pytest.mark.parametrize(
    ("at", "top", "count", "then"),
    [
        (0, 0, 10, (0, 0)),
        (3, 0, 10, (3, 0)),
        (4, 0, 10, (4, 1)),
        (9, 0, 10, (9, 6)),
        (2, 5, 10, (2, 2)),
        (9, 6, 3, (2, 0)),
        (9, 9, 0, (0, 0)),
        (0, 8, 10, (0, 0)),
        (8, 8, 10, (8, 6)),
    ],
)
def test_the_chosen_row_is_on_the_screen_and_no_room_is_wasted(
    at: int, top: int, count: int, then: tuple[int, int]
) -> None:
    fitted = fit(Browse(at=at, top=top), count=count, page=4)
    assert (fitted.at, fitted.top) == then
