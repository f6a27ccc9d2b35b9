"""The packet: the bounded, fenced piece of history that one native session is shown. Pure.

What is chosen, within a budget of tokens: the latest compaction, then user and assistant turns from the newest back,
then tool calls with the short of their results. A fifth of the budget is kept for the tools, and no message takes
more than its share, so neither a long text nor many calls can crowd out the rest. What is chosen stands in the order
of time, under the session that it comes from.

Parts are measured in bytes of UTF-8: harnesses count characters, UTF-16 units or bytes, and none counts more.
"""

from __future__ import annotations

from msgspec import Struct

from rigline.ledger import packet_frame as frame
from rigline.ledger.base import Unseen
from rigline.ledger.excerpt import estimate_tokens
from rigline.ledger.fence import MAX_PARTS, find_markers, write_closing, write_opening
from rigline.ledger.packet_items import SUMMARY, TOOL, TURN, Entry, Item, collect_items, is_packet
from rigline.ledger.packet_parts import split_parts
from rigline.model import Checkpoint

__all__ = ["Packet", "build_packet", "estimate_tokens", "find_markers"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Limits(Protocol):
        """`rigline.harness.base.PacketLimits`, which may not be imported from here."""

        @property
        def part_chars(self) -> int: ...

        @property
        def max_parts(self) -> int: ...


#: no part is planned smaller: the words around the history, with long names in them, can need nearly as much
MIN_PART_CHARS = 4_500
TOOLS_SHARE = 0.2
SUMMARY_SHARE = 0.33
LAST_TURN_SHARE = 0.2
TURN_SHARE = 0.1
MIN_TURN_TOKENS = 120
#: less than this of a message is not worth showing
MIN_CUT_TOKENS = 60
SESSION_TOKENS = 32
SHRINK = 0.85


class Packet(Struct, frozen=True, kw_only=True):
    """What one session is shown. `shown` and `left_out` count events by kind; `is_stale`: the checkout has changed."""

    parts: tuple[str, ...]
    shown: dict[str, int]
    left_out: dict[str, int]
    is_stale: bool

    @property
    def text(self) -> str:
        """The whole packet, part after part."""
        return "\n\n".join(self.parts)


def build_packet(
    unseen: Unseen,
    *,
    delivery_id: str,
    workstream: str,
    receiver: str,
    limits: Limits,
    budget_tokens: int,
    now_checkpoint: Checkpoint,
    now_ms: int,
    search_command: str,
) -> Packet | None:
    """The packet for a session that has not seen these events, or None when nothing in them is worth showing.

    `receiver` is the label of the harness that it is for. Each part is at most `limits.part_chars` long, in bytes, and
    stands alone; there are at most `limits.max_parts`. The whole has about `budget_tokens` or fewer, but the last
    message is always shown, if only its ends. Raises ValueError for parts of less than `MIN_PART_CHARS`.
    """
    if limits.part_chars < MIN_PART_CHARS or limits.max_parts < 1:
        raise ValueError(f"a packet needs a part of {MIN_PART_CHARS} characters, not {limits}")
    items = collect_items(unseen.events)
    if not items:
        return None
    desk = _Desk(
        unseen=unseen,
        counts=_count_all(unseen),
        delivery_id=delivery_id,
        workstream=workstream,
        receiver=receiver,
        part_bytes=limits.part_chars,
        now_checkpoint=now_checkpoint,
        now_ms=now_ms,
        search_command=search_command,
    )
    whole = limits.max_parts * limits.part_chars
    budget = min(budget_tokens, whole) - estimate_tokens(desk.lay_out([]).text)
    while True:
        chosen = choose(items, max(budget, MIN_CUT_TOKENS))
        if not chosen:
            return None
        packet = desk.lay_out(chosen)
        fits = len(packet.parts) <= limits.max_parts and estimate_tokens(packet.text) <= budget_tokens
        if fits or budget <= MIN_CUT_TOKENS:
            return packet
        budget = int(budget * SHRINK)


class _Desk(Struct, frozen=True, kw_only=True):
    """Everything about a packet but what is chosen for it."""

    unseen: Unseen
    counts: dict[str, int]
    delivery_id: str
    workstream: str
    receiver: str
    part_bytes: int
    now_checkpoint: Checkpoint
    now_ms: int
    search_command: str

    def lay_out(self, chosen: list[Entry]) -> Packet:
        """The packet that shows these items."""
        shown = _count_shown(chosen)
        left_out = {
            kind: count - shown.get(kind, 0) for kind, count in self.counts.items() if count > shown.get(kind, 0)
        }
        then = self.unseen.checkpoint
        opening = [
            *frame.compare_checkout(then, self.unseen.checkpoint_harness, self.now_checkpoint),
            *frame.tell_choice(shown, left_out, self.search_command),
        ]
        bodies = split_parts(chosen, opening, first_bytes=self._room(1), next_bytes=self._room(2), now_ms=self.now_ms)
        return Packet(
            parts=tuple(self._wrap(body, number, len(bodies)) for number, body in enumerate(bodies, 1)),
            shown=shown,
            left_out=left_out,
            is_stale=frame.is_stale(then, self.now_checkpoint),
        )

    def _room(self, number: int) -> int:
        """The bytes that a part has for its body, when numbers are as long as they get."""
        return self.part_bytes - len(self._wrap([""], number, MAX_PARTS).encode("utf-8", "replace")) - len("999")

    def _wrap(self, body: list[str], number: int, total: int) -> str:
        lines = [
            write_opening(self.delivery_id, number, total),
            *frame.introduce(self.workstream, self.receiver, number=number, total=total),
            *body,
            write_closing(self.delivery_id, number, total),
        ]
        return "\n".join(lines)


def choose(items: list[Item], budget_tokens: int) -> list[Entry]:
    """What is shown within a budget, cut where it is long, in the order of time. Something always is."""
    basket = _Basket(budget_tokens)
    tools = [item for item in items if item.value == TOOL]
    turns = [item for item in items if item.value == TURN]
    reserve = _reserve_for(tools, int(TOOLS_SHARE * budget_tokens))
    for item in items:
        if item.value == SUMMARY:
            basket.take(item, at_most=int(SUMMARY_SHARE * budget_tokens), leave=reserve)
    rest = basket.take_newest(turns, leave=reserve)
    basket.take_newest(tools, leave=0)
    basket.take_newest(rest, leave=0)
    return sorted(basket.entries, key=lambda entry: entry.order)


def _reserve_for(tools: list[Item], share_tokens: int) -> int:
    """What the newest tool calls need, up to their share."""
    needed = 0
    for item in reversed(tools):
        needed += item.show(share_tokens).tokens
        if needed >= share_tokens:
            return share_tokens
    return needed


class _Basket:
    """What was chosen so far, and what is left of the budget."""

    def __init__(self, budget_tokens: int) -> None:
        self.entries: list[Entry] = []
        self._budget = self._left = budget_tokens
        self._sessions: set[tuple[str, str]] = set()
        self._long_titles = {"user", "assistant"}

    def take(self, item: Item, *, at_most: int, leave: int) -> bool:
        """Take an item, or what fits of it, and leave so much for others. The first one is always taken."""
        heading = 0 if item.session in self._sessions else SESSION_TOKENS
        room = self._left - leave - heading
        if room < MIN_CUT_TOKENS and item.value != TOOL and self.entries:
            return False
        entry = item.show(min(at_most, max(room, MIN_CUT_TOKENS)))
        if not entry.text.strip():
            return True
        if entry.tokens > room and self.entries:
            return False
        self._left -= entry.tokens + heading
        self._sessions.add(item.session)
        self.entries.append(entry)
        return True

    def take_newest(self, items: list[Item], *, leave: int) -> list[Item]:
        """Take from the newest back until one does not fit, so that what is shown has no holes. Returns the others."""
        for place in range(len(items) - 1, -1, -1):
            if not self.take(items[place], at_most=self._cap(items[place]), leave=leave):
                return items[: place + 1]
        return []

    def _cap(self, item: Item) -> int:
        """A turn's share of the budget; the last request and the last answer may be longer than others."""
        role = item.title.partition(" ")[0]
        is_last = role in self._long_titles
        self._long_titles.discard(role)
        return max(MIN_TURN_TOKENS, int((LAST_TURN_SHARE if is_last else TURN_SHARE) * self._budget))


def _count_all(unseen: Unseen) -> dict[str, int]:
    """All unseen events by kind, but for packets of our own among those at hand."""
    counts = dict(unseen.counts)
    for event in unseen.events:
        if is_packet(event) and counts.get(str(event.kind)):
            counts[str(event.kind)] -= 1
    return counts


def _count_shown(chosen: list[Entry]) -> dict[str, int]:
    shown: dict[str, int] = {}
    for item in chosen:
        for kind, count in item.counts.items():
            shown[kind] = shown.get(kind, 0) + count
    return shown
