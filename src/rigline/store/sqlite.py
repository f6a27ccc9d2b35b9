"""One SQLite file: opened privately, guarded for threads, its faults told in words.

`open_store` is for writers: it creates and migrates. `open_reader` is the fast path of `search`: read-only, no
migration. No `sqlite3.Error` leaves a transaction: it becomes `LedgerCorrupt` or `LedgerUnreachable`.
"""

from __future__ import annotations

import os
import sqlite3
import time
from _thread import RLock

from rigline.errors import LedgerCorrupt, LedgerError, LedgerUnreachable
from rigline.store import migrate
from rigline.store.queries import load_queries
from rigline.store.text import replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Any, Literal

    Row = tuple[Any, ...]

BUSY_TIMEOUT_S = 10.0
#: pages kept in memory by a writer; enough for the index nodes that a bulk import comes back to
_CACHE_KIB = 32_768
#: WAL pages between checkpoints: about 16 MB, so that a bulk import is not stopped at each window
_CHECKPOINT_PAGES = 4_000

_ALLOW = "Give yourself the right to write there, or name another folder with RIGLINE_HOME."
_WAIT = "Try again when it is done."
#: SQLite's code -> why, and what to do
_CAUSES = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room there."),
    sqlite3.SQLITE_READONLY: ("it is read-only", _ALLOW),
    sqlite3.SQLITE_PERM: ("access is not permitted", _ALLOW),
    sqlite3.SQLITE_CANTOPEN: ("the file cannot be opened", _ALLOW),
    sqlite3.SQLITE_BUSY: (f"another process kept it locked for {BUSY_TIMEOUT_S:.0f} s", _WAIT),
    sqlite3.SQLITE_LOCKED: ("another connection keeps it locked", _WAIT),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Look at the disk; `rigline doctor --deep` reads all of it."),
}
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def read_clock() -> int:
    """The system's time, UTC milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def explain(error: sqlite3.Error, path: str) -> LedgerError:
    """The ledger's own error for one of SQLite's."""
    extended = getattr(error, "sqlite_errorcode", None)
    code = extended & 0xFF if extended is not None else None
    if code in _DAMAGED:
        return LedgerCorrupt(
            f"The ledger's database {path} is damaged ({error}). Nothing was changed. "
            "`rigline recover --from-segments` builds it anew from the segments beside it and keeps the damaged file.",
            path=path,
        )
    cause, advice = _CAUSES.get(code or 0, (str(error) or type(error).__name__, "`rigline doctor` looks at it."))
    message = f"The ledger {path} cannot be used: {cause} ({error}). {advice}"
    return LedgerUnreachable(message, path=path, cause=cause)


class Database:
    """A connection with its named statements. Statements run inside `reading` or `writing` only.

    Threads may share one: a transaction holds its lock.
    """

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.path = path
        self._connection = connection
        self._queries = load_queries("queries.sql")
        self._lock = RLock()

    def writing(self) -> Transaction:
        """A transaction that has the write lock from its start; commits at its end, rolls back on an exception."""
        return Transaction(self._connection, self._lock, self.path, "BEGIN IMMEDIATE")

    def reading(self) -> Transaction:
        """A transaction that sees one state of the ledger throughout."""
        return Transaction(self._connection, self._lock, self.path, "BEGIN")

    def run(self, name: str, /, **values: object) -> int:
        """Execute a statement and return how many rows it changed."""
        return self._execute(name, values).rowcount

    def run_many(self, name: str, rows: Iterable[Row | Mapping[str, object]]) -> None:
        """Execute a statement once for each row of values."""
        self._connection.executemany(self._queries[name], rows)

    def iterate(self, name: str, /, **values: object) -> Iterator[Row]:
        """The rows of a statement, as they come."""
        return self._execute(name, values)

    def all(self, name: str, /, **values: object) -> list[Row]:
        """All rows of a statement."""
        return self._execute(name, values).fetchall()

    def one(self, name: str, /, **values: object) -> Row | None:
        """The first row of a statement, or None."""
        row: Row | None = self._execute(name, values).fetchone()
        return row

    def value(self, name: str, /, **values: object) -> Any:
        """The first column of the first row, or None."""
        row = self.one(name, **values)
        return row[0] if row else None

    def _execute(self, name: str, values: dict[str, object]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(self._queries[name], values)
        except UnicodeEncodeError:
            # a path with bytes that are no UTF-8 reaches Python with lone surrogates, which SQLite cannot hold
            values = {key: replace_surrogates(each) if isinstance(each, str) else each for key, each in values.items()}
            return self._connection.execute(self._queries[name], values)

    def close(self) -> None:
        """Close the connection. Idempotent."""
        with self._lock:
            self._connection.close()


class Transaction:
    """What `Database.reading` and `Database.writing` give; a class since `contextlib` costs a start its time."""

    def __init__(self, connection: sqlite3.Connection, lock: RLock, path: str, begin: str) -> None:
        self._connection = connection
        self._lock = lock
        self._path = path
        self._begin = begin

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._connection.execute(self._begin)
        except sqlite3.Error as error:
            self._lock.release()
            raise explain(error, self._path) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        try:
            self._end(commit=error is None)
            if isinstance(error, sqlite3.Error):
                raise explain(error, self._path) from error
        finally:
            self._lock.release()
        return False

    def _end(self, *, commit: bool) -> None:
        try:
            if commit:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def open_store(path: str, *, clock: Callable[[], int]) -> Database:
    """Open a database for writing, created and migrated when needed. Its folder exists already.

    Raises `LedgerNewer`, `LedgerCorrupt` or `LedgerUnreachable`.
    """
    try:
        _create_private(path)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    except OSError as error:
        message = f"The ledger {path} cannot be created: {error.strerror}. {_ALLOW}"
        raise LedgerUnreachable(message, path=path) from error
    except sqlite3.Error as error:
        raise explain(error, path) from error
    try:
        _prepare(connection)
        migrate.migrate(connection, path, clock())
    except sqlite3.Error as error:
        connection.close()
        raise explain(error, path) from error
    except LedgerError:
        connection.close()
        raise
    return Database(connection, path)


def open_reader(path: str) -> sqlite3.Connection:
    """Open a database read-only; raises `LedgerUnreachable` (details: missing) when there is none.

    One that an older rigline wrote is migrated first. On a read-only disk, where SQLite cannot share a WAL, an
    idle database is read as it stands.
    """
    if not os.path.exists(path):
        raise LedgerUnreachable(f"There is no ledger at {path} yet: nothing was imported.", path=path, missing=True)
    try:
        try:
            connection, version = _connect_read_only(path, "mode=ro")
        except sqlite3.OperationalError:
            if os.path.exists(path + "-wal"):
                raise
            connection, version = _connect_read_only(path, "mode=ro&immutable=1")
    except sqlite3.Error as error:
        raise explain(error, path) from error
    if version < migrate.newest():
        open_store(path, clock=read_clock).close()
    return connection


def _connect_read_only(path: str, options: str) -> tuple[sqlite3.Connection, int]:
    address = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{address}?{options}", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        return connection, migrate.check(connection, path)
    except BaseException:
        connection.close()
        raise


def _create_private(path: str) -> None:
    """SQLite gives its own files the modes of the database, so that one is made 0600 whatever the umask."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)


def _prepare(connection: sqlite3.Connection) -> None:
    _enable_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.execute("CREATE TEMP TABLE incoming (place INTEGER PRIMARY KEY, id BLOB NOT NULL, copy_key BLOB)")


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Two processes that create one database meet here, and SQLite does not wait for this lock by itself."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
