"""A third party's harness that is not there any more: its line, its words and its interrupted run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fakes.place import Person
from tests.faults.runs import list_processes, wait_until
from tests.fixtures.example_harness import install_example


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Somebody with Example Agent, and with Grok Build."""
    someone = Person(tmp_path, grok="grok")
    install_example(tmp_path / "site", someone.bin)
    someone.env["PYTHONPATH"] = os.pathsep.join((str(tmp_path / "site"), str(ROOT)))
    return someone


def test_what_was_said_to_an_agent_whose_adapter_is_gone_goes_on_in_another_one(person: Person, tmp_path: Path) -> None:
    person("run", "example", "-p", "remember the word marmalade").ok()
    argv = [sys.executable, "-m", "tests.faults.killer", "child started", "run", "example", "-p", "during the fall"]
    killed = subprocess.run(argv, cwd=person.project, env=person.env, capture_output=True, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    wait_until(lambda: not list_processes(str(person.home)), "the agent that outlived its launcher has ended")

    (tmp_path / "site").rename(tmp_path / "away")
    told = person("log").ok()
    assert "You said: remember the word marmalade" in told.out
    assert "the package that brought the harness 'example' is not installed" in told.err
    assert "example, which is not installed" in person("run").err
    assert person("resume", "--json").ok().value["lines"][0]["harnesses"] == ["example"]
    assert "recall marmalade: yes" in person("run", "grok", "-p", "recall: marmalade").ok().out

    (tmp_path / "away").rename(tmp_path / "site")
    assert "saved 2 events of an interrupted Example Agent run" in person("log").ok().err
    assert person("log").ok().out.count("You said: during the fall") == 1
    assert not os.listdir(person.home / "rigline" / "runs")
