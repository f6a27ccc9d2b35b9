"""What rigline costs where people wait for it: its version, a hook, a run around a child that ends at once.

    python -m benchmarks.startup

Each command is run in turn with `python -c pass`; the median ratio is what counts, because machines differ.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROUNDS = 25
BARE = (sys.executable, "-c", "pass")


def measure(
    name: str,
    argv: Sequence[str],
    limit: float,
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: bytes = b"",
    before: Callable[[], None] | None = None,
) -> bool:
    """Print the median ratio to bare Python, and whether it is within the limit."""
    own, bare = [], []
    for _ in range(ROUNDS):
        if before is not None:
            before()
        own.append(time_once(argv, env, cwd, stdin))
        bare.append(time_once(BARE, env, cwd, b""))
    ratio = statistics.median(a / b for a, b in zip(own, bare, strict=True))
    verdict = "ok" if ratio <= limit else "OVER"
    milliseconds = statistics.median(own) * 1000
    print(f"{name:<44} {milliseconds:7.1f} ms  {ratio:5.2f} x bare python  (limit {limit:g})  {verdict}")
    return ratio <= limit


def time_once(argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes) -> float:
    """Seconds from start to end of one process; its output is thrown away, a failure is not."""
    begin = time.perf_counter()
    subprocess.run(argv, env=env, cwd=cwd, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return time.perf_counter() - begin


def make_checkout(folder: Path) -> Path:
    """A small repository with one commit and a remote."""
    checkout = folder / "project"
    checkout.mkdir()
    (checkout / "a.txt").write_text("a\n")
    for command in (
        "init -q -b main",
        "remote add origin git@example.org:team/project.git",
        "add .",
        "-c user.name=n -c user.email=e@example.org commit -q -m first",
    ):
        subprocess.run(["git", *command.split()], cwd=checkout, check=True, env={"PATH": os.environ["PATH"]})
    return checkout


def make_hook_folder(folder: Path) -> Path:
    """A run folder with one packet part of the size that is delivered in one answer."""
    run = folder / "run"
    run.mkdir()
    (run / "hook.json").write_text(json.dumps({"receivers": ["s"], "parts": 1}))
    (run / "answer-1").write_text("x" * 9000)
    return run


def main() -> int:
    """Run all of it; the exit status says whether every figure is within its limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkout = make_checkout(folder)
        env = {"PATH": os.environ["PATH"], "HOME": name, "RIGLINE_HOME": str(folder / "home")}
        command = str(Path(sys.executable).with_name("rigline"))
        hook_env = {**env, "RIGLINE_RUN_DIR": str(make_hook_folder(folder))}
        payload = json.dumps({"session_id": "s", "source": "startup", "cwd": str(checkout)}).encode()
        hook = [sys.executable, "-P", "-m", "rigline", "hook", "session-start", "--part", "1"]
        run = [command, "run", "--executable", "/bin/true", "claude", "-p", "x"]
        results = [
            measure("rigline --version", [command, "--version"], 2, env=env, cwd=checkout),
            measure("start hook with a packet", hook, 4, env=hook_env, cwd=checkout, stdin=payload),
            measure("rigline run around /bin/true", run, 8, env=env, cwd=checkout),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
