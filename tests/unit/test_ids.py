"""Ids are valid, sort by time, and shorten to what tells them apart."""

from __future__ import annotations

import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.ids import event_id, find_by_prefix, new_id, new_uuid4, shorten, shorten_one


def test_new_ids_are_26_lower_case_characters_and_never_the_same() -> None:
    made = [new_id() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(len(each) == 26 and each.isalnum() and each == each.lower() for each in made)


def test_ids_sort_by_the_second_they_were_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    made = []
    for second in range(0, 400_000_000, 40_000_000):
        monkeypatch.setattr(time, "time", lambda second=second: now + second)
        made.append(new_id())
    assert made == sorted(made)


def test_a_uuid_is_a_valid_version_4() -> None:
    for _ in range(100):
        made = new_uuid4()
        assert str(uuid.UUID(made)) == made
        assert uuid.UUID(made).version == 4
        assert uuid.UUID(made).variant == uuid.RFC_4122


def test_an_event_id_depends_on_each_part() -> None:
    ids = {
        event_id("claude-code", "s", "r", 0, "message"),
        event_id("codex", "s", "r", 0, "message"),
        event_id("claude-code", "t", "r", 0, "message"),
        event_id("claude-code", "s", "q", 0, "message"),
        event_id("claude-code", "s", "r", 1, "message"),
        event_id("claude-code", "s", "r", 0, "tool_call"),
    }
    assert len(ids) == 6
    assert {len(each) for each in ids} == {16}


def test_an_event_id_stays_the_same_over_releases() -> None:
    assert event_id("codex", "s", "r", 0, "message").hex() == "9ed6ce1604d76241902ed31e7ba580ed"


@given(st.sets(st.text(alphabet="0123abc", min_size=1, max_size=12), max_size=20))
def test_a_short_form_finds_its_id_and_no_other(ids: set[str]) -> None:
    short = shorten(ids, chars=2)
    assert set(short) == ids
    for full, prefix in short.items():
        assert find_by_prefix(prefix, ids) == [full]


def test_a_session_s_short_form_is_not_lengthened_by_its_subagents() -> None:
    ids = ["aaaaaaaa-1111", "aaaaaaaa-1111/agent-b1234", "aaaaaaaa-1111/agent-b1277", "bbbbbbbb-2222"]
    short = shorten(ids)
    assert short["aaaaaaaa-1111"] == "aaaaaaaa"
    assert short["aaaaaaaa-1111/agent-b1277"] == "aaaaaaaa/agent-b127"
    assert all(find_by_prefix(short[full], ids) == [full] for full in ids)
    assert find_by_prefix("aaaaaaaa/agent", ids) == ids[1:3]


def test_subagents_are_found_where_their_session_is_not_known() -> None:
    assert find_by_prefix("aaaa", ["aaaaaaaa/agent-1", "bbbb"]) == ["aaaaaaaa/agent-1"]


def test_one_id_alone_is_shortened_to_what_tells_sessions_of_one_minute_apart() -> None:
    assert shorten_one("f6b9bc85-d63a-42ec-bc93-f907e2f1abdd") == "f6b9bc85"
    assert shorten_one("01a22f0d-9cad-7c93-84f2-4bb1ed3bf64f") == "01a22f0d-9cad"
    assert shorten_one("short") == "short"


def test_short_forms_have_eight_characters_unless_more_are_needed() -> None:
    assert shorten(["aaaaaaaaaab", "aaaaaaaaaac", "bbbbbbbbbbb"]) == {
        "aaaaaaaaaab": "aaaaaaaaaab",
        "aaaaaaaaaac": "aaaaaaaaaac",
        "bbbbbbbbbbb": "bbbbbbbb",
    }


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("ab", ["ab"]),
        ("a", ["ab", "abc", "ad"]),
        ("AB", ["ab"]),
        ("abc", ["abc"]),
        ("", []),
        ("x", []),
    ],
)
def test_a_word_means_the_id_that_it_equals_or_all_that_begin_with_it(word: str, found: list[str]) -> None:
    assert find_by_prefix(word, ["ab", "abc", "ad"]) == found


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("session_5ae8c3bc-5ae9-448e-a30b-4d1d59c4a3a2", "session_5ae8c3bc"),
        ("ses_dd06e5a2bffeQ2hJ9wXyZ0aB1c", "ses_dd06e5a2"),
        ("sess_01a22fbb-e7f2-7a00-8000-000000000000", "sess_01a22fbb-e7f2"),
        ("my_own-id", "my_own-id"),
        ("1_2345678901", "1_234567"),
    ],
)
def test_a_word_that_all_ids_of_a_kind_begin_with_tells_none_from_another(full: str, short: str) -> None:
    assert shorten_one(full) == short
    if "-e7f2" not in full:
        assert shorten([full]) == {full: short}
