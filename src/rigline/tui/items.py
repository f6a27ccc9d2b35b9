"""Lines, checkouts and harnesses as rows of a list, with what is told below it of the chosen one. Pure."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from rigline.model import SessionInfo
from rigline.picking import (
    Checkout,
    Line,
    Place,
    Standing,
    abbreviate_drift,
    choose_harness,
    describe_drift,
    fold,
    fold_line,
    tidy,
)
from rigline.readable import format_age, format_count, format_time, join_words

AUTO = "auto"
#: the least and the most width of each column; on a narrow screen the first ones are dropped
Columns = tuple[tuple[int, int], ...]
LINE_COLUMNS: Columns = ((0, 14), (0, 12), (6, 6), (0, 14))
CHECKOUT_COLUMNS: Columns = ((0, 9), (0, 14))
HARNESS_COLUMNS: Columns = ((0, 9),)


class Item(Struct, frozen=True, kw_only=True):
    """A row. `columns` are texts for the columns of its page.

    `details` are told of the chosen row, one line each but the last, which takes what room is left. `is_odd` marks a
    row that cannot be started now. `folded` is what typed letters are looked for in.
    """

    key: str
    folded: str
    name: str
    text: str
    age: str = ""
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    is_odd: bool = False


def build_line_item(line: Line, standing: Standing | None, *, now_ms: int, has_place: bool) -> Item:
    """A line of work; `standing` is None while nobody has looked yet, `has_place` shows which checkout it is in."""
    branch = tidy(line.checkpoint.branch or "") if line.checkpoint else ""
    drift = abbreviate_drift(line.checkpoint, standing) if standing is not None else ""
    place = tidy(os.path.basename(line.cwd)) if has_place else ""
    return Item(
        key=line.id,
        folded=fold_line(line),
        name=tidy(line.name),
        text=line.title or line.words,
        age="running" if line.holder else format_age(now_ms - line.active_ms),
        columns=(place, branch, drift, _count_harnesses(line.harnesses)),
        details=_tell_line(line, standing, branch),
        is_odd=bool(line.holder) or (standing is not None and standing.place is not Place.SAME),
    )


def _count_harnesses(harnesses: Sequence[str]) -> str:
    more = f" +{len(harnesses) - 1}" if len(harnesses) > 1 else ""
    return harnesses[0] + more if harnesses else ""


def _tell_line(line: Line, standing: Standing | None, branch: str) -> tuple[str, ...]:
    used = f"used in {join_words(line.harnesses)}" if line.harnesses else "no session yet"
    on = f" on {branch}" if branch else ""
    last = f"being written by {line.holder}" if line.holder else f"last active {format_time(line.active_ms)}{on}"
    drift = describe_drift(line.checkpoint, standing) if standing is not None else "..."
    return (
        tidy(line.cwd),
        f"{used}; {last}",
        f"now: {drift}",
        f"{line.speaker}: {line.words}" if line.words else "",
    )


def build_checkout_item(checkout: Checkout, *, now_ms: int) -> Item:
    """A checkout."""
    names = [tidy(name) for name in checkout.lines]
    lines = format_count(len(names), "line") if names else ""
    path = tidy(checkout.path)
    used = f"used in {join_words(checkout.harnesses)}" if checkout.harnesses else "no session on a line yet"
    told = f"lines of work: {', '.join(names)}" if names else f"no line of work yet; found by its {checkout.marker}"
    return Item(
        key=checkout.path,
        folded=fold(path, *names),
        name=os.path.basename(path) or path,
        text=path,
        age=format_age(now_ms - checkout.active_ms) if checkout.active_ms is not None else "",
        columns=(lines, _count_harnesses(checkout.harnesses)),
        details=(path, used, told),
    )


def build_harness_item(name: str, checkout: Checkout, newest: SessionInfo | None, *, now_ms: int) -> Item:
    """An installed harness in a checkout; `newest` is its newest session there, None also while nobody has looked."""
    state = ""
    if name in checkout.harnesses:
        state = "used last" if name == checkout.harnesses[0] else "used"
    title = tidy(newest.title or newest.first_prompt or newest.native_id) if newest else ""
    return Item(
        key=name,
        folded=fold(name, title),
        name=name,
        text=title,
        age=format_age(now_ms - newest.updated_ms) if newest else "",
        columns=(state,),
        details=(tidy(checkout.path), f"its newest session here: {title}" if newest else ""),
    )


def build_auto_item(checkout: Checkout, installed: Sequence[str]) -> Item:
    """What `rigline run` takes by itself in a checkout."""
    used = next((name for name in checkout.harnesses if name in installed), None)
    text = f"{used}, used last" if used else "the harness of the newest session here"
    return Item(key=AUTO, folded=fold(AUTO, text), name=AUTO, text=text, columns=("",), details=(tidy(checkout.path),))


def describe_option(line: Line | None, option: str, installed: Sequence[str]) -> str:
    """What left and right have chosen, as the screen says it for a line."""
    if option != AUTO:
        return option
    used = choose_harness(line, installed) if line is not None else None
    return f"{AUTO} ({used})" if used else AUTO
