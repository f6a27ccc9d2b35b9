"""`rigline run crush` with a stand-in for the program: found by its store, shown history by its configuration."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.place import Person

ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, crush="crush", grok="grok")


def native_ids(person: Person) -> list[str]:
    with closing(sqlite3.connect(Path(person.project, ".crush", "crush.db"))) as database:
        return [native_id for (native_id,) in database.execute("SELECT id FROM sessions ORDER BY rowid")]


def test_a_session_is_found_by_its_store_and_resumed_by_its_id(person: Person) -> None:
    person("run", "crush", "run", "say: the word is marigold").ok()
    (native_id,) = native_ids(person)
    assert person.sessions() == {"crush": native_id}
    assert "recall marigold: yes" in person("run", "crush", "run", "recall: marigold").ok().out
    assert person.launches()[1]["argv"] == ["run", "--session", native_id, "recall: marigold"]
    assert native_ids(person) == [native_id]


def test_what_was_said_and_done_is_kept_and_nothing_hidden(person: Person) -> None:
    person("run", "crush", "run", "bash: echo from-the-tool").ok()
    events = person("log", "--json").ok().value["events"]
    assert [(event["kind"], event["text"]) for event in events] == [
        ("message", "bash: echo from-the-tool"),
        ("message", "Running it."),
        ("tool_call", 'bash {"command": "echo from-the-tool"}'),
        ("tool_result", "from-the-tool\n"),
        ("message", "tool said: ['from-the-tool']"),
    ]


def test_history_of_another_agent_is_shown_beside_the_user_s_own_context_and_leaves_nothing(person: Person) -> None:
    folder = person.home / ".config" / "crush"
    folder.mkdir(parents=True)
    (folder / "CRUSH.md").write_text("the user's own rule: periwinkle")
    (folder / "crush.json").write_text('{"options":{"debug":false}}')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    person("run", "grok", "-p", "say: the word is marigold").ok()
    assert "recall marigold: yes" in person("run", "crush", "run", "recall: marigold").ok().out
    assert "recall periwinkle: yes" in person("run", "crush", "run", "--quiet", "recall: periwinkle").ok().out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not list((person.home / "rigline" / "runs").iterdir())


def test_history_that_the_session_has_already_is_not_shown_to_it(person: Person) -> None:
    person("run", "crush", "run", "say: the word is marigold").ok()
    again = person("run", "crush", "run", "say: again").ok()
    assert "as history" not in again.err


def test_an_unreadable_configuration_is_left_to_the_program(person: Person) -> None:
    folder = person.home / ".config" / "crush"
    folder.mkdir(parents=True)
    (folder / "crush.json").write_text("{ no json")
    person("run", "grok", "-p", "say: one").ok()
    refused = person("run", "crush", "run", "say: two")
    assert refused.code == 1
    assert "crush.json is no plain JSON" in refused.err
    assert "failed to load config" in refused.err
    (folder / "crush.json").unlink()
    person("run", "crush", "run", "say: two").ok()


def test_a_session_that_is_gone_gives_a_fresh_one_aloud(person: Person) -> None:
    person("run", "crush", "run", "say: the word is marigold").ok()
    with closing(sqlite3.connect(Path(person.project, ".crush", "crush.db"))) as database, database:
        database.execute("DELETE FROM sessions")
        database.execute("DELETE FROM messages")
    again = person("run", "crush", "run", "recall: marigold").ok()
    assert "is gone from Crush's store" in again.err
    assert "recall marigold: yes" in again.out
    assert [person.sessions()["crush"]] == native_ids(person)


def test_an_id_that_the_program_refuses_repoints_nothing(person: Person) -> None:
    person("run", "crush", "run", "say: one").ok()
    before = person.sessions()
    refused = person("run", "crush", "run", "--session", ABSENT, "say: two")
    assert refused.code == 1
    assert "session not found" in refused.err
    assert person.sessions() == before


def test_two_sessions_that_began_at_once_are_named_and_none_is_bound(person: Person) -> None:
    """Nothing tells them apart: another Crush worked in the same project."""
    other = "crush run 'say: in between'"
    done = person("run", "crush", "run", f"bash: {other}", PATH=person.env["PATH"]).ok()
    assert len(native_ids(person)) == 2
    assert "several Crush sessions began here at once" in done.err
    assert "crush" not in person.sessions()


def test_a_checkout_s_folder_for_data_is_followed(person: Person) -> None:
    Path(person.project, "crush.json").write_text(json.dumps({"options": {"data_directory": "state"}}))
    person("run", "crush", "run", "say: the word is marigold").ok()
    assert "recall marigold: yes" in person("run", "crush", "run", "recall: marigold").ok().out
    assert Path(person.project, "state", "crush.db").exists()
    assert not Path(person.project, ".crush").exists()


@pytest.mark.parametrize("words", [["--data-dir", "elsewhere"], ["-D", "elsewhere"]])
def test_a_session_in_another_folder_is_none_of_this_line_s(person: Person, words: list[str]) -> None:
    person("run", "crush", "run", *words, "say: one").ok()
    assert person.launches()[0]["argv"] == ["run", *words, "say: one"]
    assert not person("workstreams", "--json").ok().value["workstreams"] or "crush" not in person.sessions()


def test_yolo_reaches_the_terminal_and_not_a_run_that_would_refuse_it(person: Person) -> None:
    person("run", "--yolo", "crush", "run", "say: one").ok()
    assert "--yolo" not in person.launches()[0]["argv"]
    person("run", "--yolo", "crush").ok()
    assert person.launches()[1]["argv"][0] == "--yolo"
