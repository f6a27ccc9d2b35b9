"""Whatever ends a writer, and whenever: nothing is lost that can be read again, and nothing doubles."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rigline.errors import LedgerCorrupt, LedgerUnreachable
from rigline.ledger import intake
from rigline.ledger.base import RunRecord
from rigline.ledger.local import LocalLedger, open_ledger
from rigline.ledger.segments import find_segments
from rigline.model import RunRef, Window
from rigline.testing.clock import FakeClock
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window
from tests.integration.ledger.conftest import keep_text


def _window(native_id: str, number: int, events: int = 3) -> Window:
    made = [make_event(native_id, f"r{number}-{n}", copy_key=f"{native_id}-{number}-{n}") for n in range(events)]
    return make_window(native_id, f"c{number}", made, losses={"damaged": 1})


def _append(ledger: LocalLedger, native_id: str, window: Window) -> None:
    ledger.append(make_session(native_id), window, scope=make_scope(), run=None)


def _read_rows(home: str) -> list[tuple[str, str]]:
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    rows = connection.execute(
        "SELECT s.native_id, e.record FROM events e JOIN sessions s ON s.key = e.session_key ORDER BY seq"
    ).fetchall()
    connection.execute("INSERT INTO events_fts (events_fts) VALUES ('integrity-check')")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return rows


def test_everything_below_the_home_is_private(home: str) -> None:
    before = os.umask(0)
    try:
        ledger = open_ledger(home, redactor=keep_text)
        _append(ledger, "s1", _window("s1", 1))
        modes = {
            os.path.relpath(os.path.join(place, name), home): stat.S_IMODE(os.stat(os.path.join(place, name)).st_mode)
            for place, folders, files in os.walk(home)
            for name in [".", *folders, *files]
        }
        ledger.close()
    finally:
        os.umask(before)
    files = {name for name in modes if name.endswith((".jsonl", ".db", "-wal", "-shm"))}
    assert len(files) == 4
    assert {modes[name] for name in files} == {0o600}
    assert {modes[name] for name in set(modes) - files} == {0o700}


def test_a_window_that_brings_nothing_writes_nothing(ledger: LocalLedger, home: str) -> None:
    _append(ledger, "s1", _window("s1", 1))
    before = {path: path.stat().st_mtime_ns for path in Path(home).rglob("*")}
    changes = ledger._db._connection.total_changes
    for _ in range(3):
        _append(ledger, "s1", make_window("s1", "c1", []))
        _append(ledger, "s1", _window("s1", 1))
    assert {path: path.stat().st_mtime_ns for path in Path(home).rglob("*.jsonl")} == {
        path: at for path, at in before.items() if path.suffix == ".jsonl"
    }
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    assert connection.execute("SELECT count FROM losses").fetchall() == [(1,)]
    connection.close()
    assert ledger._db._connection.total_changes - changes <= 6 * 3 * 2  # the temporary table of the comparison


def test_a_window_without_events_makes_no_segment(ledger: LocalLedger, home: str) -> None:
    _append(ledger, "s1", make_window("s1", "c1", [], losses={"reasoning": 4}))
    assert find_segments(os.path.join(home, "segments")) == []
    record = ledger.get_session("s1")
    assert (record.cursor, record.losses) == ("c1", {"reasoning": 4})


def test_a_crash_between_segment_and_rows_doubles_nothing(
    ledger: LocalLedger, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(intake, "write_batch", crash)
        with pytest.raises(KeyboardInterrupt):
            _append(ledger, "s1", _window("s1", 1))
    assert _read_rows(home) == []
    assert ledger.get_cursor("claude-code", "s1") is None
    before = find_segments(os.path.join(home, "segments"))
    assert len(before) == 1
    _append(ledger, "s1", _window("s1", 1))
    assert _read_rows(home) == [("s1", f"r1-{n}") for n in range(3)]
    assert find_segments(os.path.join(home, "segments")) == before


def test_a_disk_that_is_full_stores_nothing_half(
    ledger: LocalLedger, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int, content: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        with pytest.raises(LedgerUnreachable, match="No space left on device"):
            _append(ledger, "s1", _window("s1", 1))
    assert _read_rows(home) == []
    _append(ledger, "s1", _window("s1", 1))
    assert len(_read_rows(home)) == 3


_IMPORTER = """
import sys
from rigline.ledger.local import open_ledger
from tests.integration.ledger.test_faults import _append, _window, keep_text
ledger = open_ledger(sys.argv[1], redactor=keep_text)
print("ready", flush=True)
for number in range(400):
    _append(ledger, "s1", _window("s1", number, 20))
