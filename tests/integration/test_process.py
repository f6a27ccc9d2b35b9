"""Finding, starting and waiting for real programs, without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rigline.errors import HarnessNotExecutable, HarnessNotFound
from rigline.process import ExitStatus, become, find_executable, run_child

LAUNCHER = str(Path(__file__).with_name("launcher.py"))
ENV = {"PATH": os.environ["PATH"]}


def run(*argv: str, env: dict[str, str] | None = None, cwd: str | None = None) -> ExitStatus:
    with run_child(argv, env=ENV if env is None else env, cwd=cwd) as status:
        return status


def sh(script: str, **options: str) -> ExitStatus:
    return run("/bin/sh", "-c", script, **options)  # type: ignore[arg-type]


def make_program(path: Path, content: str | bytes = "#!/bin/sh\nexit 7\n", mode: int = 0o755) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return str(path)


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """After every test: signals as before, and no child, not even a zombie."""
    numbers = signal.valid_signals() - {signal.SIGALRM}  # the test runner's own
    handlers = {number: signal.getsignal(number) for number in numbers}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    assert {number: signal.getsignal(number) for number in numbers} == handlers
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    assert not signal.sigpending()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


# Exit status


def test_every_exit_code_is_kept() -> None:
    assert [sh(f"exit {code}") for code in range(256)] == [ExitStatus(code) for code in range(256)]


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "HUP", "SEGV", "PIPE"])
def test_a_killed_child_has_128_and_the_signal(name: str) -> None:
    number = getattr(signal, f"SIG{name}")
    assert sh(f"kill -{name} $$") == ExitStatus(128 + number, number)


def test_a_child_is_waited_for_although_its_end_is_ignored_by_inheritance() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert sh("exit 9") == ExitStatus(9)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_what_the_child_leaves_running_is_not_waited_for() -> None:
    began = time.monotonic()
    assert sh("sleep 3 >/dev/null 2>&1 & exit 4") == ExitStatus(4)
    assert time.monotonic() - began < 2


def test_the_end_of_a_child_is_told_and_not_polled_for() -> None:
    code = """if True:
        from rigline import process
        process._LOOK_AGAIN_S = 600
        for _ in range(20):
            with process.run_child(["/bin/true"], env={}) as status:
                assert status.code == 0"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# What the child is given


#: glibc leaves two signals of its own (32, 33) ignored in what posix_spawn starts; no program can use them
GLIBCS_OWN = 0x180000000


def describe_self(command: list[str], folder: Path) -> list[str]:
    """Signals, open files, directory and session of a shell, as one started by `command` sees its own."""
    with open(folder / "extra", "wb+") as extra:
        extra.write(b"from an inherited file\n")
        extra.flush()
        script = f"""
            while read -r line; do case $line in Sig[BIC]*) echo "$line";; esac; done </proc/$$/status
            cat /proc/$$/fd/{extra.fileno()}; ls /proc/$$/fd; pwd; ps -o sid= -p $$"""
        words = [*command, "/bin/sh", "-c", script]
        answer = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, pass_fds=[extra.fileno()]
        )
    assert answer.returncode == 0, answer.stderr
    return [hide_glibcs_own(line) for line in answer.stdout.splitlines()]


def hide_glibcs_own(line: str) -> str:
    name, _, mask = line.partition("\t")
    return f"{name} {int(mask, 16) & ~GLIBCS_OWN:x}" if name == "SigIgn:" else line


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")
@pytest.mark.parametrize("wrapper", [[], ["nohup"], ["env", "--ignore-signal=INT,QUIT,TSTP", "--block-signal=USR1"]])
def test_a_child_sees_what_it_would_see_alone(tmp_path: Path, wrapper: list[str]) -> None:
    launcher = [sys.executable, LAUNCHER, "run", str(tmp_path / "log")]
    alone = describe_self(wrapper, tmp_path)
    assert describe_self([*wrapper, *launcher], tmp_path) == alone
    assert "from an inherited file" in alone


