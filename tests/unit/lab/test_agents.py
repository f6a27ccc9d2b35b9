"""Installing the agents fails with words that help, and leaves nothing that looks installed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab import agents


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the agents, and a PATH with nothing on it but what a test puts there."""
    monkeypatch.setenv("RIGLINE_AGENTS_DIR", str(tmp_path / "agents"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def put_npm(folder: Path, script: str) -> None:
    """An `npm` that does what a test wants."""
    npm = folder / "bin" / "npm"
    npm.write_text("#!/bin/sh\n" + script)
    npm.chmod(0o755)


def test_without_npm_it_says_where_npm_comes_from(folder: Path) -> None:
    with pytest.raises(agents.AgentsError, match=r"npm is not on PATH.*apt-get install nodejs npm"):
        agents.install(agents.DEMO[0])


def test_what_npm_said_is_in_the_error(folder: Path) -> None:
    put_npm(folder, "echo 'npm error the disk is full' >&2; exit 3\n")
    with pytest.raises(agents.AgentsError, match=r"exit 3.*\n.*the disk is full"):
        agents.install(agents.DEMO[0])
    assert not agents.DEMO[0].is_installed


def test_another_version_than_the_pinned_one_is_refused(folder: Path) -> None:
    program = "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho 9.9.9\\n' >node_modules/.bin/claude"
    put_npm(folder, f"PATH=/usr/bin:/bin; {program}; chmod +x node_modules/.bin/claude\n")
    with pytest.raises(agents.AgentsError, match=r"2\.1\.332 was installed .*says: 9\.9\.9"):
        agents.install(agents.DEMO[0])
    assert not agents.DEMO[0].is_installed


def test_an_installed_agent_is_not_installed_again(folder: Path) -> None:
    agent = agents.DEMO[0]
    os.makedirs(agent.bin_dir)
    Path(agent.path).write_text("#!/bin/sh\n")
    Path(agent.path).chmod(0o755)
    Path(agent.folder, agents.STAMP).write_text("{}")
    put_npm(folder, "exit 1\n")
    agents.install(agent)
    assert agents.agent_path("claude-code", "2.1.332") == agent.path


def test_an_agent_that_is_not_there_names_the_command_to_run(folder: Path) -> None:
    with pytest.raises(agents.AgentsError, match=r"Run `make agents` first"):
        agents.agent_path("codex", "0.171.0")
    with pytest.raises(agents.AgentsError, match=r"not one of the pinned agents"):
        agents.agent_path("codex", "9.9.9")


def test_npm_gets_a_private_home_and_the_users_own_configuration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert "npm_config_userconfig" not in agents.npm_environment()
    (folder / ".npmrc").write_text("fund=false\n")
    env = agents.npm_environment()
    assert env["npm_config_userconfig"] == str(folder / ".npmrc")
    assert env["HOME"] == str(folder / "agents" / "home")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", "/elsewhere")
    assert "npm_config_userconfig" not in agents.npm_environment()
