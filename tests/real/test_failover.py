"""At a usage limit of one agent the line goes on in the next, on request: with the real programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab.tmux import Tmux

from rigline.launch.failover import PROMPT
from tests.real.conftest import NEWEST, Model, Rigline
from tests.real.test_run import bindings, claude, codex

newest = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])

#: a login instead of a key: only an account has an allowance of some hours. Without it each agent tries for minutes.
SUBSCRIPTION = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "dummy", "CLAUDE_CODE_MAX_RETRIES": "0"}


@pytest.fixture
def subscribed(rigline: Rigline) -> Rigline:
    """The command, for somebody who has a subscription of Claude's."""
    rigline.more = SUBSCRIPTION
    return rigline


def run_then(rigline: Rigline, *words: str) -> tuple[int, str]:
    done = rigline("run", *words)
    return done.code, " ".join(done.err.split())


@newest
def test_at_claude_code_s_limit_codex_goes_on_with_the_line(subscribed: Rigline, model: Model) -> None:
    claude(subscribed, "say: the codeword is marigold")
    code, told = run_then(subscribed, "--yes", "--then", "codex", "claude", "-p", "limit: usage")
    assert code == 0
    assert "Claude Code says: 'You've hit your 5-hour limit" in told
    assert "going on with Codex" in told
    request = model.conversation(PROMPT)
    assert "the codeword is marigold" in request.history
    assert set(bindings(subscribed)) == {"claude-code", "codex"}
    runs = subscribed("workstreams", "show", "--json").ok().json["runs"]
    assert [(run["harness"], run["exit_code"]) for run in runs[:2]] == [("codex", 0), ("claude-code", 1)]


@newest
def test_at_codex_s_limit_claude_code_goes_on(rigline: Rigline, model: Model) -> None:
    codex(rigline, "say: the parser moved to lexer.py")
    words = ["codex", "exec", "--skip-git-repo-check", "limit: usage"]
    code, told = run_then(rigline, "--yes", "--then", "copilot,claude", *words)
    assert code == 0
    assert "GitHub Copilot CLI is passed over" in told
    assert "hit your usage limit" in told
    assert "the parser moved to lexer.py" in model.conversation(PROMPT).history


def test_every_version_of_claude_code_is_understood_and_nobody_is_switched_unasked(subscribed: Rigline) -> None:
    code, told = run_then(subscribed, "--then", "codex", "claude", "-p", "limit: usage")
    assert code == 1
    assert "Claude Code says: 'You've hit your" in told
    assert "`rigline run codex` continues this line" in told
    assert set(bindings(subscribed)) == {"claude-code"}


@newest
@pytest.mark.parametrize("prompt", ["say: You've hit your usage limit. rate_limit", "http: 400", "limit: rate"])
def test_what_is_no_limit_of_the_account_switches_nothing(subscribed: Rigline, prompt: str) -> None:
    _, told = run_then(subscribed, "--yes", "--then", "codex", "claude", "-p", prompt)
    assert "going on with" not in told
    assert "codex" not in bindings(subscribed)


@newest
def test_a_limit_of_an_earlier_run_is_over(subscribed: Rigline, tmux: Tmux) -> None:
    """The session still ends with it, and somebody who only looks in has not met it again."""
    run_then(subscribed, "claude", "-p", "limit: usage")
    argv = subscribed.argv("run", "--yes", "--then", "codex", "claude")
    pane = tmux.open_pane(argv, subscribed.env, subscribed.cwd)
    pane.wait_for("You've hit your 5-hour limit")
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert "going on with" not in pane.screen()


@newest
def test_a_person_is_asked_and_finds_the_history_in_the_next_agent(
    subscribed: Rigline, model: Model, tmux: Tmux
) -> None:
    argv = subscribed.argv("run", "--then", "codex", "claude")
    pane = tmux.open_pane(argv, subscribed.env, subscribed.cwd)
    pane.wait_for("shift+tab to cycle")
    pane.enter("say: the codeword is marigold")
    pane.wait_for(lambda screen: screen.count("the codeword is marigold") >= 2)
    pane.enter("limit: usage")
    pane.wait_for("You've hit your 5-hour limit")
    pane.press("Escape")
    pane.wait_for("continue cancelled")
    pane.enter("/exit")
    asked = pane.wait_for("Continue this line with Codex? [Y/n]")
    assert "Claude Code says" in asked
    pane.enter("y")
    pane.wait_for("OpenAI Codex")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert set(bindings(subscribed)) == {"claude-code", "codex"}


@newest
def test_a_dry_run_shows_the_list_and_help_is_not_followed(rigline: Rigline) -> None:
    plan = rigline("run", "--dry-run", "--json", "--then", "codex,copilot", "claude").ok().json
    assert plan["then"] == [
        {"harness": "codex", "is_installed": True},
        {"harness": "copilot", "is_installed": False},
    ]
    done = rigline("run", "--then", "codex", "claude", "--version").ok()
    assert "--then says nothing" in done.err
    refused = rigline("run", "--then", "codx", "claude", "-p", "say: never")
    assert refused.code == 64
    assert not Path(rigline.home.claude_dir, "projects").exists()
