"""The adapters and the ledger read the same line as a packet's."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rigline.harness.markers import find_markers, repeats_packet
from rigline.ledger import fence

ID = "0000000abcdefghjkmnpqrstvw"
OPENING = fence.write_opening(ID, 2, 3)


def test_what_the_ledger_writes_is_read() -> None:
    assert find_markers(f"{OPENING}\nhistory\n") == [(ID, 2, 3)]
    assert repeats_packet(f"   1\t{OPENING}")
    assert repeats_packet(f"Preview: {OPENING}")


@pytest.mark.parametrize("text", ["", "[rigline packet x part 1/1]", "rigline packet", f"[rigline packet {ID}]"])
def test_other_text_is_no_packet(text: str) -> None:
    assert find_markers(text) == []
    assert not repeats_packet(text)


PIECES = st.lists(
    st.one_of(
        st.sampled_from([OPENING, fence.write_closing(ID, 2, 3), "\n", "\r\n", "\r", " ", "x", ID, " part ", "]"]),
        st.builds(
            fence.write_opening,
            st.sampled_from([ID, "short", ID.upper(), "x" * 41]),
            st.integers(0, 1200),
            st.integers(0, 1200),
        ),
        st.text(alphabet="[]/ 019\n", max_size=4),
    ),
    max_size=8,
).map("".join)


@given(PIECES)
@example(f"{OPENING}\r\n{OPENING}")
@example(f" {OPENING}")
@example("[rigline packet " + ID + " part 01/3]")
@example("[rigline packet " + ID + " part 3/2]")
def test_both_find_the_same(text: str) -> None:
    assert find_markers(text) == fence.find_markers(text)
