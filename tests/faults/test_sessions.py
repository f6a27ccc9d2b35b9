"""Sessions that fail, multiply or change under a run: each line keeps its own, and its history stays in reach."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from lab.home import make_home
from lab.tmux import Tmux

from tests.faults.runs import (
    TURN,
    both,
    break_argv,
    break_env,
    end,
    list_processes,
    newest,
    notices,
    texts,
    transcripts,
    wait_for_request,
    wait_until,
)
from tests.real.conftest import Agents, Model, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]


@both
def test_two_lines_of_one_checkout_written_at_once_keep_their_sessions_apart(
    rigline: Rigline, model: Model, harness: str
) -> None:
    verb, *words = TURN[harness]
    prompts = {"first": "slow: 2.01", "second": "slow: 2.02"}
    runs = [rigline.start(rigline.argv(verb, "--new", name, *words, prompt)) for name, prompt in prompts.items()]
    assert [end(run)[0] for run in runs] == [0, 0]
    first, second = (bindings(rigline, name) for name in prompts)
    assert first != second
    for name in prompts:
        rigline(verb, "--workstream", name, *words, f"count: {name}").ok()
        history = model.conversation(f"count: {name}").history
        assert [other for other, prompt in prompts.items() if prompt in history] == [name]


def test_a_conversation_begun_anew_inside_codex_is_followed(rigline: Rigline, model: Model, tmux: Tmux) -> None:
    pane = tmux.open_pane(break_argv("eager", "run", "codex"), break_env(rigline), rigline.cwd)
    pane.wait_for(lambda screen: "Ask Codex" in screen or "? for shortcuts" in screen)
    pane.enter("say: before")
    wait_until(lambda: "codex" in bindings(rigline), "the first session is bound")
    first = bindings(rigline)["codex"]
    pane.enter("/new")
    pane.wait_for("Where should the new conversation run?")
    pane.press("Enter")
    pane.wait_for(lambda screen: "say: before" not in screen and "Ask Codex" in screen)
    pane.enter("say: anew")
    wait_until(lambda: bindings(rigline)["codex"] != first, "the new session is bound")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    found = texts(rigline)
    assert [found.count(text) for text in ("before", "anew")] == [1, 1]
    assert rigline(*TURN["codex"], "count:").ok().out.strip() == "user=2 assistant=1"


@both
def test_from_a_session_that_always_fails_a_fresh_one_leads_out_with_the_history(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: the codeword is marigold").ok()
    stuck = bindings(rigline)
    assert rigline(*TURN[harness], "http: 400").code == 1
    assert bindings(rigline) == stuck
    fresh = rigline("run", "--fresh", *TURN[harness][1:], "recall: marigold").ok()
    assert fresh.out.strip() == "recall marigold: yes"
    assert bindings(rigline) != stuck
    assert stuck[next(iter(stuck))] in rigline("workstreams", "history", "main", "--json").ok().out


def test_the_command_that_a_notice_tells_is_one_of_the_agent_s(rigline: Rigline, agents: Agents) -> None:
    rigline(*TURN["codex"], "say: the codeword is marigold").ok()
    native_id = bindings(rigline)["codex"]
    rigline.agent(agents.codex.path, "archive", native_id).ok()
    away = rigline(*TURN["codex"], "recall: marigold").ok()
    said = re.search(r"`codex (unarchive \S+)`", away.err)
    assert said is not None, away
    rigline.agent(agents.codex.path, *said[1].split()).ok()
    back = rigline("run", "codex", "exec", "resume", native_id, "recall: marigold").ok()
    assert back.out.strip() == "recall marigold: yes"


@both
def test_an_agent_that_cannot_write_its_store_is_said_to_leave_nothing(rigline: Rigline, harness: str) -> None:
    store = {"claude": (rigline.home.claude_dir, "projects"), "codex": (rigline.home.codex_dir, "sessions")}[harness]
    os.makedirs(store[0], exist_ok=True)
    Path(*store).write_text("in the way")
    done = rigline(*TURN[harness], "say: lost")
    assert bindings_or_none(rigline) == {}
    if done.code == 0:
        assert "left no session" in notices(done.err)[-1]


def bindings_or_none(rigline: Rigline) -> dict[str, str]:
    return bindings(rigline) if rigline("workstreams", "--json").ok().json["workstreams"] else {}


@both
def test_the_store_that_a_launch_names_is_the_one_that_is_read(
    rigline: Rigline, model: Model, harness: str, tmp_path: Path
) -> None:
    other = make_home(str(tmp_path / "other"), model.url, rigline.cwd)
    pair = {"claude": f"CLAUDE_CONFIG_DIR={other.claude_dir}", "codex": f"CODEX_HOME={other.codex_dir}"}[harness]
    verb, *words = TURN[harness]
    rigline(verb, "--env", pair, *words, "say: in another store").ok()
    assert transcripts(rigline, harness) == []
    bound = bindings(rigline)
    assert texts(rigline).count("in another store") == 1
    rigline(verb, "--env", pair, *words, "count:").ok()
    assert bindings(rigline) == bound


@both
def test_no_history_stands_on_a_command_line(rigline: Rigline, model: Model, harness: str) -> None:
    rigline(*TURN["claude"], "say: the codeword is marigold").ok()
    rigline(*TURN["codex"], "say: the other is tulip").ok()
    process = rigline.start(rigline.argv(*TURN[harness], "slow: 1"))
    wait_for_request(model, "slow: 1")
    ours = list_processes(rigline.home.path)
    lines = [Path("/proc", pid, name).read_bytes() for pid in ours for name in ("cmdline", "environ")]
    assert len(ours) > 1
    assert not [line for line in lines if b"marigold" in line or b"tulip" in line]
    assert end(process)[0] == 0
