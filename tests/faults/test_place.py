"""Directories, homes and programs with names that nobody expects."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from lab.home import make_project

from tests.faults.runs import TURN, newest, texts
from tests.real.conftest import Agents, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]

ODD = 'it\'s "odd" $HOME `x` \u00e9\u6f22\U0001f600 -- %s'


def cross_over(rigline: Rigline) -> None:
    """The main job, in the directory that rigline is called in."""
    rigline(*TURN["claude"], "say: the codeword is marigold").ok()
    assert rigline(*TURN["codex"], "recall: marigold").ok().out.strip() == "recall marigold: yes"
    rigline(*TURN["codex"], "say: lexer").ok()
    bound = bindings(rigline)
    assert rigline(*TURN["claude"], "recall: lexer").ok().out.strip() == "recall lexer: yes"
    assert rigline("run", "--dry-run", "--json").ok().json["native_id"] == bound["claude-code"]
    assert bindings(rigline) == bound
    assert len(texts(rigline)) == 8


@pytest.mark.parametrize(
    "name",
    [ODD, "two\nlines", "-p", os.path.join("a" * 120, "b" * 120)],
    ids=["odd", "newline", "option", "long"],
)
def test_the_line_crosses_over_in_a_directory_of_any_name(rigline: Rigline, tmp_path: Path, name: str) -> None:
    rigline.cwd = make_project(str(tmp_path / name))
    cross_over(rigline)


def test_programs_may_lie_in_a_folder_of_any_name(rigline: Rigline, agents: Agents, tmp_path: Path) -> None:
    """The interpreter's own path stands in the hook's command, the agents' on the command line."""
    odd = tmp_path / ODD
    (odd / "bin").mkdir(parents=True)
    for name in os.listdir(sys.prefix):
        if name != "bin":
            (odd / name).symlink_to(os.path.join(sys.prefix, name))
    python = odd / "bin" / "python"
    python.symlink_to(sys.executable)
    for agent in (agents.claude, agents.codex):
        (odd / "bin" / agent.program).symlink_to(os.path.realpath(agent.path))

    def run(harness: str, prompt: str) -> str:
        verb, program, *rest = TURN[harness]
        words = [verb, "--executable", str(odd / "bin" / program), program, *rest, prompt]
        return rigline.execute([str(python), "-m", "rigline", *words], cwd=None, timeout_s=60).ok().out.strip()

    run("claude", "say: the codeword is marigold")
    assert run("codex", "recall: marigold") == "recall marigold: yes"
    run("codex", "say: lexer")
    assert run("claude", "recall: lexer") == "recall lexer: yes"


def test_a_program_that_cannot_be_started_gives_the_lease_back_at_once(rigline: Rigline, tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/nowhere/node\n")
    program.chmod(0o755)
    refused = rigline("run", "--executable", str(program), "claude", "-p", "say: x")
    assert refused.code == 126
    assert "/nowhere/node" in refused.err
    began = time.monotonic()
    assert "taken over" not in rigline(*TURN["claude"], "say: after").ok().err
    assert time.monotonic() - began < 5
    assert not os.listdir(os.path.join(rigline.home.rigline_dir, "runs"))


@pytest.mark.parametrize("value", [None, "", "relative"], ids=["unset", "empty", "relative"])
def test_without_a_home_a_run_is_a_run(rigline: Rigline, tmp_path: Path, value: str | None) -> None:
    """A stand-in for the agent: the real one would write to the home of whoever runs the tests."""
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\nprintf "%s\\n" "home=${HOME-none}" "$@"\nexit 7\n')
    agent.chmod(0o755)
    env = {**rigline.env, "CLAUDE_CONFIG_DIR": rigline.home.claude_dir, "HOME": value or ""}
    if value is None:
        del env["HOME"]
    clean = ["env", "-i", *(f"{name}={text}" for name, text in env.items())]
    words = ["run", "--executable", str(agent), "claude", "-p", "hello"]
    done = rigline.execute([*clean, *rigline.argv(*words)], cwd=None, timeout_s=60)
    assert done.code == 7
    lines = done.out.splitlines()
    assert (lines[0], lines[-1]) == (f"home={'none' if value is None else value}", "hello")
    assert "Traceback" not in done.err
