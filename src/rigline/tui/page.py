"""A list to choose from, as a picker's screen is told of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rigline.tui.items import Columns, Item


class Choice(Struct, frozen=True, kw_only=True):
    """The row that was chosen, and what left and right had chosen then."""

    key: str
    option: str = ""


class Page(Struct, kw_only=True):
    """A list, with what a picker may ask about it. `columns` are the widths of its items' columns.

    `options` are what left and right move through. `tell_option` says one of them in words for a row. `look` finds what
    is not known of a row at first, on a thread of its own, and gives the row anew. `choose` takes what Enter chose: a
    sentence says why it cannot be, a page is shown next, None ends the picker with the choice. `is_last` says that what
    is chosen here is started.
    """

    title: str
    items: list[Item]
    choose: Callable[[Choice], str | Page | None]
    columns: Columns = ()
    options: tuple[str, ...] = ()
    tell_option: Callable[[str, str], str] = lambda _key, option: option
    look: Callable[[str], Item] | None = None
    is_last: bool = True
    typed: str = ""