print("done", flush=True)
"""


@pytest.mark.parametrize("after_s", [0.0, 0.03, 0.08, 0.2])
def test_a_killed_importer_costs_one_batch_at_most(home: str, after_s: float) -> None:
    importer = subprocess.Popen([sys.executable, "-c", _IMPORTER, home], stdout=subprocess.PIPE, text=True)
    assert importer.stdout
    assert importer.stdout.readline() == "ready\n"
    time.sleep(after_s)
    importer.send_signal(signal.SIGKILL)
    importer.wait()
    importer.stdout.close()
    ledger = open_ledger(home, redactor=keep_text)
    kept = _read_rows(home)
    cursor = ledger.get_cursor("claude-code", "s1")
    assert len(kept) == (0 if cursor is None else 20 * (int(cursor[1:]) + 1))
    for number in range(400):
        _append(ledger, "s1", _window("s1", number, 20))
    assert _read_rows(home) == [("s1", f"r{number}-{n}") for number in range(400) for n in range(20)]
    assert ledger.get_session("s1").losses == {"damaged": 400}
    ledger.close()


_RACER = """
import sys
from rigline.errors import LeaseHeld
from rigline.ledger.local import open_ledger
from rigline.testing.samples import make_request
ledger = open_ledger(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(ledger.prepare(make_request(pid=int(sys.argv[2]))).run.run_id, flush=True)
    except LeaseHeld as held:
        print("held", held.details["pid"], flush=True)
"""


def test_of_two_launchers_one_gets_the_lease_each_time(home: str) -> None:
    open_ledger(home).close()
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, home, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for pid in (1, 2)
    ]
    ledger = open_ledger(home)
    assert all(racer.stdout and racer.stdout.readline() == "ready\n" for racer in racers)
    for _ in range(50):
        for racer in racers:
            assert racer.stdin
            racer.stdin.write("go\n")
            racer.stdin.flush()
        answers = [racer.stdout.readline().split() for racer in racers if racer.stdout]
        assert sorted(len(answer) for answer in answers) == [1, 2]
        winner = next(place for place, answer in enumerate(answers) if len(answer) == 1)
        assert answers[1 - winner] == ["held", str(winner + 1)]
        (active,) = ledger.list_runs(None, active_only=True)
        assert active.id == answers[winner][0]
        ledger.finish(_build_ref(active), 0, None)
    generations = [run.generation for run in ledger.list_runs(None)]
    assert generations == list(range(50, 0, -1))
    for racer in racers:
        racer.communicate()
        assert racer.returncode == 0
    ledger.close()


def _build_ref(run: RunRecord) -> RunRef:
    return RunRef(run_id=run.id, workstream_id=run.workstream_id, harness=run.harness, generation=run.generation)


def test_a_heartbeat_may_beat_while_the_same_ledger_imports(ledger: LocalLedger) -> None:
    grant = ledger.prepare(make_request())
    failures: list[BaseException] = []

    def beat() -> None:
        try:
            for _ in range(100):
                ledger.renew(grant.run)
        except BaseException as error:  # a failing thread must fail the test
            failures.append(error)

    heart = threading.Thread(target=beat)
    heart.start()
    for number in range(50):
        _append(ledger, "s1", _window("s1", number))
    heart.join()
    assert failures == []
    assert ledger.get_session("s1").events == 150


def test_a_deleted_transcript_never_deletes_history(ledger: LocalLedger, home: str, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("anything")
    _append(ledger, "s1", _window("s1", 1))
    transcript.unlink()
    _append(ledger, "s1", make_window("s1", "", []))
    assert len(_read_rows(home)) == 3
    assert ledger.get_session("s1").events == 3


def test_a_corrupt_ledger_is_refused_with_the_way_out(home: str) -> None:
    open_ledger(home).close()
    Path(home, "ledger.db").write_bytes(b"\xff" * 20_000)
    with pytest.raises(LedgerCorrupt, match="recover --from-segments") as caught:
        open_ledger(home)
    assert os.path.join(home, "ledger.db") in str(caught.value)


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerUnreachable, match="cannot be made"):
        open_ledger(str(tmp_path / "file" / "home"))


def test_a_users_own_folder_keeps_its_mode(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    open_ledger(str(home)).close()
    assert stat.S_IMODE(home.stat().st_mode) == 0o755


def test_a_clock_that_is_set_back_loses_no_event(ledger: LocalLedger, clock: FakeClock) -> None:
    grant = ledger.prepare(make_request())
    clock.advance(-10_000_000)
    ledger.bind(grant.run, make_session("s1"), evidence="hook", created_via="run", store="/store")
    ledger.renew(grant.run)
    _append(ledger, "s1", _window("s1", 1))
    ledger.finish(grant.run, 0, None)
    assert len(ledger.get_history(grant.workstream.id)) == 3
