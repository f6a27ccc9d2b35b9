"""The real agents, each test in an empty home against a scripted model on loopback.

    agents    the two CLIs at one pair of versions; tests that use it run once a pair
    model     the scripted model, and the requests that this test sent
    home      an empty home with the agents' least configuration
    project   a git checkout which both agents trust
    rigline   runs the command as a user would: a cleared environment, the agents on PATH
    tmux      terminals on a private socket
    other     the command with one more agent on PATH, set up in the same home, beside the newest Claude Code and Codex:
                  pytestmark = pytest.mark.parametrize("other", ["pi"], indirect=True)
              `other.rigline`, `other.agent`; one that is pinned as optional is skipped unless RIGLINE_SLOW_AGENTS=1

The group fails where the agents are not installed. RIGLINE_SKIP_REAL=1 leaves it out on purpose.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lab.agents import AGENTS, Agent, AgentsError, get_agent
from lab.home import AgentHome, make_home, make_project
from lab.model_server import ModelServer, open_model_server
from lab.request_log import Entry, read_log
from lab.script import Request
from lab.setup import configure
from lab.tmux import Tmux, open_tmux

#: (Claude Code, Codex)
NEWEST = ("2.1.332", "0.171.0")
OLDEST = ("2.1.197", "0.120.0")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything below this folder as real."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.real)


@dataclass(frozen=True)
class Agents:
    """The two CLIs that a test runs with."""

    claude: Agent
    codex: Agent

    @property
    def bin_dirs(self) -> list[str]:
        """The folders to put on PATH."""
        return [self.claude.bin_dir, self.codex.bin_dir]


@pytest.fixture(params=[NEWEST, OLDEST], ids="+".join)
def agents(request: pytest.FixtureRequest) -> Agents:
    """One pair of versions. `@pytest.mark.parametrize("agents", [NEWEST], indirect=True)` takes only one."""
    if os.environ.get("RIGLINE_SKIP_REAL") == "1":
        pytest.skip("RIGLINE_SKIP_REAL=1")
    claude, codex = request.param
    try:
        return Agents(get_agent("claude-code", claude), get_agent("codex", codex))
    except AgentsError as error:
        pytest.fail(f"{error} RIGLINE_SKIP_REAL=1 leaves the real agents out.", pytrace=False)


@dataclass(frozen=True)
class Model:
    """The scripted model as one test sees it: only the requests that were sent since the test began."""

    server: ModelServer
    begin: int

    @property
    def url(self) -> str:
        """The base URL."""
        return self.server.url

    @property
    def log_path(self) -> str:
        """The file of all requests of the session."""
        return os.fspath(self.server.log.path)

    def entries(self) -> list[Entry]:
        """Every request of this test, oldest first."""
        return read_log(self.server.log.path)[self.begin :]

    def conversations(self, prompt: str = "") -> list[Request]:
        """The requests that carry a conversation whose newest prompt holds `prompt`, oldest first."""
        return [entry.request for entry in self.entries() if entry.request and prompt in entry.request.prompt]

    def conversation(self, prompt: str) -> Request:
        """The newest of those; fails with what did come in."""
        found = self.conversations(prompt)
        if not found:
            came = [request.prompt[:80] for request in self.conversations()]
            pytest.fail(f"no request with the prompt {prompt!r} came in, but {came}")
        return found[-1]


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """One server for all tests."""
    with open_model_server(tmp_path_factory.mktemp("model") / "requests.jsonl") as server:
        yield server


@pytest.fixture
def model(model_server: ModelServer) -> Model:
    """The scripted model."""
    return Model(model_server, len(read_log(model_server.log.path)))


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A git checkout with one commit; its real path."""
    return make_project(str(tmp_path / "project"), {"parse.py": "def parse(text):\n    return text.split()\n"})


@pytest.fixture
def home(tmp_path: Path, model: Model, project: str) -> AgentHome:
    """An empty home in which both agents run offline."""
    return make_home(str(tmp_path / "home"), model.url, project)


