"""A lost database comes back from its segments, and the damaged one is kept."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from rigline.errors import LedgerUnreachable
from rigline.ledger import intake
from rigline.ledger.local import LocalLedger, open_ledger
from rigline.ledger.rebuild import Rebuilt, rebuild_from_segments
from rigline.ledger.segments import find_segments
from rigline.model import Delivery, Kind, LinkKind, RunRef, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window
from tests.integration.ledger.conftest import keep_text

_TABLES = {
    "sessions": "harness, native_id, store, path, cwd, worktree_fingerprint, cursor, title, is_subagent, first_ms",
    "events": "seq, id, kind, role, at_ms, turn, tool, copy_key, text_hash, record, block, text",
    "event_copies": "position, seq, turn",
    "turns": "turn, parent_turn, last_position",
    "links": "harness, child_id, parent_id, kind, evidence",
    "workstreams": "id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms",
    "bindings": "workstream_id, harness, is_current, evidence, created_via, bound_ms",
    "seen": "receiver_key, source_key, through",
    "losses": "kind, count",
    "segments": "name, events, bytes, sha256",
}


def _fill(ledger: LocalLedger) -> None:
    """Two workstreams, a fork, a subagent, a revision, a confirmed packet, losses and a rename."""
    scope = make_scope()
    first = ledger.prepare(make_request())
    second = ledger.prepare(make_request(new_name="other"))
    for native_id, grant in (("s1", first), ("s2", second)):
        info = make_session(native_id)
        ledger.bind(grant.run, info, evidence=f"hook {native_id}", created_via="run", store="/store")
        for n in range(3):
            turn, before = f"{native_id}-{n}", f"{native_id}-{n - 1}" if n else ""
            event = make_event(native_id, turn, copy_key=turn, turn=turn, parent_turn=before, at_ms=100 + n)
            ledger.append(info, make_window(native_id, f"c{n}", [event], losses={"x": 1}), scope=scope, run=grant.run)
    fork = make_session("fork")
    ledger.bind(first.run, fork, evidence="hook fork", created_via="fork", store="/store")
    link = SessionLink(child_id="fork", parent_id="s1", kind=LinkKind.FORK, evidence="records")
    copies = [make_event("fork", f"f{n}", f"text of s1-{n}", copy_key=f"s1-{n}", turn=f"f{n}") for n in range(3)]
    own = make_event("fork", "f9", "grün 数据", kind=Kind.TOOL_RESULT, role=None)
    ledger.append(fork, make_window("fork", "fc", [*copies, own], links=[link], title="Title"), scope=scope, run=None)
    _deliver(ledger, second.workstream.id, second.run)
    revised = make_event("s1", "s1-1", "another text", copy_key="s1-1", turn="s1-1", parent_turn="s1-0", at_ms=101)
    ledger.rename_workstream(second.workstream.id, "renamed")
    ledger.append(make_session("s1"), make_window("s1", "c9", [revised]), scope=scope, run=None)
    ledger.append(make_session("s2"), make_window("s2", "c9", [make_event("s2", "last")]), scope=scope, run=None)


def _deliver(ledger: LocalLedger, workstream_id: str, run: RunRef) -> None:
    info = make_session("t1", "codex")
    ledger.bind(run, info, evidence="hook", created_via="run", store="/store")
    through = ledger.get_unseen(workstream_id, "codex", "t1").through
    ledger.offer(run, Delivery(id="d1", native_id="t1", parts=1, through=through))
    event = make_event("t1", "r1", harness="codex")
    window = make_window("t1", "c1", [event], packets=[("d1", 1, 1)])
    assert ledger.append(info, window, scope=make_scope(), run=None).confirmed == ("d1",)


def _read(home: str) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    tables = {
        name: sorted(connection.execute(f"SELECT {columns} FROM {name}").fetchall(), key=repr)
        for name, columns in _TABLES.items()
    }
    connection.execute("INSERT INTO events_fts (events_fts) VALUES ('integrity-check')")
    connection.close()
    return tables


@pytest.fixture
def filled(home: str) -> str:
    ledger = open_ledger(home, clock=FakeClock(), redactor=keep_text)
    _fill(ledger)
    ledger.close()
    return home


def _rebuild(home: str) -> Rebuilt:
    return rebuild_from_segments(os.path.join(home, "segments"), os.path.join(home, "ledger.db"), clock=FakeClock())


def test_the_rebuilt_ledger_is_the_one_that_was_lost(filled: str) -> None:
    before = _read(filled)
    Path(filled, "ledger.db").write_bytes(b"damaged")
    found = _rebuild(filled)
    assert _read(filled) == before
    assert (found.sessions, found.workstreams, found.damaged, found.missing_copies) == (4, 2, [], 0)
    assert found.segments == len(find_segments(os.path.join(filled, "segments")))
    assert found.events == len(before["events"])


def test_the_damaged_database_is_kept(filled: str) -> None:
    Path(filled, "ledger.db").write_bytes(b"damaged")
    Path(filled, "ledger.db-wal").write_bytes(b"its wal")
    found = _rebuild(filled)
    assert found.moved_to is not None
    assert Path(found.moved_to).read_bytes() == b"damaged"
    assert Path(found.moved_to + "-wal").read_bytes() == b"its wal"
    assert sorted(os.listdir(filled)) == sorted(
        ["ledger.db", "segments", os.path.basename(found.moved_to), os.path.basename(found.moved_to) + "-wal"]
    )


def test_a_database_that_is_gone_comes_back(filled: str) -> None:
    before = _read(filled)
    os.remove(os.path.join(filled, "ledger.db"))
    assert _rebuild(filled).moved_to is None
    assert _read(filled) == before


def test_a_rebuilt_ledger_goes_on(filled: str) -> None:
    _rebuild(filled)
    ledger = open_ledger(filled, clock=FakeClock(), redactor=keep_text)
    before = len(ledger.get_session("s1").links), ledger.get_session("s1").events
    replay = [make_event("s1", f"s1-{n}", copy_key=f"s1-{n}") for n in (0, 2)]
    assert ledger.append(make_session("s1"), make_window("s1", "c9", replay), scope=None, run=None).added == 0
    assert (len(ledger.get_session("s1").links), ledger.get_session("s1").events) == before
    grant = ledger.prepare(make_request(name="renamed"))
    assert {each.native_id for each in grant.workstream.bindings if each.is_current} == {"s2", "t1"}
    assert ledger.get_unseen(grant.workstream.id, "codex", "t1").counts == {"message": 1}
    again = ledger.append(make_session("s1"), make_window("s1", "d1", [make_event("s1", "new")]), scope=None, run=None)
    assert again.added == 1
    ledger.close()
    after = _read(filled)
    _rebuild(filled)
    assert {**_read(filled), "workstreams": None} == {**after, "workstreams": None}


def test_a_damaged_segment_costs_its_own_events_only(filled: str) -> None:
    segments = Path(filled, "segments")
    names = sorted(name for name in find_segments(str(segments)) if "/s2/" in name)
    (segments / names[0]).write_bytes(b"\0" * 50)
    with (segments / names[1]).open("ab") as file:
        file.write(b'{"kind": "mess')
    found = _rebuild(filled)
    assert (found.damaged, found.damaged_lines) == ([names[0]], 1)
    ledger = open_ledger(filled, redactor=keep_text)
    assert ledger.get_session("s2").events == 3
    assert ledger.get_session("s2").cursor is None
    assert ledger.get_session("s1").cursor == "c9"
    ledger.close()


def test_a_copy_whose_original_is_lost_is_counted(filled: str) -> None:
    segments = Path(filled, "segments")
    for name in find_segments(str(segments)):
        if "/s1/" in name:
            (segments / name).unlink()
    assert _rebuild(filled).missing_copies == 3
    ledger = open_ledger(filled, redactor=keep_text)
    assert ledger.get_session("fork").cursor is None
    ledger.close()


def test_what_a_lost_segment_held_leaves_a_gap_and_moves_nothing(filled: str) -> None:
    before = [row for row in _read(filled)["events"] if not str(row[9]).startswith("s2")]
    for name in find_segments(os.path.join(filled, "segments")):
        if "/s2/" in name:
            os.remove(os.path.join(filled, "segments", name))
    _rebuild(filled)
    assert _read(filled)["events"] == [row for row in before if row[9] != "last"]


def test_a_segment_whose_rows_never_came_doubles_nothing(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: object) -> None:
        raise KeyboardInterrupt

    events = [make_event("s1", f"late-{n}") for n in range(3)]
    ledger = open_ledger(filled, clock=FakeClock(), redactor=keep_text)
    window = make_window("s1", "e1", events[:2], losses={"y": 1})
    with monkeypatch.context() as patch:
        patch.setattr(intake, "write_batch", crash)
        with pytest.raises(KeyboardInterrupt):
            ledger.append(make_session("s1"), window, scope=None, run=None)
    ledger.append(make_session("s1"), make_window("s1", "e2", events), scope=None, run=None)
    ledger.close()
    before = _read(filled)["events"]
    _rebuild(filled)
    assert _read(filled)["events"] == before


def test_without_segments_nothing_is_touched(home: str) -> None:
    open_ledger(home).close()
    before = Path(home, "ledger.db").read_bytes()
    with pytest.raises(LedgerUnreachable, match="no segments"):
        _rebuild(home)
    assert Path(home, "ledger.db").read_bytes() == before
    assert "ledger.db.rebuilding" not in os.listdir(home)


def test_an_interrupted_rebuild_is_begun_anew(filled: str) -> None:
    before = _read(filled)
    Path(filled, "ledger.db.rebuilding").write_bytes(b"half of it")
    _rebuild(filled)
    assert _read(filled) == before
