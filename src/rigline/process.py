"""Finds a harness's program, starts it and waits for it. The only module that starts a harness.

The child runs as if it had been started alone: with the launcher's terminal, process group, session, open files and
ignored signals. What the terminal sends (Ctrl-C, Ctrl-\\, Ctrl-Z) reaches it directly; what another process sends to
the launcher is passed on. When the child is stopped, by Ctrl-Z or by itself, the launcher stops in the same way, so
that the shell shows its prompt, and both continue together.

While the child runs, the launcher's signals are blocked and taken one at a time, so nothing is handled in between.
Linux tells who sent a signal. Where that is not told (macOS), Ctrl-C, Ctrl-\\ and Ctrl-Z count as the terminal's while
the launcher is in its foreground group. A signal that a process sends to the whole group reaches the child twice:
nothing tells it from one that was meant for the launcher.
"""

from __future__ import annotations

import errno
import os
import signal
import termios
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from msgspec import Struct

from rigline.errors import HarnessNotExecutable, HarnessNotFound
from rigline.paths import find_program, user_home

#: sent by the terminal to the whole group, the child included
_FROM_TERMINAL = {signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP}
_PASSED_ON = {*_FROM_TERMINAL, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
#: would end the launcher while it finishes its work after the child's end
_IGNORED_AFTERWARDS = {signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT}
_STOPPING = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
#: Python ignores these in itself; a child must not inherit that
_IGNORED_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
#: how long a signal may lie unseen that a thread took which does not block it
_LOOK_AGAIN_S = 0.25

_NAME_ANOTHER = "name another program with --executable PATH"

_Modes = list[int | list[bytes | int]]


class ExitStatus(Struct, frozen=True):
    """How a child ended: `code` as a shell shows it (128 + signal when killed), and the signal."""

    code: int
    signal: int | None = None


def find_executable(word: str, env: Mapping[str, str]) -> str:
    """The absolute path of the program that `word` names for a child with this environment; no shell is asked.

    A word with a slash is a path, any other is looked up on the environment's `PATH`. Raises `HarnessNotFound` or
    `HarnessNotExecutable`. What only the system can tell, such as a missing interpreter, is found by `run_child`.
    """
    if "/" in word:
        return _check_program(os.path.abspath(user_home(env) + word[1:] if word.startswith("~/") else word))
    search_path = env.get("PATH", os.defpath)
    found, refused = find_program(word, search_path)
    if found:
        return found
    if refused:
        return _check_program(refused)
    folders = search_path.split(os.pathsep)
    raise HarnessNotFound(
        f"There is no program {word!r} on PATH ({', '.join(folders)}). Install it, or {_NAME_ANOTHER}.",
        program=word,
        searched=folders,
    )


@contextmanager
def run_child(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    on_started: Callable[[int], object] | None = None,
) -> Iterator[ExitStatus]:
    """Run a program to its end, then the block with its exit status.

    `argv[0]` is the program's path; without `cwd` it starts where the launcher is. `on_started` gets the child's pid;
    threads that run beside the child are best started there, for then they inherit the mask that leaves signals to this
    function. Inside the block SIGHUP, SIGTERM and SIGQUIT are ignored, so that work can be finished after the terminal
    has gone, while Ctrl-C raises KeyboardInterrupt as usual. For the main thread only. Raises `HarnessNotFound` or
    `HarnessNotExecutable` when nothing was started.
    """
    watch = _Watch()
    try:
        yield watch.run(lambda: _spawn(argv, env, cwd, watch.mask_before), on_started)
    finally:
        watch.close()


def become(argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Replace the launcher by a program, which then is what the shell waits for. Raises as `run_child` does."""
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(argv[0], list(argv), env)  # noqa: S606 -- no shell is what is wanted
    except OSError as error:
        raise _explain(argv[0], None, error) from error


def ask(argv: Sequence[str], *, env: Mapping[str, str], timeout_s: float) -> str | None:
    """What a program prints on stdout when it is only asked something, such as its version.

    It gets no input, no terminal and a session of its own, which is ended when it does not answer in time. None when it
    cannot be started, fails, or takes too long.
    """
    import subprocess

    nothing = subprocess.DEVNULL
    try:
        with subprocess.Popen(
            argv, env=env, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, start_new_session=True
        ) as child:
            try:
                answer, _ = child.communicate(timeout=timeout_s)
            except BaseException:
                os.killpg(child.pid, signal.SIGKILL)
                raise
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.decode("utf-8", "replace") if child.returncode == 0 else None


class _Watch:
    """The launcher's signals, from just before the child starts until the work after its end is finished."""

    def __init__(self) -> None:
        ignored = {number for number in _PASSED_ON if signal.getsignal(number) is signal.SIG_IGN}
        #: what is ignored stays so, for the child too (nohup)
        self._watched = (_PASSED_ON - ignored) | {signal.SIGCHLD, signal.SIGCONT}
        self._taken_by_threads: list[int] = []
        # A handler makes the system keep a blocked signal that it would drop otherwise. The child does not get it.
        self._handlers = {number: signal.signal(number, self._take) for number in self._watched}
        self.mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, self._watched)

    def run(self, spawn: Callable[[], int], on_started: Callable[[int], object] | None) -> ExitStatus:
        terminal = _read_terminal()
        try:
            pid = spawn()
            try:
                if on_started:
                    on_started(pid)
            finally:
                status = self._wait(pid)
        finally:
            self._drain()
            self._restore(self._watched - _IGNORED_AFTERWARDS)
            signal.pthread_sigmask(signal.SIG_SETMASK, self.mask_before)
        if status.signal is not None:
            _restore_terminal(terminal)
        return status

    def close(self) -> None:
        self._restore(self._watched & _IGNORED_AFTERWARDS)

    def _take(self, number: int, _frame: object) -> None:
        self._taken_by_threads.append(number)

    def _restore(self, numbers: set[signal.Signals]) -> None:
        for number in numbers:
            handler = self._handlers[number]
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _drain(self) -> None:
        """What came too late for the child is meant for nobody any more.

        A thread that does not block signals may take one that was pending a moment ago, so none is waited for.
        """
        while waiting := signal.sigpending() & self._watched:
            if hasattr(signal, "sigtimedwait"):
                signal.sigtimedwait(waiting, 0)
            else:
                signal.sigwait(waiting)

    def _wait(self, pid: int) -> ExitStatus:
        stopped_by = 0
        while True:
            number, child_has_it = self._next()
            if number in _PASSED_ON and not child_has_it:
                _send(pid, number)
            changes = list(_changes(pid))
            if changes:
                if not os.WIFSTOPPED(changes[-1]) and not os.WIFCONTINUED(changes[-1]):
                    return _read_status(changes[-1])
                stopped_by = os.WSTOPSIG(changes[-1]) if os.WIFSTOPPED(changes[-1]) else 0
            if stopped_by and (number == signal.SIGCONT or (changes and not self._stop(stopped_by))):
                _send(pid, signal.SIGCONT)

    def _next(self) -> tuple[int, bool]:
        """The next signal, 0 when there was none for a while, and whether the child was sent it too."""
        if self._taken_by_threads:
            number, by_terminal = self._taken_by_threads.pop(0), _is_in_foreground()
        elif hasattr(signal, "sigtimedwait"):
            info = signal.sigtimedwait(self._watched, _LOOK_AGAIN_S)
            if info is None:
                return 0, False
            number, by_terminal = info.si_signo, info.si_code > 0  # the kernel, not a process: sigaction(2)
        else:
            number, by_terminal = signal.sigwait(self._watched), _is_in_foreground()
        # A terminal that goes away tells the session's leader alone.
        is_leaders = number == signal.SIGHUP and os.getsid(0) == os.getpid()
        return number, number in _FROM_TERMINAL and by_terminal and not is_leaders

    def _stop(self, number: int) -> bool:
        """Stop the launcher as the child was stopped, until it is continued.

        False when it was not stopped: the system stops nobody whom no shell could continue, so the child goes on.
        """
        if self._is_continued():
            return True
        number = number if number in _STOPPING else signal.SIGSTOP
        handler = None if number == signal.SIGSTOP else signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.pthread_sigmask(signal.SIG_BLOCK, {number} & self._watched)
        if handler is not None:
            signal.signal(number, handler)
        return self._is_continued()

    def _is_continued(self) -> bool:
        return signal.SIGCONT in signal.sigpending() or signal.SIGCONT in self._taken_by_threads


def _changes(pid: int) -> Iterator[int]:
    """What became of the child since the last call, as wait statuses."""
    while True:
        found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
        if not found:
            return
        yield status
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return


def _read_status(status: int) -> ExitStatus:
    code = os.waitstatus_to_exitcode(status)
    return ExitStatus(code) if code >= 0 else ExitStatus(128 - code, -code)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return  # it has just ended, or runs as another user


def _check_program(path: str) -> str:
    if not os.path.exists(path):
        raise HarnessNotFound(f"There is no program {path}. Check the path, or {_NAME_ANOTHER}.", program=path)
    if not os.path.isfile(path):
        raise _not_executable(path, "it is not a file")
    if not os.access(path, os.X_OK):
        raise _not_executable(path, "it lacks the permission (chmod +x)")
    return path


def _spawn(argv: Sequence[str], env: Mapping[str, str], cwd: str | None, mask: Iterable[int]) -> int:
    # posix_spawn knows no working directory, and importing subprocess costs as much as starting git: go there.
    before = os.open(".", os.O_RDONLY) if cwd is not None else None
    try:
        if cwd is not None:
            os.chdir(cwd)
        return os.posix_spawn(argv[0], list(argv), env, setsigdef=_IGNORED_BY_PYTHON, setsigmask=mask)
    except OSError as error:
        raise _explain(argv[0], cwd, error) from error
    finally:
        if before is not None:
            os.chdir(before)
            os.close(before)


def _explain(path: str, cwd: str | None, error: OSError) -> HarnessNotFound | HarnessNotExecutable:
    if cwd is not None and not os.path.isdir(cwd):
        return HarnessNotExecutable(f"{path} cannot be started in {cwd}: there is no such directory.", program=path)
    if not os.path.lexists(path):
        return HarnessNotFound(f"There is no program {path}. Install it, or {_NAME_ANOTHER}.", program=path)
    interpreter = _find_interpreter(path)
    if error.errno == errno.ENOEXEC:
        return _not_executable(path, "it is neither a program for this machine nor a script that begins with `#!`")
    if interpreter and error.errno in (errno.ENOENT, errno.EACCES, errno.ENOTDIR):
        return _not_executable(path, f"its interpreter {interpreter!r} cannot be executed ({error.strerror})")
    return _not_executable(path, error.strerror or str(error))


def _not_executable(path: str, why: str) -> HarnessNotExecutable:
    return HarnessNotExecutable(f"{path} cannot be executed: {why}. Repair it, or {_NAME_ANOTHER}.", program=path)


def _find_interpreter(path: str) -> str:
    """What a script's first line names; carriage returns, a usual reason why it is not found, are kept."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        return ""
    return os.fsdecode(line[2:].strip(b" \t\n").split(b" ")[0]) if line.startswith(b"#!") else ""


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _read_terminal() -> tuple[int, _Modes] | None:
    for stream in (0, 1, 2):
        try:
            return stream, termios.tcgetattr(stream)
        except termios.error:
            continue
    return None


def _restore_terminal(saved: tuple[int, _Modes] | None) -> None:
    """A killed program cannot undo its raw mode. A shell would, but it sees the launcher end as usual."""
    if saved is None or not _is_in_foreground():
        return
    try:
        termios.tcsetattr(saved[0], termios.TCSANOW, saved[1])
    except termios.error:
        return
