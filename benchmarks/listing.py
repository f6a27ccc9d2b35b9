"""Listing the newest sessions of every harness over 2,000 sessions, and a picker's first screen.

    python -m benchmarks.listing [SESSIONS]

The sessions are copies of those that the real programs wrote (`tests/fixtures/`), in 40 checkouts. A listing is a whole
process: interpreter, adapters, and the newest sessions of one checkout and of all, of each harness. Cold: the files'
content is not in memory (what Linux does with `posix_fadvise`); rigline keeps nothing between listings either way. The
first screen is measured on a terminal of its own, from the process's start to the last line of the screen.
"""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.fixtures import (
    claude_store,
    codex_store,
    command_code_store,
    copilot_store,
    grok_store,
    kimi_store,
    pi_store,
    qwen_store,
)

from rigline.harness import HARNESSES, get_harness
from rigline.ledger.local import open_ledger
from rigline.model import SessionInfo
from rigline.scope import resolve_scope
from rigline.testing.samples import make_event, make_request, make_session, make_window

SESSIONS = 2000
CHECKOUTS = 40
COLD_S, WARM_S = 1.0, 0.3
LINES = 50
FIRST_SCREEN_S = 0.5
ROUNDS = 9
#: what the last line of a picker's screen ends with
LAST_WORDS = b"Esc leave"
TERMINAL_S = 20.0

#: harness -> puts recorded sessions into its store, as if they had been begun in a checkout: (home, store, checkout)
Place = Callable[[Path, Path, str], object]
PLACES: dict[str, Place] = {
    "claude-code": lambda _home, store, cwd: claude_store.place_all(store, cwd),
    "codex": lambda _home, store, cwd: codex_store.place_all(store, cwd),
    "command-code": lambda home, _store, cwd: command_code_store.place_all(home, cwd),
    "copilot": lambda _home, store, cwd: [copilot_store.place(name, store, cwd) for name in copilot_store.NAMES],
    "kimi-code": lambda _home, store, cwd: [kimi_store.place(name, store, cwd) for name in kimi_store.NAMES],
    "pi": lambda home, _store, cwd: pi_store.place_all(home, cwd),
    "omp": lambda home, _store, cwd: pi_store.place_all(home, cwd, "omp"),
    "qwen-code": lambda home, _store, cwd: qwen_store.place(home / ".qwen", cwd),
    "grok-build": lambda home, _store, cwd: grok_store.place_all(home / ".grok", cwd),
}

#: a listing as one process does it, of a checkout's 8 newest of each harness or of the 50 newest of each anywhere
LISTING = """
import sys
from rigline.harness import HARNESSES, get_harness
stores = [get_harness(name).open_store({"HOME": sys.argv[1]}) for name in HARNESSES]
cwd, limit = (sys.argv[2], 8) if sys.argv[2] else (None, 50)
print(sum(len(store.list_sessions(cwd, limit)) for store in stores))
"""


def main() -> int:
    """Run both; the exit status says whether every figure is within its limit."""
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        results = [list_all(home / "sessions", sessions), show_first(home / "ledger")]
    return 0 if all(results) else 1


def list_all(home: Path, wanted: int) -> bool:
    """Time listings of a corpus, cold and warm."""
    checkouts = [home / "src" / f"project-{number}" for number in range(CHECKOUTS)]
    sessions, written = write_corpus(home, checkouts, wanted)
    print(f"newest sessions of {len(PLACES)} of {len(HARNESSES)} harnesses, {sessions} sessions in {written} files:")
    return all([list_one(home, "of a checkout", str(checkouts[7])), list_one(home, "anywhere", "")])


def list_one(home: Path, what: str, cwd: str) -> bool:
    """Time one kind of listing."""
    found = time_listing(home, cwd)[1]
    cold, warm = [], []
    for _ in range(ROUNDS):
        forget(home)
        cold.append(time_listing(home, cwd)[0])
        warm.append(time_listing(home, cwd)[0])
    fits = statistics.median(cold) <= COLD_S and statistics.median(warm) <= WARM_S
    print(
        f"  {what:14} cold {statistics.median(cold):.2f} s (limit {COLD_S:g}), warm {statistics.median(warm):.2f} s "
        f"(limit {WARM_S:g}); {found} found  {'ok' if fits else 'OVER'}"
    )
    return fits


def time_listing(home: Path, cwd: str) -> tuple[float, str]:
    """Seconds of one process that lists, and what it found."""
    argv = [sys.executable, "-c", LISTING, str(home), cwd]
    begin = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, done.stdout.strip()


