"""Which prompt each record answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.claude_store import transcript

from rigline.harness.claude_records import extract
from rigline.harness.turns import Turns, TurnsState
from rigline.model import SESSION_START

Row = tuple[str, str | None, str]


def place(*rows: Row, turns: Turns | None = None) -> dict[str, tuple[str, str]]:
    """(record, parent, `p` for a prompt) each -> its (turn, turn before)."""
    turns = turns or Turns(TurnsState())
    found = {}
    for own, parent, kind in rows:
        turn = turns.place(own, parent or "", is_prompt=kind == "p")
        found[own] = (turn.prompt, turn.parent)
    return found


def test_a_chain() -> None:
    assert place(("1", None, "p"), ("2", "1", ""), ("3", "2", "p"), ("4", "3", "")) == {
        "1": ("1", ""),
        "2": ("1", ""),
        "3": ("3", "1"),
        "4": ("3", "1"),
    }


def test_a_rewind_leaves_a_branch() -> None:
    found = place(("1", None, "p"), ("2", "1", ""), ("3", "2", "p"), ("4", "3", ""), ("5", "2", "p"), ("6", "5", ""))
    assert found["3"] == ("3", "1")
    assert found["5"] == ("5", "1")
    assert found["6"] == ("5", "1")


def test_a_rewind_to_the_beginning_begins_a_tree_of_its_own() -> None:
    found = place(("1", None, "p"), ("2", "1", ""), ("3", None, "p"))
    assert found["3"] == ("3", "")


def test_a_rewind_behind_a_long_turn_is_still_told() -> None:
    long = [(f"t{n}", f"t{n - 1}" if n else "2", "") for n in range(200)]
    found = place(("1", None, "p"), ("end", "1", ""), ("2", "end", "p"), *long, ("3", "end", "p"))
    assert found["t199"] == ("2", "1")
    assert found["3"] == ("3", "1")


def test_two_writers_make_two_leaves() -> None:
    found = place(("1", None, "p"), ("2", "1", ""), ("a", "2", "p"), ("b", "2", "p"), ("a2", "a", ""), ("b2", "b", ""))
    assert found["a2"] == ("a", "1")
    assert found["b2"] == ("b", "1")


def test_records_that_hang_on_nothing_belong_to_the_turn_before_them() -> None:
    found = place(
        ("1", None, "p"), ("hook", None, ""), ("2", "hook", "p"), ("lost", "never seen", ""), ("3", "gone", "p")
    )
    assert found["hook"] == ("1", "")
    assert found["2"] == ("2", "1")
    assert found["lost"] == ("2", "1")
    assert found["3"] == ("3", "2")


def test_a_hook_before_the_first_prompt_has_no_turn() -> None:
    assert place(("hook", None, ""), ("1", "hook", "p")) == {"hook": ("", ""), "1": ("1", "")}


def test_progress_between_a_call_and_its_result_is_seen_through() -> None:
    found = place(("1", None, "p"), ("call", "1", ""), ("progress", "call", ""), ("result", "progress", ""))
    assert set(found.values()) == {("1", "")}


def test_a_compaction_goes_on_from_what_it_sums_up() -> None:
    turns = Turns(TurnsState())
    place(("1", None, "p"), ("2", "1", ""), turns=turns)
    boundary = turns.place("b", "2", is_prompt=False)
    assert boundary.prompt == "1"
    assert place(("s", "b", ""), ("3", "s", "p"), turns=turns)["3"] == ("3", "1")


def test_records_without_an_id_belong_to_the_running_turn() -> None:
    turns = Turns(TurnsState())
    place(("1", None, "p"), turns=turns)
    assert turns.place("", "", is_prompt=False).prompt == "1"
    assert turns.place("", "1", is_prompt=True).prompt == "1"


def test_what_is_remembered_is_bounded() -> None:
    turns = Turns(TurnsState())
    place(*((str(n), str(n - 1), "p") for n in range(5000)), turns=turns)
    state = turns.get_state()
    assert len(state.recent) + len(state.ends) <= 128
    assert place(("far", "7", "p"), turns=turns)["far"] == ("far", "4999")


def test_turns_that_only_follow_each_other() -> None:
    turns = Turns(TurnsState())
    assert turns.follow("note", is_prompt=False).prompt == ""
    first = turns.follow("1", is_prompt=True)
    assert (first.prompt, first.parent) == ("1", SESSION_START)
    assert turns.follow("answer", is_prompt=False) == first
    second = Turns(turns.get_state()).follow("2", is_prompt=True)
    assert (second.prompt, second.parent) == ("2", "1")


ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"), st.none() | st.sampled_from("abcdefgh"), st.sampled_from("p "), st.booleans()
    ),
    max_size=30,
)


@given(rows=ROWS)
def test_a_reader_that_goes_on_from_a_state_reads_the_same(rows: list[tuple[str, str | None, str, bool]]) -> None:
    whole, parted = Turns(TurnsState()), Turns(TurnsState())
    for own, parent, kind, is_break in rows:
        one = whole.place(own, parent or "", is_prompt=kind == "p")
        assert one == parted.place(own, parent or "", is_prompt=kind == "p")
        if is_break:
            parted = Turns(parted.get_state())


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("2.1.197/resumed-multi-turn-unicode-thinking-tool", ["a31504", "b71f06", "ceb17c", "a0776f"]),
        ("2.1.197/killed-mid-tool-then-resumed", ["8ae0bc", "7e751a", "b7fe0e"]),
        ("2.1.197/compacted-print-mode", ["a31504", "b71f06", "ceb17c", "a0776f", "53c311"]),
        ("2.1.332/branched-interactive-forkedFrom", ["21f573", "e51166", "f15123", "d9d07e", "73d8e7"]),
    ],
)
def test_real_transcripts_are_one_chain(name: str, chain: list[str]) -> None:
    turns, found = Turns(TurnsState()), [("", "")]
    for line in transcript(name).read_text().splitlines():
        given = json.loads(line)
        parent = given.get("parentUuid") or given.get("logicalParentUuid") or ""
        turn = turns.place(given.get("uuid", ""), parent, is_prompt=extract(given).is_prompt)
        pair = (turn.parent[:6], turn.prompt[:6])
        if pair != found[-1]:
            found.append(pair)
    assert found == [("", ""), *zip(["", *chain], chain, strict=False)]
