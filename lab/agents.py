"""The pinned real agent CLIs, from npm, each in a private folder of the project.

    python -m lab.agents install            # those of the default tests, about 2.4 GB
    python -m lab.agents install --demo     # the two of the demo, about 0.8 GB
    python -m lab.agents install --slow     # also those of the opt-in group, about 3.5 GB in all
    python -m lab.agents list               # which are installed, and where

They go to `.agents/<name>-<version>/` (`RIGLINE_AGENTS_DIR` names another folder). npm's cache and its home are private
too; which registry it asks is npm's own configuration. Nothing is installed globally.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP = "installed.json"


class AgentsError(Exception):
    """An agent CLI is not there and could not be brought."""


@dataclass(frozen=True)
class Agent:
    """An agent CLI at one version. `name` is the harness's name in rigline; `size_mb` is what it takes on disk.

    `extra` are packages beside its own, `runtime` the pinned program that it needs on PATH. The tests of one that
    `is_optional` run on request.
    """

    name: str
    label: str
    version: str
    package: str
    program: str
    size_mb: int
    extra: tuple[str, ...] = ()
    runtime: Agent | None = None
    is_optional: bool = False

    @property
    def folder(self) -> str:
        """Where it is installed."""
        return os.path.join(agents_dir(), f"{self.name}-{self.version}")

    @property
    def bin_dir(self) -> str:
        """The folder of its own program."""
        return os.path.join(self.folder, "node_modules", ".bin")

    @property
    def bin_dirs(self) -> list[str]:
        """The folders to put on PATH: its own, and its runtime's."""
        return [self.bin_dir, *(self.runtime.bin_dirs if self.runtime else [])]

    @property
    def path(self) -> str:
        """The program."""
        return os.path.join(self.bin_dir, self.program)

    @property
    def is_installed(self) -> bool:
        """Whether the installation was finished."""
        return os.path.isfile(os.path.join(self.folder, STAMP)) and os.access(self.path, os.X_OK)


def claude_code(version: str, size_mb: int) -> Agent:
    """Claude Code at one version."""
    return Agent("claude-code", "Claude Code", version, "@anthropic-ai/claude-code", "claude", size_mb)


def codex(version: str, size_mb: int) -> Agent:
    """Codex at one version."""
    return Agent("codex", "Codex", version, "@openai/codex", "codex", size_mb)


#: several CLIs refuse older ones, which Debian still has; npm carries it as a package
NODE = Agent("node", "Node.js", "22.23.3", "node", "node", 185)
BUN = Agent("bun", "Bun", "1.4.5", "bun", "bun", 103)

#: newest first for each name
AGENTS = (
    claude_code("2.1.332", 384),
    codex("0.171.0", 424),
    claude_code("2.1.197", 235),
    codex("0.120.0", 170),
    Agent("pi", "Pi", "1.6.0", "@earendil-works/pi-coding-agent", "pi", 168, runtime=NODE),
    Agent("kimi-code", "Kimi Code", "2.1.0", "@moonshot-ai/kimi-code", "kimi", 120, runtime=NODE),
    Agent("qwen-code", "Qwen Code", "0.24.4", "@qwen-code/qwen-code", "qwen", 152, runtime=NODE),
    Agent("opencode", "OpenCode", "1.18.33", "opencode-ai", "opencode", 354, runtime=NODE),
    Agent("copilot", "GitHub Copilot CLI", "1.0.102", "@github/copilot", "copilot", 189, runtime=NODE),
    Agent("gemini-cli", "Gemini CLI", "0.61.0", "@google/gemini-cli", "gemini", 100, runtime=NODE),
    Agent(
        "command-code",
        "Command Code",
        "1.64.0",
        "command-code",
        "command-code",
        268,
        runtime=NODE,
        is_optional=True,
        # with the newest of it the program dies at once: it no longer has a default export
        extra=("@opentelemetry/semantic-conventions@1.37.0",),
    ),
    Agent("omp", "OMP", "18.2.3", "@oh-my-pi/pi-coding-agent", "omp", 646, runtime=BUN, is_optional=True),
)
DEMO = AGENTS[:2]
DEFAULT = tuple(agent for agent in AGENTS if not agent.is_optional)


def agents_dir() -> str:
    """The folder of all installations."""
    return os.environ.get("RIGLINE_AGENTS_DIR") or os.path.join(ROOT, ".agents")


def get_agent(name: str, version: str) -> Agent:
    """The installed agent; raises AgentsError when it is not pinned here or not installed yet."""
    agent = next((a for a in AGENTS if (a.name, a.version) == (name, version)), None)
    if agent is None:
        raise AgentsError(f"{name} {version} is not one of the pinned agents: see AGENTS in lab/agents.py.")
    if not agent.is_installed:
        raise AgentsError(f"{agent.label} {version} is not installed in {agent.folder}. Run `make agents` first.")
    return agent


def agent_path(name: str, version: str) -> str:
    """The program of an installed agent; raises AgentsError when it is not there."""
    return get_agent(name, version).path


