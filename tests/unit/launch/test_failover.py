"""At a usage limit the line goes on with the next of the user's list: when, with what, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rigline.cli.run_arguments import parse_run
from rigline.config import load_settings
from rigline.errors import Interrupted, LeaseHeld, SessionHeld, UnknownHarness, UsageError
from rigline.harness import HARNESSES
from rigline.launch.child import Ended
from rigline.launch.console import Console
from rigline.launch.failover import PROMPT, check_first, describe_limit, follow, read_then
from rigline.launch.options import RunOptions
from rigline.launch.session import Place
from rigline.launch.target import Target, read_target
from rigline.model import Checkpoint
from rigline.testing.samples import make_scope
from tests.unit.launch.test_collect import Scene

LIMIT = "You've hit your 5-hour limit"


class Person(Console):
    """Somebody at a terminal who gives these answers; without any, nobody is there."""

    def __init__(self, *answers: str | None) -> None:
        super().__init__()
        self.answers = list(answers)
        self.is_there = bool(answers)
        self.heard: list[str] = []
        self.asked: list[str] = []

    @property
    def is_interactive(self) -> bool:
        return self.is_there

    def say(self, message: str) -> None:
        self.heard.append(message)

    def write(self, text: str) -> None:
        self.heard.append(text)

    def ask(self, question: str) -> str | None:
        self.asked.append(question)
        answer = self.answers.pop(0)
        if answer == "^C":
            raise KeyboardInterrupt
        return answer


class Scenario:
    """A machine with some agents, of which each ends as it is told."""

    def __init__(self, folder: Path, *installed: str) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in installed:
            (self.bin / name).write_text("#!/bin/sh\n")
            (self.bin / name).chmod(0o755)
        env = {"PATH": str(self.bin), "HOME": str(folder), "RIGLINE_HOME": str(folder / "rigline")}
        settings = load_settings(env, HARNESSES)
        self.place = Place(
            env=env, home=str(folder), settings=settings, scope=make_scope(), checkpoint=Checkpoint(at_ms=0)
        )
        self.ends: list[tuple[int, str | None] | BaseException] = []
        self.started: list[Target] = []

    def begin(self, *words: str, code: int = 1, limit: str | None = LIMIT) -> Ended:
        """The first run, ended."""
        target = read_target(read_then(parse_run(list(words))), self.place.env, self.place.settings)
        check_first(target)
        return Ended(code=code, target=target, workstream_id="w", limit=limit)

    def start(self, target: Target, workstream_id: str) -> Ended:
        assert workstream_id == "w"
        self.started.append(target)
        end = self.ends.pop(0)
        if isinstance(end, BaseException):
            raise end
        return Ended(code=end[0], target=target, workstream_id="w", limit=end[1])

    @property
    def names(self) -> list[str]:
        return [target.harness.name for target in self.started]


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return Scenario(tmp_path, "claude", "codex", "copilot")


def test_without_a_limit_nothing_follows(scenario: Scenario) -> None:
    person = Person("y")
    ended = scenario.begin("--then", "codex", "claude", code=3, limit=None)
    assert follow(ended, scenario.place, person, scenario.start) == 3
    assert (scenario.started, person.asked, person.heard) == ([], [], [])


@pytest.mark.parametrize("answer", ["", "y", "Yes"])
def test_a_person_is_asked_with_the_vendor_s_own_words(scenario: Scenario, answer: str) -> None:
    person = Person(answer)
    scenario.ends = [(7, None)]
    assert follow(scenario.begin("--then", "codex", "claude"), scenario.place, person, scenario.start) == 7
    assert person.asked == [f"Claude Code says: '{LIMIT}'.\nContinue this line with Codex? [Y/n] "]
    assert scenario.names == ["codex"]
    assert person.heard == ["going on with Codex."]


@pytest.mark.parametrize("answer", ["n", "no", "later", None, "^C"])
def test_somebody_who_says_no_keeps_the_first_one_s_exit_code(scenario: Scenario, answer: str | None) -> None:
    ended = scenario.begin("--then", "codex,copilot", "claude", code=5)
    assert follow(ended, scenario.place, Person(answer), scenario.start) == 5
    assert scenario.started == []


def test_where_nobody_can_be_asked_it_is_only_said(scenario: Scenario) -> None:
    person = Person()
    assert follow(scenario.begin("--then", "codex", "claude", "-p", "x"), scenario.place, person, scenario.start) == 1
    assert scenario.started == []
    assert LIMIT in person.heard[0]
    assert "`rigline run codex`" in person.heard[0]


def test_yes_asks_nobody_and_tells_each_switch(scenario: Scenario) -> None:
    person = Person("n")
    scenario.ends = [(2, "usage limit of Codex"), (0, None)]
    ended = scenario.begin("--yes", "--then", "codex,copilot", "claude")
    assert follow(ended, scenario.place, person, scenario.start) == 0
    assert scenario.names == ["codex", "copilot"]
    assert person.asked == []
    told = "\n".join(person.heard)
    assert told.index("Claude Code says") < told.index("going on with Codex") < told.index("Codex says")


def test_the_list_is_gone_through_once(scenario: Scenario) -> None:
    person = Person()
    scenario.ends = [(2, "limit of Codex"), (4, "limit of Copilot")]
    ended = scenario.begin("--yes", "--then", "codex,copilot", "claude")
    assert follow(ended, scenario.place, person, scenario.start) == 4
    assert "Nobody is left of --then" in person.heard[-1]


def test_one_that_is_not_installed_is_passed_over_aloud(tmp_path: Path) -> None:
    scenario = Scenario(tmp_path, "claude", "copilot")
    person = Person()
    scenario.ends = [(0, None)]
    ended = scenario.begin("--yes", "--then", "codex,copilot", "claude")
    assert follow(ended, scenario.place, person, scenario.start) == 0
    assert scenario.names == ["copilot"]
    assert any(message.startswith("Codex is passed over: There is no program 'codex'") for message in person.heard)


def test_one_that_refuses_to_start_is_passed_over_aloud(scenario: Scenario) -> None:
    person = Person()
    scenario.ends = [SessionHeld("its session is open"), (6, None)]
    ended = scenario.begin("--yes", "--then", "codex,copilot", "claude")
    assert follow(ended, scenario.place, person, scenario.start) == 6
    assert "Codex is passed over: its session is open" in person.heard


@pytest.mark.parametrize("error", [LeaseHeld("held"), Interrupted("stopped")])
def test_a_line_that_somebody_else_took_and_a_ctrl_c_end_it(scenario: Scenario, error: Exception) -> None:
    scenario.ends = [error]
    ended = scenario.begin("--yes", "--then", "codex,copilot", "claude", code=9)
    assert follow(ended, scenario.place, Person(), scenario.start) == 9
    assert scenario.names == ["codex"]


def test_how_to_run_stays_and_what_to_run_does_not(scenario: Scenario) -> None:
    scenario.ends = [(0, None)]
    person = Person("y")
    words = ["--then", "codex", "--yolo", "--fresh", "--env", "A=1", "--json", "claude", "--model", "opus"]
    follow(scenario.begin(*words), scenario.place, person, scenario.start)
    (target,) = scenario.started
    options = target.options
    assert (options.yolo, options.env, options.json, options.then) == (True, ("A=1",), True, ("codex",))
    assert (options.fresh, options.new, options.executable, target.args) == (False, None, None, ())
    assert person.heard == ["going on with Codex. What was on Claude Code's command line is not given to it."]


def test_one_that_was_asked_a_single_thing_is_followed_by_one_that_is_too(scenario: Scenario) -> None:
    scenario.ends = [(0, None)]
    person = Person()
    ended = scenario.begin("--yes", "--then", "codex", "claude", "-p", "fix the tests")
    follow(ended, scenario.place, person, scenario.start)
    (target,) = scenario.started
    assert target.args == ("exec", PROMPT)
    assert not target.classification.interactive
    assert f"going on with Codex, with the words '{PROMPT.rstrip('.')}'." in person.heard[-1]


@pytest.mark.parametrize("at_terminal", [True, False])
def test_one_that_cannot_be_asked_a_single_thing_needs_a_terminal(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, at_terminal: bool
) -> None:
    monkeypatch.setattr("rigline.harness.codex.Codex.headless", ())
    scenario.ends = [(0, None)]
    person = Person(*(["y"] if at_terminal else []))
    ended = scenario.begin("--yes", "--then", "codex", "claude", "-p", "fix the tests")
    follow(ended, scenario.place, person, scenario.start)
    assert [target.args for target in scenario.started] == ([()] if at_terminal else [])
    assert ("without a terminal" in person.heard[0]) is not at_terminal


@pytest.mark.parametrize("name", list(HARNESSES))
def test_the_words_for_one_prompt_are_not_interactive(name: str) -> None:
    from rigline.harness import get_harness

    harness = get_harness(name)
    if harness.headless:
        found = harness.classify((*harness.headless, PROMPT))
        assert (found.interactive, found.mode, found.selector) == (False, "session", None)


def test_the_vendor_s_words_cannot_draw_on_the_terminal(scenario: Scenario) -> None:
    ended = scenario.begin("--then", "codex", "claude", limit="\x1b[2J limit\nreached " + "x" * 1000)
    told = describe_limit(ended)
    assert told.isprintable()
    assert len(told) < 400


@pytest.mark.parametrize(
    ("then", "error", "words"),
    [
        ("nope", UnknownHarness, "no harness 'nope'"),
        ("codx", UnknownHarness, "Did you mean 'codex'"),
        ("codex,,copilot", UsageError, "commas between"),
        ("", UsageError, "commas between"),
        ("codex,copilot,codex", UsageError, "names codex twice"),
        ("claude", UsageError, "cannot be Claude Code itself"),
        ("codex,claude-code", UsageError, "cannot be Claude Code itself"),
        ("claude,claude-next", UsageError, "names claude-code twice"),
    ],
)
def test_a_list_that_cannot_be_followed_is_refused(
    scenario: Scenario, then: str, error: type[UsageError], words: str
) -> None:
    with pytest.raises(error, match=words):
        scenario.begin("--then", then, "claude")


def test_aliases_and_blanks_are_understood(scenario: Scenario) -> None:
    scenario.ends = [(0, "limit of Claude Code"), (0, None)]
    ended = scenario.begin("--yes", "--then", " Claude , COPILOT", "codex")
    follow(ended, scenario.place, Person(), scenario.start)
    assert scenario.names == ["claude-code", "copilot"]


def test_a_word_that_names_the_program_too_starts_that_one(tmp_path: Path) -> None:
    scenario = Scenario(tmp_path, "codex", "claude", "claude-next")
    scenario.ends = [(0, None)]
    follow(scenario.begin("--yes", "--then", "claude-next", "codex"), scenario.place, Person(), scenario.start)
    (target,) = scenario.started
    assert (target.harness.name, target.executable) == ("claude-code", str(scenario.bin / "claude-next"))


def test_yes_without_a_list_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing is asked"):
        read_then(RunOptions(harness="claude", yes=True))


def test_then_and_yes_behind_the_harness_are_its_own_words(scenario: Scenario) -> None:
    ended = scenario.begin("claude", "--then", "codex", "--yes")
    assert ended.target.options.then == ()
    assert ended.target.args == ("--then", "codex", "--yes")


class LimitScene(Scene):
    """A run whose session ended at a limit, as its store tells; its last event has this time."""

    def __init__(self, tmp_path: Path, last_ms: int | None) -> None:
        super().__init__(tmp_path, expected_id="chosen", since_ms=1_000)
        store: Any = self.store
        ledger: Any = self.ledger
        store.find_usage_limit = lambda info: f"limit of {info.native_id}"
        record = type("Record", (), {"last_ms": last_ms})
        ledger.get_session = lambda native_id, harness: record


@pytest.mark.parametrize(("last_ms", "is_ours"), [(1_000, True), (5_000, True), (999, False), (None, True)])
def test_only_a_limit_of_this_run_counts(tmp_path: Path, last_ms: int | None, is_ours: bool) -> None:
    scene = LimitScene(tmp_path, last_ms)
    scene.store.add("chosen", updated_ms=5_000)
    scene.collector.finish()
    assert scene.collector.find_usage_limit() == ("limit of chosen" if is_ours else None)


def test_without_a_session_there_is_no_limit(tmp_path: Path) -> None:
    scene = LimitScene(tmp_path, 5_000)
    scene.collector.finish()
    assert scene.collector.find_usage_limit() is None


def test_the_session_that_was_gone_to_last_counts(tmp_path: Path) -> None:
    scene = LimitScene(tmp_path, 5_000)
    scene.store.add("chosen")
    scene.collector.finish()
    scene.store.add("cleared")
    scene.hook("cleared", "clear")
    scene.collector.finish()
    assert scene.collector.find_usage_limit() == "limit of cleared"
