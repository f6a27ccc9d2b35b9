"""`rigline run kiro` with a stand-in for the program: two engines whose sessions never meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.place import Person

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, kiro_cli="kiro", grok="grok")


def test_v2_is_found_by_its_store_and_resumed(person: Person) -> None:
    person("run", "kiro", "say: the word is marigold").ok()
    native_id = person.sessions()["kiro"]
    assert person.launches()[0]["argv"] == ["say: the word is marigold"]
    assert "recall marigold: yes" in person("run", "kiro-cli", "recall: marigold").ok().out
    assert person.launches()[1]["argv"] == ["--resume-id", native_id, "recall: marigold"]


def test_v3_is_found_by_its_store_and_resumed_with_its_engine(person: Person) -> None:
    person("run", "kiro-v3", "say: the word is marigold").ok()
    native_id = person.sessions()["kiro-v3"]
    assert person.launches()[0]["argv"] == ["--v3", "say: the word is marigold"]
    assert "recall marigold: yes" in person("run", "kiro-v3", "recall: marigold").ok().out
    assert person.launches()[1]["argv"] == ["--v3", "--resume-id", native_id, "recall: marigold"]


@pytest.mark.parametrize("words", [["--v3"], ["--mode", "spec"], ["--agent-engine", "v3"]])
def test_the_command_line_says_which_engine_it_starts(person: Person, words: list[str]) -> None:
    person("run", "kiro", *words, "say: one").ok()
    assert set(person.sessions()) == {"kiro-v3"}
    assert person.launches()[-1]["argv"].count("--v3") == words.count("--v3")


def test_neither_engine_resumes_the_other_s_session(person: Person) -> None:
    person("run", "kiro", "say: one").ok()
    person("run", "kiro-v3", "say: two").ok()
    first = person.sessions()
    person("run", "kiro", "say: three").ok()
    person("run", "kiro-v3", "say: four").ok()
    assert person.sessions() == first
    assert [first["kiro"] in launch["argv"] for launch in person.launches()] == [False, False, True, False]
    assert [first["kiro-v3"] in launch["argv"] for launch in person.launches()] == [False, False, False, True]


def test_without_a_way_in_the_history_is_not_shown_and_that_is_said(person: Person) -> None:
    person("run", "grok", "-p", "say: the flower is a foxglove").ok()
    done = person("run", "kiro", "recall: foxglove").ok()
    assert "recall foxglove: no" in done.out
    assert "cannot be shown the line's history" in done.err
    assert len(person.launches()[-1]["argv"]) == 1


def test_what_writes_another_store_passes_through_with_the_reason(person: Person) -> None:
    for words in (["--no-interactive"], ["--agent-engine", "v9"]):
        person("run", "kiro", *words, "say: one").ok()
        assert person.launches()[-1]["argv"] == [*words, "say: one"]
    assert "kiro" not in json.dumps(person("workstreams", "--json").value["workstreams"])


def test_a_talkative_session_is_a_session(person: Person) -> None:
    person("run", "kiro", "-v", "say: one").ok()
    assert "kiro" in person.sessions()


def test_a_v3_session_below_the_home_folder_is_resumed_without_the_variable(person: Person) -> None:
    """2.16.2 writes V3 sessions below `~/.kiro` although `KIRO_HOME` names another folder, and looks there for none."""
    elsewhere = str(person.home / "elsewhere")
    person("run", "kiro-v3", "say: the word is marigold", KIRO_HOME=elsewhere).ok()
    done = person("run", "kiro-v3", "recall: marigold", KIRO_HOME=elsewhere).ok()
    assert "recall marigold: yes" in done.out
    assert [launch["env"].get("KIRO_HOME") for launch in person.launches()] == [elsewhere, ""]


def test_yolo_never_widens_a_narrower_choice(person: Person) -> None:
    person("run", "--yolo", "kiro", "say: one").ok()
    assert "--trust-all-tools" in person.launches()[-1]["argv"]
    done = person("run", "--yolo", "kiro", "--trust-tools", "read", "say: two").ok()
    assert "--trust-all-tools" not in person.launches()[-1]["argv"]
    assert "--trust-tools" in done.err
    assert "no option for it" in person("run", "--yolo", "kiro-v3", "say: three").ok().err


def test_a_missing_id_of_the_user_s_is_refused_by_the_program_and_binds_nothing(person: Person) -> None:
    done = person("run", "kiro", "--resume-id", ABSENT, "say: x")
    assert done.code == 1
    assert ABSENT not in json.dumps(person("workstreams", "--json").value)