def test_a_hangup_that_is_ignored_stays_so(tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = [
        "nohup",
        sys.executable,
        LAUNCHER,
        "run",
        str(log),
        "/bin/sh",
        "-c",
        "kill -HUP $PPID; kill -HUP $$; exit 6",
    ]
    answer = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    assert answer.returncode == 6
    assert log.read_text().splitlines()[-1] == "finished"


def test_bytes_pass_through_unchanged(tmp_path: Path) -> None:
    content = os.urandom(1 << 20)
    words = [sys.executable, LAUNCHER, "run", str(tmp_path / "log"), "/bin/sh", "-c", "tee /dev/stderr"]
    answer = subprocess.run(words, input=content, capture_output=True, timeout=30)
    assert answer.stdout == content
    assert answer.stderr == content


@pytest.mark.parametrize("argument", ["", " ", "--", "a\nb", "é", os.fsdecode(b"\xff\xfe"), "$HOME", "x" * 100_000])
def test_arguments_arrive_byte_for_byte(tmp_path: Path, argument: str) -> None:
    assert run("/bin/sh", "-c", f'printf %s "$1" >{tmp_path}/got', "sh", argument) == ExitStatus(0)
    assert (tmp_path / "got").read_bytes() == os.fsencode(argument)


def test_the_environment_is_the_given_one_alone(tmp_path: Path) -> None:
    run("/usr/bin/env", env={"A": "1", "B": os.fsdecode(b"\xff")}, cwd=None)
    with run_child(["/bin/sh", "-c", f"env >{tmp_path}/got"], env={"A": "1", "PATH": ENV["PATH"]}):
        pass
    assert "A=1" in (tmp_path / "got").read_text().splitlines()
    assert not [line for line in (tmp_path / "got").read_text().splitlines() if line.startswith("HOME=")]


def test_the_child_starts_in_its_directory_and_the_launcher_stays(tmp_path: Path) -> None:
    before = os.getcwd()
    sh("pwd >where", cwd=str(tmp_path))
    assert (tmp_path / "where").read_text().strip() == str(tmp_path.resolve())
    assert os.getcwd() == before


def test_the_pid_is_told_once_the_child_runs(tmp_path: Path) -> None:
    told: list[int] = []
    with run_child(["/bin/sh", "-c", f"echo $$ >{tmp_path}/pid"], env=ENV, on_started=told.append):
        pass
    assert told == [int((tmp_path / "pid").read_text())]


def test_a_thread_beside_the_child_leaves_signals_alone() -> None:
    masks: list[set[int]] = []

    def look() -> None:
        masks.append(set(signal.pthread_sigmask(signal.SIG_BLOCK, ())))

    def start(_pid: int) -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    with run_child(["/bin/true"], env=ENV, on_started=start):
        pass
    assert masks[0] >= {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}


def test_trouble_after_the_start_does_not_leave_the_child_alone(tmp_path: Path) -> None:
    def fail(_pid: int) -> None:
        raise ValueError("no")

    with (
        pytest.raises(ValueError, match="no"),
        run_child(["/bin/sh", "-c", f"sleep 0.2; >{tmp_path}/done"], env=ENV, on_started=fail),
    ):
        pytest.fail("the block must not run")
    assert (tmp_path / "done").exists()


def test_trouble_in_the_block_is_the_callers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), run_child(["/bin/true"], env=ENV):
        raise ValueError("mine")


def test_signals_that_come_in_the_block_do_not_end_the_launcher() -> None:
    with run_child(["/bin/true"], env=ENV):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            os.kill(os.getpid(), number)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_signal_that_came_before_the_child_is_passed_on_to_it() -> None:
    """Between the lease and the start: held, since a signal's usual end would leave the lease behind."""

    def interrupt(_pid: int) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    with run_child(["/bin/sleep", "30"], env=ENV, on_started=interrupt) as status:
        assert status == ExitStatus(143, 15)


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="the system cannot look for a signal without waiting")
def test_a_late_signal_that_another_thread_has_taken_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([{signal.SIGCHLD}])
    monkeypatch.setattr(signal, "sigpending", lambda: next(told, set()))
    with run_child(["/bin/true"], env=ENV) as status:
        assert status.code == 0


# Programs that cannot be started


def run_nothing(argv: list[str]) -> None:
    with run_child(argv, env=ENV, on_started=lambda _pid: pytest.fail("nothing was started")):
        pytest.fail("nothing ran")


def become_nothing(argv: list[str]) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    try:
        become(argv, ENV)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


START = {"run": run_nothing, "become": become_nothing}


