"""`rigline doctor` finds what is wrong, says what to do, and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from rigline import liveness
from rigline.readable import measure
from tests.fixtures import claude_store
from tests.fixtures.records import dump
from tests.integration.cli.conftest import User

CODEX = Path(claude_store.__file__).parent / "codex" / "0.171.0"
DAY_S = 86_400


@pytest.fixture
def home() -> Path:
    """The user's home, where agents keep their stores."""
    return Path(os.environ["HOME"])


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on PATH, for stand-ins of agents."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def add_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def write_session(home: Path, cwd: Path, number: int, *, age_days: float = 0) -> str:
    native_id = f"aaaaaaaa-0000-4000-8000-{number:012}"
    prompt = claude_store.user(native_id, f"{native_id}-0", None, f"said {number}")
    path = claude_store.write_session(home / ".claude", str(cwd), native_id, prompt)
    then = time.time() - age_days * DAY_S
    os.utime(path, (then, then))
    return native_id


def examine(user: User, *words: str) -> dict[str, Any]:
    """The checks by name."""
    checks = user.call("doctor", *words, "--json").value["checks"]
    return {check["name"]: check for check in checks}


def test_on_a_fresh_machine_nothing_fails_and_nothing_is_made(user: User, programs: Path) -> None:
    answer = user.call("doctor")
    assert answer.status == 0
    assert "not made yet" in answer.out
    assert "fail" not in answer.out
    assert not user.home.exists()
    assert max(map(measure, answer.lines)) <= 80


def test_json_agrees_with_the_exit_status(user: User, programs: Path) -> None:
    user.start()
    answer = user.call("doctor", "--json")
    assert (answer.status, answer.value["ok"]) == (0, True)
    assert {check["level"] for check in answer.value["checks"]} <= {"ok", "warn"}


def test_versions_are_compared_with_those_that_are_known(user: User, programs: Path) -> None:
    add_program(programs, "claude", "echo '2.1.250 (Claude Code)'")
    add_program(programs, "codex", "echo 'codex-cli 99.0.0'")
    checks = examine(user)
    assert (checks["claude-code"]["level"], checks["codex"]["level"]) == ("ok", "warn")
    assert checks["claude-code"]["details"]["version"] == "2.1.250"
    assert "was not tried" in checks["codex"]["text"]


def test_a_program_is_asked_away_from_the_users_store_and_without_session_marks(
    user: User, programs: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".claude").mkdir()
    monkeypatch.setenv("CLAUDECODE", "1")
    add_program(programs, "claude", 'touch "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/written"; echo "1.0.$CLAUDECODE"')
    assert examine(user)["claude-code"]["details"]["version"] == "1.0"
    assert list((home / ".claude").iterdir()) == []


