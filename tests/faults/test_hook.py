"""A start hook that fails, and one that is wrong: the agent works all the same, and nothing is mixed up."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from lab.home import make_project
from lab.tmux import Tmux

from tests.faults.runs import (
    TURN,
    both,
    break_argv,
    break_env,
    end,
    newest,
    notices,
    run_broken,
    say_in_hook,
    texts,
    transcripts,
    wait_for_request,
    wait_until,
)
from tests.real.conftest import Model, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]

OTHER = {"claude": "codex", "codex": "claude"}


@both
@pytest.mark.parametrize("fault", ["no python", "no folder"])
def test_where_the_start_hook_cannot_run_the_agent_works_and_the_history_is_offered_again(
    rigline: Rigline, model: Model, harness: str, fault: str
) -> None:
    rigline(*TURN[OTHER[harness]], "say: the codeword is marigold").ok()
    done = run_broken(rigline, fault, *TURN[harness], "recall: marigold").ok()
    assert done.out.strip() == "recall marigold: no"
    said = notices(done.err)
    assert "offered again" in said[-1], said
    bound = bindings(rigline)
    assert len(bound) == 2
    assert rigline(*TURN[harness], "recall: marigold").ok().out.strip() == "recall marigold: yes"
    assert bindings(rigline) == bound
    assert texts(rigline).count("recall marigold: no") == 1


def test_in_a_terminal_a_session_that_no_hook_announced_is_known_by_its_process(
    rigline: Rigline, model: Model, tmux: Tmux
) -> None:
    pane = tmux.open_pane(break_argv("no python,eager", "run", "codex"), break_env(rigline), rigline.cwd)
    pane.wait_for(lambda screen: "Ask Codex" in screen or "? for shortcuts" in screen)
    assert bindings(rigline) == {}
    pane.enter("say: unannounced")
    pane.wait_for("• unannounced")
    wait_until(lambda: "codex" in bindings(rigline), "the session is bound")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert texts(rigline).count("unannounced") == 1


@both
def test_a_hook_that_names_a_session_of_nobody_or_of_another_checkout_binds_nothing(
    rigline: Rigline, model: Model, harness: str, tmp_path: Path
) -> None:
    elsewhere = make_project(str(tmp_path / "elsewhere"))
    rigline.home.trust(rigline.cwd, elsewhere)
    rigline(*TURN[harness], "say: something else", cwd=elsewhere).ok()
    theirs = rigline("workstreams", "show", "main", "--json", cwd=elsewhere).ok().json["sessions"][0]["native_id"]

    process = rigline.start(rigline.argv(*TURN[harness], "slow: 2"))
    wait_for_request(model, "slow: 2")
    (transcript,) = [path for path in transcripts(rigline, harness) if theirs in path.name]
    spoof = tmp_path / f"{rigline.home.path}-spoof" / transcript.name
    spoof.parent.mkdir()
    spoof.write_bytes(transcript.read_bytes())
    for native_id in (theirs, str(uuid.uuid4()), "../../x", "a\0b", "", "x" * 5000):
        say_in_hook(rigline, native_id, transcript_path=str(spoof), cwd=rigline.cwd)
    code, _, err = end(process)
    assert code == 0
    said = notices(err)
    assert len([each for each in said if "another checkout" in each and "not bound" in each]) == 1, said
    line = rigline("workstreams", "show", "main", "--json").ok().json
    (session,) = line["sessions"]
    assert session["native_id"] != theirs
    assert "something else" not in rigline("log").ok().out
    assert rigline(*TURN[harness], "count:").ok().out.strip() == "user=2 assistant=1"
