"""Text is made fit for the store without losing what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.store.text import has_cjk, replace_surrogates, space_cjk

_ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain", "plain"),
        ("é", "é"),
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_joined(text: str, whole: str) -> None:
    assert replace_surrogates(text) == whole


@given(_ANY_TEXT)
def test_any_text_can_be_encoded_afterwards(text: str) -> None:
    replace_surrogates(text).encode()


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("plain", "plain"),
        ("grün", "grün"),
        ("数据库", " 数  据  库 "),
        ("v2数据", "v2 数  据 "),
        ("ひらカナ", " ひ  ら  カ  ナ "),
        ("한글", " 한  글 "),
        ("\U00020000", " \U00020000 "),
    ],
)
def test_each_cjk_character_becomes_a_word(text: str, spaced: str) -> None:
    assert space_cjk(text) == spaced
    assert has_cjk(text) == (text != spaced)
