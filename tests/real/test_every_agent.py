"""One line of work across every agent that can be run here: each knows what all before it were told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lab.agents import DEFAULT, AgentsError, get_agent
from lab.home import AgentHome
from lab.setup import SETUPS, configure

from tests.real.conftest import NEWEST, Model, Rigline

#: the words with which each answers one prompt and ends; where a tool may be used, without asking
HEADLESS = {
    "claude-code": ("-p",),
    "codex": ("exec", "--skip-git-repo-check"),
    "pi": ("-p",),
    "kimi-code": ("-p",),
    "qwen-code": ("--yolo",),
    "opencode": ("run",),
    "copilot": ("--allow-all-tools", "-s", "-p"),
    "gemini-cli": ("--yolo", "-p"),
}


@pytest.fixture
def everyone(home: AgentHome, project: str) -> Iterator[Rigline]:
    """The command with the newest version of each agent on PATH, all set up in one home."""
    newest = {"claude-code": NEWEST[0], "codex": NEWEST[1]}
    pinned = [agent for agent in DEFAULT if agent.version == newest.get(agent.name, agent.version)]
    try:
        agents = [get_agent(agent.name, agent.version) for agent in pinned]
    except AgentsError as error:
        pytest.fail(f"{error} RIGLINE_SKIP_REAL=1 leaves the real agents out.", pytrace=False)
    bin_dirs = [folder for agent in agents for folder in agent.bin_dirs]
    more: dict[str, str] = {}
    for agent in agents:
        if agent.name in SETUPS:
            more |= configure(agent.name, home.path, home.url)
    command = Rigline(home, project, bin_dirs, more)
    yield command
    command.close()


def test_the_table_has_every_agent_of_the_default_run() -> None:
    assert set(HEADLESS) == {agent.name for agent in DEFAULT}


@pytest.mark.timeout(300)
def test_one_line_crosses_every_agent_and_comes_back(everyone: Rigline, model: Model) -> None:
    told: list[str] = []
    for name, words in HEADLESS.items():
        everyone("run", name, *words, f"say: {name} was told word-{name}").ok()
        history = model.conversation(f"word-{name}").history
        unknown = [word for word in told if word not in history]
        assert not unknown, f"{name} was not shown {unknown}"
        told.append(f"word-{name}")
    everyone("run", "claude-code", "-p", "recall: word-gemini-cli").ok()
    history = model.conversation("recall: word-gemini-cli").history
    assert all(word in history for word in told)
    line = everyone("workstreams", "show", "--json").ok().json
    assert {session["harness"] for session in line["sessions"]} == set(HEADLESS)
