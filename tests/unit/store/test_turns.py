"""Abandoned turns are those that branch off the living line, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.model import SESSION_START as START
from rigline.store.turns import find_abandoned


@pytest.mark.parametrize(
    ("parents", "last", "abandoned"),
    [
        pytest.param({}, "", set(), id="no turns"),
        pytest.param({"a": "", "b": "a", "c": "b"}, "c", set(), id="a straight line"),
        pytest.param({"a": "", "b": "a", "c": "a"}, "c", {"b"}, id="a prompt that was asked anew"),
        pytest.param({"a": "", "b": "a", "b2": "b", "c": "a"}, "c", {"b", "b2"}, id="a branch of two turns"),
        pytest.param({"a": "", "b": "a", "c": "a"}, "b", {"c"}, id="back on the first branch"),
        pytest.param({"a": "", "b": "", "c": "b"}, "c", set(), id="two roots: nothing shows that one was left"),
        pytest.param({"a": START, "b": START, "c": "b"}, "c", {"a"}, id="the first prompt asked anew"),
        pytest.param({"a": START, "a2": "a", "b": START}, "a2", {"b"}, id="back on the first of two beginnings"),
        pytest.param({"a": START, "b": "", "c": "b"}, "c", set(), id="a beginning beside an unknown one"),
        pytest.param({"a": "", "b": "lost", "c": "b"}, "a", set(), id="a parent that is not known"),
        pytest.param({"a": "b", "b": "a", "c": ""}, "c", set(), id="a circle beside the line"),
        pytest.param({"a": "b", "b": "a", "c": "b"}, "b", {"c"}, id="a line that is a circle"),
    ],
)
def test_turns_off_the_living_line_are_abandoned(parents: dict[str, str], last: str, abandoned: set[str]) -> None:
    assert find_abandoned(parents, last) == abandoned


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh-")), st.sampled_from("abcdefgh"))
def test_the_way_back_from_the_last_turn_is_never_abandoned(parents: dict[str, str], last: str) -> None:
    abandoned = find_abandoned(parents, last)
    assert abandoned <= set(parents)
    turn, passed = last, set()
    while turn in parents and turn not in passed:
        assert turn not in abandoned
        passed.add(turn)
        turn = parents[turn]


def test_ten_thousand_turns_take_no_time_to_speak_of() -> None:
    parents = {str(n): str(n - 1) for n in range(1, 10_000)}
    parents.update({f"side-{n}": str(n // 2) for n in range(2, 10_000)})
    assert len(find_abandoned(parents, "9999")) == 9_998