def install(agent: Agent) -> None:
    """Install an agent unless it is there. Another process that installs at the same time is waited for."""
    if agent.runtime is not None:
        install(agent.runtime)
    if agent.is_installed:
        return
    with exclusive(agents_dir(), f"another process to install {agent.label} {agent.version}"):
        if agent.is_installed:
            return
        started = time.monotonic()
        print(f"installing {agent.label} {agent.version} (about {agent.size_mb} MB) ...", flush=True)
        staging = agent.folder + ".part"
        shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(agent.folder, ignore_errors=True)
        os.makedirs(staging)
        run_npm(agent, staging)
        os.rename(staging, agent.folder)
        shown = check_version(agent)
        with open(os.path.join(agent.folder, STAMP), "w", encoding="utf-8") as stamp:
            json.dump({"package": agent.package, "version": agent.version, "shown": shown}, stamp)
        print(f"  {shown}, after {time.monotonic() - started:.0f} s", flush=True)


@contextmanager
def exclusive(folder: str, waiting_for: str) -> Iterator[None]:
    """Hold the folder's lock. The operating system gives it back when a holder dies."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"waiting for {waiting_for} ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_npm(agent: Agent, folder: str) -> None:
    """`npm install` of one package into a folder of its own."""
    npm = shutil.which("npm")
    if npm is None:
        raise AgentsError(
            f"npm is not on PATH, and {agent.label} comes as an npm package. Install Node.js 20 or newer with npm "
            "(Debian, Ubuntu: apt-get install nodejs npm; macOS: brew install node), then run this again."
        )
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as manifest:
        json.dump({"private": True}, manifest)
    # The folder is given as the working directory: `--prefix` would also move npm's global configuration away.
    # What a user's npm configuration could have set against us is set here: engine-strict (Claude Code asks for
    # Node 22 but is a native program), ignore-scripts and omit=optional (they would leave the program out).
    argv = [npm, "install", f"{agent.package}@{agent.version}", *agent.extra, "--cache", npm_cache()]
    argv += ["--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier", "--loglevel=error"]
    argv += ["--engine-strict=false", "--ignore-scripts=false", "--include=optional"]
    done = subprocess.run(
        argv,
        cwd=folder,
        env=npm_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join((done.stderr + done.stdout).strip().splitlines()[-15:])
        raise AgentsError(f"npm could not install {agent.package}@{agent.version} (exit {done.returncode}):\n{tail}")


def npm_cache() -> str:
    """npm's private cache."""
    return os.path.join(ROOT, ".cache", "npm")


def npm_environment() -> dict[str, str]:
    """The caller's environment with a private home. The caller's own `.npmrc` still counts.

    npm runs on the system's Node, which has the system's certificates, and not on the one that an agent needs.
    """
    env = dict(os.environ)
    own_config = os.path.expanduser("~/.npmrc")
    if not has_user_config(env) and os.path.isfile(own_config):
        env["npm_config_userconfig"] = own_config
    env["HOME"] = private_home()
    return env


def has_user_config(env: dict[str, str]) -> bool:
    """Whether the environment names npm's user configuration (npm takes the variable in any case)."""
    return any(name.lower() == "npm_config_userconfig" for name in env)


def private_home() -> str:
    """A home for npm and its scripts, so that they leave nothing in the user's."""
    home = os.path.join(agents_dir(), "home")
    os.makedirs(home, exist_ok=True)
    return home


def check_version(agent: Agent) -> str:
    """What the program says of its version; raises AgentsError when it does not start or is another one."""
    path = os.pathsep.join([*agent.bin_dirs, os.environ.get("PATH", os.defpath)])
    env = {"HOME": private_home(), "PATH": path}
    try:
        done = subprocess.run(
            [agent.path, "--version"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
    except OSError as error:
        raise AgentsError(f"{agent.label} {agent.version} was installed but cannot be started: {error}.") from error
    shown = done.stdout.strip()
    if done.returncode != 0 or agent.version not in shown:
        said = (done.stderr or shown).strip()[-500:]
        raise AgentsError(
            f"{agent.label} {agent.version} was installed in {agent.folder}, but `{agent.program} --version` "
            f"exits with {done.returncode} and says: {said}"
        )
    return shown


def show_agents() -> bool:
    """Print what is installed; whether all are."""
    for agent in AGENTS:
        state = os.path.relpath(agent.path) if agent.is_installed else "not installed"
        print(f"{agent.label:18} {agent.version:9} {state}{' (on request)' if agent.is_optional else ''}")
    return all(agent.is_installed for agent in DEFAULT)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.agents", description="The pinned real agent CLIs.")
    parser.add_argument("command", choices=["install", "list"])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--demo", action="store_true", help="only the two of the demo")
    which.add_argument("--slow", action="store_true", help="also those whose tests run on request")
    arguments = parser.parse_args()
    if arguments.command == "list":
        return 0 if show_agents() else 1
    try:
        for agent in DEMO if arguments.demo else AGENTS if arguments.slow else DEFAULT:
            install(agent)
    except AgentsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
