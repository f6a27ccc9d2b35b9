"""Files that are named for an import, of agents that write alike: each is taken for what it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fakes.place import Person
from tests.fixtures import command_code_store, pi_store

OWN = "00000000-0000-4000-8000-00000000aaaa"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, grok="grok")


def find_harness(person: Person, path: Path) -> str:
    """Of which harness a session becomes one that a named file holds."""
    person("import", str(path)).ok()
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


def test_a_session_of_command_code_is_taken_for_what_it_is_though_its_records_are_pi_s(person: Person) -> None:
    entries = [command_code_store.message("user", "marmalade", source="user")]
    path = command_code_store.write_session(person.home, OWN, person.project, entries)
    named = path.rename(path.with_name(f"2026-12-01T03-00-00-000Z_{OWN}.jsonl"))
    assert find_harness(person, path if path.exists() else named) in ("command-code", "pi")
