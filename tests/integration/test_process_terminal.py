"""Signals and job control between a real terminal, the launcher and its child: as if the child ran alone."""

from __future__ import annotations

import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

LAUNCHER = str(Path(__file__).with_name("launcher.py"))
PROMPT = "ready> "


class Terminal:
    """A launcher and its recording child on a terminal of their own, below an interactive bash or alone."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.log = folder / "log"
        self.log.write_text("")
        self._environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": PROMPT, **environment}
        self.screen: pexpect.spawn[str] | None = None

    def words(self, *options: str) -> list[str]:
        log = str(self.log)
        return [sys.executable, LAUNCHER, "run", log, sys.executable, LAUNCHER, "child", log, *options]

    def start(self, *options: str) -> None:
        """The launcher as the terminal's own first program."""
        program, *words = self.words(*options)
        self._open(program, words)
        self.wait("ready")

    def start_in_shell(self, *options: str, before: str = "", after: str = "") -> None:
        self._open("bash", ["--norc", "--noprofile", "-i"])
        self.expect(PROMPT)
        self.type(f"{before}{' '.join(self.words(*options))}{after}\n")
        self.wait("ready")

    def _open(self, program: str, words: list[str]) -> None:
        self.screen = pexpect.spawn(program, words, env=self._environment, encoding="utf-8", timeout=15, echo=True)
        self.screen.delaybeforesend = None

    def type(self, text: str) -> None:
        assert self.screen is not None
        self.screen.send(text)

    def expect(self, text: str) -> None:
        assert self.screen is not None
        self.screen.expect_exact(text)

    def expect_code(self, code: int) -> None:
        self.type("echo code=$?.\n")
        self.expect(f"code={code}.")

    def ask(self, way: str, content: str = "") -> None:
        """Let the child `quit` or `stop`; in one step, since it looks for the file at any time."""
        draft = self.log.with_suffix(".draft")
        draft.write_text(content)
        draft.rename(f"{self.log}.{way}")

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()

    def signals(self) -> list[str]:
        return [line for line in self.lines() if line.startswith("SIG")]

    def wait(self, word: str, count: int = 1) -> str:
        """The `count`th line that begins with a word."""

        def found() -> list[str]:
            return [line for line in self.lines() if line.split()[0] == word]

        wait_until(lambda: len(found()) >= count, f"{count} x {word} in {self.lines()}")
        return found()[count - 1]

    def pid(self, word: str) -> int:
        return int(self.wait(word).split()[1])

    def wait_state(self, word: str, states: str) -> None:
        pid = self.pid(word)
        wait_until(lambda: state(pid) in states, f"{word} in {states}, is {state(pid)}")

    def exit_code(self) -> int:
        assert self.screen is not None
        self.screen.expect(pexpect.EOF)
        self.screen.close()
        assert self.screen.exitstatus is not None, self.screen.signalstatus
        return int(self.screen.exitstatus)

    def close(self) -> None:
        self.ask("quit")
        if self.screen is not None:
            self.screen.close(force=True)
        for line in self.lines():
            if line.startswith(("ready", "launcher")):
                end(int(line.split()[1]))


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def end(pid: int) -> None:
    if LAUNCHER.encode() in read_command(pid):
        os.kill(pid, signal.SIGKILL)


def read_command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def settle() -> None:
    """Time enough for a signal too many to arrive."""
    time.sleep(0.15)


@pytest.fixture(params=["told", "untold"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """`untold`: on a system that does not tell who sent a signal."""
    opened = Terminal(tmp_path, {"UNTOLD": "1"} if request.param == "untold" else {})
    yield opened
    opened.close()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, {})
    yield opened
    opened.close()


# Keys


@pytest.mark.parametrize(("key", "name"), [("\x03", "SIGINT"), ("\x1c", "SIGQUIT")])
def test_a_key_reaches_the_child_once_and_the_launcher_survives(terminal: Terminal, key: str, name: str) -> None:
    terminal.start()
    terminal.type(key)
    terminal.wait(name)
    settle()
    assert terminal.signals() == [name]
    terminal.type(key)
    terminal.wait(name, 2)
    settle()
    assert terminal.signals() == [name, name]
    terminal.ask("quit")
    assert terminal.exit_code() == 3
    assert terminal.lines()[-2:] == ["ended 3 None", "finished"]


def test_a_child_that_ctrl_c_kills_gives_130(terminal: Terminal) -> None:
    terminal.start("die-on-SIGINT")
    terminal.type("\x03")
    assert terminal.exit_code() == 130
    assert terminal.lines()[-2:] == ["ended 130 2", "finished"]


def test_a_child_that_ignores_ctrl_c_goes_on(terminal: Terminal) -> None:
    terminal.start("ignore-SIGINT")
    terminal.type("\x03\x03")
    settle()
    terminal.ask("quit")
    assert terminal.exit_code() == 3
    assert terminal.signals() == []


def test_ctrl_c_after_the_childs_end_interrupts_the_work_that_is_left(told: Terminal) -> None:
    told._environment["FINISH_S"] = "60"
    told.start()
    told.ask("quit")
    told.wait("ended")
    told.type("\x03")
    assert told.exit_code() == 3
    assert told.lines()[-1] == "interrupted"


# Signals from another process


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1"])
def test_a_signal_for_the_launcher_is_passed_on_each_time(terminal: Terminal, name: str) -> None:
    terminal.start()
    for count in (1, 2):
        os.kill(terminal.pid("launcher"), getattr(signal, name))
        terminal.wait(name, count)
        settle()
        assert terminal.signals() == [name] * count
    terminal.ask("quit")
    assert terminal.exit_code() == 3
    assert terminal.lines()[-1] == "finished"


@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT"])
def test_what_a_process_sends_is_told_from_what_the_terminal_sends(told: Terminal, name: str) -> None:
    told.start()
    os.kill(told.pid("launcher"), getattr(signal, name))
    told.wait(name)
    settle()
    assert told.signals() == [name]


def test_a_signal_is_passed_on_although_a_thread_took_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"UNSHIELDED": "1"})
    terminal.start("die-on-SIGTERM")
    began = time.monotonic()
    os.kill(terminal.pid("launcher"), signal.SIGTERM)
    assert terminal.exit_code() == 143
    assert time.monotonic() - began < 5
    assert terminal.signals() == ["SIGTERM"]
    terminal.close()


