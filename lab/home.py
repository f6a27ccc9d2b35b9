"""An empty home in which the real agents run offline, and the cleared environment that goes with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

API_KEY = "sk-ant-dummy-0000"

# Without `analytics` and `features` each run waits five seconds for names that cannot be resolved, and the TUI
# leaves a daemon behind (Codex 0.171.0).
CODEX_CONFIG = """\
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[analytics]
enabled = false

[features]
plugins = false
remote_plugin = false
daemon_auto_start = false
"""


@dataclass(frozen=True)
class AgentHome:
    """A home folder with the least configuration that Claude Code and Codex need, also in a terminal.

    `url` is the scripted model's. Nothing but this folder and the projects is written to.
    """

    path: str
    url: str

    @property
    def claude_dir(self) -> str:
        """Claude Code's own folder."""
        return os.path.join(self.path, ".claude")

    @property
    def codex_dir(self) -> str:
        """Codex's own folder."""
        return os.path.join(self.path, ".codex")

    @property
    def rigline_dir(self) -> str:
        """rigline's data folder."""
        return os.path.join(self.path, "rigline")

    def trust(self, *projects: str) -> None:
        """Write both agents' configuration, so that neither asks whether these folders are trusted."""
        os.makedirs(self.codex_dir, exist_ok=True)
        with open(os.path.join(self.codex_dir, "config.toml"), "w", encoding="utf-8") as config:
            config.write(CODEX_CONFIG.format(url=self.url))
            for project in projects:
                config.write(f'\n[projects."{project}"]\ntrust_level = "trusted"\n')
        claude = {
            "hasCompletedOnboarding": True,
            # Claude Code keeps the last 20 characters of a key that was approved.
            "customApiKeyResponses": {"approved": [API_KEY[-20:]]},
            "projects": {project: {"hasTrustDialogAccepted": True} for project in projects},
        }
        with open(os.path.join(self.path, ".claude.json"), "w", encoding="utf-8") as state:
            json.dump(claude, state)

    def environment(self, bin_dirs: Iterable[str] = (), **more: str) -> dict[str, str]:
        """Nothing of the caller's but PATH, with the given folders first; no real login can be reached from it."""
        path = os.pathsep.join([*bin_dirs, os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        return {
            "HOME": self.path,
            "PATH": path,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": API_KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CODEX_HOME": self.codex_dir,
            "SCRIPTED_KEY": "dummy",
            "RIGLINE_HOME": self.rigline_dir,
            **more,
        }


def make_home(path: str, url: str, *projects: str) -> AgentHome:
    """A new home; the folder is made."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    home = AgentHome(os.path.realpath(path), url)
    home.trust(*projects)
    return home


def make_project(path: str, files: dict[str, str] | None = None) -> str:
    """A git checkout with one commit on `main`; its real path is returned."""
    os.makedirs(path, exist_ok=True)
    for name, text in (files or {"README.md": "A project.\n"}).items():
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write(text)
    run_git(path, "init", "--quiet", "--initial-branch=main")
    run_git(path, "add", ".")
    run_git(path, "commit", "--quiet", "--message=Begin")
    return os.path.realpath(path)


def run_git(path: str, *words: str) -> str:
    """git in a folder, with an identity of its own and nobody's configuration."""
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in IDENTITY.items()},
    }
    done = subprocess.run(["git", *words], cwd=path, env=env, check=True, capture_output=True, text=True)
    return done.stdout


IDENTITY = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": "2026-01-05T09:00:00Z"}
