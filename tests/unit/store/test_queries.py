"""SQL files are read by name, and every statement in them is used and valid."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

import rigline
from rigline.store.migrate import split_statements
from rigline.store.queries import load_queries, parse_queries, read_sql

_SOURCE = Path(rigline.__file__).parent


def test_statements_are_found_by_their_names() -> None:
    text = "-- About the file.\n\n-- name: first\nSELECT 1\n\n-- name: second\n-- a reason\nSELECT 2\nFROM t\n"
    assert parse_queries(text) == {"first": "SELECT 1", "second": "-- a reason\nSELECT 2\nFROM t"}


def test_a_name_that_comes_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="first"):
        parse_queries("-- name: first\nSELECT 1\n-- name: first\nSELECT 2\n")


@pytest.mark.parametrize("name", ["queries.sql", "search.sql"])
def test_every_statement_fits_the_schema(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    for statement in split_statements(read_sql("schema.sql")):
        connection.execute(statement)
    connection.execute("CREATE TEMP TABLE incoming (place INTEGER PRIMARY KEY, id BLOB NOT NULL, copy_key BLOB)")
    for statement in load_queries(name).values():
        names = set(re.findall(r":([a-z0-9_]+)", statement))
        values: object = dict.fromkeys(names) if names else (None,) * statement.count("?")
        connection.execute(f"EXPLAIN {statement}", values)  # type: ignore[arg-type]
    connection.close()


def test_every_statement_is_used() -> None:
    code = "\n".join(path.read_text() for path in _SOURCE.rglob("*.py"))
    unused = [name for file in ("queries.sql", "search.sql") for name in load_queries(file) if f'"{name}"' not in code]
    assert unused == []


def test_scripts_are_split_between_statements_only() -> None:
    script = "CREATE TABLE a (x); -- one; two\nINSERT INTO a\nVALUES ('; not the end;');\n"
    assert [each.strip() for each in split_statements(script)] == [
        "CREATE TABLE a (x); -- one; two",
        "INSERT INTO a\nVALUES ('; not the end;');",
    ]
