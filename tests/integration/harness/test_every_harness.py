"""What must hold of every harness in the table, and needs none of its sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigline.harness import HARNESSES, get_harness
from rigline.harness.argv import OptionTable
from rigline.harness.grammar import Grammar
from rigline.harness.session_variables import SESSION_VARIABLES
from rigline.ledger.packet_frame import name_harness
from rigline.model import Presence
from rigline.testing.harness_conformance import (
    check_answers,
    check_command_line,
    check_empty_store,
    check_facts,
    check_identity,
)

EVERY_HARNESS = pytest.mark.parametrize("name", HARNESSES)
#: what a user may write anywhere: prompts, values, and what only looks like something
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "a prompt",
        "--",
        "-",
        "-x",
        "--no-such",
        "--=",
        "-1",
        "ffffffff-ffff-4fff-8fff-ffffffffffff",
        "/a/b.jsonl",
        "latest",
    ]
)


def list_tables(name: str) -> list[OptionTable]:
    """The option tables that an adapter's module names."""
    module = import_module(HARNESSES[name][0])
    found = [each for each in vars(module).values() if isinstance(each, OptionTable | Grammar)]
    return [each.table if isinstance(each, Grammar) else each for each in found]


def list_words(table: OptionTable) -> Iterator[str]:
    """Every word that a table knows, options also with a value joined to them."""
    for option in table.options:
        yield from option.names
        yield from (f"{each}=value" for each in option.names if each.startswith("--"))
    yield from sorted(table.subcommands)
    for below in table.tables.values():
        yield from list_words(below)


def make_command_lines(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Native command lines of a harness's own words and any others."""
    own = [word for table in list_tables(name) for word in list_words(table)]
    assert own, f"{name}: no option table in {HARNESSES[name][0]}"
    return st.lists(st.sampled_from(own) | WORDS, max_size=7).map(tuple)


@EVERY_HARNESS
def test_the_table_says_what_the_adapter_says(name: str) -> None:
    harness = get_harness(name)
    assert (harness.name, harness.executable) == (name, HARNESSES[name][2])
    assert harness.session_variables == SESSION_VARIABLES.get(name, ())


def test_no_word_names_two_harnesses() -> None:
    words = [word for name, (_, _, _, aliases) in HARNESSES.items() for word in (name, *aliases)]
    assert len(words) == len(set(words))
    assert all(word == word.lower() for word in words)


@EVERY_HARNESS
def test_it_tells_who_it_is(name: str) -> None:
    check_identity(get_harness(name))


@EVERY_HARNESS
def test_its_facts_are_complete(name: str) -> None:
    check_facts(get_harness(name).facts)


@EVERY_HARNESS
def test_help_and_version_pass_through(name: str) -> None:
    check_answers(get_harness(name))


@EVERY_HARNESS
def test_an_empty_machine_has_no_sessions_and_stays_empty(name: str) -> None:
    check_empty_store(get_harness(name))


ID = "0b7e3a52-5b0c-4c36-9a55-3f0d9a1f6c11"
#: an id in the form of each harness whose store lies below the home folder
IDS = {
    "antigravity": ID,
    "claude-code": ID,
    "codex": ID,
    "command-code": ID,
    "copilot": ID,
    "gemini-cli": ID,
    "grok-build": ID,
    "kimi-code": f"session_{ID}",
    "kiro": ID,
    "kiro-v3": f"sess_{ID}",
    "omp": ID,
    "opencode": "ses_0b7e3a525b0cffe",
    "pi": ID,
    "qwen-code": ID,
}


@pytest.mark.parametrize("name", IDS)
def test_a_store_that_is_closed_to_us_is_not_taken_for_an_empty_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = get_harness(name).open_store({"HOME": str(tmp_path / "home")})
    assert store.look_up(IDS[name], str(tmp_path)).presence is Presence.MISSING
    for function in ("open", "scandir", "stat", "lstat", "listdir"):
        monkeypatch.setattr(os, function, refuse_below(str(tmp_path / "home"), getattr(os, function)))
    found = store.look_up(IDS[name], str(tmp_path))
    assert (found.presence, found.resumable) == (Presence.UNREADABLE, False)
    assert str(tmp_path / "home") in found.reason
    assert store.list_sessions(None, 10) == []


def refuse_below(folder: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Any, *args: Any, **more: Any) -> Any:
        if isinstance(path, str) and path.startswith(folder):
            raise PermissionError(13, "Permission denied", path)
        return function(path, *args, **more)

    return call


@EVERY_HARNESS
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_command_line_loses_a_word(name: str, data: Any) -> None:
    check_command_line(get_harness(name), data.draw(make_command_lines(name)))


@EVERY_HARNESS
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_no_payload_of_a_hook_raises(name: str, data: Any) -> None:
    harness = get_harness(name)
    values = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=2)
    keys = st.sampled_from(["session_id", "cwd", "transcript_path", "source", "hook_event_name"]) | st.text(max_size=4)
    harness.read_observation(data.draw(st.dictionaries(keys, values, max_size=6)))
    text = data.draw(st.text(max_size=40))
    assert isinstance(harness.write_hook_answer(text), str)


@EVERY_HARNESS
def test_a_packet_calls_each_agent_by_its_own_name(name: str) -> None:
    assert name_harness(name) == get_harness(name).label
