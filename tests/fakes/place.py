"""Put stand-ins on PATH under the names of the real programs, and run rigline with them as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.home import make_project

from tests.conftest import ROOT


def put_on_path(folder: Path, executable: str, module: str) -> None:
    """An executable that runs the module `tests.fakes.MODULE`."""
    folder.mkdir(exist_ok=True)
    path = folder / executable
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.fakes.{module} "$@"\n')
    path.chmod(0o755)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def ok(self) -> Ended:
        assert self.code == 0, f"exit {self.code}\n{self.out}\n{self.err}"
        return self

    @property
    def value(self) -> Any:
        return json.loads(self.out)


class Person:
    """Somebody with a home, a checkout, and stand-ins on PATH."""

    def __init__(self, folder: Path, **programs: str) -> None:
        self.home, self.bin = folder / "home", folder / "bin"
        self.home.mkdir()
        self.project = make_project(str(folder / "project"), {"parse.py": "pass\n"})
        self.log = folder / "launches.jsonl"
        for executable, module in programs.items():
            put_on_path(self.bin, executable.replace("_", "-"), module)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(self.bin), os.environ["PATH"])),
            "RIGLINE_HOME": str(self.home / "rigline"),
            "FAKE_LOG": str(self.log),
        }

    def __call__(self, *words: str, cwd: str | None = None, **env: str) -> Ended:
        """Run rigline to its end, without a terminal."""
        done = subprocess.run(
            [sys.executable, "-m", "rigline", *words],
            cwd=cwd or self.project,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def sessions(self, line: str = "main") -> dict[str, str]:
        """The current native session of each harness on a line."""
        shown = self("workstreams", "show", line, "--json").ok().value
        return {session["harness"]: session["native_id"] for session in shown["sessions"]}

    def launches(self) -> list[dict[str, Any]]:
        """The arguments and the environment that each stand-in was started with, oldest first."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def note_launch(argv: list[str]) -> None:
    """For the stand-ins: write down how they were started."""
    names = ("KIRO_HOME", "GROK_HOME")
    known = {name: os.environ[name] for name in names if name in os.environ}
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps({"argv": argv, "env": known, "cwd": os.getcwd()}) + "\n")
