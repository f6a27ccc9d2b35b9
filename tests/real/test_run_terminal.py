"""`rigline run` in a real terminal: the picker, the agents' own interfaces, and the terminal's signals."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

import pytest
from lab.tmux import Pane, Tmux

from tests.real.conftest import NEWEST, Agents, Model, Rigline
from tests.real.test_run import bindings, claude, codex

newest = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])


def open_run(tmux: Tmux, rigline: Rigline, *words: str) -> Pane:
    """`rigline run` in a pane of its own."""
    return tmux.open_pane(rigline.argv("run", *words), rigline.env, rigline.cwd)


def is_claude_ready(screen: str) -> bool:
    return "\u276f" in screen and ("? for shortcuts" in screen or "mode on" in screen or "auto-accept" in screen)


def start_claude(tmux: Tmux, rigline: Rigline, *words: str) -> Pane:
    pane = open_run(tmux, rigline, *words, "claude", "--permission-mode", "default")
    pane.wait_for(is_claude_ready)
    return pane


def wait_until(holds: Callable[[], bool], timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.2)


def test_the_picker_offers_local_sessions_and_enter_takes_the_newest(
    tmux: Tmux, rigline: Rigline, agents: Agents
) -> None:
    older, newer = str(uuid.uuid4()), str(uuid.uuid4())
    for session, prompt in ((older, "say: about the lexer"), (newer, "say: about the parser")):
        rigline.agent(agents.claude.path, "-p", prompt, "--session-id", session).ok()
    pane = open_run(tmux, rigline, "claude", "--permission-mode", "default")
    screen = pane.wait_for("Continue which?")
    assert screen.index("about the parser") < screen.index("about the lexer")
    pane.press("Enter")
    pane.wait_for(is_claude_ready)
    pane.enter("say: adopted")
    wait_until(lambda: bindings(rigline).get("claude-code") == newer)


@newest
def test_ctrl_c_in_the_picker_starts_nothing_and_frees_the_line(tmux: Tmux, rigline: Rigline, agents: Agents) -> None:
    rigline.agent(agents.claude.path, "-p", "say: one", "--session-id", str(uuid.uuid4())).ok()
    pane = open_run(tmux, rigline, "claude")
    pane.wait_for("Continue which?")
    pane.press("C-c")
    assert pane.wait_for_exit() == 130
    claude(rigline, "say: at once")


def test_a_terminal_session_receives_the_line_and_is_collected(tmux: Tmux, rigline: Rigline, model: Model) -> None:
    codex(rigline, "say: the codeword is marigold")
    pane = start_claude(tmux, rigline)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    wait_until(lambda: "claude-code" in bindings(rigline))
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert "saved" in pane.screen()


@newest
def test_codex_in_a_terminal_receives_the_line(tmux: Tmux, rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: the codeword is marigold")
    pane = open_run(tmux, rigline, "codex")
    pane.wait_for(lambda screen: "Ask Codex" in screen or "? for shortcuts" in screen)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    wait_until(lambda: "codex" in bindings(rigline))
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0


@newest
def test_a_cleared_conversation_is_followed_and_not_handed_back(tmux: Tmux, rigline: Rigline, model: Model) -> None:
    codex(rigline, "say: the codeword is marigold")
    pane = start_claude(tmux, rigline)
    pane.enter("say: before the clear")
    wait_until(lambda: "claude-code" in bindings(rigline))
    first = bindings(rigline)["claude-code"]
    pane.enter("/clear")
    time.sleep(1)
    pane.enter("count: after")
    wait_until(lambda: bindings(rigline)["claude-code"] != first)
    assert "marigold" not in model.conversation("count: after").history
    pane.enter("/exit")
    pane.wait_for_exit()
    assert "clear" in rigline("lineage", bindings(rigline)["claude-code"]).ok().out


@newest
def test_a_session_in_which_nothing_was_said_binds_nothing(tmux: Tmux, rigline: Rigline) -> None:
    pane = start_claude(tmux, rigline)
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert bindings(rigline) == {}


@newest
def test_killing_the_terminal_loses_nothing(tmux: Tmux, rigline: Rigline) -> None:
    pane = start_claude(tmux, rigline)
    pane.enter("say: remember this")
    pane.wait_for("● remember this")
    tmux.kill()
    time.sleep(2)
    hits = rigline("search", "--all", "remember", "--json").ok().json["hits"]
    assert [hit["snippet"] for hit in hits if hit["role"] == "assistant"] == ["remember this"]
    claude(rigline, "say: at once")
