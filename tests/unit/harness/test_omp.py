"""OMP's command line, launch plans, store places, and the entries that Pi does not write, by tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.pi_store import entry, message
from tests.fixtures.records import MARKER

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.omp import Omp, find_sessions
from rigline.harness.pi_store import extract, find_title
from rigline.launch.plan import plan_environment
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "22222222-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook '--part' 1",))
FRESH = ("--config", "/private/run/fresh.yml")
omp = Omp()


def request(*args: str, **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=omp.classify(args), private_dir="/private/run", **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        (("-p", "hello"), Mode.SESSION, False),
        (("--mode=rpc-ui",), Mode.SESSION, False),
        (("launch", "--profile", "mine"), Mode.SESSION, True),
        (("ps",), Mode.PASSTHROUGH, True),
        (("q", "words"), Mode.PASSTHROUGH, True),
        (("__complete", "x"), Mode.PASSTHROUGH, True),
        (("help",), Mode.PASSTHROUGH, True),
        (("--model", "x", "help"), Mode.SESSION, True),
        (("--approval-mode=yolo", "acp"), Mode.PASSTHROUGH, True),
        (("--no-tools", "acp"), Mode.PASSTHROUGH, True),
        (("--model", "acp"), Mode.SESSION, True),
        (("a prompt", "acp"), Mode.SESSION, True),
        (("--", "acp"), Mode.SESSION, True),
        (("--cwd", "/elsewhere"), Mode.PASSTHROUGH, True),
        (("list",), Mode.PASSTHROUGH, True),
        (("list", "all", "my", "files"), Mode.SESSION, True),
        (("marketplace", "add", "x"), Mode.PASSTHROUGH, True),
        (("uninstall", "x@y"), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = omp.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("args", "native_id", "forks"),
    [
        (("-r", ONE), ONE, False),
        ((f"--resume={ONE}",), ONE, False),
        (("--resume", "--model", "x"), None, False),
        (("--session", ONE), ONE, False),
        (("--session", "-p", "x"), None, False),
        (("--session", ""), None, False),
        (("--fork", ONE), ONE, True),
        (("-c",), None, False),
        (("-c", "go on"), None, False),
        (("-c", ONE), ONE, False),
        (("--continue", ONE, "go on"), ONE, False),
        (("-c", "-p", ONE), ONE, False),
        (("-c", "-p", ONE, "go on"), None, False),
        (("-c", "--model", ONE), None, False),
        (("-c", ONE, "--resume", TWO), TWO, False),
    ],
)
def test_the_user_s_selector_is_read(args: tuple[str, ...], native_id: str | None, forks: bool) -> None:
    selector = omp.classify(args).selector
    assert selector is not None
    assert (selector.native_id, selector.forks) == (native_id, forks)


def test_words_behind_a_selector_without_a_value_are_a_prompt() -> None:
    assert not omp.classify(("--session", "-p", "x")).interactive


@pytest.mark.parametrize(
    ("args", "more", "added", "expected_id"),
    [
        (("hello",), {"resume_id": ONE}, (f"--resume={ONE}",), ONE),
        (("hello",), {}, FRESH, None),
        (("hello",), {"yolo": True}, ("--auto-approve", *FRESH), None),
        (("--yolo", "hello"), {"yolo": True}, FRESH, None),
        (("--approval-mode", "write"), {"yolo": True}, FRESH, None),
        (("--fork", ONE), {}, (), None),
        (("-c",), {}, (), None),
    ],
)
def test_a_plan_adds_what_is_needed_and_keeps_the_rest(
    args: tuple[str, ...], more: dict[str, Any], added: tuple[str, ...], expected_id: str | None
) -> None:
    plan = omp.plan(request(*args, **more))
    assert plan.args == (*added, *args)
    assert plan.expected_id == expected_id


def test_a_session_that_begins_is_not_turned_into_the_newest_by_the_user_s_settings() -> None:
    assert omp.plan(request("hello")).files == {"fresh.yml": "autoResume: false\n"}
    assert not omp.plan(request("hello", resume_id=ONE)).files
    assert set(omp.plan(request("hello", hooks=HOOKS)).files) == {"fresh.yml", "extension/rigline.mjs"}


def test_a_session_is_shown_the_line_at_its_first_prompt_only() -> None:
    assert omp.hook_event is HookEvent.FIRST_PROMPT


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({}, "/h/.omp/agent/sessions"),
        ({"PI_CODING_AGENT_DIR": "/d"}, "/d/sessions"),
        ({"PI_CODING_AGENT_DIR": " "}, "/h/.omp/agent/sessions"),
        ({"PI_CODING_AGENT_SESSION_DIR": "/s", "OMP_PROFILE": "mine"}, "/s"),
        ({"OMP_PROFILE": "mine", "PI_CODING_AGENT_DIR": "/d"}, "/h/.omp/profiles/mine/agent/sessions"),
        ({"PI_PROFILE": "old"}, "/h/.omp/profiles/old/agent/sessions"),
        ({"OMP_PROFILE": "", "PI_PROFILE": "old"}, "/h/.omp/profiles/old/agent/sessions"),
        ({"OMP_PROFILE": "default", "PI_PROFILE": "old"}, "/h/.omp/agent/sessions"),
        ({"OMP_PROFILE": "default"}, "/h/.omp/agent/sessions"),
        ({"PI_CONFIG_DIR": ".mine"}, "/h/.mine/agent/sessions"),
        ({"XDG_DATA_HOME": "/no/such/folder"}, "/h/.omp/agent/sessions"),
    ],
)
def test_omp_s_sessions_are_where_its_variables_say(env: dict[str, str], folder: str) -> None:
    assert find_sessions({"HOME": "/h", **env}) == folder


def test_omp_s_data_count_where_they_were_moved_to(tmp_path: Path) -> None:
    (tmp_path / "omp").mkdir()
    env = {"HOME": "/h", "XDG_DATA_HOME": str(tmp_path)}
    assert find_sessions(env) == f"{tmp_path}/omp/sessions"
    assert find_sessions({**env, "OMP_PROFILE": "mine"}) == "/h/.omp/profiles/mine/agent/sessions"


@pytest.mark.parametrize(
    ("inherited", "given", "profile"),
    [
        ({"OMP_PROFILE": "", "PI_PROFILE": "old"}, (), "default"),
        ({"OMP_PROFILE": "mine"}, ("OMP_PROFILE= ",), "default"),
        ({"OMP_PROFILE": "mine"}, (), "mine"),
        ({"PI_PROFILE": "old"}, (), None),
    ],
)
def test_a_blank_profile_stays_the_choice_that_it_is_to_the_program(
    inherited: dict[str, str], given: tuple[str, ...], profile: str | None
) -> None:
    made = plan_environment(
        omp, inherited, given, run=None, home="/r", private_dir="", session_variables=frozenset(omp.session_variables)
    )
    assert made.variables.get("OMP_PROFILE") == profile


def test_options_that_move_the_store_are_told_as_variables() -> None:
    assert omp.read_store_variables(("--profile=mine",)) == {"OMP_PROFILE": "mine"}
    assert omp.read_store_variables(("--session-dir", "/d")) == {"PI_CODING_AGENT_SESSION_DIR": "/d"}


@pytest.mark.parametrize(
    ("record", "kinds", "losses"),
    [
        (message("developer", "go on", synthetic=True, attribution="agent"), [], ("meta",)),
        (message("user", "a nudge", attribution="agent"), [], ("meta",)),
        (message("user", "a nudge", synthetic=True), [], ("meta",)),
        (message("user", "hello", attribution="user"), [Kind.MESSAGE], ()),
        (message("custom", f"{MARKER}\nx"), [], ("meta",)),
        (message("hookMessage", "x"), [], ("meta",)),
        (entry("message", message={"role": "fileMention", "files": [{"content": "x"}]}), [], ("attachment_file",)),
        (
            entry("message", message={"role": "pythonExecution", "code": "1/0", "output": "a", "exitCode": 1}),
            [Kind.TOOL_CALL, Kind.TOOL_RESULT],
            (),
        ),
        (
            entry(
                "message", message={"role": "pythonExecution", "code": "x", "output": "y", "excludeFromContext": True}
            ),
            [],
            ("withheld_command",),
        ),
        (entry("session_init", systemPrompt="x", task="y", tools=[]), [], ("system_prompt",)),
        (entry("model_usage", purpose="title", usage={}, errorMessage="x"), [], ()),
        (entry("service_tier_change", serviceTier=None), [], ()),
        (entry("ttsr_injection", injectedRules=["x"]), [], ()),
        (entry("credential_pin", provider="x", hash="y"), [], ()),
        (entry("mode_change", mode="plan", data={"plan": "x"}), [], ()),
        (entry("reset_boundary"), [], ()),
    ],
)
def test_an_entry_is_read_for_what_it_says(record: dict[str, Any], kinds: list[Kind], losses: tuple[str, ...]) -> None:
    (item,) = extract(record, 0)
    assert [piece.kind for piece in item.pieces] == kinds
    assert item.losses == losses
    assert item.is_prompt == (kinds == [Kind.MESSAGE])


def test_a_new_title_is_read_where_the_first_line_was_read_before() -> None:
    (item,) = extract(entry("title_change", title="New", previousTitle="Old", source="user"), 0)
    assert item.title == "New"
    assert not item.losses


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([{"type": "title", "title": "Now"}, entry("title_change", title="Before")], "Now"),
        ([{"type": "title", "title": ""}, {"type": "session", "title": "Old"}, entry("title_change", title="B")], None),
        ([{"type": "session", "title": "Old"}], "Old"),
        ([{"type": "session", "title": "Old"}, entry("title_change", title="New")], "New"),
    ],
)
def test_the_first_line_has_the_title_where_there_is_one(records: list[dict[str, Any]], title: str | None) -> None:
    assert find_title(records) == title