def write_corpus(home: Path, checkouts: list[Path], sessions: int) -> tuple[int, int]:
    """Sessions of every harness in every checkout; how many there are, and in how many files."""
    each = -(-sessions // (len(PLACES) * len(checkouts)))
    for number, checkout in enumerate(checkouts):
        checkout.mkdir(parents=True)
        for name, place in PLACES.items():
            with tempfile.TemporaryDirectory() as recorded:
                store = get_harness(name).open_store({"HOME": recorded})
                place(Path(recorded), Path(store.root), str(checkout))
                infos = [info for info in store.iter_sessions() if not info.is_subagent]
                copy_sessions(Path(recorded), home, infos, each, number)
    stamp_all(home)
    return each * len(PLACES) * len(checkouts), sum(1 for path in home.rglob("*") if path.is_file())


def copy_sessions(recorded: Path, home: Path, infos: list[SessionInfo], count: int, seed: int) -> None:
    """Copies of sessions under ids of their own, which no two checkouts share."""
    for number in range(count):
        native_id = infos[number % len(infos)].native_id
        own = native_id[:-8] + f"{seed * 1000 + number:08x}"
        for path in recorded.rglob("*"):
            if path.is_file() and native_id in str(path):
                target = home / str(path.relative_to(recorded)).replace(native_id, own)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes().replace(native_id.encode(), own.encode()))


def stamp_all(home: Path) -> None:
    """Let the files be of different ages, in no order."""
    now = time.time()
    for number, path in enumerate(sorted(home.rglob("*"))):
        if path.is_file():
            age_s = number * 7919 % 1_000_000
            os.utime(path, (now - age_s, now - age_s))


def forget(home: Path) -> None:
    """Let the system give up what it keeps of the files in memory, where it can be asked to."""
    os.sync()
    for path in home.rglob("*"):
        if path.is_file() and hasattr(os, "posix_fadvise"):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def show_first(home: Path) -> bool:
    """Time the first screens of `rigline resume --all` with 50 lines in the ledger."""
    env, cwd = write_lines(home)
    seconds = [time_first_screen([rigline(), "resume", "--all"], env, cwd) for _ in range(ROUNDS)]
    median = statistics.median(seconds)
    fits = median <= FIRST_SCREEN_S
    print(
        f"first screen of `rigline resume --all`, {LINES} lines: {median * 1000:.0f} ms "
        f"(limit {FIRST_SCREEN_S * 1000:.0f})  {'ok' if fits else 'OVER'}"
    )
    return fits


def rigline() -> str:
    """The command that is installed beside this interpreter."""
    return str(Path(sys.executable).with_name("rigline"))


def write_lines(home: Path) -> tuple[dict[str, str], Path]:
    """A ledger with lines in ten checkouts, the environment to see it, and one of the checkouts."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "RIGLINE_HOME": str(home / "rigline"), "LANG": "C.UTF-8"}
    checkouts = [home / "src" / f"project-{number}" for number in range(10)]
    for checkout in checkouts:
        shutil.rmtree(checkout, ignore_errors=True)
        checkout.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(checkout)], check=True, env=env)
    ledger = open_ledger(env["RIGLINE_HOME"])
    for number in range(LINES):
        scope = resolve_scope(str(checkouts[number % 10]), env=env)
        grant = ledger.prepare(make_request(scope=scope, new_name=f"line-{number}"))
        info = make_session(f"s{number}")
        ledger.bind(grant.run, info, evidence="hook", created_via="fresh", store="/store")
        events = [make_event(info.native_id, f"r{place}", "Words of a message. " * 20) for place in range(100)]
        ledger.append(info, make_window(info.native_id, "c", events, title="A title"), scope=scope, run=grant.run)
        ledger.finish(grant.run, 0, None)
    ledger.close()
    return {**env, "TERM": "xterm-256color"}, checkouts[0]


def time_first_screen(argv: list[str], env: Mapping[str, str], cwd: Path) -> float:
    """Seconds until a program has written its first screen; it is ended then."""
    begin = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(argv[0], argv, dict(env))
    try:
        written = b""
        while LAST_WORDS not in written:
            if not select.select([terminal], [], [], TERMINAL_S)[0]:
                raise TimeoutError(f"no screen within {TERMINAL_S:.0f} s, but: {written!r}")
            written += os.read(terminal, 1 << 16)
        return time.perf_counter() - begin
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


if __name__ == "__main__":
    sys.exit(main())
