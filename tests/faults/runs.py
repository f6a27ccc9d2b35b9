"""What the tests of this group share: runs on a failing machine, and what is known afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.real.conftest import NEWEST, Done, Model, Rigline

newest = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])
both = pytest.mark.parametrize("harness", ["claude", "codex"])

#: one headless turn of each agent; the prompt follows
TURN = {"claude": ["run", "claude", "-p"], "codex": ["run", "codex", "exec", "--skip-git-repo-check"]}


def break_argv(faults: str, *words: str) -> list[str]:
    """The command line of rigline on a machine with these faults."""
    return [sys.executable, "-m", "tests.faults.breaker", faults, *words]


def break_env(rigline: Rigline) -> dict[str, str]:
    """The environment for it."""
    return {**rigline.env, "PYTHONPATH": str(ROOT)}


def run_broken(rigline: Rigline, faults: str, *words: str) -> Done:
    """Run rigline to its end on a machine with these faults."""
    return rigline.execute(break_argv(faults, *words), cwd=None, timeout_s=60, PYTHONPATH=str(ROOT))


def start_broken(rigline: Rigline, faults: str, *words: str) -> subprocess.Popen[str]:
    """Start rigline on a machine with these faults."""
    return rigline.start(break_argv(faults, *words), PYTHONPATH=str(ROOT))


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of what was started."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def wait_until(holds: Callable[[], object], what: str, timeout_s: float = 20) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.02)


def wait_for_request(model: Model, prompt: str) -> None:
    """Wait until an agent has asked the model."""
    wait_until(lambda: model.conversations(prompt), f"a request with {prompt!r}")


def run_folder(rigline: Rigline) -> Path:
    """The folder of the one run that is at work."""
    (folder,) = Path(rigline.home.rigline_dir, "runs").iterdir()
    return folder


def say_in_hook(rigline: Rigline, native_id: str, **more: str) -> None:
    """Let the start hook of the run at work report a session."""
    payload = {"hook_event_name": "SessionStart", "session_id": native_id, "source": "startup", **more}
    with (run_folder(rigline) / "observed.jsonl").open("a") as observed:
        observed.write(json.dumps(payload) + "\n")


def texts(rigline: Rigline) -> list[str]:
    """Everything that was said on any line, as the ledger has it."""
    hits = rigline("search", "--all", "--kind", "message", "--limit", "100", "--json").ok().json["hits"]
    return [hit["snippet"] for hit in hits]


def notices(err: str) -> list[str]:
    """What rigline itself said on stderr, which is no terminal: a notice a line."""
    return [line.removeprefix("rigline: ") for line in err.splitlines() if line.startswith("rigline: ")]


def transcripts(rigline: Rigline, harness: str) -> list[Path]:
    """The transcripts in a harness's store."""
    folders = {"claude": (rigline.home.claude_dir, "projects"), "codex": (rigline.home.codex_dir, "sessions")}
    return sorted(Path(*folders[harness]).rglob("*.jsonl"))


def list_processes(home: str) -> list[str]:
    """The pids of all that runs with this home in its environment."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_at_home(pid, home)]


def _is_at_home(pid: str, home: str) -> bool:
    try:
        return f"HOME={home}\0".encode() in Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return False


def read_files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def block(path: str) -> None:
    """Put a file where a folder is wanted: no permission lets anybody write below it, not even root."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("in the way")
