"""Where a person is in a list, and what a key does there. Pure: keys go by Textual's names (8.2)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

#: longer filters help nobody; a paste of a whole file is cut here
MAX_TYPED = 200
_STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1}
_PAGES = {"pageup": -1, "pagedown": 1}
_OPTION_STEPS = {"left": -1, "right": 1, "shift+tab": -1, "tab": 1}


class Wish(StrEnum):
    """What a key asks for beyond moving in the list."""

    STAY = "stay"
    CHOOSE = "choose"
    LEAVE = "leave"


class Browse(Struct, frozen=True, kw_only=True):
    """What was typed as a filter, the chosen row `at` of those that it leaves, the first row shown `top`, and the
    `option` that left and right move through."""

    typed: str = ""
    at: int = 0
    top: int = 0
    option: int = 0


def press(browse: Browse, key: str, *, count: int, page: int, options: int) -> tuple[Browse, Wish]:
    """What a key that types nothing does, with `count` rows left, `page` of them shown, and so many options."""
    if key == "enter":
        return browse, Wish.CHOOSE if count else Wish.STAY
    if key == "escape":
        return (type_anew(browse, ""), Wish.STAY) if browse.typed else (browse, Wish.LEAVE)
    if key == "backspace":
        return type_anew(browse, browse.typed[:-1]), Wish.STAY
    if key == "ctrl+u":
        return type_anew(browse, ""), Wish.STAY
    if key in _OPTION_STEPS:
        return replace(browse, option=(browse.option + _OPTION_STEPS[key]) % max(1, options)), Wish.STAY
    return replace(browse, at=_move(browse.at, key, count, page)), Wish.STAY


def _move(at: int, key: str, count: int, page: int) -> int:
    if key == "home":
        return 0
    if key == "end":
        return max(0, count - 1)
    step = _STEPS.get(key, _PAGES.get(key, 0) * max(1, page))
    return min(max(0, at + step), max(0, count - 1))


def type_more(browse: Browse, text: str) -> Browse:
    """The filter with a text at its end, of which each character counts as it is; line breaks end it."""
    line = next(iter(text.splitlines()), "")
    kept = "".join(character for character in line if character.isprintable())
    return type_anew(browse, browse.typed + kept)


def type_anew(browse: Browse, typed: str) -> Browse:
    """The list with another filter, from its beginning."""
    if typed == browse.typed:
        return browse
    return replace(browse, typed=typed[:MAX_TYPED], at=0, top=0)


def fit(browse: Browse, *, count: int, page: int) -> Browse:
    """The place in a list of `count` rows of which `page` are shown: the chosen one is among them, and no room is
    left empty while rows are hidden."""
    at = min(max(0, browse.at), max(0, count - 1))
    top = min(max(browse.top, at - page + 1), at)
    return replace(browse, at=at, top=max(0, min(top, count - page)))
