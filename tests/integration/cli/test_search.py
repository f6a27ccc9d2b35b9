"""`rigline search` finds what was said, and says where it looked."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from rigline.model import Kind, LinkKind
from rigline.readable import measure
from tests.integration.cli.conftest import MINUTE_MS, User, link


@pytest.fixture
def talk(user: User) -> User:
    """A user with a line of two sessions, a subagent, a session on no line, and one of another checkout."""
    grant = user.start()
    claude = user.bind(grant, "aaaa1111-0000")
    user.say(claude, "please fix the parser")
    user.say(claude, "the parser is fixed", role="assistant")
    call = user.make_event(claude, "pytest parser", kind=Kind.TOOL_CALL, role="assistant", tool="Bash")
    user.keep(claude, call)
    subagent = user.make_info("bbbb2222-0000", is_subagent=True)
    user.keep(
        subagent,
        user.make_event(subagent, "the subagent read the parser"),
        links=[link(subagent, claude, LinkKind.SUBAGENT)],
    )
    user.ledger.finish(grant.run, 0, None)
    free = user.make_info("cccc3333-0000", "codex")
    user.say(free, "an old parser session")
    return user


def find(answer: Any) -> list[str]:
    return sorted(hit["snippet"] for hit in answer.value["hits"])


EVERYTHING = [
    "an old parser session",
    "please fix the parser",
    "pytest parser",
    "the parser is fixed",
    "the subagent read the parser",
]


def test_everything_of_this_checkout_is_searched(talk: User) -> None:
    answer = talk.call("search", "parser", "--json")
    assert answer.status == 0
    assert find(answer) == EVERYTHING
    assert answer.value["scope"]["what"] == "checkout"


def test_an_agent_searches_its_own_line(talk: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGLINE_WORKSTREAM_ID", talk.ledger.list_workstreams(None)[0].id)
    answer = talk.call("search", "parser", "--json")
    assert find(answer) == EVERYTHING[1:]
    assert answer.value["scope"]["name"] == "main"
    assert "this agent's own line 'main'" in talk.call("search", "parser").err
    assert find(talk.call("search", "parser", "--all", "--json")) == EVERYTHING


def test_a_line_that_the_ledger_does_not_know_is_not_an_agents_own(talk: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGLINE_WORKSTREAM_ID", "made-up")
    assert talk.call("search", "parser", "--json").value["scope"]["what"] == "checkout"


def test_a_directory_that_is_gone_can_still_search_everything(talk: User, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = talk.checkout / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert talk.call("search", "parser").status == 64
    assert find(talk.call("search", "--all", "parser", "--json")) == EVERYTHING


def test_another_checkout_is_searched_with_all_only(talk: User, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = talk.checkout.parent / "other"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    nothing = talk.call("search", "parser")
    assert nothing.status == 1
    assert nothing.out == ""
    assert "rigline import" in nothing.err
    assert talk.call("search", "--all", "parser", "--json").status == 0
    assert find(talk.call("search", "parser", "--workstream", talk.ledger.list_workstreams(None)[0].id, "--json"))


def test_a_subdirectory_searches_its_checkout_without_asking_git(talk: User, monkeypatch: pytest.MonkeyPatch) -> None:
    (talk.checkout / "src").mkdir()
    monkeypatch.chdir(talk.checkout / "src")
    monkeypatch.setenv("PATH", "/nowhere")
    assert find(talk.call("search", "parser", "--json")) == EVERYTHING


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["--harness", "codex"], EVERYTHING[:1]),
        (["--kind", "tool_call"], ["pytest parser"]),
        (["--role", "assistant"], ["pytest parser", "the parser is fixed"]),
        (["--workstream", "main"], EVERYTHING[1:]),
        (["--session", "cccc"], EVERYTHING[:1]),
        (["--session", "aaaa", "--kind", "message"], ["please fix the parser", "the parser is fixed"]),
    ],
)
def test_filters_narrow_the_search(talk: User, filters: list[str], found: list[str]) -> None:
    assert find(talk.call("search", "parser", *filters, "--json")) == found


def test_since_leaves_out_what_is_older(talk: User) -> None:
    since = f"2026-03-31T08:{(talk.clock.now_ms // MINUTE_MS) % 60:02d}:00Z"
    assert find(talk.call("search", "parser", "--since", since, "--json")) == EVERYTHING[:1]


def test_pages_follow_each_other_and_say_when_there_are_more(talk: User) -> None:
    first = talk.call("search", "parser", "--limit", "2", "--json").value
    assert (len(first["hits"]), first["has_more"]) == (2, True)
    last = talk.call("search", "parser", "--limit", "2", "--offset", "4", "--json").value
    assert (len(last["hits"]), last["has_more"]) == (1, False)
    told = talk.call("search", "parser", "--limit", "2", "--offset", "2")
    assert "hits 3 to 4" in told.err
    assert "--offset 4" in told.err
    beyond = talk.call("search", "parser", "--offset", "9")
    assert (beyond.status, beyond.out) == (1, "")
    assert "no further hit" in beyond.err


def test_context_stands_around_the_hit(talk: User) -> None:
    (hit,) = talk.call("search", "fixed", "--context", "1", "--json").value["hits"]
    assert [each["snippet"] for each in hit["before"]] == ["please fix the parser"]
    assert [each["snippet"] for each in hit["after"]] == ["pytest parser"]
    assert hit["before"][0]["at"].endswith("Z")
    lines = talk.call("search", "fixed", "--context", "1").lines
    assert lines[1:] == ["    user: please fix the parser", "  the parser is fixed", "    Bash: pytest parser"]


def test_without_words_the_newest_events_come_first(talk: User) -> None:
    assert talk.call("search", "--json").value["hits"][0]["snippet"] == "an old parser session"


def test_options_may_stand_between_the_words(talk: User) -> None:
    assert find(talk.call("search", "old", "--limit", "5", "session", "--json")) == EVERYTHING[:1]


def test_a_word_with_a_dash_is_found_after_two_dashes(talk: User) -> None:
    info = talk.make_info("dddd4444-0000")
    talk.say(info, "use --fork-session there")
    assert find(talk.call("search", "--json", "--", "--fork-session")) == ["use --fork-session there"]


def test_nothing_found_is_status_1_with_a_way_to_widen(talk: User) -> None:
    answer = talk.call("search", "unheard", "--kind", "message")
    assert (answer.status, answer.out) == (1, "")
    assert "fewer filters" in answer.err
    assert "--all" in answer.err
    assert talk.call("search", "unheard", "--json").value["hits"] == []


def test_without_a_ledger_nothing_is_made_and_import_is_named(user: User) -> None:
    answer = user.call("search", "x", "--json")
    assert (answer.status, answer.value["hits"]) == (1, [])
    assert "rigline import" in answer.err
    assert not user.home.exists()


@pytest.mark.parametrize(
    "words",
    [("--kind", "word"), ("--all", "--workstream", "main"), ("--since", "soon", "x"), ("...",), ("--limit", "0")],
)
def test_what_is_not_understood_is_a_usage_error(talk: User, words: tuple[str, ...]) -> None:
    answer = talk.call("search", *words)
    assert answer.status == 64
    assert answer.out == ""


def test_an_unknown_line_gets_the_nearest_name(talk: User) -> None:
    answer = talk.call("search", "x", "--workstream", "maim")
    assert answer.status == 64
    assert "did you mean 'main'" in answer.err


def test_stored_text_cannot_drive_the_terminal_and_fits_it(user: User) -> None:
    info = user.make_info("aaaa1111-0000")
    user.say(info, "needle \x1b[2J\x07 " + "日本語 " * 60 + "\x9b31m")
    answer = user.call("search", "needle")
    assert answer.status == 0
    assert all(line.isprintable() for line in answer.lines)
    assert max(map(measure, answer.lines)) <= 80


def test_ids_are_shortened_to_what_the_ledger_can_tell_apart(user: User) -> None:
    for name in ("0123456789-a", "0123456789-b"):
        user.say(user.make_info(name), "needle")
    out = user.call("search", "needle").out
    assert "0123456789-a" in out
    assert "0123456789-b" in out


def test_a_process_of_its_own_answers_as_well(talk: User) -> None:
    talk.close()
    words = [sys.executable, "-m", "rigline", "search", "subagent"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, check=True)
    assert "the subagent read the parser" in done.stdout


def test_a_reader_that_goes_away_is_no_error(talk: User) -> None:
    talk.close()
    words = f"{sys.executable} -m rigline search parser | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", words], env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("0", "141")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
