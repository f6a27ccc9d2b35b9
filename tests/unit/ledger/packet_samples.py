"""A short line of work in two agents' sessions, and what to build packets with."""

from __future__ import annotations

from typing import Any

from rigline.harness.base import PacketLimits
from rigline.ledger.base import HistoryEvent, Unseen
from rigline.ledger.packet import Packet, build_packet
from rigline.model import Checkpoint, Kind

MINUTE_MS = 60_000
#: 2026-03-01 09:00 UTC
START_MS = 1_772_355_600_000
DELIVERY_ID = "k3v9t2m8q7w1x5z4b6n0"
OTHER_ID = "zzzzzzzzzzzzzzzzzzzzzz"
LIMITS = PacketLimits(part_chars=9_000, max_parts=4)
CLAUDE = ("claude-code", "5f1c2d3e-8a7b-4c6d-9e0f-112233445566")
CODEX = ("codex", "019a2b3c-4d5e-7f60-8192-a3b4c5d6e7f8")
CLEAN = Checkpoint(at_ms=START_MS, head="3f2a1b0c4d5e6f708192a3b4c5d6e7f8a9b0c1d2", branch="main")


class History:
    """Events one after the other, a minute apart."""

    def __init__(self, session: tuple[str, str] = CLAUDE) -> None:
        self.events: list[HistoryEvent] = []
        self.session = session

    def add(self, kind: Kind, text: str, **fields: Any) -> History:
        """Add an event of the present session."""
        seq = len(self.events) + 1
        values = {"at_ms": START_MS + seq * MINUTE_MS, "harness": self.session[0], "native_id": self.session[1]}
        self.events.append(HistoryEvent(seq=seq, kind=kind, text=text, **{**values, **fields}))
        return self

    def user(self, text: str, **fields: Any) -> History:
        """The user says something."""
        return self.add(Kind.MESSAGE, text, role="user", **fields)

    def assistant(self, text: str, **fields: Any) -> History:
        """The agent says something."""
        return self.add(Kind.MESSAGE, text, role="assistant", **fields)

    def call(self, tool: str, arguments: str, call_id: str, result: str | None = None, status: str = "") -> History:
        """The agent uses a tool."""
        self.add(Kind.TOOL_CALL, f"{tool} {arguments}", tool=tool, call_id=call_id)
        if result is not None:
            self.add(Kind.TOOL_RESULT, result, call_id=call_id, status=status or None)
        return self

    def move(self, session: tuple[str, str]) -> History:
        """The next events belong to another session."""
        self.session = session
        return self

    def unseen(self, *, checkpoint: Checkpoint | None = CLEAN, **more: int) -> Unseen:
        """All of it as unseen, with `more` events by kind that are not at hand."""
        counts: dict[str, int] = dict(more)
        for event in self.events:
            counts[event.kind] = counts.get(event.kind, 0) + 1
        harness = self.session[0] if checkpoint else None
        return Unseen(
            events=tuple(self.events), counts=counts, through={}, checkpoint=checkpoint, checkpoint_harness=harness
        )


def build(
    history: History | Unseen,
    *,
    limits: PacketLimits = LIMITS,
    budget_tokens: int = 8_000,
    now: Checkpoint = CLEAN,
    workstream: str = "main",
    receiver: str = "Codex",
) -> Packet | None:
    """A packet, or None."""
    return build_packet(
        history if isinstance(history, Unseen) else history.unseen(),
        delivery_id=DELIVERY_ID,
        workstream=workstream,
        receiver=receiver,
        limits=limits,
        budget_tokens=budget_tokens,
        now_checkpoint=now,
        now_ms=START_MS + 120 * MINUTE_MS,
        search_command="rigline search WORDS",
    )


def must_build(history: History | Unseen, **fields: Any) -> Packet:
    """A packet that is there."""
    packet = build(history, **fields)
    assert packet is not None
    return packet


def tell_story() -> History:
    """Claude Code fixes a parser, Codex is asked to release it and is interrupted."""
    story = History(CLAUDE)
    story.add(
        Kind.COMPACTION, "The parser lives in src/parse.py. The user wants CSV with quoted newlines.\nTests: tests/."
    )
    story.user("Make the parser accept quoted newlines, please.\nKeep the API as it is.")
    story.assistant("I will look at the tokenizer first.")
    story.call("Grep", '{"pattern":"def split_rows","path":"src"}', "t1", "src/parse.py:41:def split_rows(text: str):")
    story.call("Edit", '{"file_path":"src/parse.py","old_string":"a","new_string":"b"}', "t2", "The file was updated.")
    story.call(
        "Bash",
        '{"command":"pytest -q tests/test_parse.py","description":"Run the tests"}',
        "t3",
        "F..........\n=== FAILURES ===\nE   assert 2 == 3\n1 failed, 10 passed in 0.42s",
        "error",
    )
    story.assistant("One test still fails: a trailing newline is counted as a row.")
    story.user("Fix that too, and then release it.")
    story.move(CODEX).user("continue")
    story.call("shell", '{"command":["bash","-lc","pytest -q"]}', "c1", "11 passed in 0.40s")
    story.call("apply_patch", "*** Begin Patch\n*** Update File: CHANGELOG.md\n@@\n+fixed\n*** End Patch", "c2", "Done")
    story.assistant("All tests pass, the changelog is written. I publish it now.")
    story.call("shell", '{"command":["bash","-lc","make release"]}', "c3")
    return story
