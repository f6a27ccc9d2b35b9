"""Command Code in a workstream, as a person would use it: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lab.tmux import Tmux

from tests.real.conftest import Done, Model, Other

pytestmark = pytest.mark.parametrize("other", ["command-code"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
QUIET = ("--skip-onboarding", "-t", "--yolo", "-m", "scripted/scripted-model")


def command_code(other: Other, prompt: str, *words: str, wrapper: tuple[str, ...] = (), cwd: str | None = None) -> Done:
    return other.rigline("run", *wrapper, "command-code", *QUIET, *words, "-p", prompt, cwd=cwd)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def list_transcripts(other: Other) -> list[Path]:
    root = Path(other.rigline.home.path, ".commandcode", "projects")
    return [path for path in root.glob("*/*.jsonl") if ".checkpoints." not in path.name]


def count_packets(text: str) -> int:
    return text.count("[rigline packet")


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    command_code(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    assert "recall marigold: yes" in command_code(other, "recall: marigold").ok().out
    assert list_transcripts(other) == [first]

    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    back = command_code(other, "recall: foxglove").ok()
    assert "recall foxglove: yes" in back.out
    assert list_transcripts(other) == [first]
    assert count_packets(first.read_text()) == 1, "the session keeps it"
    history = model.conversation("recall: foxglove").history
    assert count_packets(history) == 1
    assert "marigold" in history

    again = command_code(other, "recall: foxglove").ok()
    assert "recall foxglove: yes" in again.out
    assert count_packets(first.read_text()) == 1, "neither the program nor rigline shows it again"


def test_a_packet_of_many_thousand_characters_reaches_the_model_whole(other: Other, model: Model) -> None:
    claude(other, "say: begin").ok()
    claude(other, "big: 9000").ok()
    claude(other, "say: the end is a lupin").ok()
    assert "recall lupin: yes" in command_code(other, "recall: lupin").ok().out
    shown = model.conversation("recall: lupin").history
    packet = next(line for line in list_transcripts(other)[0].read_text().splitlines() if "part 1/" in line)
    for block in json.loads(packet)["message"]["content"]:
        assert block["text"] in shown
    assert "begin" in shown
    assert "lupin" in shown


def test_a_session_that_is_gone_is_followed_by_a_fresh_one_with_the_history(other: Other) -> None:
    command_code(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    for path in first.parent.glob(f"{first.stem}*"):
        path.unlink()
    done = command_code(other, "recall: marigold").ok()
    assert "recall marigold: yes" in done.out
    (second,) = list_transcripts(other)
    assert second != first


def test_a_missing_id_of_the_user_s_is_refused_by_the_program_and_binds_nothing(other: Other) -> None:
    done = command_code(other, "say: x", "-r", ABSENT)
    assert done.code == 1
    assert ABSENT in done.err
    shown = other.rigline("workstreams", "--json").ok().json
    assert ABSENT not in json.dumps(shown)


def test_a_session_is_never_resumed_from_another_directory(other: Other, project: str) -> None:
    command_code(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    before = first.read_bytes()
    below = os.path.join(project, "below")
    os.mkdir(below)
    assert "recall marigold: yes" in command_code(other, "recall: marigold", cwd=below).ok().out
    assert first.read_bytes() == before
    assert not list(first.parent.parent.glob(f"*below/{first.stem}*")), "no stray file of it there"


def test_a_fork_is_a_session_of_its_own_and_its_parent_s_words_count_once(other: Other) -> None:
    command_code(other, "say: the word is marigold").ok()
    (parent,) = list_transcripts(other)
    done = command_code(other, "recall: marigold", "--resume", parent.stem, "--fork-session").ok()
    assert "recall marigold: yes" in done.out
    (fork,) = [path for path in list_transcripts(other) if path != parent]
    assert json.loads(fork.read_text().splitlines()[0])["id"] == parent.stem, "the header carries the parent's id"
    found = other.rigline("search", "word", "--json").ok().json
    assert len(found["hits"]) == 2, "question and answer, each once"
    assert "recall marigold: yes" in command_code(other, "recall: marigold").ok().out
    assert fork.read_text().count('"recall: marigold"') == 2, "the line goes on with the fork"


def is_ready(screen: str) -> bool:
    return "Ask your question" in screen


def test_in_a_terminal_the_line_is_shown_once_and_a_cleared_session_stays_empty(other: Other, tmux: Tmux) -> None:
    claude(other, "say: the word is marigold").ok()
    words = other.rigline.argv("run", "command-code", *QUIET)
    pane = tmux.open_pane(words, other.rigline.env, other.rigline.cwd)
    pane.wait_for(is_ready)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    pane.enter("/clear")
    pane.wait_for(lambda screen: "recall marigold" not in screen and is_ready(screen))
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: no")
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert "saved" in pane.screen()
    first, second = sorted(list_transcripts(other), key=lambda path: path.stat().st_mtime_ns)
    assert [count_packets(path.read_text()) for path in (first, second)] == [1, 0]
    line = other.rigline("workstreams", "show", "main", "--json").ok().json
    (current,) = [each for each in line["sessions"] if each["harness"] == "command-code"]
    assert current["native_id"] == second.stem, "the line goes on with the session that was used last"
