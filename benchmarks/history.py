"""Importing and searching a corpus: MB/s, peak memory, and whether every planted word is found.

    python -m benchmarks.history [MEGABYTES]

The corpus is made by `lab.corpus`, Claude Code and Codex sessions with tool output. Searches are whole processes, in
turn with `python -c pass`.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.startup import BARE, time_once

IMPORT_S = 20.0
IMPORT_PEAK_MB = 150
SEARCH_RATIO = 4
SEARCHES = 25


def main() -> int:
    """Run both; the exit status says whether every figure is within its limit."""
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100.0
    with tempfile.TemporaryDirectory() as name:
        # in a process of its own: a child's peak memory counts from its parent's size
        subprocess.run(
            [sys.executable, "-m", "lab.corpus", name, str(megabytes)], check=True, stdout=subprocess.DEVNULL
        )
        env = {"PATH": os.environ["PATH"], "HOME": name, "RIGLINE_HOME": str(Path(name, "rigline-home"))}
        results = [import_all(env, megabytes), search_all(env, Path(name))]
    return 0 if all(results) else 1


def import_all(env: Mapping[str, str], megabytes: float) -> bool:
    """Import everything in one process; print its time and peak memory."""
    command = [sys.executable, "-m", "rigline", "import", "--all", "--json"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    peak_mb = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    limit_s = IMPORT_S * megabytes / 100
    fits = process.returncode == 0 and seconds <= limit_s and peak_mb <= IMPORT_PEAK_MB
    print(
        f"import {megabytes:.0f} MB, redacted and searchable: {seconds:.1f} s (limit {limit_s:.0f}), "
        f"{megabytes / seconds:.1f} MB/s, peak {peak_mb:.0f} MB (limit {IMPORT_PEAK_MB})  {'ok' if fits else 'OVER'}"
    )
    return fits


def search_all(env: Mapping[str, str], home: Path) -> bool:
    """Find every needle, and time a sample of cold searches against bare Python."""
    needles = list(json.loads((home / "needles.json").read_text()))
    found = sum(find_needle(env, needle) for needle in needles)
    ratios, own = [], []
    for needle in random.Random(1).choices(needles, k=SEARCHES):
        own.append(time_once(search_command(needle), env, home, b""))
        ratios.append(own[-1] / time_once(BARE, env, home, b""))
    ratio = statistics.median(ratios)
    fits = found == len(needles) and ratio <= SEARCH_RATIO
    print(
        f"search, whole process: {statistics.median(own) * 1000:.1f} ms, {ratio:.2f} x bare python "
        f"(limit {SEARCH_RATIO}); {found} of {len(needles)} needles found  {'ok' if fits else 'OVER'}"
    )
    return fits


def search_command(word: str) -> list[str]:
    """A search as a user types it."""
    return [str(Path(sys.executable).with_name("rigline")), "search", "--all", word]


def find_needle(env: Mapping[str, str], needle: str) -> bool:
    """Whether a planted word is found."""
    done = subprocess.run(search_command(needle), env=env, capture_output=True, text=True, check=False)
    return done.returncode == 0 and needle in done.stdout


if __name__ == "__main__":
    sys.exit(main())
