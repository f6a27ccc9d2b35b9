"""GitHub Copilot CLI in a workstream, as a person would use it: the real program, proved by what the model got."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab.home import make_project
from lab.tmux import Tmux

from tests.real.conftest import Done, Model, Other
from tests.real.test_run import bindings

pytestmark = pytest.mark.parametrize("other", ["copilot"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def copilot(other: Other, prompt: str, *words: str, cwd: str | None = None) -> Done:
    return other.rigline("run", "copilot", "--allow-all-tools", "-s", *words, "-p", prompt, cwd=cwd)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def find_home(other: Other) -> Path:
    return Path(other.rigline.home.path, ".copilot")


def list_logs(other: Other) -> list[Path]:
    return list(find_home(other).glob("session-state/*/events.jsonl"))


def count_packets(log: Path) -> int:
    records = [json.loads(line) for line in log.read_text().splitlines()]
    said = [each["data"]["transformedContent"] for each in records if each["type"] == "user.message"]
    return sum(text.count("[rigline packet") for text in said)


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    copilot(other, "say: the word is marigold").ok()
    (first,) = list_logs(other)
    assert "recall marigold: yes" in copilot(other, "recall: marigold").ok().out
    assert list_logs(other) == [first]

    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    copilot(other, "say: thanks").ok()
    assert list_logs(other) == [first]
    history = model.conversation("say: thanks").history
    assert "the flower is a foxglove" in history
    assert (history.count("[rigline packet"), count_packets(first)) == (1, 1)

    assert "recall foxglove: yes" in copilot(other, "recall: foxglove").ok().out
    assert count_packets(first) == 1, "the session keeps it, so it is not shown again"


def test_a_long_packet_comes_whole_and_a_hook_of_the_user_s_speaks_at_every_other_prompt(
    other: Other, model: Model
) -> None:
    hooks = find_home(other) / "hooks" / "mine.json"
    hooks.parent.mkdir(parents=True)
    command = {"type": "command", "bash": 'echo \'{"additionalContext":"HOOK-OF-THE-USER"}\''}
    hooks.write_text(json.dumps({"version": 1, "hooks": {"userPromptSubmitted": [command]}}))
    before = hooks.read_bytes()
    claude(other, "say: begin").ok()
    claude(other, "big: 9000").ok()
    claude(other, "say: the end is a lupin").ok()
    copilot(other, "say: thanks").ok()
    history = model.conversation("say: thanks").history
    assert "begin" in history
    assert "the end is a lupin" in history
    copilot(other, "say: once more").ok()
    assert "HOOK-OF-THE-USER" in model.conversation("say: once more").prompt
    assert hooks.read_bytes() == before


def test_a_missing_id_is_refused_by_the_program_and_binds_nothing(other: Other) -> None:
    done = copilot(other, "say: x", f"--resume={ABSENT}")
    assert done.code == 1
    assert bindings(other.rigline) == {}


def test_another_directory_begins_a_session_of_its_own_and_an_own_continue_is_told_apart(
    other: Other, tmp_path: Path
) -> None:
    copilot(other, "say: the word is marigold").ok()
    (first,) = list_logs(other)
    elsewhere = make_project(str(tmp_path / "elsewhere"))

    done = copilot(other, "recall: marigold", "--continue", cwd=elsewhere).ok()
    assert "newest of any other" in done.err
    assert "recall marigold: yes" in done.out, "the program's own --continue went to the other directory"

    before = first.read_bytes()
    done = other.rigline("run", "--new", "mine", "copilot", "-s", "-p", "recall: marigold", cwd=elsewhere).ok()
    assert "recall marigold: no" in done.out
    assert len(list_logs(other)) == 2
    assert first.read_bytes() == before


def test_a_chosen_id_is_kept_and_resumed(other: Other) -> None:
    chosen = "11111111-2222-4333-8444-555555555555"
    copilot(other, "say: the word is marigold", "--session-id", chosen).ok()
    assert "recall marigold: yes" in copilot(other, "recall: marigold").ok().out
    assert [log.parent.name for log in list_logs(other)] == [chosen]


def test_a_session_that_is_open_in_a_terminal_is_not_opened_a_second_time(other: Other, tmux: Tmux) -> None:
    copilot(other, "say: the word is marigold").ok()
    (log,) = list_logs(other)
    words = [other.path, "--allow-all", f"--resume={log.parent.name}"]
    pane = tmux.open_pane(words, other.rigline.env, other.rigline.cwd)
    pane.wait_for("Do you trust the files in this folder?")
    pane.press("Enter")
    pane.wait_for("/ commands")
    pane.enter("say: hello there")
    pane.wait_for("● hello there")
    refused = copilot(other, "say: twice")
    assert refused.code != 0
    assert "is open in process" in refused.err
    pane.press("C-c")
    pane.press("C-c")
    pane.wait_for_exit()
    assert "recall marigold: yes" in copilot(other, "recall: marigold").ok().out
    assert list_logs(other) == [log]


def test_a_terminal_session_receives_the_line_with_its_first_prompt_and_is_collected(
    other: Other, tmux: Tmux, model: Model
) -> None:
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "copilot", "--allow-all"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("Do you trust the files in this folder?")
    pane.press("Enter")
    pane.wait_for("/ commands")
    pane.enter("say: hello there")
    pane.wait_for("● hello there")
    (log,) = list_logs(other)
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert "the word is marigold" in model.conversation("say: hello there").history
    assert count_packets(log) == 1
    assert bindings(other.rigline)["copilot"] == log.parent.name
