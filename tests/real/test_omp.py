"""OMP in a workstream: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