def test_work_after_the_childs_end_is_finished_whatever_is_sent(told: Terminal) -> None:
    told._environment["FINISH_S"] = "0.5"
    told.start()
    told.ask("quit")
    told.wait("ended")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        os.kill(told.pid("launcher"), number)
    assert told.exit_code() == 3
    assert told.lines()[-1] == "finished"


def test_a_killed_child_gives_137_and_the_terminal_its_modes_back(told: Terminal) -> None:
    told.start_in_shell("raw")
    assert told.screen is not None
    wait_until(lambda: not local_modes(told) & termios.ECHO, "raw mode")
    os.kill(told.pid("ready"), signal.SIGKILL)
    told.wait("finished")
    told.expect(PROMPT)
    told.expect_code(137)
    told.type("stty -a\n")
    told.expect(" icanon")
    told.expect(" echo")


def local_modes(terminal: Terminal) -> int:
    assert terminal.screen is not None
    return int(termios.tcgetattr(terminal.screen.child_fd)[3])


# A terminal that goes away


@pytest.mark.parametrize("in_shell", [False, True], ids=["alone", "in a shell"])
def test_closing_the_terminal_ends_the_child_and_the_work_is_finished(terminal: Terminal, in_shell: bool) -> None:
    (terminal.start_in_shell if in_shell else terminal.start)("die-on-SIGHUP")
    assert terminal.screen is not None
    terminal.screen.ptyproc.fileobj.close()
    terminal.wait("finished")
    assert "ended 129 1" in terminal.lines()
    assert "SIGHUP" in terminal.signals()
    terminal.wait_state("launcher", "Zgone")


def test_a_terminal_that_goes_away_is_told_to_the_child_once(told: Terminal) -> None:
    told.start()
    assert told.screen is not None
    told.screen.ptyproc.fileobj.close()
    told.wait("SIGHUP")
    settle()
    assert told.signals().count("SIGHUP") == 1


def test_a_child_that_outlives_its_terminal_is_waited_for(terminal: Terminal) -> None:
    terminal.start_in_shell("ignore-SIGHUP")
    assert terminal.screen is not None
    terminal.screen.ptyproc.fileobj.close()
    settle()
    assert state(terminal.pid("launcher")) in "RS"
    terminal.ask("quit")
    terminal.wait("finished")
    assert "ended 3 None" in terminal.lines()


# Job control


def test_ctrl_z_gives_the_shell_its_prompt_and_fg_continues_both(terminal: Terminal) -> None:
    terminal.start_in_shell()
    for count in (1, 2):
        terminal.type("\x1a")
        terminal.expect("Stopped  ")  # not `Stopped (signal)`, which a SIGSTOP gives
        terminal.expect(PROMPT)
        terminal.wait_state("launcher", "T")
        terminal.wait_state("ready", "T")
        terminal.type("fg\n")
        terminal.wait("SIGCONT", count)
        terminal.wait_state("launcher", "S")
    terminal.type("\x03")
    terminal.wait("SIGINT")
    terminal.ask("quit")
    terminal.expect(PROMPT)
    terminal.expect_code(3)


@pytest.mark.parametrize("way", ["STOP", "TSTP", "group"])
def test_a_child_that_stops_itself_stops_the_job(terminal: Terminal, way: str) -> None:
    terminal.start_in_shell("raw" if way == "group" else "cooked")
    for count in (1, 2):
        terminal.ask("stop", way)
        terminal.expect("Stopped")
        terminal.expect(PROMPT)
        terminal.wait_state("launcher", "T")
        terminal.wait_state("ready", "T")
        terminal.type("fg\n")
        terminal.wait("SIGCONT", count)
        settle()
        assert state(terminal.pid("ready")) in "RS"
        assert state(terminal.pid("launcher")) in "RS"
    terminal.ask("quit")
    terminal.expect(PROMPT)
    terminal.expect_code(3)


