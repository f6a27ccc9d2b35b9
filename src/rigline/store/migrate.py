"""Numbered migrations: each commits together with its record, so a database always knows what it is."""

from __future__ import annotations

import sqlite3

from rigline.errors import LedgerCorrupt, LedgerNewer
from rigline.store.queries import list_migrations, read_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def newest() -> int:
    """The schema version that this rigline writes."""
    return max(list_migrations())


def check(connection: sqlite3.Connection, path: str) -> int:
    """The database's schema version, 0 for an empty one.

    Raises `LedgerNewer` when this rigline does not know it, `LedgerCorrupt` for another program's database.
    """
    version = _read_version(connection, path)
    known = newest()
    if version > known:
        raise LedgerNewer(
            f"The ledger {path} has schema version {version}; this rigline knows versions up to {known}. "
            "It was written by a newer rigline: upgrade rigline to use it.",
            path=path,
            version=version,
            known=known,
        )
    return version


def migrate(connection: sqlite3.Connection, path: str, now_ms: int) -> None:
    """Bring the database to the newest version. Several processes may try at once: one does it."""
    if check(connection, path) == newest():
        return
    for number, name in list_migrations().items():
        connection.execute("BEGIN IMMEDIATE")
        try:
            if check(connection, path) < number:
                _apply(connection, number, name, now_ms)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _read_version(connection: sqlite3.Connection, path: str) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if not {"migrations", "workstreams"} <= tables:
        raise LedgerCorrupt(f"{path} is a database, but no ledger of rigline's. Move it away and try again.", path=path)
    version: int = connection.execute("SELECT max(number) FROM migrations").fetchone()[0]
    return version


def _apply(connection: sqlite3.Connection, number: int, name: str, now_ms: int) -> None:
    for statement in split_statements(read_sql(f"migrations/{name}")):
        connection.execute(statement)
    connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name.removesuffix(".sql"), now_ms))


def split_statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` is of no use, since it commits before it begins."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
