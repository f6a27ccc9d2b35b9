"""Failover from and to an agent beside Claude Code and Codex: the refusal that it records itself, and the same line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rigline.launch.failover import PROMPT
from tests.real.conftest import Model, Other
from tests.real.test_run import bindings

pytestmark = pytest.mark.parametrize("other", ["pi"], indirect=True)
#: a login instead of a key, and no long patience
SUBSCRIPTION = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "dummy", "CLAUDE_CODE_MAX_RETRIES": "0"}


@pytest.fixture(autouse=True)
def impatient(other: Other) -> None:
    """Pi, which is to give up at the first refusal."""
    settings = Path(other.rigline.home.path, ".pi", "agent", "settings.json")
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "retry": {"enabled": False}}))


def test_at_pi_s_limit_claude_code_goes_on_with_the_line(other: Other, model: Model) -> None:
    other.rigline("run", "pi", "-p", "say: the codeword is marigold").ok()
    done = other.rigline("run", "--yes", "--then", "claude", "pi", "-p", "limit: usage").ok()
    assert "Pi says: " in done.err
    assert "going on with Claude Code" in done.err
    assert "the codeword is marigold" in model.conversation(PROMPT).history
    assert set(bindings(other.rigline)) == {"pi", "claude-code"}


def test_at_claude_code_s_limit_pi_goes_on_with_the_line(other: Other, model: Model) -> None:
    other.rigline.more |= SUBSCRIPTION
    other.rigline("run", "claude", "-p", "say: the codeword is marigold").ok()
    done = other.rigline("run", "--yes", "--then", "pi", "claude", "-p", "limit: usage").ok()
    assert "going on with Pi" in done.err
    assert "the codeword is marigold" in model.conversation(PROMPT).history
    assert set(bindings(other.rigline)) == {"pi", "claude-code"}


@pytest.mark.parametrize("prompt", ["http: 400", "limit: rate", "say: usage_limit_reached, insufficient_quota"])
def test_what_is_no_limit_of_the_account_takes_nobody_from_pi(other: Other, prompt: str) -> None:
    done = other.rigline("run", "--yes", "--then", "claude", "pi", "-p", prompt)
    assert "going on with" not in done.err
    assert "claude-code" not in bindings(other.rigline)
