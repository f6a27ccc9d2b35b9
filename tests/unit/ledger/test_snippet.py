"""A snippet shows the match, stands on one line, and is cut between words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.ledger.snippet import Term, cut_snippet, find_match, shorten_text


def _terms(*words: str) -> list[Term]:
    return [Term(word.rstrip("*"), is_prefix=word.endswith("*")) for word in words]


@pytest.mark.parametrize(
    ("text", "words", "match"),
    [
        ("a needle here", ["needle"], "needle"),
        ("a NEEDLE here", ["needle"], "NEEDLE"),
        ("needles and a needle", ["needle"], "needle"),
        ("needles", ["needle*"], "needle"),
        ("needles", ["needle"], None),
        ("unneedle needle", ["needle*"], "needle"),
        ("b then a", ["a", "b"], "b"),
        ("snake_case here", ["snake-case"], "snake"),
        ("Müller sagt", ["muller"], "Müller"),
        ("muller sagt", ["müller"], "muller"),
        ("ÇA ÉTÉ", ["ete"], "ÉTÉ"),
        ("İstanbul calling", ["calling"], "calling"),
        ("这是数据库的说明", ["数据库"], "数据库"),
        ("", ["x"], None),
        ("nothing of it", ["needle"], None),
        ("foo.bar", ["foo.bar"], "foo.bar"),
        ("a++ b", ["a++"], "a++"),
    ],
)
def test_the_match_is_found_as_the_index_finds_it(text: str, words: list[str], match: str | None) -> None:
    span = find_match(text, _terms(*words))
    assert (text[span[0] : span[1]] if span else None) == match


def test_the_snippet_is_cut_between_words_around_the_match() -> None:
    text = "first words " * 30 + "the needle stands here " + "last words " * 30
    snippet, highlight = cut_snippet(text, _terms("needle"), 60)
    assert highlight is not None
    assert snippet[highlight[0] : highlight[1]] == "needle"
    assert snippet.startswith(("…words first", "…first words"))
    assert snippet.endswith(("words…", "last…"))
    assert len(snippet) <= 62


def test_a_short_text_is_shown_whole() -> None:
    assert cut_snippet("just a needle", _terms("needle"), 240) == ("just a needle", (7, 13))
    assert cut_snippet("no match", _terms("needle"), 240) == ("no match", None)


def test_lines_become_one() -> None:
    snippet, highlight = cut_snippet("one\n\n  two\tneedle\r\nthree", _terms("needle"), 240)
    assert snippet == "one two needle three"
    assert highlight == (8, 14)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short", "short"),
        ("  a   b  ", "a b"),
        ("one two three four", "one two…"),
        ("x" * 30, "x" * 10 + "…"),
        ("", ""),
    ],
)
def test_a_text_is_shortened_between_words(text: str, short: str) -> None:
    assert shorten_text(text, 10) == short


@given(st.text(), st.text(min_size=1, max_size=5), st.integers(min_value=1, max_value=50), st.booleans())
def test_no_text_breaks_a_snippet(text: str, word: str, chars: int, is_prefix: bool) -> None:
    snippet, highlight = cut_snippet(text, [Term(word, is_prefix=is_prefix)], chars)
    assert "\n" not in snippet
    if highlight:
        assert 0 <= highlight[0] <= highlight[1] <= len(snippet)


def test_a_text_that_nearly_matches_everywhere_does_not_hang() -> None:
    assert find_match("a" * 1_000_000, _terms("aa")) is None
