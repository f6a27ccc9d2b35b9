"""What a run says of itself: short ids, and how much was saved of which sessions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from rigline.launch.choose import SessionChoice, Start
from rigline.launch.deliver import Offer
from rigline.launch.summary import Summary, describe_end, describe_start
from rigline.ledger.packet import Packet
from rigline.model import Grant
from tests.unit.launch.test_choose import PLAIN, make_workstream
from tests.unit.launch.test_folder import STATE

FIRST, LAST = "f6b9bc85-d63a-42ec-bc93-f907e2f1abdd", "341c6f58-5b29-466e-aa78-98dbc73456cc"
SUMMARY = Summary(
    harness="claude-code",
    label="Claude Code",
    workstream="main",
    native_ids=(LAST,),
    added=2,
    offered=None,
    confirmed=(),
    exit_code=0,
    expects_transcript=True,
)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ["saved 2 new events of Claude Code session 341c6f58 on line 'main'."]),
        ({"added": 1}, ["saved 1 new event of Claude Code session 341c6f58 on line 'main'."]),
        (
            {"native_ids": (FIRST, LAST)},
            ["saved 2 new events of Claude Code in 2 sessions, the last one 341c6f58, on line 'main'."],
        ),
        ({"offered": "d", "confirmed": ("d",)}, ["saved 2 new events of Claude Code session 341c6f58 on line 'main'."]),
        ({"added": 0, "offered": "d"}, ["nothing new was said in Claude Code session 341c6f58."]),
        ({"native_ids": (), "exit_code": 1}, []),
        ({"native_ids": (), "expects_transcript": False}, []),
        (
            {"native_ids": (), "is_traceable": False},
            [
                "which session Claude Code wrote cannot be told here, so nothing was saved; `rigline import` keeps "
                "what was said."
            ],
        ),
    ],
)
def test_the_end_is_told_in_a_sentence(changes: dict[str, object], told: list[str]) -> None:
    assert describe_end(replace(SUMMARY, **changes)) == told


@pytest.mark.parametrize(
    ("shown", "left_out", "told"),
    [
        ({"message": 1}, {}, ", with 1 earlier event of it as history."),
        ({"message": 2, "tool_call": 1}, {}, ", with 3 earlier events of it as history."),
        ({"message": 205}, {"message": 600}, ", with 205 of 805 earlier events of it as history."),
    ],
)
def test_how_much_history_is_shown_is_told_with_how_much_there_is(
    shown: dict[str, int], left_out: dict[str, int], told: str
) -> None:
    packet = Packet(parts=("x",), shown=shown, left_out=left_out, is_stale=False)
    choice = SessionChoice(start=Start.RESUME, native_id=LAST)
    grant = Grant(run=STATE.run, workstream=make_workstream(), expires_ms=0, is_new_workstream=False)
    target: Any = SimpleNamespace(harness=SimpleNamespace(label="Claude Code"), classification=PLAIN)
    said = describe_start(target, grant, choice, Offer(packet=packet), None)
    assert said == f"resuming Claude Code session 341c6f58 on line 'main'{told}"


def test_a_fork_is_not_called_resumed() -> None:
    choice = SessionChoice(start=Start.RESUME, native_id=LAST)
    grant = Grant(run=STATE.run, workstream=make_workstream(), expires_ms=0, is_new_workstream=False)
    target: Any = SimpleNamespace(
        harness=SimpleNamespace(label="Claude Code"), classification=replace(PLAIN, forks=True)
    )
    said = describe_start(target, grant, choice, Offer(), None)
    assert said == "forking Claude Code session 341c6f58 on line 'main'."
