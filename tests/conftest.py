"""What every group shares: no test sees the settings, homes or sessions of the person who runs it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

#: prefixes of variables that name or mark an agent's session, its store, or our own data
PRIVATE = (
    *("CLAUDE", "CODEX", "OPENCODE", "PI_", "OMP", "KIMI", "QWEN", "GEMINI", "COPILOT", "COMMANDCODE", "COMMAND_CODE"),
    *("CRUSH", "GROK", "KIRO", "ANTHROPIC", "OPENAI", "GOOGLE_", "RIGLINE", "TMUX", "GIT_", "XDG_", "NODE_OPTIONS"),
)
#: what a person may set to steer the tests themselves
KEPT = ("RIGLINE_SKIP_REAL", "RIGLINE_SLOW_AGENTS", "RIGLINE_AGENTS_DIR")

# A gate should not fail for a case that nobody has seen before: there the cases are the same each time. Everywhere else
# new ones are sought. How long a case takes says more of the machine than of the code.
settings.register_profile("everywhere", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")


def pytest_configure() -> None:
    """Take back the signals that whoever started the tests ignores (nohup, a job in the background).

    Children inherit an ignored signal, and many tests are about signals.
    """
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
