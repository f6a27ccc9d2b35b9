"""Files that are named for an import, of agents that write alike: each is taken for what it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.fakes.place import Person
from tests.fixtures import command_code_store, pi_store

OWN = "00000000-0000-4000-8000-00000000aaaa"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, grok="grok")


def find_harness(person: Person, path: Path, *words: str) -> str:
    """Of which harness a session becomes one that a named file holds."""
    person("import", *words, str(path)).ok()
    (harness,) = {hit["harness"] for hit in person("search", "marmalade", "--all", "--json").ok().value["hits"]}
    return str(harness)


@pytest.mark.parametrize("harness", ["pi", "omp"])
@pytest.mark.parametrize("is_moved", [False, True], ids=["in its store", "elsewhere"])
def test_a_session_of_pi_or_omp_is_taken_for_what_it_is(person: Person, harness: str, is_moved: bool) -> None:
    entries = [pi_store.message("user", "marmalade")]
    path = pi_store.write_session(person.home, OWN, person.project, entries, harness)
    if is_moved:
        path = Path(shutil.copy(path, person.home))
    assert find_harness(person, path) == harness


@pytest.mark.parametrize("is_moved", [False, True], ids=["in its store", "elsewhere, where it is said"])
def test_a_session_of_command_code_is_taken_for_what_it_is_though_its_records_are_pi_s(
    person: Person, is_moved: bool
) -> None:
    entries = [command_code_store.message("user", "marmalade", source="user")]
    path = command_code_store.write_session(person.home, OWN, person.project, entries)
    words = ("--harness", "command-code") if is_moved else ()
    named = Path(shutil.copy(path, person.home)) if is_moved else path
    assert find_harness(person, named, *words) == "command-code"


@pytest.mark.parametrize("harness", ["claude-code", "qwen-code"])
@pytest.mark.parametrize("is_moved", [False, True], ids=["in its store", "elsewhere"])
def test_a_session_of_claude_code_or_qwen_is_taken_for_what_it_is(person: Person, harness: str, is_moved: bool) -> None:
    """Their records are alike, and so are the names of their files."""
    folder = person.home / {"claude-code": ".claude", "qwen-code": ".qwen"}[harness] / "projects" / "-p"
    folder = folder if harness == "claude-code" else folder / "chats"
    text: dict[str, object] = (
        {"content": "marmalade"} if harness == "claude-code" else {"parts": [{"text": "marmalade"}]}
    )
    record = {
        "type": "user",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "parentUuid": None,
        "sessionId": OWN,
        "timestamp": "2026-12-01T03:00:00.000Z",
        "cwd": person.project,
        "version": "1.0.0",
        "message": {"role": "user", **text},
    }
    target = person.home if is_moved else folder
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{OWN}.jsonl"
    path.write_text(json.dumps(record) + "\n")
    assert find_harness(person, path) == harness
