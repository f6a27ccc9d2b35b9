"""What every group shares: no test sees the settings, homes or sessions of the person who runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

#: prefixes of variables that name or mark an agent's session, its store, or our own data
PRIVATE = ("CLAUDE", "CODEX", "ANTHROPIC", "OPENAI", "RIGLINE", "TMUX", "GIT_", "XDG_")
#: what a person may set to steer the tests themselves
KEPT = ("RIGLINE_SKIP_REAL", "RIGLINE_AGENTS_DIR")


@pytest.fixture(autouse=True)
def _cleared_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty home and none of the variables that could lead out of it."""
    for name in list(os.environ):
        if name.startswith(PRIVATE) and name not in KEPT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home", numbered=True)))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's own folder."""
    return ROOT