def test_a_program_that_hangs_or_fails_is_not_waited_for(
    user: User, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rigline.doctor.agents.VERSION_TIMEOUT_S", 0.5)
    add_program(programs, "claude", "sleep 60")
    add_program(programs, "codex", "echo 'codex-cli 0.171.0'; exit 3")
    began = time.monotonic()
    checks = examine(user)
    assert time.monotonic() - began < 20
    for name in ("claude-code", "codex"):
        assert checks[name]["level"] == "warn"
        assert "does not tell its version" in checks[name]["text"]


def test_a_missing_program_of_which_there_are_sessions_is_named_with_what_to_do(
    user: User, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (home / ".claude").mkdir(exist_ok=True)
    checks = examine(user)
    assert "no program 'claude'" in checks["claude-code"]["text"]
    assert "Install Claude Code" in checks["claude-code"]["next_step"]
    assert checks["git"]["level"] == "warn"


def test_agents_that_nobody_uses_here_are_told_in_one_line(user: User, programs: Path) -> None:
    add_program(programs, "claude", "echo '2.1.250 (Claude Code)'")
    checks = examine(user)
    assert checks["other agents"]["level"] == "ok"
    assert "pi" in checks["other agents"]["text"]
    assert "claude-code" not in checks["other agents"]["text"]
    assert "pi" not in checks


def test_bound_sessions_are_judged_as_the_next_run_would(user: User, home: Path, programs: Path) -> None:
    grant = user.start()
    kept = write_session(home, user.checkout, 1)
    user.bind(grant, kept)
    assert examine(user)["line main"]["text"] == f"Claude Code session {kept} will resume"
    user.bind(grant, "aaaaaaaa-0000-4000-8000-00000000dead")
    gone = examine(user)["line main"]
    assert gone["level"] == "warn"
    assert "is gone from Claude Code's store" in gone["text"]
    assert "fresh session" in gone["next_step"]


def test_a_codex_that_would_not_run_the_start_hook_is_told(user: User, home: Path, programs: Path) -> None:
    folder = home / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    (rollout,) = CODEX.glob("fork-lineage/*-01a22e72-04b5-*.jsonl")
    shutil.copy(rollout, folder)
    user.bind(user.start("codex"), rollout.stem[-36:])
    assert "codex hook" not in examine(user)
    add_program(programs, "codex", "echo 'codex-cli 0.171.0'")
    checks = examine(user)
    assert checks["line main"]["level"] == "ok"
    assert checks["codex hook"]["level"] == "warn"
    assert "no proof" in checks["codex hook"]["text"]


def test_a_session_that_a_live_process_has_open_is_told(user: User, home: Path, programs: Path) -> None:
    native_id = write_session(home, user.checkout, 1)
    user.bind(user.start(), native_id)
    folder = home / ".claude" / "sessions"
    folder.mkdir()
    started = liveness.process_start(os.getpid()).partition("@")[0]
    record = {"pid": os.getpid(), "sessionId": native_id, "cwd": str(user.checkout), "procStart": started}
    (folder / f"{os.getpid()}.json").write_text(json.dumps(record))
    check = examine(user)["line main"]
    assert check["level"] == "warn"
    assert f"open in process {os.getpid()}" in check["text"]


def test_sessions_that_will_be_deleted_are_named_until_they_are_imported(
    user: User, home: Path, programs: Path
) -> None:
    user.start()
    native_id = write_session(home, user.checkout, 1, age_days=26)
    write_session(home, user.checkout, 2, age_days=3)
    check = examine(user)["claude-code retention"]
    assert check["level"] == "warn"
    assert check["details"]["sessions"] == [native_id]
    assert check["next_step"] == "rigline import --all --harness claude-code"
    assert user.call("import", "--all", "--harness", "claude-code").status == 0
    assert examine(user)["claude-code retention"]["level"] == "ok"


def test_a_session_that_went_on_since_its_import_is_not_saved(user: User, home: Path, programs: Path) -> None:
    native_id = write_session(home, user.checkout, 1, age_days=26)
    user.call("import", "--all")
    (path,) = (home / ".claude").rglob(f"{native_id}.jsonl")
    more = claude_store.user(native_id, f"{native_id}-1", f"{native_id}-0", "more") | {"cwd": str(user.checkout)}
    status = path.stat()
    with path.open("a") as file:
        file.write(dump(more))
    os.utime(path, (status.st_atime, status.st_mtime))
    assert examine(user)["claude-code retention"]["details"]["sessions"] == [native_id]


def test_the_users_own_retention_counts(user: User, home: Path, programs: Path) -> None:
    user.start()
    write_session(home, user.checkout, 1, age_days=26)
    settings = home / ".claude" / "settings.json"
    settings.write_text('{"cleanupPeriodDays": 365}')
    before = settings.read_bytes()
    check = examine(user)["claude-code retention"]
    assert check["level"] == "ok"
    assert check["details"] == {"days": 365, "source": str(settings), "due": 0}
    assert settings.read_bytes() == before


def test_a_damaged_ledger_fails_with_the_command_that_repairs_it(user: User, programs: Path) -> None:
    user.start()
    user.close()
    for path in user.home.glob("ledger.db*"):
        path.write_bytes(b"no database" * 1000)
    answer = user.call("doctor")
    assert answer.status == 1
    assert "rigline recover --from-segments" in answer.out
    checks = examine(user)
    assert checks["ledger"]["level"] == "fail"
    assert checks["history"]["level"] == "warn"


def test_a_newer_ledger_asks_for_an_upgrade(user: User, programs: Path) -> None:
    user.start()
    user.close()
    with sqlite3.connect(user.home / "ledger.db") as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'later', 0)")
    connection.close()
    check = examine(user)["ledger"]
    assert check["level"] == "fail"
    assert check["next_step"] == "Upgrade rigline."


def test_deep_reads_every_segment(user: User, programs: Path) -> None:
    user.say(user.bind(user.start(), "aaaa1111-0000"), "one")
    user.say(user.make_info("bbbb2222-0000"), "two")
    assert examine(user, "--deep")["segments"]["level"] == "ok"
    first, second = sorted((user.home / "segments").rglob("*.jsonl"))
    first.write_bytes(first.read_bytes() + b" ")
    second.unlink()
    assert "segments" not in examine(user)
    check = examine(user, "--deep")["segments"]
    assert check["level"] == "fail"
    assert "1 missing and 1 changed" in check["text"]
    assert check["details"]["changed"] == [str(first.relative_to(user.home / "segments"))]


def test_a_data_folder_that_others_may_read_is_told(user: User, programs: Path) -> None:
    user.start()
    user.home.chmod(0o755)
    check = examine(user)["data folder"]
    assert check["level"] == "warn"
    assert "chmod" in check["next_step"]


def test_runs_at_work_and_complaints_of_the_hook_are_told(user: User, programs: Path) -> None:
    folder = user.home / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "launcher").write_text(f"{os.getpid()} {liveness.process_start(os.getpid())}")
    (folder / "hook.log").write_text("OSError: one\nKeyError: 'two\x1b'\n")
    (user.home / "crash.log").write_text("Traceback (most recent call last):\n  boom\n")
    checks = examine(user)
    assert checks["runs"]["text"] == "1 run at work, none left over"
    assert "2 times, last: KeyError: 'two '" in checks["start hook"]["text"]
    assert "1 time" in checks["crashes"]["text"]


def test_bad_settings_fail_and_the_rest_is_still_looked_at(user: User, programs: Path) -> None:
    user.start()
    (user.home / "config.toml").write_text("nonsense = 1\n")
    answer = user.call("doctor", "--json")
    assert answer.status == 1
    names = {check["name"]: check["level"] for check in answer.value["checks"]}
    assert names["settings"] == "fail"
    assert names["ledger"] == names["runs"] == "ok"


def test_nothing_of_the_agents_own_is_changed(user: User, home: Path, programs: Path) -> None:
    user.bind(user.start(), write_session(home, user.checkout, 1, age_days=26))
    (home / ".claude" / "settings.json").write_text("{}")
    before = {path: path.stat().st_mtime_ns for path in (home / ".claude").rglob("*")}
    user.call("doctor", "--deep")
    assert {path: path.stat().st_mtime_ns for path in (home / ".claude").rglob("*")} == before