@dataclass(frozen=True)
class Done:
    """How a command ended. `json` is its standard output as one value."""

    argv: list[str]
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value; fails with what was there instead."""
        try:
            return json.loads(self.out)
        except ValueError:
            pytest.fail(f"no JSON on stdout of {self}")

    def __str__(self) -> str:
        return f"{self.argv} (exit {self.code})\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    def ok(self) -> Done:
        """Itself; fails with all that was said when the exit status is not 0."""
        if self.code != 0:
            pytest.fail(str(self))
        return self


@dataclass
class Rigline:
    """The command, in one home and one folder. Whatever it left running is killed at the end."""

    home: AgentHome
    cwd: str
    bin_dirs: list[str]
    more: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """The cleared environment."""
        return self.home.environment(self.bin_dirs, **self.more)

    def argv(self, *words: str) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "rigline", *words]

    def __call__(self, *words: str, cwd: str | None = None, timeout_s: float = 90, **env: str) -> Done:
        """Run it to its end without a terminal and without input."""
        return self.execute(self.argv(*words), cwd=cwd, timeout_s=timeout_s, **env)

    def agent(self, *words: str, cwd: str | None = None, timeout_s: float = 90, **env: str) -> Done:
        """Run an agent without rigline, in the same home."""
        return self.execute(list(words), cwd=cwd, timeout_s=timeout_s, **env)

    def execute(self, argv: list[str], *, cwd: str | None, timeout_s: float, **env: str) -> Done:
        """Any command to its end."""
        process = self.start(argv, cwd=cwd, **env)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            kill_group(process)
            out, err = process.communicate()
            pytest.fail(f"no end after {timeout_s} s: {Done(argv, -1, out, err)}")
        return Done(argv, process.returncode, out, err)

    def start(self, argv: list[str], *, cwd: str | None = None, **env: str) -> subprocess.Popen[str]:
        """Start any command in a process group of its own."""
        process = subprocess.Popen(
            argv,
            cwd=cwd or self.cwd,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """Kill what is left of everything that was started."""
        for process in self.started:
            kill_group(process)
            process.communicate()


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it started in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@pytest.fixture
def rigline(home: AgentHome, project: str, agents: Agents) -> Iterator[Rigline]:
    """The command with the agents on PATH."""
    command = Rigline(home, project, agents.bin_dirs)
    yield command
    command.close()


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    """A tmux server of this test's own."""
    with open_tmux(f"rigline-test-{os.getpid()}") as server:
        yield server


@dataclass(frozen=True)
class Other:
    """One more agent, and the command that finds it on PATH beside Claude Code and Codex."""

    agent: Agent
    rigline: Rigline

    @property
    def path(self) -> str:
        """Its program."""
        return self.agent.path


@pytest.fixture
def other(request: pytest.FixtureRequest, home: AgentHome, project: str) -> Iterator[Other]:
    """An agent by its name in rigline; its own configuration is written, nothing else is in the home."""
    if os.environ.get("RIGLINE_SKIP_REAL") == "1":
        pytest.skip("RIGLINE_SKIP_REAL=1")
    pinned = next(agent for agent in AGENTS if agent.name == request.param)
    if pinned.is_optional and os.environ.get("RIGLINE_SLOW_AGENTS") != "1":
        pytest.skip(f"{pinned.label} takes long to install and to run: RIGLINE_SLOW_AGENTS=1 runs its tests")
    try:
        newest = [get_agent("claude-code", NEWEST[0]), get_agent("codex", NEWEST[1])]
        agent = get_agent(pinned.name, pinned.version)
    except AgentsError as error:
        pytest.fail(f"{error} RIGLINE_SKIP_REAL=1 leaves the real agents out.", pytrace=False)
    bin_dirs = [*agent.bin_dirs, *(each.bin_dir for each in newest)]
    command = Rigline(home, project, bin_dirs, configure(agent.name, home.path, home.url))
    yield Other(agent, command)
    command.close()
