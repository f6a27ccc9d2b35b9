"""What a user types becomes an expression that the index understands, whatever it is."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.ledger.search import MAX_TERMS, build_match, parse_terms

_QUERY_LIKE = st.lists(
    st.one_of(
        st.sampled_from(
            ['"', "*", "(", ")", "AND", "OR", "NOT", "NEAR(", "text:", "-", "^", "+", "{", "}", "'", "\0", "\\"]
        ),
        st.text(alphabet=st.characters(exclude_categories=()), max_size=6),
    )
).map(" ".join)


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    connection.execute("INSERT INTO f VALUES ('the quick brown fox, jumps over foo.bar')")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", ""),
        ("   ", ""),
        ("word", '"word"'),
        ("two words", '"two" "words"'),
        ('"two words"', '"two words"'),
        ('say "two words" again', '"say" "two words" "again"'),
        ('"never closed', '"never closed"'),
        ("begin*", '"begin"*'),
        ("begin**", '"begin"*'),
        ('"no prefix*"', '"no prefix*"'),
        ("* ** - !!", ""),
        ("a OR b", '"a" "OR" "b"'),
        ("path/to/file.py", '"path/to/file.py"'),
        ("nul\0byte", '"nul" "byte"'),
        ("数据库", '" 数  据  库 "'),
        ("\ud800", ""),
    ],
)
def test_a_query_becomes_quoted_terms(text: str, match: str) -> None:
    assert build_match(text) == match


@given(st.one_of(_QUERY_LIKE, st.text(alphabet=st.characters(exclude_categories=()))))
def test_no_text_is_a_syntax_error(index: sqlite3.Connection, text: str) -> None:
    match = build_match(text)
    if match:
        index.execute("SELECT rowid FROM f WHERE f MATCH ?", (match,)).fetchall()


def test_a_very_long_query_is_no_error(index: sqlite3.Connection) -> None:
    match = build_match("the quick " * 5000)
    assert len(parse_terms("the quick " * 5000)) == MAX_TERMS
    assert index.execute("SELECT count(*) FROM f WHERE f MATCH ?", (match,)).fetchone() == (1,)


@pytest.mark.parametrize(
    ("text", "finds"),
    [
        ("quick fox", True),
        ("fox quick", True),
        ('"fox quick"', False),
        ('"brown fox"', True),
        ("qui*", True),
        ("qui", False),
        ("QUICK", True),
        ("fox,", True),
        ("foo.bar", True),
        ("bar.foo", False),
        ("fox missing", False),
        ("fox !!!", True),
    ],
)
def test_every_term_must_be_there(index: sqlite3.Connection, text: str, finds: bool) -> None:
    found = index.execute("SELECT count(*) FROM f WHERE f MATCH ?", (build_match(text),)).fetchone()
    assert bool(found[0]) is finds


def test_the_search_loads_nothing_slow() -> None:
    slow = [
        "msgspec",
        "typing",
        "dataclasses",
        "pathlib",
        "re",
        "json",
        "enum",
        "contextlib",
        "subprocess",
        "threading",
    ]
    code = f"import sys, rigline.ledger.search; print([name for name in {slow} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "[]"