@pytest.mark.parametrize(
    ("content", "mode", "error", "message"),
    [
        (
            "#!/nonexistent/node\n",
            0o755,
            HarnessNotExecutable,
            "its interpreter '/nonexistent/node' cannot be executed",
        ),
        ("#!/bin/sh\r\nexit 0\r\n", 0o755, HarnessNotExecutable, r"its interpreter '/bin/sh\\r' cannot be executed"),
        ("#! /etc/passwd x\n", 0o755, HarnessNotExecutable, "its interpreter '/etc/passwd' cannot be executed"),
        ("exit 0\n", 0o755, HarnessNotExecutable, "neither a program for this machine nor a script"),
        (b"\x7fELF\x02\x01\x01garbage", 0o755, HarnessNotExecutable, "neither a program for this machine"),
        ("", 0o755, HarnessNotExecutable, "neither a program for this machine"),
        ("#!/bin/sh\n", 0o644, HarnessNotExecutable, "Permission denied"),
    ],
)
@pytest.mark.parametrize("start", START)
def test_a_program_that_cannot_be_executed_was_never_started(
    tmp_path: Path, content: str | bytes, mode: int, error: type[Exception], message: str, start: str
) -> None:
    path = make_program(tmp_path / "agent", content, mode)
    with pytest.raises(error, match=message) as refusal:
        START[start]([path])
    assert str(refusal.value).startswith(path)
    assert "--executable" in str(refusal.value)


def test_a_program_that_has_gone_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotFound, match=f"There is no program {tmp_path}/agent"):
        run(f"{tmp_path}/agent")


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotExecutable, match="Permission denied"):
        run(str(tmp_path))


def test_arguments_that_are_too_long_are_said(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotExecutable, match="Argument list too long"):
        run("/bin/true", "x" * (1 << 22))


def test_a_directory_that_has_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotExecutable, match=f"cannot be started in {tmp_path}/gone: there is no such directory"):
        run("/bin/true", cwd=f"{tmp_path}/gone")


def test_becoming_a_program_leaves_no_trace_of_the_launcher() -> None:
    code = "import sys; from rigline.process import become; become(['/bin/sh', '-c', sys.argv[1]], {'A': 'b'})"
    script = "grep SigIgn /proc/$$/status; echo $A; exit 5"
    answer = subprocess.run([sys.executable, "-c", code, script], capture_output=True, text=True)
    alone = subprocess.run(["/bin/sh", "-c", "grep SigIgn /proc/$$/status; echo b"], capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (5, alone.stdout)


# Finding a program


def test_a_bare_word_is_looked_up_on_the_childs_path(tmp_path: Path) -> None:
    path = make_program(tmp_path / "agent")
    assert find_executable("agent", {"PATH": f"/nonexistent:{tmp_path}"}) == path


def test_a_word_with_a_slash_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_program(tmp_path / "agent")
    monkeypatch.chdir(tmp_path)
    for word in (path, "./agent", "~/agent"):
        assert find_executable(word, {"PATH": "", "HOME": str(tmp_path)}) == path


def test_a_program_that_is_not_found_is_said_with_where_it_was_sought(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotFound, match=r"no program 'agent' on PATH \(/a, /b\).*--executable") as refusal:
        find_executable("agent", {"PATH": "/a:/b"})
    assert refusal.value.details == {"program": "agent", "searched": ["/a", "/b"]}
    assert refusal.value.exit_status == 127
    with pytest.raises(HarnessNotFound, match=f"no program {tmp_path}/agent"):
        find_executable(f"{tmp_path}/agent", ENV)
    with pytest.raises(HarnessNotFound):
        find_executable("", ENV)


def test_without_a_path_the_systems_own_folders_are_searched() -> None:
    assert os.path.basename(find_executable("sh", {})) == "sh"


def test_a_file_without_permission_is_said_unless_another_one_serves(tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    refused = make_program(tmp_path / "agent", mode=0o644)
    with pytest.raises(HarnessNotExecutable, match=f"{refused} cannot be executed: it lacks the permission") as refusal:
        find_executable("agent", {"PATH": str(tmp_path)})
    assert refusal.value.exit_status == 126
    good = make_program(tmp_path / "later" / "agent")
    assert find_executable("agent", {"PATH": f"{tmp_path}:{tmp_path}/later"}) == good


def test_a_folder_named_as_a_program_is_said(tmp_path: Path) -> None:
    with pytest.raises(HarnessNotExecutable, match="it is not a file"):
        find_executable(str(tmp_path), ENV)
