"""A harness's SQLite database, opened so that rows in its write-ahead log are seen and nothing is written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

#: how long another process's write is waited for
BUSY_S = 2.0


@contextmanager
def open_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """The database at `path`, for one short look; raises OSError when it is missing and sqlite3.Error when damaged.

    SQLite would make the log's index where a finished program left none, so a database without a log is opened as one
    that nobody changes; where a log is there, its rows count (sqlite.org, "Read-Only WAL-Mode Databases").
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(2, "no such database", path)
    has_log = os.path.exists(path + "-wal")
    address = f"file:{quote(os.path.abspath(path))}?{'mode=ro' if has_log else 'mode=ro&immutable=1'}"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only=1")
        yield connection


def list_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where there is no such table."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(row["name"] for row in rows)
