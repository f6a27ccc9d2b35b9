"""Whether a recorded process is still the same one, asked of real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from rigline import liveness
from rigline.liveness import is_alive, process_start


@pytest.fixture(params=["proc", "ps"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of asking; `ps` is what systems without /proc have."""
    if request.param == "ps":
        monkeypatch.setattr(liveness, "_BOOT_ID_FILE", "/nonexistent")
    elif not os.path.exists(liveness._BOOT_ID_FILE):
        pytest.skip("this system has no /proc")
    return str(request.param)


@pytest.fixture
def child(source: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_a_running_process_is_alive_and_keeps_its_start(child: subprocess.Popen[bytes]) -> None:
    started = process_start(child.pid)
    time.sleep(0.02)
    assert started
    assert process_start(child.pid) == started
    assert is_alive(child.pid, started)


def test_a_stopped_process_is_alive(child: subprocess.Popen[bytes]) -> None:
    started = process_start(child.pid)
    child.send_signal(signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    assert is_alive(child.pid, started)
    child.send_signal(signal.SIGCONT)


def test_a_zombie_is_dead(child: subprocess.Popen[bytes]) -> None:
    started = process_start(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process_start(child.pid) == ""
    assert not is_alive(child.pid, started)


def test_a_process_that_is_gone_is_dead(child: subprocess.Popen[bytes]) -> None:
    started = process_start(child.pid)
    child.kill()
    child.wait()
    assert process_start(child.pid) == ""
    assert not is_alive(child.pid, started)


def test_another_process_with_the_same_pid_is_not_taken_for_it(child: subprocess.Popen[bytes]) -> None:
    assert not is_alive(child.pid, "1@an-earlier-boot")


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_an_impossible_pid_is_dead(pid: int) -> None:
    assert process_start(pid) == ""
    assert not is_alive(pid, "")


def test_a_process_without_a_recorded_start_is_alive_while_its_pid_is(child: subprocess.Popen[bytes]) -> None:
    assert is_alive(child.pid, "")
    child.kill()
    child.wait()
    assert not is_alive(child.pid, "")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only /proc shows the name beside the fields")
def test_a_name_with_blanks_and_parentheses_does_not_shift_the_fields() -> None:
    code = "import sys, time; open('/proc/self/comm', 'w').write(') R 1 (x'); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        started = process_start(process.pid)
        assert process.stdout is not None
        process.stdout.readline()
        assert process_start(process.pid) == started
        process.kill()


def test_a_process_that_cannot_be_looked_up_is_not_called_dead(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "_BOOT_ID_FILE", "/nonexistent")
    started = process_start(child.pid)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert process_start(child.pid) == ""
    assert is_alive(child.pid, started)


def test_time_zone_does_not_change_a_start(child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    started = process_start(child.pid)
    monkeypatch.setenv("TZ", "America/Caracas")
    assert process_start(child.pid) == started


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="this system has no /proc")
def test_a_process_is_known_by_what_it_was_started_with() -> None:
    with subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"], "RUN": "/a/folder"}) as process:
        deadline = time.monotonic() + 10
        while not liveness.is_carried("RUN", "/a/folder") and time.monotonic() < deadline:
            time.sleep(0.01)  # until the program is loaded it has our own environment
        assert liveness.is_carried("RUN", "/a/folder")
        assert not liveness.is_carried("RUN", "/a/fold")
        process.kill()
    assert not liveness.is_carried("RUN", "/a/folder")
