"""The database file: private, shared by threads and processes, and its faults told in words."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rigline.errors import LedgerCorrupt, LedgerNewer, LedgerUnreachable
from rigline.store import sqlite
from rigline.store.migrate import newest, split_statements
from rigline.store.queries import list_migrations, read_sql
from rigline.store.sqlite import Database, open_reader, open_store
from rigline.testing.clock import FakeClock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


@pytest.fixture
def db(path: str) -> Iterator[Database]:
    database = open_store(path, clock=FakeClock())
    yield database
    database.close()


def _insert(db: Database, native_id: str) -> None:
    with db.writing():
        db.run("insert_session", harness="codex", native_id=native_id)


def _count(db: Database) -> int:
    with db.reading():
        return len(db.all("list_session_names"))


def test_the_file_and_its_companions_are_private_whatever_the_umask(path: str) -> None:
    before = os.umask(0)
    try:
        database = open_store(path, clock=FakeClock())
        _insert(database, "s1")
        modes = {name: stat.S_IMODE(os.stat(path + name).st_mode) for name in ("", "-wal", "-shm")}
        database.close()
    finally:
        os.umask(before)
    assert modes == {"": 0o600, "-wal": 0o600, "-shm": 0o600}


def test_a_failed_transaction_leaves_nothing(db: Database) -> None:
    def write_half() -> None:
        with db.writing():
            db.run("insert_session", harness="codex", native_id="s1")
            raise KeyError("half way")

    with pytest.raises(KeyError):
        write_half()
    assert _count(db) == 0


def test_a_refused_statement_becomes_the_ledgers_error(db: Database) -> None:
    _insert(db, "s1")
    with pytest.raises(LedgerUnreachable, match="UNIQUE"):
        _insert(db, "s1")
    assert _count(db) == 1


def test_a_readers_view_does_not_change_under_it(path: str, db: Database) -> None:
    other = open_store(path, clock=FakeClock())
    with db.reading():
        before = len(db.all("list_session_names"))
        _insert(other, "s1")
        after = len(db.all("list_session_names"))
    assert (before, after, _count(db)) == (0, 0, 1)
    other.close()


def test_a_reader_is_not_locked_out_by_a_writer(path: str, db: Database) -> None:
    _insert(db, "s1")
    with db.writing():
        db.run("insert_session", harness="codex", native_id="s2")
        reader = open_reader(path)
        assert reader.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
        reader.close()


def test_threads_may_share_a_database(db: Database) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for n in range(50):
                _insert(db, f"{name}-{n}")
                _count(db)
        except BaseException as error:  # a failing thread must fail the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert _count(db) == 200


def _create(path: str) -> None:
    open_store(path, clock=FakeClock()).close()


CREATE = """
import sys
from rigline.store.sqlite import open_store, read_clock
open_store(sys.argv[1], clock=read_clock).close()
"""


def test_processes_may_create_one_database_at_the_same_time(path: str) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", CREATE, path]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    reader = open_reader(path)
    assert reader.execute("SELECT count(*) FROM migrations").fetchone() == (len(list_migrations()),)
    reader.close()


def test_a_thousand_openings_leave_no_file_open(path: str) -> None:
    _create(path)
    before = len(os.listdir("/dev/fd"))
    for _ in range(100):
        _create(path)
        open_reader(path).close()
    assert len(os.listdir("/dev/fd")) == before


def test_migrations_together_give_the_schema(path: str, db: Database) -> None:
    fresh = sqlite3.connect(":memory:")
    for statement in split_statements(read_sql("schema.sql")):
        fresh.execute(statement)
    migrated = sqlite3.connect(path)
    assert _describe(migrated) == _describe(fresh)
    fresh.close()
    migrated.close()


def _describe(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(kind, name): " ".join(sql.split()) for kind, name, sql in rows}


def test_migrations_are_numbered_without_gaps() -> None:
    assert list(list_migrations()) == list(range(1, newest() + 1))


def test_a_migration_and_its_record_commit_together(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "migrations/0001_a.sql": "CREATE TABLE workstreams (x);\nCREATE TABLE migrations (number, name, applied_ms);\n"
    }
    scripts["migrations/0002_b.sql"] = "CREATE TABLE b (x);\nCREATE TABLE b (x);\n"
    monkeypatch.setattr("rigline.store.migrate.list_migrations", lambda: {1: "0001_a.sql", 2: "0002_b.sql"})
    monkeypatch.setattr("rigline.store.migrate.read_sql", scripts.__getitem__)
    for _ in range(2):
        with pytest.raises(LedgerUnreachable):
            open_store(path, clock=FakeClock())
        connection = sqlite3.connect(path)
        assert connection.execute("SELECT number FROM migrations").fetchall() == [(1,)]
        assert ("table", "b") not in _describe(connection)
        connection.close()
    scripts["migrations/0002_b.sql"] = "CREATE TABLE b (x);\n"
    open_store(path, clock=FakeClock()).close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT number, name FROM migrations").fetchall() == [(1, "0001_a"), (2, "0002_b")]
    connection.close()


def test_a_newer_schema_is_refused_and_left_alone(path: str) -> None:
    _create(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO migrations VALUES (?, 'from the future', 0)", (newest() + 7,))
    connection.commit()
    connection.close()
    for opening in (lambda: open_store(path, clock=FakeClock()), lambda: open_reader(path)):
        with pytest.raises(LedgerNewer, match="upgrade rigline") as caught:
            opening()
        assert caught.value.details == {"path": path, "version": newest() + 7, "known": newest()}
        assert all(word in str(caught.value) for word in (path, str(newest() + 7), str(newest())))


def test_an_older_schema_is_migrated_for_a_reader(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _create(path)
    older = {**list_migrations(), newest() + 1: "next.sql"}
    monkeypatch.setattr("rigline.store.migrate.list_migrations", lambda: older)
    real = read_sql
    monkeypatch.setattr(
        "rigline.store.migrate.read_sql", lambda name: "CREATE TABLE fresh (x);\n" if "next" in name else real(name)
    )
    reader = open_reader(path)
    assert reader.execute("SELECT count(*) FROM fresh").fetchone() == (0,)
    reader.close()


@pytest.mark.parametrize("content", [b"this is no database at all " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_corrupt_file_is_named_with_the_way_out(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)
    for opening in (lambda: open_store(path, clock=FakeClock()), lambda: open_reader(path)):
        with pytest.raises(LedgerCorrupt, match="recover --from-segments") as caught:
            opening()
        assert path in str(caught.value)
    assert Path(path).read_bytes() == content


def test_pages_damaged_later_are_told_when_they_are_read(path: str) -> None:
    database = open_store(path, clock=FakeClock())
    with database.writing():
        for n in range(2000):
            database.run("insert_session", harness="codex", native_id=f"s{n}")
    database.close()
    damaged = bytearray(Path(path).read_bytes())
    half = len(damaged) // 2
    damaged[half:] = b"\xaa" * (len(damaged) - half)
    Path(path).write_bytes(damaged)
    database = open_store(path, clock=FakeClock())
    with pytest.raises(LedgerCorrupt):
        _count(database)
    database.close()


def test_another_programs_database_is_refused(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (x)")
    connection.close()
    with pytest.raises(LedgerCorrupt, match="no ledger of rigline's"):
        open_store(path, clock=FakeClock())


def test_a_folder_in_the_files_place_is_told(path: str) -> None:
    os.mkdir(path)
    with pytest.raises(LedgerUnreachable, match="cannot be opened"):
        open_store(path, clock=FakeClock())


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnreachable, match="No such file"):
        open_store(str(tmp_path / "missing" / "ledger.db"), clock=FakeClock())


def test_a_missing_ledger_is_told_to_a_reader_and_not_made(path: str) -> None:
    with pytest.raises(LedgerUnreachable, match="nothing was imported") as caught:
        open_reader(path)
    assert caught.value.details["missing"] is True
    assert not os.path.exists(path)


def test_a_full_disk_is_told_and_nothing_is_stored_half(path: str) -> None:
    database = open_store(path, clock=FakeClock())
    _insert(database, "s1")
    database._connection.execute("PRAGMA max_page_count = 1")

    def fill() -> None:
        with database.writing():
            for n in range(100_000):
                database.run("insert_session", harness="codex", native_id=f"many-{n}" * 10)

    with pytest.raises(LedgerUnreachable, match="the disk is full"):
        fill()
    assert _count(database) == 1
    database.close()


def test_a_lock_that_is_not_released_is_told(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.1)
    first = open_store(path, clock=FakeClock())
    second = open_store(path, clock=FakeClock())
    with first.writing(), pytest.raises(LedgerUnreachable, match="locked"):
        _insert(second, "s1")
    _insert(second, "s1")
    first.close()
    second.close()


def test_an_idle_database_is_read_where_nothing_may_be_written(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _create(path)
    real, tried = sqlite._connect_read_only, []

    def connect(where: str, options: str) -> tuple[sqlite3.Connection, int]:
        tried.append(options)
        if "immutable" not in options:
            raise sqlite3.OperationalError("unable to open database file")
        return real(where, options)

    monkeypatch.setattr(sqlite, "_connect_read_only", connect)
    open_reader(path).close()
    assert tried == ["mode=ro", "mode=ro&immutable=1"]


def test_a_reader_cannot_write(path: str) -> None:
    _create(path)
    reader = open_reader(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM migrations")
    reader.close()


def test_paths_with_odd_characters_are_opened(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c%20 d"
    folder.mkdir()
    path = str(folder / "ledger.db")
    _create(path)
    open_reader(path).close()
    assert {name.removesuffix("-wal").removesuffix("-shm") for name in os.listdir(folder)} == {"ledger.db"}


def test_bytes_that_are_no_utf8_reach_the_tables_readable(db: Database) -> None:
    _insert(db, "caf\udce9")
    with db.reading():
        assert db.all("list_session_names")[0][2] == "caf\ufffd"
