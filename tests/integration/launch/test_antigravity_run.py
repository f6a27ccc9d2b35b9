"""`rigline run agy` with a stand-in for the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.place import Person

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, agy="antigravity", grok="grok")


def test_a_conversation_is_found_by_its_workspace_and_resumed(person: Person) -> None:
    person("run", "agy", "-p", "say: the word is marigold").ok()
    native_id = person.sessions()["antigravity"]
    assert "recall marigold: yes" in person("run", "antigravity", "-p", "recall: marigold").ok().out
    assert person.launches()[1]["argv"] == ["--conversation", native_id, "-p", "recall: marigold"]
    assert len(person("search", "word", "--json").ok().value["hits"]) == 2


def test_without_the_readable_log_the_prompts_are_kept(person: Person) -> None:
    person("run", "agy", "-p", "say: the word is marigold", FAKE_WITHOUT_LOG="1").ok()
    hits = person("search", "marigold", "--json").ok().value["hits"]
    assert [hit["role"] for hit in hits] == ["user"]
    assert "antigravity" in person.sessions()


def test_its_history_reaches_another_harness_and_none_reaches_it_and_that_is_said(person: Person) -> None:
    person("run", "agy", "-p", "say: the flower is a foxglove").ok()
    assert "recall foxglove: yes" in person("run", "grok", "-p", "recall: foxglove").ok().out
    person("run", "grok", "-p", "say: the tree is a larch").ok()
    done = person("run", "agy", "-p", "recall: larch").ok()
    assert "recall larch: no" in done.out
    assert "cannot be shown the line's history" in done.err


def test_a_missing_id_of_the_user_s_is_refused_by_the_program_and_binds_nothing(person: Person) -> None:
    done = person("run", "agy", "--conversation", ABSENT, "-p", "say: x")
    assert done.code == 1
    assert ABSENT not in json.dumps(person("workstreams", "--json").value)
