"""A picker as a Textual app: one widget that shows what `draw.py` draws, and the keys of `browse.py`.

The terminal's own colours are used, and few of them; the mouse is left to the terminal.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from rigline.picking import find_matches
from rigline.tui.browse import Browse, Wish, fit, press, type_more
from rigline.tui.draw import STYLES, Drawn, Screen, count_rows, draw
from rigline.tui.items import Item
from rigline.tui.looker import Looker
from rigline.tui.page import Choice, Page

_LOOKS = {
    "": Style.null(),
    "bold": Style(bold=True),
    "dim": Style(dim=True),
    "chosen": Style(reverse=True),
    "odd": Style(color="yellow"),
    "typed": Style(bold=True, color="cyan"),
}
assert set(_LOOKS) == set(STYLES)


class Looked(Message):
    """A row is known better now."""

    def __init__(self, page: Page, item: Item) -> None:
        super().__init__()
        self.page, self.item = page, item


class Canvas(Widget, can_focus=True):
    """Shows drawn lines as they are."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; }"

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[Drawn] = []

    def show(self, drawn: list[Drawn]) -> None:
        """Put other lines on the screen."""
        self.drawn = drawn
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """See `Widget.render_line`."""
        parts = self.drawn[y] if y < len(self.drawn) else []
        return Strip([Segment(text, _LOOKS[style]) for text, style in parts]).adjust_cell_length(self.size.width)


class Picker(App[Choice]):
    """Shows pages until something is chosen: `run` returns it, or None when the person left."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(self, page: Page) -> None:
        super().__init__(ansi_color=True)
        self.is_interrupted = False
        self._before: list[tuple[Page, Browse]] = []
        self._canvas = Canvas()
        self._page, self._browse = page, Browse(typed=page.typed)
        self._message = ""
        self._matches: list[Item] = []
        self._looker = self._begin_looking(page)

    def compose(self) -> ComposeResult:
        """See `App.compose`."""
        yield self._canvas

    def on_mount(self) -> None:
        """Take the keyboard."""
        self._canvas.focus()

    def on_unmount(self) -> None:
        """Leave nothing at work."""
        self._looker.stop()

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the size that the terminal has now."""
        self._draw(event.size)

    def on_key(self, event: events.Key) -> None:
        """Type, move, choose or leave."""
        event.stop()
        event.prevent_default()
        self._message = ""
        if event.character is not None and event.is_printable:
            self._browse = type_more(self._browse, event.character)
        else:
            count, page = len(self._matches), count_rows(self.size.height)
            options = len(self._page.options)
            self._browse, wish = press(self._browse, event.key, count=count, page=page, options=options)
            if wish is Wish.CHOOSE:
                self._choose()
            elif wish is Wish.LEAVE:
                self.action_leave()
        self._draw(self.size)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is typed."""
        self._browse = type_more(self._browse, event.text)
        self._draw(self.size)

    def on_looked(self, message: Looked) -> None:
        """Show what was found of a row."""
        items = message.page.items
        place = next((place for place, item in enumerate(items) if item.key == message.item.key), None)
        if place is not None:
            items[place] = message.item
        if message.page is self._page:
            self._draw(self.size)

    def action_interrupt(self) -> None:
        """Ctrl-C."""
        self.is_interrupted = True
        self.exit()

    def action_leave(self) -> None:
        """Back to the page before; from the first one, out."""
        if self._before:
            self._open(*self._before.pop())
        else:
            self.exit()

    def _open(self, page: Page, browse: Browse) -> None:
        self._looker.stop()
        self._page, self._browse, self._message = page, browse, ""
        self._looker = self._begin_looking(page)

    def _begin_looking(self, page: Page) -> Looker[Item]:
        return Looker(page.look or _fail, lambda _, item: self._tell(page, item))

    def _tell(self, page: Page, item: Item | None) -> None:
        """On the looker's thread."""
        if item is not None:
            self.post_message(Looked(page, item))

    def _choose(self) -> None:
        option = self._page.options[self._browse.option] if self._page.options else ""
        choice = Choice(key=self._matches[self._browse.at].key, option=option)
        answer = self._page.choose(choice)
        if isinstance(answer, Page):
            self._before.append((self._page, self._browse))
            self._open(answer, Browse(typed=answer.typed))
        elif answer is None:
            self.exit(choice)
        else:
            self._message = answer

    def _match(self) -> None:
        items = self._page.items
        self._matches = [items[place] for place in find_matches([item.folded for item in items], self._browse.typed)]

    def _draw(self, size: Size) -> None:
        self._match()
        rows = count_rows(size.height)
        self._browse = fit(self._browse, count=len(self._matches), page=rows)
        self._canvas.show(draw(self._describe(), size.width, size.height))
        if self._page.look is not None:
            # those on the screen, and the next ones
            near = self._matches[self._browse.top : self._browse.top + 2 * rows]
            self._looker.want([item.key for item in near])

    def _describe(self) -> Screen:
        page, browse = self._page, self._browse
        chosen = self._matches[browse.at].key if self._matches else ""
        option = page.tell_option(chosen, page.options[browse.option]) if page.options else ""
        back = "back" if self._before else "leave"
        sides = "  Left Right agent" if page.options else ""
        return Screen(
            title=page.title,
            items=self._matches,
            total=len(page.items),
            browse=browse,
            columns=page.columns,
            option=option,
            keys=f"Enter {'start' if page.is_last else 'choose'}{sides}  Esc {'clear' if browse.typed else back}",
            message=self._message,
        )


def _fail(key: str) -> Item:
    raise LookupError(key)
