"""A packet's history in parts that each stand alone, split between events where that is possible. Pure.

Sizes are bytes of UTF-8, a newline for each line included.
"""

from __future__ import annotations

from itertools import groupby

from rigline.ids import shorten
from rigline.ledger import packet_frame as frame
from rigline.ledger.fence import INDENT
from rigline.ledger.packet_items import TOOL, TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rigline.ledger.packet_items import Entry

CONTINUED = " (continued)"


def split_parts(
    chosen: Sequence[Entry], opening: list[str], *, first_bytes: int, next_bytes: int, now_ms: int
) -> list[list[str]]:
    """The lines of each part between its introduction and its end; the first part begins with `opening`."""
    sheets = _Sheets(opening, first_bytes, next_bytes)
    for head, block in _make_blocks(chosen, now_ms):
        sheets.add(head, block)
    return sheets.parts


def _make_blocks(chosen: Sequence[Entry], now_ms: int) -> Iterator[tuple[str, list[str]]]:
    """The session's line, and the lines of one message or of calls that follow each other."""
    requests = [item.order for item in chosen if item.value == TURN and item.title.startswith("user")]
    names = shorten(item.native_id for item in chosen)
    for _, group in groupby(chosen, key=lambda item: (item.harness, item.native_id)):
        run = list(group)
        head = frame.head_session(run, names[run[0].native_id], now_ms)
        day = next((frame.format_moment(item.at_ms)[:10] for item in run if item.at_ms is not None), "")
        tools: list[str] = []
        for item in run:
            if item.value == TOOL:
                tools = tools or [frame.head_item(item, day, is_last_request=False)]
                tools.append(item.text)
                continue
            if tools:
                yield head, tools
                tools = []
            title = frame.head_item(item, day, is_last_request=item.order in requests[-1:])
            yield head, [title, *item.text.split("\n")]
        if tools:
            yield head, tools


class _Sheets:
    """Parts being filled, one block after the other."""

    def __init__(self, opening: list[str], first_bytes: int, next_bytes: int) -> None:
        self.parts = [list(opening)]
        self._next_bytes = next_bytes
        self._left = first_bytes - _measure(opening)
        self._head = ""
        self._seen: set[str] = set()

    def add(self, head: str, block: list[str]) -> None:
        """Add a block where it fits whole, in this part or the next; one that fits into none goes on line by line."""
        lines = [*self._begin(head), *block]
        if _measure(lines) > self._left:
            if self._head:
                self._turn_page()
            lines = [*self._begin(head), *block]
        if _measure(lines) <= self._left:
            self._write(head, lines)
        else:
            self._write_over(head, block)

    def _begin(self, head: str) -> list[str]:
        if head == self._head:
            return []
        return ["", head + CONTINUED if head in self._seen else head]

    def _turn_page(self) -> None:
        self.parts.append([])
        self._left = self._next_bytes
        self._head = ""

    def _write(self, head: str, lines: list[str]) -> None:
        self.parts[-1] += lines
        self._left -= _measure(lines)
        self._head = head
        self._seen.add(head)

    def _write_over(self, head: str, block: list[str]) -> None:
        title, *lines = block
        pending = [*self._begin(head), title]
        for line in lines:
            for piece in _break(line, self._next_bytes - _measure([*pending, head, CONTINUED, title, CONTINUED])):
                if _measure([*pending, piece]) > self._left:
                    self._turn_page()
                    pending = [*self._begin(head), title.removesuffix(":") + CONTINUED + ":"]
                self._write(head, [*pending, piece])
                pending = []


def _measure(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _break(line: str, limit_bytes: int) -> Iterator[str]:
    """A stored line in pieces of at most so many bytes, each indented."""
    while len(line.encode("utf-8", "replace")) > limit_bytes:
        piece = line.encode("utf-8", "replace")[:limit_bytes].decode("utf-8", "ignore")
        yield piece
        line = INDENT + line[len(piece) :]
    yield line
