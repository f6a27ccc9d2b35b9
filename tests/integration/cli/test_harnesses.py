"""`rigline harnesses` tells what there is; a harness that a package brings is run like any other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rigline.cli.harnesses import FACTS
from rigline.harness import HARNESSES, get_harness, plugins
from rigline.harness.base import Facts
from rigline.readable import clip_path, measure
from tests.fixtures.example_harness import install, install_example
from tests.integration.cli.conftest import User


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, for stand-ins of agents."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where packages are installed: the example, and one that cannot be used."""
    folder = tmp_path / "site"
    install_example(folder, tmp_path / "example-bin")
    install(folder, "broken-package", "0.1", {"broken": "no_such_module:Adapter"})
    return folder


def add_program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_each_harness_is_told_with_its_program_and_what_it_can_do(user: User, programs: Path) -> None:
    add_program(programs, "claude", 'echo "2.1.332 (Claude Code)"')
    add_program(programs, "codex", "exit 1")
    answer = user.call("harnesses")
    assert answer.status == 0
    assert all(any(line.startswith(f"{name} ") for line in answer.lines) for name in HARNESSES)
    assert answer.lines[0].split() == ["claude-code", "2.1.332", clip_path(str(programs / "claude"), 57)]
    assert answer.lines[1].strip() == "also claude*; resumes and forks; history: 36,000 characters"
    assert max(measure(line) for line in answer.lines) <= 80


def test_one_harness_is_told_with_all_its_facts(user: User, programs: Path) -> None:
    answer = user.call("harnesses", "claude")
    assert answer.status == 0
    words = " ".join(answer.out.split())
    facts = get_harness("claude-code").facts
    assert all(" ".join(str(getattr(facts, name)).split()) in words for name in ("store", "resume", "injection"))
    assert all(phrase in words for name in ("takes", "leaves_out", "cannot") for phrase in getattr(facts, name))
    assert "not installed" in words
    assert max(measure(line) for line in answer.lines) <= 80


def test_every_fact_is_told() -> None:
    assert sorted(FACTS) == sorted(Facts.__struct_fields__)


def test_json_tells_the_same(user: User, programs: Path) -> None:
    path = add_program(programs, "claude", 'echo "9.9.9 (Claude Code)"')
    value = user.call("harnesses", "--json").value
    assert [each["name"] for each in value["harnesses"]] == list(HARNESSES)
    claude = value["harnesses"][0]
    assert (claude["path"], claude["version"], claude["is_known_version"]) == (str(path), "9.9.9", False)
    assert claude["aliases"] == ["claude*"]
    assert claude["package"] is None
    assert claude["facts"]["fork"]
    assert value["problems"] == []
    (one,) = user.call("harnesses", "codex", "--json").value["harnesses"]
    assert (one["name"], one["path"], one["version"]) == ("codex", None, None)
    assert one["trouble"].startswith("not installed")
    assert one["facts"]["chosen_id"] is None


def test_no_program_is_started_where_none_is_to_be(user: User, programs: Path, tmp_path: Path) -> None:
    add_program(programs, "claude", f'echo started > "{tmp_path}/started"')
    (one,) = user.call("harnesses", "claude", "--no-versions", "--json").value["harnesses"]
    assert one["path"]
    assert one["version"] is None
    assert not (tmp_path / "started").exists()


def test_programs_that_do_not_answer_are_waited_for_side_by_side_and_not_for_long(
    user: User, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rigline.doctor.agents.VERSION_TIMEOUT_S", 1.0)
    for name in ("claude", "codex"):
        add_program(programs, name, "exec /bin/sleep 60")
    started = time.monotonic()
    value = user.call("harnesses", "--json").value
    assert time.monotonic() - started < 1.9
    assert [each["version"] for each in value["harnesses"][:2]] == [None, None]


def test_an_unknown_name_is_refused_with_the_nearest(user: User) -> None:
    answer = user.call("harnesses", "codx")
    assert answer.status == 64
    assert "did you mean 'codex'" in answer.err


def test_a_package_that_cannot_be_used_is_told(
    user: User, programs: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(site))
    plugins.forget()
    try:
        answer = user.call("harnesses", "--no-versions")
        value = user.call("harnesses", "--no-versions", "--json").value
        examined = user.call("doctor", "--json").value
        imported = user.call("import", "--dry-run")
    finally:
        plugins.forget()
    assert any(line.startswith("example ") for line in answer.lines)
    assert "the harness 'broken' of broken-package 0.1" in " ".join(answer.out.split())
    assert value["harnesses"][-1]["package"] == "example-harness 1.0"
    (problem,) = value["problems"]
    assert (problem["name"], problem["package"]) == ("broken", "broken-package 0.1")
    assert [check["level"] for check in examined["checks"] if check["name"] == "broken"] == ["warn"]
    assert "broken-package 0.1" in imported.err


class Machine:
    """A machine on which the example is installed; rigline runs in processes of its own."""

    def __init__(self, folder: Path, site: Path) -> None:
        self.checkout = folder / "checkout"
        self.checkout.mkdir()
        self.env = {
            "HOME": str(folder),
            "RIGLINE_HOME": str(folder / "rigline"),
            "PATH": f"{folder / 'example-bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "PYTHONPATH": str(site),
            "EXAMPLE_SESSION_ID": "of-another-agent",
        }

    def call(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "rigline", *words]
        done = subprocess.run(
            argv, cwd=self.checkout, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == status, done.stderr
        return done


def test_a_package_s_harness_is_run_resumed_and_shown_the_history(tmp_path: Path, site: Path) -> None:
    machine = Machine(tmp_path, site)
    first = machine.call("run", "example", "-p", "remember the word marmalade")
    assert first.stdout == "You said: remember the word marmalade\n"
    assert "EXAMPLE_SESSION_ID" in first.stderr
    assert machine.call("run", "example-agent", "-p", "recall: marmalade").stdout == "marmalade: yes\n"
    assert len(list((tmp_path / ".example" / "sessions").iterdir())) == 1
    assert machine.call("run", "--fresh", "example", "-p", "recall: marmalade").stdout == "marmalade: yes\n"
    assert len(list((tmp_path / ".example" / "sessions").iterdir())) == 2
    log = machine.call("log").stdout
    assert log.count("You said: remember the word marmalade") == 1
    assert "rigline packet" not in log
    assert machine.call("run", "-p", "x", status=64).returncode == 64
    again = machine.call("run")
    assert "Example Agent" in again.stderr
    assert machine.call("search", "marmalade").stdout
    assert machine.call("import", "--harness", "example").returncode == 0


def test_a_package_s_passed_through_command_is_the_program_s_own(tmp_path: Path, site: Path) -> None:
    assert Machine(tmp_path, site).call("run", "example", "--version").stdout == "example-agent 1.0\n"


def test_a_broken_harness_is_refused_by_name(tmp_path: Path, site: Path) -> None:
    refused = Machine(tmp_path, site).call("run", "broken", status=64)
    assert "The harness 'broken' cannot be used: it cannot be loaded: ModuleNotFoundError" in refused.stderr
