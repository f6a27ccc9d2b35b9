"""Not a test: a launcher, and a child that writes down the signals it gets, each run as a program by the tests.

    launcher.py run LOG WORDS...     run a program by `run_child`; writes started, ended and finished to LOG
    launcher.py child LOG OPTIONS    record signals until a file LOG.quit is there

What is written to a log is one line a fact, so that tests can wait for it.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
import time
import tty

RECORDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGCONT", "SIGWINCH")


def note(log: str, *words: object) -> None:
    with open(log, "a", encoding="utf-8") as file:
        file.write(" ".join(map(str, words)) + "\n")


def run(log: str, argv: list[str]) -> int:
    from rigline.process import run_child

    if "UNTOLD" in os.environ:  # as on macOS, where nothing tells who sent a signal
        del signal.sigtimedwait
    if "UNSHIELDED" in os.environ:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    note(log, "launcher", os.getpid())
    with run_child(argv, env=os.environ, on_started=lambda pid: note(log, "started", pid)) as status:
        note(log, "ended", status.code, status.signal)
        try:
            time.sleep(float(os.environ.get("FINISH_S", "0")))
            note(log, "finished")
        except KeyboardInterrupt:
            note(log, "interrupted")
    return status.code


def child(log: str, options: list[str]) -> int:
    def record(number: int, _frame: object) -> None:
        note(log, signal.Signals(number).name)
        if f"die-on-{signal.Signals(number).name}" in options:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    for name in RECORDED:
        if f"default-{name}" not in options:
            signal.signal(getattr(signal, name), signal.SIG_IGN if f"ignore-{name}" in options else record)
    if "own-group" in options:
        os.setpgid(0, 0)
    if "raw" in options:
        tty.setraw(0, termios.TCSANOW)
    note(log, "ready", os.getpid())
    while not os.path.exists(f"{log}.quit"):
        stop_as_asked(log)
        time.sleep(0.01)
    return 3


def stop_as_asked(log: str) -> None:
    """`LOG.stop` names a way for a program to stop itself."""
    try:
        with open(f"{log}.stop", encoding="utf-8") as file:
            way = file.read()
        os.unlink(f"{log}.stop")
    except OSError:
        return
    os.kill(0 if way == "group" else os.getpid(), signal.SIGSTOP if way == "STOP" else signal.SIGTSTP)


if __name__ == "__main__":
    role, log_path, *rest = sys.argv[1:]
    sys.exit(run(log_path, rest) if role == "run" else child(log_path, rest))
