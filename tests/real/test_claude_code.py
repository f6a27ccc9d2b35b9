"""The adapter of Claude Code against the real programs: what their command lines mean, and what a launch delivers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from rigline.harness.argv import Takes
from rigline.harness.base import HookDefinition, LaunchRequest, Mode, NativePlan
from rigline.harness.claude_code import ClaudeCode
from rigline.harness.claude_options import FIRST_WORDS, SUBCOMMANDS, TABLE
from rigline.model import Presence
from tests.real.conftest import Agents, Model, Rigline
from tests.real.test_run_terminal import wait_until

CLAUDE = ClaudeCode()
PART_CHARS = CLAUDE.limits.part_chars
_OPTION = re.compile(r"^  (-[^ ,\n]+(?:, -[^ ,\n]+)*)(?: ([<\[][^>\]]+[>\]]))?", re.MULTILINE)
_COMMAND = re.compile(r"^  ([a-z|-]+)(?: |$)", re.MULTILINE)


def ask(rigline: Rigline, agents: Agents, *args: str) -> str:
    """What the program prints, errors included, whatever its exit code."""
    done = rigline.agent(agents.claude.path, *args)
    return f"{done.out.strip()}\n{done.err.strip()}".strip()


def find_takes(argument: str) -> Takes:
    if not argument:
        return Takes.NOTHING
    if argument.startswith("["):
        return Takes.OPTIONAL
    return Takes.MANY if argument.endswith("...>") else Takes.ONE


def test_every_option_of_the_help_is_in_the_table_with_its_values(rigline: Rigline, agents: Agents) -> None:
    told = ask(rigline, agents, "--help").partition("\nOptions:")[2].partition("\nCommands:")[0]
    found = {name: find_takes(argument) for names, argument in _OPTION.findall(told) for name in names.split(", ")}
    assert len(found) > 60
    known = {name: option.takes for option in TABLE.options for name in option.names}
    assert {name: known.get(name) for name in found} == found


def test_every_command_of_the_help_passes_through(rigline: Rigline, agents: Agents) -> None:
    told = ask(rigline, agents, "--help").partition("\nCommands:")[2]
    words = {word for names in _COMMAND.findall(told) for word in names.split("|")}
    assert len(words) > 10
    assert words <= SUBCOMMANDS | FIRST_WORDS
    assert all(CLAUDE.classify((word,)).mode is Mode.PASSTHROUGH for word in words)


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        (("-p", "doctor"), "echo: doctor"),
        (("mcp", "-p"), "echo: mcp"),
        (("-p", "--", "--version"), "echo: --version"),
        (("-p", "--append-system-prompt", "--version", "say: a prompt"), "a prompt"),
        (("say: first", "--allowedTools", "Bash", "Read", "-p"), "first"),
        (("--model", "opus", "logs", "-p"), "echo: logs"),
    ],
)
def test_a_prompt_that_looks_like_something_else_is_a_prompt(
    rigline: Rigline, agents: Agents, model: Model, args: tuple[str, ...], answer: str
) -> None:
    found = CLAUDE.classify(args)
    assert (found.mode, found.interactive) == (Mode.SESSION, False)
    assert answer in ask(rigline, agents, *args)


@pytest.mark.parametrize("args", [("--", "mcp", "list"), ("logs", "none", "-p"), ("--verbose", "mcp", "list")])
def test_a_command_is_one_wherever_the_program_takes_it_for_one(
    rigline: Rigline, agents: Agents, model: Model, args: tuple[str, ...]
) -> None:
    assert CLAUDE.classify(args).mode is Mode.PASSTHROUGH
    ask(rigline, agents, *args)
    assert model.conversations() == []


class Launches:
    """Launches as the launcher makes them, each with a packet in three parts."""

    def __init__(self, rigline: Rigline, agents: Agents, folder: Path) -> None:
        self.rigline = rigline
        self.agents = agents
        self.folder = folder
        self.count = 0

    def __call__(
        self, *args: str, resume_id: str | None = None, fresh_id: str | None = None
    ) -> tuple[NativePlan, list[str]]:
        """Run it; the plan, and the parts that its hooks answered."""
        self.count += 1
        private = self.folder / f"run-{self.count}"
        parts = [self.write_part(private, number) for number in (1, 2, 3)]
        hooks = HookDefinition(commands=tuple(f"cat {private}/answer-{number}" for number in (1, 2, 3)))
        request = LaunchRequest(
            args=args,
            classification=CLAUDE.classify(args),
            resume_id=resume_id,
            fresh_id=fresh_id,
            hooks=hooks,
            private_dir=str(private),
        )
        plan = CLAUDE.plan(request)
        for name, content in plan.files.items():
            (private / name).parent.mkdir(parents=True, exist_ok=True)
            (private / name).write_text(content)
        self.rigline.agent(self.agents.claude.path, *plan.args).ok()
        return plan, parts

    def write_part(self, private: Path, number: int) -> str:
        opening = f"[rigline packet {self.delivery} part {number}/3]\n"
        body = (f'part {number} of {self.count}: \u65e5\u672c\u8a9e \\ "quoted" \U0001f389\n' * PART_CHARS)[:PART_CHARS]
        private.mkdir(parents=True, exist_ok=True)
        part = (opening + body)[: PART_CHARS - 5] + "-end-"
        (private / f"answer-{number}").write_text(CLAUDE.write_hook_answer(part))
        return part

    @property
    def delivery(self) -> str:
        return f"{self.count:0>26}"


def test_a_packet_of_whole_parts_reaches_the_model_and_is_seen_in_the_transcript(
    rigline: Rigline, agents: Agents, model: Model, tmp_path: Path
) -> None:
    launch = Launches(rigline, agents, tmp_path)
    user_hooks = tmp_path / "user-settings.json"
    hook = {"type": "command", "command": f"echo user >> {tmp_path}/user-hook"}
    user_hooks.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
    native_id = CLAUDE.new_native_id()
    assert native_id is not None
    store = CLAUDE.open_store(rigline.env)

    runs = [
        launch("-p", "say: one", fresh_id=native_id),
        launch("say: two", "-p", "--settings", str(user_hooks), resume_id=native_id),
        launch("--allowedTools", "Bash", "Read", "-p", "--", "say: three", resume_id=native_id),
    ]
    expected = set()
    for number, (plan, parts) in enumerate(runs, start=1):
        assert plan.expected_id == native_id
        history = model.conversation(("say: one", "say: two", "say: three")[number - 1]).history
        assert [part for part in parts if part not in history] == []
        expected |= {(f"{number:0>26}", part, 3) for part in (1, 2, 3)}
    assert (tmp_path / "user-hook").read_text() == "user\n", "beside ours, the user's own hooks run"

    found = store.look_up(native_id, rigline.cwd)
    assert (found.presence, found.resumable) == (Presence.EXISTS, True)
    assert found.info is not None
    windows = list(store.read(found.info, None))
    assert {marker for window in windows for marker in window.packets} == expected
    told = [event.text for window in windows for event in window.events]
    assert told == ["say: one", "one", "say: two", "two", "say: three", "three"]


def test_a_fork_gets_the_id_that_was_chosen(rigline: Rigline, agents: Agents, model: Model, tmp_path: Path) -> None:
    launch = Launches(rigline, agents, tmp_path)
    parent, child = str(CLAUDE.new_native_id()), str(CLAUDE.new_native_id())
    launch("-p", "say: one", fresh_id=parent)
    store = CLAUDE.open_store(rigline.env)
    (before,) = store.list_sessions(rigline.cwd, 9)
    content = Path(before.path).read_bytes()
    plan, _ = launch("-p", "recall: one", "--resume", parent, "--fork-session", "--session-id", child)
    assert plan.expected_id == child
    assert {info.native_id for info in store.list_sessions(rigline.cwd, 9)} == {parent, child}
    assert Path(before.path).read_bytes() == content
    copies = [event.copy_key for window in store.read(before, None) for event in window.events]
    forked = store.look_up(child, rigline.cwd).info
    assert forked is not None
    assert [event.copy_key for window in store.read(forked, None) for event in window.events][: len(copies)] == copies


def test_a_running_session_is_held_and_tells_its_process(rigline: Rigline, agents: Agents, model: Model) -> None:
    native_id = str(CLAUDE.new_native_id())
    store = CLAUDE.open_store(rigline.env)
    process = rigline.start([agents.claude.path, "-p", "hang:", "--session-id", native_id])
    wait_until(lambda: store.look_up(native_id, rigline.cwd).presence is Presence.EXISTS)
    live = store.find_live(native_id)
    assert live is not None
    assert live.pid == process.pid
    assert [info.native_id for info in store.find_started(0, rigline.cwd, process.pid)] == [native_id]
    process.kill()
    process.wait()
    assert os.path.exists(os.path.join(store.root, "sessions", f"{process.pid}.json")), "it is left behind"
    assert store.find_live(native_id) is None
