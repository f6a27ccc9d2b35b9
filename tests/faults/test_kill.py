"""kill -9 of the launcher at each step of the line, then the next run: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.faults.killer import STEPS
from tests.faults.runs import texts
from tests.real.conftest import NEWEST, Rigline

pytestmark = [pytest.mark.real, pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])]


def kill_at(rigline: Rigline, step: str, *words: str) -> None:
    """Run rigline and have it killed after a step; its agent may live on."""
    argv = [sys.executable, "-m", "tests.faults.killer", step, *words]
    process = rigline.start(argv, PYTHONPATH=str(Path(__file__).parents[2]))
    assert process.wait(60) == -signal.SIGKILL, step


def wait_until_ended(rigline: Rigline, program: str) -> None:
    """Wait for agents that outlived their launcher."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(is_ours(pid, rigline, program) for pid in os.listdir("/proc")):
        time.sleep(0.1)


def is_ours(pid: str, rigline: Rigline, program: str) -> bool:
    """Whether a process is an agent of this test's home."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as cmdline, open(f"/proc/{pid}/environ", "rb") as environ:
            return program.encode() in cmdline.read() and f"HOME={rigline.home.path}\0".encode() in environ.read()
    except OSError:
        return False


@pytest.mark.parametrize("harness", ["claude", "codex"])
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_launcher_loses_and_doubles_nothing(rigline: Rigline, step: str, harness: str) -> None:
    words = {"claude": ["claude", "-p"], "codex": ["codex", "exec", "--skip-git-repo-check"]}[harness]
    rigline("run", *words, "say: before the fall").ok()
    kill_at(rigline, step, "run", *words, "say: during the fall")
    wait_until_ended(rigline, harness)
    started = step in list(STEPS)[list(STEPS).index("child spawned") :]

    began = time.monotonic()
    after = rigline("run", *words, "say: after the fall").ok()
    assert time.monotonic() - began < 15, "the dead launcher's lease was waited for"
    assert "after the fall" in after.out

    said = texts(rigline)
    assert said.count("before the fall") == 1
    assert said.count("after the fall") == 1
    assert said.count("during the fall") == (1 if started else 0)
    assert not os.listdir(os.path.join(rigline.home.rigline_dir, "runs"))
    line = rigline("workstreams", "show", "main", "--json").ok().json
    assert len(line["sessions"]) == 1


def test_the_tail_is_imported_by_any_next_command(rigline: Rigline) -> None:
    kill_at(rigline, "child started", "run", "claude", "-p", "say: the lost words")
    wait_until_ended(rigline, "claude")
    assert "the lost words" in texts(rigline)


def test_two_launchers_race_for_one_line(rigline: Rigline) -> None:
    argv = rigline.argv("run", "claude", "-p", "slow: 8")
    first = rigline.start(argv)
    second = rigline.start(argv)
    codes = sorted((first.wait(60), second.wait(60)))
    assert codes == [0, 75]
    refused = first if first.returncode == 75 else second
    assert refused.stderr is not None
    assert "claude-code (pid " in refused.stderr.read()


def test_an_agent_that_outlives_its_launcher_keeps_its_session_to_itself(rigline: Rigline) -> None:
    rigline("run", "claude", "-p", "say: one").ok()
    kill_at(rigline, "child started", "run", "claude", "-p", "slow: 20")
    time.sleep(2)
    refused = rigline("run", "claude", "-p", "say: two")
    assert refused.code == 75, refused
    assert "open in process" in refused.err
    rigline("run", "--fresh", "claude", "-p", "say: three").ok()


def test_a_signal_reaches_the_agent_and_its_death_is_told_by_the_exit_code(rigline: Rigline) -> None:
    process = rigline.start(rigline.argv("run", "claude", "-p", "slow: 20"))
    time.sleep(4)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) in (143, 1)
    assert not any(is_ours(pid, rigline, "claude") for pid in os.listdir("/proc"))
    rigline("run", "claude", "-p", "say: two").ok()
