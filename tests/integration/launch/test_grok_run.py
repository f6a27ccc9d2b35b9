"""`rigline run grok` with a stand-in for the program: sessions, and the packet that is never on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.place import Person

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, grok="grok", kiro_cli="kiro")


def test_a_fresh_session_gets_our_id_and_the_next_run_resumes_it(person: Person) -> None:
    person("run", "grok", "-p", "say: the word is marigold").ok()
    native_id = person.sessions()["grok-build"]
    assert person.launches()[0]["argv"] == ["--session-id", native_id, "-p", "say: the word is marigold"]
    assert "recall marigold: yes" in person("run", "grok-build", "-p", "recall: marigold").ok().out
    assert person.launches()[1]["argv"] == ["--resume", native_id, "-p", "recall: marigold"]
    assert person.sessions() == {"grok-build": native_id}


def test_another_harness_s_history_is_read_from_a_private_file_and_confirmed(person: Person) -> None:
    person("run", "kiro", "say: the flower is a foxglove").ok()
    done = person("run", "grok", "-p", "recall: foxglove").ok()
    assert "recall foxglove: yes" in done.out
    argv = person.launches()[-1]["argv"]
    assert argv[0] == "--rules"
    assert "foxglove" not in argv[1], "the packet itself is not on the command line"
    assert not Path(argv[1].split("file ")[1].split(":")[0]).exists(), "the file is gone with the run"
    person("run", "grok", "-p", "say: next").ok()
    assert "--rules" not in person.launches()[-1]["argv"], "what was read is not offered again"
    found = person("search", "foxglove", "--json").ok().value
    assert {hit["harness"] for hit in found["hits"]} == {"kiro", "grok-build"}, (
        "its own words; the packet is not history"
    )
    assert len(found["hits"]) == 4


def test_the_user_s_own_rules_take_the_packet_s_place_aloud(person: Person) -> None:
    person("run", "kiro", "say: the flower is a foxglove").ok()
    done = person("run", "grok", "--rules", "be brief", "-p", "recall: foxglove").ok()
    assert "recall foxglove: no" in done.out
    assert "the command line says --rules" in done.err
    assert person.launches()[-1]["argv"].count("--rules") == 1


def test_a_missing_id_of_the_user_s_is_refused_by_the_program_and_binds_nothing(person: Person) -> None:
    done = person("run", "grok", "-p", "say: x", "--resume", ABSENT)
    assert done.code == 1
    assert "grok-build" not in json.dumps(person("workstreams", "--json").value)


def test_a_session_that_is_gone_is_followed_by_a_fresh_one(person: Person) -> None:
    person("run", "grok", "-p", "say: the word is marigold").ok()
    lost = person.sessions()["grok-build"]
    (folder,) = person.home.glob(f".grok/sessions/*/{lost}")
    folder.rename(person.home / "elsewhere")
    assert "recall marigold: yes" in person("run", "grok", "-p", "recall: marigold").ok().out, "by the packet"
    assert person.sessions()["grok-build"] != lost


def test_a_fork_is_a_session_of_its_own_and_its_copies_count_once(person: Person) -> None:
    person("run", "grok", "-p", "say: the word is marigold").ok()
    parent = person.sessions()["grok-build"]
    person("run", "grok", "-p", "recall: marigold", "--resume", parent, "--fork-session").ok()
    fork = person.sessions()["grok-build"]
    assert fork != parent
    assert len(person("search", "word", "--json").ok().value["hits"]) == 2


def test_a_rewind_in_place_doubles_nothing(person: Person) -> None:
    person("run", "grok", "-p", "say: one").ok()
    person("run", "grok", "-p", "say: two").ok()
    (path,) = person.home.glob(".grok/sessions/*/*/chat_history.jsonl")
    rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rows[:5]))
    person("run", "grok", "-p", "say: three").ok()
    hits = person("search", "one", "--json").ok().value["hits"]
    assert len(hits) == 2, "the prompt and its answer"
    assert len(person("search", "three", "--json").ok().value["hits"]) == 2


@pytest.mark.parametrize("variable", ["", "   "])
def test_a_blank_store_variable_counts_as_unset(person: Person, variable: str) -> None:
    person("run", "grok", "-p", "say: one", GROK_HOME=variable).ok()
    assert person.launches()[-1]["env"] == {}
    assert "grok-build" in person.sessions()
