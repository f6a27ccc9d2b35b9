"""A database of another program is read with all that its log holds, and nothing is written, whatever its state."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rigline.harness import database
from rigline.harness.database import list_columns, open_read_only
from rigline.testing.harness_contracts.case import fingerprint

#: keeps a database open, with rows that are only in its log; a line on stdin adds a row, its end kills the program
WRITER = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode=" + sys.argv[2])
database.execute("CREATE TABLE rows(value)")
database.executemany("INSERT INTO rows VALUES(?)", [(n,) for n in range(100)])
print("ready", flush=True)
for line in sys.stdin:
    database.execute("BEGIN IMMEDIATE")
    database.execute("INSERT INTO rows VALUES(1)")
    database.execute("COMMIT") if line != "hold\\n" else None
    print("ready", flush=True)
os._exit(0)
"""


class Writer:
    """Another program that works with the database."""

    def __init__(self, path: Path, journal: str) -> None:
        argv = [sys.executable, "-c", WRITER, os.fspath(path), journal]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._wait()

    def _wait(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def write(self, line: str = "row") -> None:
        """Add a row; with `hold` within a transaction that stays open."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        self._wait()

    def crash(self) -> None:
        """End as a killed program does: its files stay."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=tmp_path, prefix="a % folder "))


@pytest.fixture
def writer(folder: Path) -> Iterator[Writer]:
    program = Writer(folder / "its.db", "wal")
    yield program
    program.crash()


def count(folder: Path) -> int:
    """The rows that are seen, and nothing changed by looking."""
    before = fingerprint(os.fspath(folder))
    with open_read_only(os.fspath(folder / "its.db")) as found:
        (number,) = found.execute("SELECT count(*) FROM rows").fetchone()
    assert fingerprint(os.fspath(folder)) == before
    return int(number)


def test_rows_in_the_log_of_a_running_program_are_seen(folder: Path, writer: Writer) -> None:
    assert count(folder) == 100
    writer.write()
    assert count(folder) == 101


def test_a_reader_that_stays_sees_new_rows_and_hinders_nobody(folder: Path, writer: Writer) -> None:
    with open_read_only(os.fspath(folder / "its.db")) as found:
        for number in range(100, 103):
            assert found.execute("SELECT count(*) FROM rows").fetchone()[0] == number
            writer.write()
    with closing(sqlite3.connect(folder / "its.db")) as own:
        assert own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_transaction_that_is_open_is_neither_seen_nor_waited_for(folder: Path, writer: Writer) -> None:
    writer.write("hold")
    assert count(folder) == 100


def test_rows_that_a_crashed_program_left_in_its_log_are_seen(folder: Path, writer: Writer) -> None:
    writer.crash()
    assert sorted(os.listdir(folder)) == ["its.db", "its.db-shm", "its.db-wal"]
    assert count(folder) == 100


def test_a_log_without_its_index_is_read_and_no_index_made(folder: Path, writer: Writer) -> None:
    writer.crash()
    (folder / "its.db-shm").unlink()
    assert count(folder) == 100


def test_the_copy_that_is_read_for_a_log_without_index_is_gone_at_once(
    folder: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    writer.crash()
    (folder / "its.db-shm").unlink()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(tmp_path))
    with open_read_only(os.fspath(folder / "its.db")) as found:
        assert found.execute("SELECT count(*) FROM rows").fetchone()[0] == 100
        assert os.listdir(tmp_path) == [folder.name]


def test_a_log_without_index_that_is_too_large_to_copy_is_refused(
    folder: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.crash()
    (folder / "its.db-shm").unlink()
    monkeypatch.setattr(database, "COPY_CAP_BYTES", 100)
    with pytest.raises(OSError, match="too large to be read as a copy"), open_read_only(str(folder / "its.db")):
        pass


def test_a_database_that_was_closed_well_is_read_without_making_a_log(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "its.db")) as own, own:
        own.execute("PRAGMA journal_mode=WAL")
        own.execute("CREATE TABLE rows(value)")
    assert os.listdir(folder) == ["its.db"]
    assert count(folder) == 0


def test_a_copied_folder_without_log_but_with_an_index_is_read(folder: Path, writer: Writer) -> None:
    with closing(sqlite3.connect(folder / "its.db")) as own:
        own.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.crash()
    (folder / "its.db-wal").unlink()
    assert count(folder) == 100


def test_a_rollback_journal_s_rows_are_seen_once_they_are_committed(folder: Path) -> None:
    program = Writer(folder / "its.db", "delete")
    program.write("hold")
    assert count(folder) == 100
    program.crash()


def test_a_journal_that_has_to_be_rolled_back_is_left_to_its_program(folder: Path) -> None:
    """A crash in the middle of a commit: what is in the database is not true, and undoing it is not for us."""
    program = Writer(folder / "its.db", "delete")
    with closing(sqlite3.connect(folder / "its.db", isolation_level=None)) as own:
        own.execute("PRAGMA cache_spill=1")
        own.execute("PRAGMA cache_size=1")
        own.execute("BEGIN IMMEDIATE")
        own.executemany("INSERT INTO rows VALUES(?)", [("x" * 4000,)] * 100)
        shutil.copytree(folder, folder.with_name("crashed"))
    program.crash()
    crashed = folder.with_name("crashed")
    assert (crashed / "its.db-journal").stat().st_size > 0
    before = fingerprint(os.fspath(crashed))
    with pytest.raises(sqlite3.Error), open_read_only(os.fspath(crashed / "its.db")) as found:
        found.execute("SELECT count(*) FROM rows").fetchone()
    assert fingerprint(os.fspath(crashed)) == before


#: reads as nobody where it is started by root, who may write everywhere; nobody may not read where Python lies
READER = """
import os, shutil, sys, tempfile
from rigline.harness.database import open_read_only
if os.getuid() == 0:
    os.setuid(65534)
try:
    open(sys.argv[1] + "/probe", "w")
except PermissionError:
    with open_read_only(sys.argv[1] + "/its.db") as found:
        print(found.execute("SELECT count(*) FROM rows").fetchone()[0])
"""


@pytest.mark.parametrize("has_index", [True, False])
def test_a_folder_that_cannot_be_written_is_read(folder: Path, writer: Writer, has_index: bool) -> None:
    writer.crash()
    if not has_index:
        (folder / "its.db-shm").unlink()
    with tempfile.TemporaryDirectory() as outside:  # pytest's own folders are closed to others
        closed = Path(outside, "closed")
        shutil.copytree(folder, closed)
        for path in (Path(outside), *closed.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o444)
        closed.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", READER, closed], capture_output=True, text=True, check=False)
        closed.chmod(0o700)
    assert (done.stdout.strip(), done.returncode) == ("100", 0), done.stderr


def test_what_is_no_database_is_refused_by_name(folder: Path) -> None:
    (folder / "its.db").write_bytes(b"rubbish" * 100)
    with pytest.raises(OSError, match="not an SQLite database"), open_read_only(os.fspath(folder / "its.db")):
        pass
    with pytest.raises(FileNotFoundError), open_read_only(os.fspath(folder / "no.db")):
        pass
    os.mkfifo(folder / "pipe.db")
    with pytest.raises(OSError, match="not a regular file"), open_read_only(os.fspath(folder / "pipe.db")):
        pass
    assert sorted(os.listdir(folder)) == ["its.db", "pipe.db"]


def test_an_empty_file_has_no_tables(folder: Path) -> None:
    (folder / "its.db").write_bytes(b"")
    with open_read_only(os.fspath(folder / "its.db")) as found:
        assert list_columns(found, "rows") == frozenset()
    assert os.listdir(folder) == ["its.db"]


def test_nothing_can_be_written_through_it(folder: Path, writer: Writer) -> None:
    with open_read_only(os.fspath(folder / "its.db")) as found, pytest.raises(sqlite3.OperationalError):
        found.execute("DELETE FROM rows")
    writer.crash()
    (folder / "its.db-shm").unlink()
    with open_read_only(os.fspath(folder / "its.db")) as found, pytest.raises(sqlite3.OperationalError):
        found.execute("DELETE FROM rows")


def test_a_text_that_is_no_utf_8_is_read_all_the_same(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "its.db")) as own, own:
        own.execute("CREATE TABLE rows(value TEXT)")
        own.execute("INSERT INTO rows VALUES(CAST(x'61ff62' AS TEXT))")
    with open_read_only(os.fspath(folder / "its.db")) as found:
        assert found.execute("SELECT value FROM rows").fetchone()["value"] == "a\ufffdb"


def test_no_descriptor_stays_open(folder: Path, writer: Writer) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        count(folder)
    (folder / "its.db-shm").rename(folder / "away")
    for _ in range(5):
        count(folder)
    (folder / "away").rename(folder / "its.db-shm")
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before
