"""A workstream that was re-attached elsewhere is still there when the database is built anew from the segments."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigline.errors import LedgerUnreachable
from rigline.ledger.local import LocalLedger, open_ledger
from rigline.ledger.rebuild import Rebuilt, rebuild_from_segments
from rigline.ledger.segments import find_segments, read_header
from rigline.model import Grant, SessionInfo
from rigline.store.queries import read_sql
from rigline.testing.clock import FakeClock
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window
from tests.integration.ledger.conftest import keep_text

OLD, NEW = make_scope("tree-1"), make_scope("tree-2", project="renamed")
TABLES = {
    "workstreams": "id, name, workspace, project, repo_fingerprint, worktree_fingerprint, inode_fingerprint, cwd",
    "sessions": "harness, native_id, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, cursor",
    "bindings": "workstream_id, harness, is_current, evidence",
    "moves": "position, workstream_id, from_cwd, to_cwd, evidence, at_ms",
    "events": "seq, id, text",
    "segments": "name, events, bytes, sha256",
}


@pytest.fixture
def ledger(home: str) -> LocalLedger:
    return open_ledger(home, clock=FakeClock(), redactor=keep_text)


def say(ledger: LocalLedger, info: SessionInfo, cursor: str, record: str, text: str | None = None) -> None:
    ledger.append(
        info, make_window(info.native_id, cursor, [make_event(info.native_id, record, text)]), scope=OLD, run=None
    )


def begin(ledger: LocalLedger, native_id: str, **request: str) -> Grant:
    grant = ledger.prepare(make_request(**request))  # type: ignore[arg-type]
    ledger.bind(grant.run, make_session(native_id), evidence=f"hook {native_id}", created_via="fresh", store="/store")
    say(ledger, make_session(native_id), "c1", "r1")
    ledger.finish(grant.run, 0, None)
    return grant


def read(home: str) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    found = {
        name: sorted(connection.execute(f"SELECT {columns} FROM {name}").fetchall(), key=repr)
        for name, columns in TABLES.items()
    }
    connection.close()
    return found


def rebuild(home: str) -> Rebuilt:
    return rebuild_from_segments(os.path.join(home, "segments"), os.path.join(home, "ledger.db"), clock=FakeClock())


def check_rebuilt(home: str, ledger: LocalLedger) -> None:
    ledger.close()
    before = read(home)
    found = rebuild(home)
    assert read(home) == before
    assert (found.damaged, found.damaged_lines) == ([], 0)


def test_a_rebuilt_ledger_knows_the_new_place(home: str, ledger: LocalLedger) -> None:
    line = begin(ledger, "s1").workstream
    say(ledger, make_session("loose"), "c1", "r1")
    ledger.relocate(line.id, NEW, evidence="the same inode")
    check_rebuilt(home, ledger)


def test_what_was_said_and_bound_after_the_move_counts_after_it(home: str, ledger: LocalLedger) -> None:
    line = begin(ledger, "s1").workstream
    say(ledger, make_session("s1"), "c2", "r1", "revised just before the move")
    ledger.relocate(line.id, NEW, evidence="e")
    say(ledger, make_session("s1"), "c3", "r1", "revised just after it")
    grant = ledger.prepare(make_request(scope=NEW))
    fresh = make_session("s2")
    ledger.bind(grant.run, fresh, evidence="hook s2", created_via="fresh", store="/store")
    ledger.append(fresh, make_window("s2", "c1", [make_event("s2", "r1")]), scope=NEW, run=grant.run)
    say(ledger, make_session("s1"), "c4", "r1", "revised once more")
    check_rebuilt(home, ledger)


def test_a_line_that_moved_twice_is_where_it_moved_last(home: str, ledger: LocalLedger) -> None:
    line = begin(ledger, "s1").workstream
    third = replace(make_scope("tree-3"), inode_fingerprint=None)
    for scope in (NEW, third):
        ledger.relocate(line.id, scope, evidence=scope.worktree_fingerprint)
    check_rebuilt(home, ledger)


def test_two_lines_of_one_name_stay_two(home: str, ledger: LocalLedger) -> None:
    line = begin(ledger, "s1").workstream
    grant = ledger.prepare(make_request(scope=NEW))
    ledger.bind(grant.run, make_session("t1"), evidence="hook", created_via="fresh", store="/store")
    ledger.append(make_session("t1"), make_window("t1", "c", [make_event("t1", "r")]), scope=NEW, run=None)
    ledger.relocate(line.id, NEW, evidence="e")
    check_rebuilt(home, ledger)


def test_a_line_without_a_session_moves_and_is_in_no_segment(home: str, ledger: LocalLedger) -> None:
    grant = ledger.prepare(make_request())
    ledger.finish(grant.run, 0, None)
    assert ledger.relocate(grant.workstream.id, NEW, evidence="e").worktree_fingerprint == "tree-2"
    assert find_segments(os.path.join(home, "segments")) == []
    ledger.close()


def test_a_session_that_was_never_read_is_read_from_its_beginning_still(home: str, ledger: LocalLedger) -> None:
    grant = ledger.prepare(make_request())
    ledger.bind(grant.run, make_session("s1"), evidence="hook", created_via="fresh", store="/store")
    ledger.finish(grant.run, 0, None)
    ledger.relocate(grant.workstream.id, NEW, evidence="e")
    ledger.close()
    rebuild(home)
    again = open_ledger(home, clock=FakeClock(), redactor=keep_text)
    assert again.get_cursor("claude-code", "s1") is None
    assert [line.id for line in again.list_workstreams(NEW)] == [grant.workstream.id]
    again.close()


def test_a_disk_that_does_not_take_the_segment_leaves_the_line_where_it_was(
    home: str, ledger: LocalLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = begin(ledger, "s1").workstream

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rigline.ledger.segments._write_durably", refuse)
    with pytest.raises(LedgerUnreachable, match="No space left"):
        ledger.relocate(line.id, NEW, evidence="e")
    assert [each.id for each in ledger.list_workstreams(OLD)] == [line.id]
    assert ledger.list_moves(line.id) == []
    ledger.close()


def test_a_ledger_of_the_first_version_takes_moves(home: str) -> None:
    Path(home).mkdir(exist_ok=True)
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    connection.executescript(read_sql("migrations/0001_first_ledger.sql"))
    connection.execute("INSERT INTO migrations VALUES (1, '0001_first_ledger', 0)")
    row = ("w", "main", OLD.workspace, OLD.project, "repo-1", "tree-1", OLD.cwd, 0, 0, 1, 0)
    connection.execute(f"INSERT INTO workstreams VALUES ({', '.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    ledger = open_ledger(home, clock=FakeClock(), redactor=keep_text)
    (line,) = ledger.list_workstreams(OLD)
    assert line.inode_fingerprint is None
    assert ledger.relocate("w", NEW, evidence="e").inode_fingerprint == NEW.inode_fingerprint
    ledger.close()


def test_an_odd_path_is_kept_readable(home: str, ledger: LocalLedger) -> None:
    line = begin(ledger, "s1").workstream
    odd = replace(NEW, cwd="/src/half-\udcff\nline")
    assert ledger.relocate(line.id, odd, evidence="e").cwd == "/src/half-\ufffd\nline"
    (header,) = [
        found
        for name in find_segments(os.path.join(home, "segments"))
        if (found := read_header(os.path.join(home, "segments", name))) and found.move
    ]
    assert header.move is not None
    assert header.move.to_cwd == "/src/half-\ufffd\nline"
    check_rebuilt(home, ledger)
