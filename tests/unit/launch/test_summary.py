"""What a run says of itself: short ids, and how much was saved of which sessions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rigline.launch.summary import Summary, describe_end

FIRST, LAST = "f6b9bc85-d63a-42ec-bc93-f907e2f1abdd", "341c6f58-5b29-466e-aa78-98dbc73456cc"
SUMMARY = Summary(
    harness="Claude Code",
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
