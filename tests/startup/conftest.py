"""Which modules a command loads, counted in a process of its own: a number that no load of the machine changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab.corpus import write_corpus

#: the exit status of a search without hits
NOTHING_FOUND = 1
#: what the installed `rigline` script does
SCRIPT = "import sys; from rigline.__main__ import main; sys.exit(main())"


def list_imports(words: list[str], env: dict[str, str], cwd: Path, stdin: str = "", code: str = SCRIPT) -> list[str]:
    """The modules that `rigline WORDS...` imports beyond the bare interpreter, in order; fails when it fails."""
    bare = set(trace([sys.executable, "-c", "pass"], env, cwd, ""))
    return [name for name in trace([sys.executable, "-c", code, *words], env, cwd, stdin) if name not in bare]


def trace(argv: list[str], env: dict[str, str], cwd: Path, stdin: str) -> list[str]:
    """The modules that one process imports, by `-X importtime`."""
    full = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPROFILEIMPORTTIME": "1", **env}
    done = subprocess.run(argv, env=full, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, NOTHING_FOUND):
        pytest.fail(f"{argv} ended with {done.returncode}:\n{done.stdout}\n{done.stderr[-2000:]}")
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in lines[1:]]


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The private folder of a run whose packet is ready."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "hook.json").write_text('{"receivers": ["S"], "parts": 1}')
    (folder / "answer-1").write_text("packet")
    return folder


@pytest.fixture(scope="session")
def ledger_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a ledger that a small corpus was imported into."""
    home = tmp_path_factory.mktemp("ledger")
    write_corpus(str(home), 0.2)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "RIGLINE_HOME": str(home / "rigline")}
    argv = [sys.executable, "-m", "rigline", "import", "--all", "--json"]
    done = subprocess.run(argv, env=env, cwd=home, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != 0:
        pytest.fail(f"{argv} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return home / "rigline"