def test_a_stopped_job_goes_on_in_the_background(terminal: Terminal) -> None:
    terminal.start_in_shell()
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect(PROMPT)
    terminal.type("bg\n")
    terminal.wait("SIGCONT")
    terminal.wait_state("launcher", "RS")
    terminal.ask("quit")
    terminal.wait("finished")
    terminal.type("wait %1; echo code=$?.\n")
    terminal.expect("code=3.")


def test_continuing_the_launcher_alone_continues_the_child(terminal: Terminal) -> None:
    terminal.start()
    for count in (1, 2):
        terminal.ask("stop", "STOP")
        terminal.wait_state("ready", "T")
        terminal.wait_state("launcher", "T")
        os.kill(terminal.pid("launcher"), signal.SIGCONT)
        terminal.wait("SIGCONT", count)
    terminal.ask("quit")
    assert terminal.exit_code() == 3


def test_where_nobody_could_continue_it_a_child_is_not_stopped_by_ctrl_z(terminal: Terminal) -> None:
    """The first program of a terminal has no shell above it; the system then drops Ctrl-Z, as for a child alone."""
    terminal.start()
    terminal.type("\x1a")
    settle()
    assert state(terminal.pid("ready")) in "RS"
    terminal.ask("quit")
    assert terminal.exit_code() == 3


def test_a_child_with_a_group_of_its_own_is_not_left_stopped_where_nobody_could_continue_it(told: Terminal) -> None:
    told.start("own-group")
    told.ask("stop", "TSTP")
    told.wait("SIGCONT")
    settle()
    assert state(told.pid("ready")) in "RS"


def test_a_stop_signal_for_the_launcher_alone_stops_both(told: Terminal) -> None:
    told.start_in_shell()
    os.kill(told.pid("launcher"), signal.SIGTSTP)
    told.expect("Stopped")
    told.wait_state("ready", "T")
    told.type("fg\n")
    told.wait("SIGCONT")


def test_a_stopped_job_that_is_told_to_end_ends_when_continued(terminal: Terminal) -> None:
    terminal.start_in_shell("die-on-SIGTERM")
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect(PROMPT)
    terminal.type("kill %1\n")
    terminal.expect(PROMPT)
    terminal.wait("finished")
    assert "ended 143 15" in terminal.lines()


# In the background


def test_a_background_job_that_reads_the_terminal_stops_until_it_is_in_front(told: Terminal) -> None:
    told._open("bash", ["--norc", "--noprofile", "-i"])
    told.expect(PROMPT)
    told.type(f"{sys.executable} {LAUNCHER} run {told.log} /bin/cat &\n")
    told.expect(PROMPT)
    told.wait_state("launcher", "T")
    told.type("fg\n")
    told.wait_state("started", "S")
    told.wait_state("launcher", "S")
    told.type("hello\n\x04")
    told.expect("hello\r\nhello")
    told.wait("finished")


def test_a_background_job_runs_to_its_end(terminal: Terminal) -> None:
    terminal.start_in_shell(after=" &")
    terminal.type("\x03")
    settle()
    assert terminal.signals() == []
    terminal.ask("quit")
    terminal.wait("finished")
    terminal.type("wait %1; echo code=$?.\n")
    terminal.expect("code=3.")


def test_a_pipeline_in_a_shell_carries_the_childs_output(told: Terminal) -> None:
    told._open("bash", ["--norc", "--noprofile", "-i"])
    told.expect(PROMPT)
    launcher = f"{sys.executable} {LAUNCHER} run {told.log}"
    told.type(f"printf 'a\\nb\\n' | {launcher} /bin/cat | tr ab xy; echo codes=${{PIPESTATUS[*]}}.\n")
    told.expect("x\r\ny\r\n")
    told.expect("codes=0 0 0.")


def test_an_interactive_shell_as_the_child_has_job_control_of_its_own(told: Terminal) -> None:
    told._open("bash", ["--norc", "--noprofile", "-i"])
    told.expect(PROMPT)
    told.type(f"{sys.executable} {LAUNCHER} run {told.log} /bin/bash --norc --noprofile -i\n")
    told.wait("started")
    told.expect(PROMPT)
    told.type("sleep 60\n")
    settle()
    told.type("\x1a")
    told.expect("Stopped")
    told.expect(PROMPT)
    told.type("suspend\n")
    told.expect("Stopped")
    told.expect(PROMPT)
    told.wait_state("launcher", "T")
    told.type("fg\n")
    told.wait_state("started", "S")
    told.type("echo in$((1))ner\n")
    told.expect("in1ner")
    told.type("kill -9 %1; disown %1; exit 5\n")
    told.wait("finished")
    assert "ended 5 None" in told.lines()
