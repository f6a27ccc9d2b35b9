"""kill -9 of the launcher of an agent for which private files were written: nothing of them stays, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fakes.place import Person
from tests.faults.killer import STEPS
from tests.faults.runs import list_processes, read_files, texts, wait_for_request, wait_until
from tests.real.conftest import Model, Other, Rigline

at_each_step = pytest.mark.parametrize("step", STEPS)

#: what a person has in Pi's folder beside the provider
OWN_EXTENSION = "export default (pi: any) => { pi.on('session_start', async () => {}); };\n"
CONTEXT = "the user's own rule: periwinkle"


def was_started(step: str) -> bool:
    """Whether the agent was at work when its launcher died."""
    return list(STEPS).index(step) >= list(STEPS).index("child spawned")


def kill_at(step: str, *words: str, cwd: str, env: dict[str, str]) -> None:
    """Run rigline and have it killed after a step; its agent may live on."""
    argv = [sys.executable, "-m", "tests.faults.killer", step, *words]
    env = {**env, "PYTHONPATH": str(ROOT)}
    nothing = subprocess.DEVNULL
    done = subprocess.run(
        argv, cwd=cwd, env=env, stdin=nothing, stdout=nothing, stderr=nothing, timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL, step


def kill_pi(rigline: Rigline, step: str, prompt: str) -> None:
    kill_at(step, "run", "pi", "-p", prompt, cwd=rigline.cwd, env=rigline.env)


def wait_until_ended(home: str) -> None:
    wait_until(lambda: not list_processes(home), "the agent that outlived its launcher has ended")


def list_runs(home: str) -> list[str]:
    return os.listdir(os.path.join(home, "runs"))


@pytest.mark.real
@pytest.mark.parametrize("other", ["pi"], indirect=True)
@at_each_step
def test_a_killed_launcher_leaves_no_extension_behind_and_its_session_is_imported_once(
    other: Other, model: Model, step: str
) -> None:
    rigline, agent = other.rigline, Path(other.rigline.home.path, ".pi", "agent")
    own = agent / "extensions" / "mine.ts"
    own.parent.mkdir()
    own.write_text(OWN_EXTENSION)
    rigline.agent(other.path, "--no-session", "-p", "say: what it writes by itself is there").ok()
    rigline("run", "claude", "-p", "say: the codeword is marigold").ok()
    before = read_files(agent)
    kill_pi(rigline, step, "say: during the fall")
    wait_until_ended(rigline.home.path)

    assert texts(rigline).count("during the fall") == was_started(step)
    assert list_runs(rigline.home.rigline_dir) == []
    after = read_files(agent)
    assert {name: data for name, data in after.items() if not name.startswith("sessions/")} == before

    assert "recall marigold: yes" in rigline("run", "pi", "-p", "recall: marigold").ok().out
    (transcript,) = agent.glob("sessions/*/*.jsonl")
    assert transcript.read_text().count("[rigline packet") == 1, "what was shown before the fall is not shown again"
    said = texts(rigline)
    assert [said.count(text) for text in ("during the fall", "recall: marigold")] == [was_started(step), 1]


@pytest.mark.real
@pytest.mark.parametrize("other", ["pi"], indirect=True)
@pytest.mark.parametrize("step", ["child spawned", "child started"])
def test_an_extension_stays_for_as_long_as_an_agent_lives_that_outlived_its_launcher(
    other: Other, model: Model, step: str
) -> None:
    """Also where the launcher had no time to write down which process it had started."""
    rigline = other.rigline
    kill_pi(rigline, step, "slow: 2")
    rigline("log").ok()
    wait_for_request(model, "slow: 2")
    assert "slow reply" not in rigline("log").ok().out, "a command that comes while it works"
    (run,) = list_runs(rigline.home.rigline_dir)
    assert Path(rigline.home.rigline_dir, "runs", run, "extension", "rigline.mjs").exists()
    wait_until_ended(rigline.home.path)
    assert len([text for text in texts(rigline) if text.startswith("slow reply")]) == 1
    assert list_runs(rigline.home.rigline_dir) == []


@at_each_step
def test_a_killed_launcher_leaves_no_private_settings_behind_and_its_session_is_imported_once(
    tmp_path: Path, step: str
) -> None:
    person = Person(tmp_path, crush="crush", grok="grok")
    settings = person.home / ".config" / "crush"
    settings.mkdir(parents=True)
    (settings / "CRUSH.md").write_text(CONTEXT)
    (settings / "crush.json").write_text('{"options":{"debug":false}}')
    before = read_files(settings)
    person("run", "grok", "-p", "say: the codeword is marigold").ok()
    kill_at(step, "run", "crush", "run", "say: during the fall", cwd=person.project, env=person.env)
    wait_until_ended(str(person.home))

    found = person("search", "fall", "--all", "--json").value["hits"]
    assert len(found) == 2 * was_started(step), "prompt and answer, each once"
    assert list_runs(person.env["RIGLINE_HOME"]) == []
    assert read_files(settings) == before
    assert "recall marigold: yes" in person("run", "crush", "run", "recall: marigold").ok().out
    assert "recall periwinkle: yes" in person("run", "crush", "run", "recall: periwinkle").ok().out
    assert len(person("search", "fall", "--all", "--json").value["hits"]) == len(found)
    assert read_files(settings) == before
