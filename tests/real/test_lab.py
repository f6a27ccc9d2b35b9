"""What every other real test stands on: both agents run offline in an empty home, and the model sees their history."""

from __future__ import annotations

import json
import os
import uuid

from lab.home import AgentHome
from lab.tmux import Tmux

from tests.real.conftest import Agents, Model, Rigline


def test_claude_resumes_with_its_history_in_an_empty_home(rigline: Rigline, model: Model) -> None:
    session = str(uuid.uuid4())
    rigline.agent("claude", "-p", "say: the codeword is marigold", "--session-id", session).ok()
    again = rigline.agent("claude", "-p", "recall: marigold", "--resume", session, "--output-format", "json").ok()
    assert again.json["session_id"] == session
    assert again.json["result"] == "recall marigold: yes"
    assert "the codeword is marigold" in model.conversation("recall: marigold").earlier


def test_codex_resumes_with_its_history_in_an_empty_home(rigline: Rigline, model: Model) -> None:
    begun = rigline.agent("codex", "exec", "--json", "say: the codeword is marigold").ok()
    thread = next(e["thread_id"] for e in map(json.loads, begun.out.splitlines()) if e["type"] == "thread.started")
    again = rigline.agent("codex", "exec", "resume", "--json", thread, "recall: marigold").ok()
    assert "recall marigold: yes" in again.out
    assert "the codeword is marigold" in model.conversation("recall: marigold").earlier


def test_the_model_answers_no_when_the_word_is_not_in_the_history(rigline: Rigline) -> None:
    done = rigline.agent("claude", "-p", "recall: marigold").ok()
    assert done.out.strip() == "recall marigold: no"


def test_both_agents_reach_their_prompt_in_a_terminal(
    tmux: Tmux, home: AgentHome, project: str, agents: Agents
) -> None:
    env = home.environment(agents.bin_dirs)
    claude = tmux.open_pane(["claude", "--permission-mode", "default"], env, project)
    claude.wait_for("? for shortcuts")
    codex = tmux.open_pane(["codex"], env, project)
    codex.wait_for(lambda screen: "OpenAI Codex" in screen and "\n\u203a " in screen)


def test_no_agent_leaves_the_home_it_was_given(rigline: Rigline, home: AgentHome) -> None:
    rigline.agent("claude", "-p", "say: hello").ok()
    assert os.path.isdir(home.claude_dir)
    assert rigline.env["HOME"] == home.path
    assert not set(rigline.env) & {"CLAUDE_CONFIG_DIR", "CLAUDECODE", "CODEX_THREAD_ID"}
