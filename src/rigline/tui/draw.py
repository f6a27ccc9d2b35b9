"""A picker's screen as lines of styled text, for any size and without colour: the chosen row is marked and reversed.

Pure. A drawn line is at most as wide as the screen; its parts are (text, style), the styles those of `STYLES`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rigline.readable import clip, clip_path, measure, pad, wrap
from rigline.tui.browse import Browse
from rigline.tui.items import Columns, Item

Part = tuple[str, str]
Drawn = list[Part]

STYLES = ("", "bold", "dim", "chosen", "odd", "typed")
MARK = "> "
_AGE_WIDTH = 8
_NAME_WIDTH = 16
#: below these widths a row has no columns, and no age
_NARROW, _SLIM = 60, 34
#: a text that tells rows apart is not squeezed further before a column goes
_LEAST_TEXT = 16
_MOST_DETAILS = 6
#: the gap before a column of that width
_GAP = 1


class Screen(Struct, frozen=True, kw_only=True):
    """What a screen shows: the rows that the filter leaves of `total`, what left and right have chosen, the keys, and a
    message that stands in the place of what is told of the chosen row, until the next key."""

    title: str
    items: Sequence[Item]
    total: int
    browse: Browse
    columns: Columns = ()
    option: str = ""
    keys: str = ""
    message: str = ""


def count_rows(height: int) -> int:
    """How many rows of the list a screen of that height shows."""
    return max(1, height - _count_head(height) - _count_details(height) - _count_foot(height))


def _count_head(height: int) -> int:
    return 2 if height >= 4 else 0


def _count_foot(height: int) -> int:
    return 1 if height >= 3 else 0


def _count_details(height: int) -> int:
    """The rule and the lines about the chosen row."""
    return min(_MOST_DETAILS + 1, height // 3) if height >= 10 else 0


def draw(screen: Screen, width: int, height: int) -> list[Drawn]:
    """Exactly `height` lines."""
    head = [_draw_title(screen, width), _draw_filter(screen, width)][: _count_head(height)]
    rows = count_rows(height)
    shown = screen.items[screen.browse.top : screen.browse.top + rows]
    chosen = screen.browse.at - screen.browse.top
    widths = _choose_widths(screen, width - len(MARK))
    body = [_draw_row(item, widths, width, is_chosen=place == chosen) for place, item in enumerate(shown)]
    if not body:
        body = [[(clip("  nothing matches; Esc clears the filter", width), "dim")]]
    body += [[] for _ in range(rows - len(body))]
    details = _draw_details(screen, width, _count_details(height))
    foot = [_draw_foot(screen, width, has_details=bool(details))][: _count_foot(height)]
    return [_limit(line, width) for line in (*head, *body, *details, *foot)][:height]


def _limit(line: Drawn, width: int) -> Drawn:
    """The line in that width, which the smallest screens may not have."""
    kept: Drawn = []
    for text, style in line:
        if measure(text) > width:
            return [*kept, (clip(text, width), style)] if width > 0 else kept
        kept.append((text, style))
        width -= measure(text)
    return kept


def _draw_title(screen: Screen, width: int) -> Drawn:
    count = f" {len(screen.items)} of {screen.total}" if screen.browse.typed else f" {screen.total}"
    room = width - measure(count)
    if room < 8:
        return [(clip(screen.title, width), "bold")]
    return [(pad(clip(screen.title, room), room), "bold"), (count, "dim")]


def _draw_filter(screen: Screen, width: int) -> Drawn:
    if not screen.browse.typed:
        return [(clip("  type to filter", width), "dim")]
    # of a long one the end is shown: there the typing goes on
    return [("/ ", "dim"), (clip_path(screen.browse.typed, max(1, width - 3)), "typed"), ("_", "dim")]


class _Widths(Struct, frozen=True):
    """How many columns of the terminal each part of a row fills; of those that are 0 there is none."""

    name: int
    text: int
    columns: tuple[int, ...]
    age: int


def _choose_widths(screen: Screen, width: int) -> _Widths:
    """Widths for all rows of the list, so that nothing moves while one scrolls. The text gets what is left."""
    age = _AGE_WIDTH if width >= _SLIM else 0
    longest = max((measure(item.name) for item in screen.items), default=0)
    name = min(longest, _NAME_WIDTH, max(4, width // 3))
    room = width - name - (age + _GAP if age else 0) - _GAP
    columns = [_measure_column(screen.items, place, *limits) for place, limits in enumerate(screen.columns)]
    if width < _NARROW:
        columns = [0] * len(columns)
    for place in range(len(columns)):
        if _add_up(columns) > room - _LEAST_TEXT:
            columns[place] = 0
    return _Widths(name, max(0, room - _add_up(columns)), tuple(columns), age)


def _add_up(columns: Sequence[int]) -> int:
    return sum(size + _GAP for size in columns if size)


def _measure_column(items: Sequence[Item], place: int, least: int, most: int) -> int:
    widest = max((measure(item.columns[place]) for item in items), default=0)
    return min(most, max(least, widest))


def _draw_row(item: Item, widths: _Widths, width: int, *, is_chosen: bool) -> Drawn:
    mark = MARK if is_chosen else " " * len(MARK)
    sizes = (widths.name, widths.text, *widths.columns)
    cells = [_fit(text, size) for text, size in zip((item.name, item.text, *item.columns), sizes, strict=True) if size]
    if widths.age:
        age = clip(item.age, widths.age)
        cells.append(" " * (widths.age - measure(age)) + age)
    text = pad(clip(mark + (" " * _GAP).join(cells), width), width)
    return [(text, "chosen" if is_chosen else "odd" if item.is_odd else "")]


def _fit(text: str, width: int) -> str:
    return pad(clip(text, width), width)


def _draw_details(screen: Screen, width: int, height: int) -> list[Drawn]:
    if not height:
        return []
    lines: list[Drawn] = [[("-" * width, "dim")]]
    if screen.message:
        lines += [[(line, "odd")] for line in _wrap_in(screen.message, width, height - 1)]
    elif screen.items:
        told = screen.items[screen.browse.at].details
        for place, text in enumerate(told):
            is_last = place == len(told) - 1
            room = height - len(lines)
            cut = clip_path(text, width) if place == 0 else clip(text, width)
            lines += [[(line, "")] for line in (_wrap_in(text, width, room) if is_last else [cut][:room])]
    return [*lines, *([] for _ in range(height - len(lines)))]


def _wrap_in(text: str, width: int, height: int) -> list[str]:
    """A text in at most so many lines; what is left of it is told by an ellipsis."""
    lines = wrap(text, width)
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], clip(" ".join(lines[height - 1 :]), width)] if height > 0 else []


def _draw_foot(screen: Screen, width: int, *, has_details: bool) -> Drawn:
    if screen.message and not has_details:
        return [(clip(screen.message, width), "odd")]
    option = f"with < {screen.option} >" if screen.option else ""
    room = width - measure(option) - 2 if option else width
    if option and room < 12:
        return [(clip(option, width), "bold")]
    parts: Drawn = [(option, "bold"), ("  ", "")] if option else []
    return [*parts, (clip(screen.keys, room), "dim")]
