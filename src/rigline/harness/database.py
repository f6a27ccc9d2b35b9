"""A harness's SQLite database, opened so that rows in its write-ahead log are seen and nothing is written.

What SQLite's documentation ("Write-Ahead Logging", "Read-Only WAL-Mode Databases", "URI Filenames") and version 3.40
say of a database that another program owns:

    state of the database                      opened
    no log of this kind (rollback journal)     `mode=ro`: its locks are heeded, no file is made
    log and its index (`-wal`, `-shm`)         `mode=ro`, the index read-only too: without that its marks are written
    no log, or an empty one without index      `immutable=1`: anything else makes both files
    log without index (a copied folder)        a private copy, since SQLite cannot read the log without making the index
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from rigline.harness.journal import open_regular

#: how long another process's write is waited for
BUSY_S = 2.0
#: what is copied at most for a log without index
COPY_CAP_BYTES = 512 << 20
_MAGIC = b"SQLite format 3\0"
_WAL_VERSION = 2
_READ_ONLY = "mode=ro&readonly_shm=1"
_UNCHANGING = "mode=ro&immutable=1"


@contextmanager
def open_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """The database at `path`; rows come as `sqlite3.Row`. No statement left open: each sees the newest state.

    Raises OSError when it is missing, closed to us or no database, and sqlite3.Error when it is damaged. A text that is
    no UTF-8 comes with U+FFFD. A database without a log that gets one meanwhile shows a mixture of old and new, at
    worst an error: what is read of it again later is right.
    """
    path = os.path.abspath(path)
    mode = _find_mode(path)
    if mode:
        with closing(_connect(path, mode)) as connection:
            yield connection
        return
    with _open_copy(path) as connection:
        yield connection


def list_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where there is no such table."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(row["name"] for row in rows)


def as_os_error(error: sqlite3.Error, path: str) -> OSError:
    """A fault of the database in the form of a file's, for callers that know only files."""
    return OSError(errno.EIO, f"the database answers: {error}", path)


def _find_mode(path: str) -> str:
    """How to open it; empty where only a copy can be read."""
    with open_regular(path) as file:
        header = file.read(20)
    if header and not header.startswith(_MAGIC):
        raise OSError(errno.EINVAL, "not an SQLite database", path)
    if len(header) < 20 or header[19] != _WAL_VERSION:
        return _READ_ONLY
    if os.path.exists(path + "-shm"):
        return _READ_ONLY if os.path.exists(path + "-wal") else _UNCHANGING
    return "" if _get_size(path + "-wal") else _UNCHANGING


def _get_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _connect(path: str, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(path)}?{mode}", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = _decode
        connection.execute("PRAGMA query_only=1")
    except BaseException:
        connection.close()
        raise
    return connection


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextmanager
def _open_copy(path: str) -> Iterator[sqlite3.Connection]:
    """A copy of database and log in a private folder, which is gone as soon as the copy is open."""
    import shutil
    import tempfile

    size = _get_size(path) + _get_size(path + "-wal")
    if size > COPY_CAP_BYTES:
        raise OSError(errno.EFBIG, "its log has lost its index (-shm), and it is too large to be read as a copy", path)
    with tempfile.TemporaryDirectory(prefix="rigline-") as folder:
        copy = os.path.join(folder, "copy.db")
        # the log last: what is moved from it into the database meanwhile is then there twice, and not missing
        for ending in ("", "-wal"):
            shutil.copyfile(path + ending, copy + ending)
        connection = _connect(copy, "mode=rw")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
    with closing(connection):
        yield connection
