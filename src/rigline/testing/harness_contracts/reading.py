"""What some windows told, and when two readings of one session are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rigline.model import Event, Window
from rigline.testing.harness_contracts.case import Form, HarnessCase, expect

#: what tells an event from all others of its session
Identity = tuple[str, int, str]


class Reading:
    """Everything that some windows told, and where they ended."""

    def __init__(self, windows: Iterator[Window]) -> None:
        self.events: list[Event] = []
        self.losses: Counter[str] = Counter()
        self.packets: list[tuple[str, int, int]] = []
        self.links: list[tuple[str, str]] = []
        self.cursor: str | None = None
        self.add(windows)

    def add(self, windows: Iterator[Window]) -> None:
        """Go on with further windows."""
        for window in windows:
            self.events += window.events
            self.losses.update(window.losses)
            self.packets += window.packets
            self.links += [(link.parent_id, link.kind) for link in window.links]
            self.cursor = window.cursor

    @property
    def words(self) -> list[tuple[str, str]]:
        """The texts in order, with their kinds."""
        return [(event.kind, event.text) for event in self.events]

    @property
    def final(self) -> dict[Identity, Event]:
        """Each event by its identity, as it was told last."""
        return {identify(event): event for event in self.events}

    def expect(self, other: Reading, what: str) -> None:
        """Raise AssertionError unless the same was told, in the same order."""
        expect(self.events == other.events, f"{what}: {_describe_difference(self.events, other.events)}")
        expect(self.losses == other.losses, f"{what}: losses {dict(self.losses)}, not {dict(other.losses)}")
        expect(self.packets == other.packets, f"{what}: packets {self.packets}, not {other.packets}")
        expect(set(self.links) == set(other.links), f"{what}: links {self.links}, not {other.links}")

    def expect_final(self, other: Reading, what: str, *, may_have_more: bool) -> None:
        """Raise AssertionError unless the same is known in the end; see `Form.REVISED`."""
        found, expected = self.final, other.final
        for identity, event in expected.items():
            expect(found.get(identity) == event, f"{what}: {identity} is {found.get(identity)}, not {event}")
        more = [identity for identity in found if identity not in expected]
        expect(may_have_more or not more, f"{what}: told as well: {more[:3]}")
        missing = set(other.losses) - set(self.losses)
        expect(not missing, f"{what}: losses not counted: {sorted(missing)}")
        packets = set(self.packets), set(other.packets)
        expect(packets[0] == packets[1], f"{what}: packets {packets[0]}, not {packets[1]}")
        links = set(self.links), set(other.links)
        expect(links[0] == links[1], f"{what}: links {links[0]}, not {links[1]}")


def expect_same(case: HarnessCase, found: Reading, expected: Reading, what: str) -> None:
    """Compare a reading in several goes with one in one go, by the case's form."""
    if case.form is Form.APPENDED:
        found.expect(expected, what)
    else:
        found.expect_final(expected, what, may_have_more=case.withdraws)


def identify(event: Event) -> Identity:
    """What tells an event from all others of its session."""
    return (event.record, event.block, event.kind)


def _describe_difference(found: list[Event], expected: list[Event]) -> str:
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"event {place} is {one}, not {other}"
    return f"{len(found)} events, not {len(expected)}"
