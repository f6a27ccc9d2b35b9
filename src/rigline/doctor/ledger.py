"""The ledger's file: does it open, is it whole, and are the segments as they were written."""

from __future__ import annotations

import os
import sqlite3

from rigline.doctor.check import Check, fail, ok
from rigline.errors import LedgerCorrupt, LedgerError, LedgerUnreachable
from rigline.ledger.local import DATABASE_NAME, SEGMENTS_NAME
from rigline.ledger.segments import hash_segment
from rigline.readable import format_count, format_size
from rigline.store import migrate
from rigline.store.queries import load_queries
from rigline.store.sqlite import explain, open_reader

REBUILD = "rigline recover --from-segments"
SHOWN_FAULTS = 5


def check_ledger(home: str, *, deep: bool) -> list[Check]:
    """Open the database read-only and ask it; with `deep` every page and every segment is read."""
    path = os.path.join(home, DATABASE_NAME)
    if not os.path.exists(path):
        return [ok("ledger", "nothing is in it yet", path=path)]
    try:
        connection = open_reader(path)
    except LedgerError as error:
        return [fail("ledger", str(error), find_step(error), path=path)]
    try:
        checks = [_count(connection, path)]
        return checks + (_look_deep(connection, home) if deep else [])
    except sqlite3.Error as error:
        told = explain(error, path)
        return [fail("ledger", str(told), find_step(told), path=path)]
    finally:
        connection.close()


def find_step(error: LedgerError) -> str:
    """What helps against an error of the ledger's."""
    if isinstance(error, LedgerCorrupt):
        return REBUILD
    if isinstance(error, LedgerUnreachable):
        return "Free the file or the disk, then try again."
    return "Upgrade rigline."


def _count(connection: sqlite3.Connection, path: str) -> Check:
    lines, sessions, events = connection.execute(load_queries("doctor.sql")["count_rows"]).fetchone()
    size = os.stat(path).st_size
    text = (
        f"{format_count(events, 'event')} of {format_count(sessions, 'session')} on {format_count(lines, 'line')}, "
        f"{format_size(size)}, schema {migrate.newest()}"
    )
    return ok("ledger", text, path=path, events=events, sessions=sessions, workstreams=lines, size_bytes=size)


def _look_deep(connection: sqlite3.Connection, home: str) -> list[Check]:
    return [_check_pages(connection), _check_segments(connection, os.path.join(home, SEGMENTS_NAME))]


def _check_pages(connection: sqlite3.Connection) -> Check:
    faults = [row[0] for row in connection.execute(f"PRAGMA integrity_check({SHOWN_FAULTS})")]
    if faults == ["ok"]:
        return ok("database", "every page is whole")
    return fail("database", f"it is damaged: {'; '.join(faults)}", REBUILD, faults=faults)


def _check_segments(connection: sqlite3.Connection, folder: str) -> Check:
    rows = connection.execute(load_queries("doctor.sql")["list_segments"]).fetchall()
    missing, changed = find_faulty_segments(folder, rows)
    if not missing and not changed:
        return ok("segments", f"{format_count(len(rows), 'segment')}, all as they were written", segments=len(rows))
    parts = [f"{len(names)} {what}" for names, what in ((missing, "missing"), (changed, "changed")) if names]
    text = f"of {format_count(len(rows), 'segment')} {' and '.join(parts)}: {', '.join((missing + changed)[:3])}"
    step = f"The database still has their events. Restore {folder} from a backup, and look at the disk."
    return fail("segments", text, step, missing=missing, changed=changed)


def find_faulty_segments(folder: str, rows: list[tuple[str, int, str]]) -> tuple[list[str], list[str]]:
    """(missing, changed): names of segments whose file is not there, or not as its row (name, bytes, hash) says."""
    missing, changed = [], []
    for name, size, digest in rows:
        try:
            if hash_segment(os.path.join(folder, name)) != (size, digest):
                changed.append(name)
        except OSError:
            missing.append(name)
    return missing, changed
