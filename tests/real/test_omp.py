"""OMP in a workstream: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from lab.tmux import Pane, Tmux

from tests.real.conftest import Done, Model, Other

pytestmark = pytest.mark.parametrize("other", ["omp"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def omp(other: Other, prompt: str, *words: str, cwd: str | None = None) -> Done:
    return other.rigline("run", "omp", "--model", "scripted/scripted-model", *words, "-p", prompt, cwd=cwd)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def list_transcripts(other: Other) -> list[Path]:
    return sorted(Path(other.rigline.home.path, ".omp", "agent", "sessions").glob("*/*.jsonl"))


def find_id(path: Path) -> str:
    header = json.loads(path.read_text().splitlines()[1])
    return str(header["id"])


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    omp(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    assert "recall marigold: yes" in omp(other, "recall: marigold").ok().out
    assert list_transcripts(other) == [first]
    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()
    assert "recall foxglove: yes" in omp(other, "recall: foxglove").ok().out
    assert list_transcripts(other) == [first]
    sent = model.conversation("recall: foxglove").history
    assert sent.index("[rigline packet") < sent.rindex("recall: foxglove"), "before the prompt"
    omp(other, "say: done").ok()
    assert model.conversation("say: done").history.count("[rigline packet") == 1, "shown once, and kept"


def test_a_missing_id_is_refused_by_the_program_and_binds_nothing(other: Other) -> None:
    done = omp(other, "say: x", "--resume", ABSENT)
    assert done.code != 0
    assert ABSENT not in json.dumps(other.rigline("workstreams", "--json").ok().json)


def test_a_session_is_never_resumed_from_another_directory(other: Other, tmp_path: Path) -> None:
    omp(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    before = first.read_bytes()
    below = Path(other.rigline.cwd, "below")
    below.mkdir()
    assert "recall marigold: yes" in omp(other, "recall: marigold", cwd=str(below)).ok().out
    assert first.read_bytes() == before


def test_a_fork_is_a_session_of_its_own_and_its_parent_s_words_count_once(other: Other) -> None:
    omp(other, "say: the word is marigold").ok()
    (parent,) = list_transcripts(other)
    assert "recall marigold: yes" in omp(other, "recall: marigold", "--fork", find_id(parent)).ok().out
    (fork,) = [path for path in list_transcripts(other) if path != parent]
    found = other.rigline("search", "word", "--json").ok().json
    assert len(found["hits"]) == 2, "question and answer, each once"
    assert find_id(fork) in other.rigline("lineage", "--json").ok().out


def test_a_session_that_is_to_begin_begins_where_the_user_s_settings_would_go_on(other: Other) -> None:
    omp(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    settings = Path(other.rigline.home.path, ".omp", "agent", "config.yml")
    with settings.open("a") as file:
        file.write("autoResume: true\n")
    own = ["--model", "scripted/scripted-model", "-p", "say: by itself"]
    other.rigline.agent(other.path, *own).ok()
    assert list_transcripts(other) == [first], "the program by itself goes on with the newest"
    other.rigline("run", "--fresh", "omp", *own[:2], "-p", "say: anew").ok()
    assert len(list_transcripts(other)) == 2
    assert "say: anew" not in first.read_text()
    assert settings.read_text().count("autoResume") == 1, "and they stay as they are"


def skip_setup(pane: Pane, shows: str) -> None:
    """Leave out what the program asks at its first start, until its terminal shows a text."""
    for _ in range(40):
        if shows in pane.screen():
            return
        pane.press("Escape")
        time.sleep(1)
    pane.wait_for(shows)


def test_in_a_terminal_each_session_is_shown_the_line_once_before_its_prompt(
    other: Other, tmux: Tmux, model: Model
) -> None:
    """A prompt on the command line and one that is typed go other ways inside the program."""
    omp(other, "say: an older one").ok()
    (older,) = list_transcripts(other)
    claude(other, "say: the word is marigold").ok()
    words = ["run", "--fresh", "omp", "--model", "scripted/scripted-model", "recall: word is marigold"]
    pane = tmux.open_pane(other.rigline.argv(*words), other.rigline.env, other.rigline.cwd)
    skip_setup(pane, "recall word is marigold: yes")
    pane.enter("/new")
    pane.wait_for(lambda screen: "recall" not in screen)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: no")
    pane.enter("/resume")
    pane.wait_for("Resume Session")
    pane.enter("older")
    pane.wait_for("Resumed session")
    pane.enter("recall: is marigold")
    pane.wait_for("recall is marigold: yes")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    for prompt in ("recall: word is marigold", "recall: is marigold"):
        sent = model.conversation(prompt).history
        assert sent.index("[rigline packet") < sent.rindex(prompt)
    packets = [path.read_text().count("[rigline packet") for path in list_transcripts(other)]
    assert sorted(packets) == [0, 1, 1]
    assert older.read_text().count("[rigline packet") == 1
