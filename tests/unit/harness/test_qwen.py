"""Qwen Code's command line, launch plan and records, by tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.qwen_store import assistant, note, result, user

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.commented_json import decode_object
from rigline.harness.qwen import Qwen, find_defaults
from rigline.harness.qwen_store import extract
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "22222222-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook --part 1",))
OWN = {"hooks": [{"type": "command", "command": "hook --part 1", "timeout": 30000}]}
DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
qwen = Qwen()


def request(*args: str, **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=qwen.classify(args), private_dir="/private/run", **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("hello",), Mode.SESSION, False),
        (("-p", "sessions"), Mode.SESSION, False),
        (("-i", "hello"), Mode.SESSION, True),
        (("--promptInteractive", "hello"), Mode.SESSION, True),
        (("--model", "m"), Mode.SESSION, True),
        (("--allowed-tools", "a", "b"), Mode.SESSION, True),
        (("-r", ONE), Mode.SESSION, True),
        (("sessions", "list"), Mode.PASSTHROUGH, True),
        (("--acp",), Mode.PASSTHROUGH, True),
        (("--worktree",), Mode.PASSTHROUGH, True),
        (("-l",), Mode.PASSTHROUGH, True),
        (("-v",), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = qwen.classify(args)
    assert found.mode is mode
    if mode is Mode.SESSION:
        assert found.interactive is interactive


@pytest.mark.parametrize(
    ("args", "native_id", "forks"),
    [
        (("-r", ONE), ONE, False),
        ((f"--resume={ONE}", "x"), ONE, False),
        (("--resume",), None, False),
        (("-c", "x"), None, False),
        (("--session-id", ONE, "x"), ONE, False),
        (("--sessionId", ONE, "x"), ONE, False),
        (("-r", ONE, "--fork-session"), ONE, True),
        (("-c", "--forkSession"), None, True),
    ],
)
def test_the_users_choice_of_a_session_is_seen(args: tuple[str, ...], native_id: str | None, forks: bool) -> None:
    selector = qwen.classify(args).selector
    assert selector is not None
    assert (selector.native_id, selector.forks, selector.chosen_id) == (native_id, forks, None)


@pytest.mark.parametrize("args", [("-p", "x", "--", "-c"), ("say -r", "-m", "--continue-not")])
def test_a_prompt_that_looks_like_a_selector_chooses_nothing(args: tuple[str, ...]) -> None:
    assert qwen.classify(args).selector is None


@pytest.mark.parametrize("args", [("--no-chat-recording",), ("--chat-recording=false",)])
def test_a_session_that_is_not_recorded_is_known(args: tuple[str, ...]) -> None:
    found = qwen.classify(args)
    assert found.skips_persistence
    assert found.cannot_resume


@pytest.mark.parametrize("option", ["--bare", "--safe-mode"])
def test_nothing_is_counted_on_where_hooks_are_off(option: str) -> None:
    plan = qwen.plan(request(option, "x", hooks=HOOKS))
    assert not plan.has_hooks
    assert not plan.variables


@pytest.mark.parametrize(
    ("args", "session", "planned", "expected"),
    [
        (("x",), {"fresh_id": ONE}, ("--session-id", ONE, "x"), ONE),
        (("x",), {"resume_id": ONE}, ("-r", ONE, "x"), ONE),
        (("--fork-session", "x"), {"resume_id": ONE, "fresh_id": TWO}, ("-r", ONE, "--fork-session", "x"), None),
        (("-r", ONE, "--fork-session"), {"fresh_id": TWO}, ("-r", ONE, "--fork-session"), None),
        (("-r", ONE), {}, ("-r", ONE), ONE),
        (("--session-id", ONE), {}, ("--session-id", ONE), ONE),
        (("-c",), {}, ("-c",), None),
    ],
)
def test_a_session_is_chosen_and_a_fork_s_id_never(
    args: tuple[str, ...], session: dict[str, Any], planned: tuple[str, ...], expected: str | None
) -> None:
    plan = qwen.plan(request(*args, **session))
    assert (plan.args, plan.expected_id) == (planned, expected)


def test_continue_comes_with_a_warning_that_it_may_begin_a_session() -> None:
    assert any("begins one" in line for line in qwen.plan(request("-c")).notes)


@pytest.mark.parametrize(
    ("args", "added"),
    [(("x",), ("--yolo",)), (("-y", "x"), ()), (("--approval-mode", "plan"), ()), (("--approvalMode=plan",), ())],
)
def test_yolo_never_widens_a_narrower_choice(args: tuple[str, ...], added: tuple[str, ...]) -> None:
    assert qwen.plan(request(*args, yolo=True)).args == (*added, *args)


def test_the_hook_stands_beside_all_that_the_machine_s_defaults_say() -> None:
    theirs = {"$version": 3, "model": {"name": "m"}, "hooks": {"UserPromptSubmit": [{"hooks": []}], "Stop": [1]}}
    plan = qwen.plan(request("x", hooks=HOOKS, settings={DEFAULTS: f"// of the machine\n{json.dumps(theirs)}"}))
    assert plan.variables == {DEFAULTS: "/private/run/qwen-defaults.json"}
    hooks = {"UserPromptSubmit": [{"hooks": []}, OWN], "Stop": [1]}
    assert json.loads(plan.files["qwen-defaults.json"]) == {**theirs, "hooks": hooks}


def test_a_run_inside_of_a_run_has_the_hook_once() -> None:
    outer = qwen.plan(request("x", hooks=HOOKS)).files["qwen-defaults.json"]
    inner = qwen.plan(request("x", hooks=HOOKS, settings={DEFAULTS: outer})).files["qwen-defaults.json"]
    assert json.loads(inner)["hooks"]["UserPromptSubmit"] == [OWN]


@pytest.mark.parametrize("text", ["", "{", "[]", "not JSON"])
def test_defaults_that_cannot_be_read_are_left_in_force_and_it_is_said(text: str) -> None:
    plan = qwen.plan(request("x", hooks=HOOKS, settings={DEFAULTS: text}))
    assert (plan.has_hooks, plan.variables, plan.files) == (False, {}, {})
    assert any("cannot be shown" in line for line in plan.notes)


def test_the_machine_s_defaults_lie_beside_its_settings_unless_a_variable_says_otherwise(tmp_path: Path) -> None:
    assert find_defaults({}).endswith("/system-defaults.json")
    beside = {"QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{tmp_path}/settings.json"}
    assert find_defaults(beside) == f"{tmp_path}/system-defaults.json"
    assert find_defaults({**beside, DEFAULTS: "/named.json"}) == "/named.json"
    assert qwen.read_settings(beside, "/") == {}
    (tmp_path / "system-defaults.json").write_text("{}")
    assert qwen.read_settings(beside, "/") == {DEFAULTS: "{}"}


@pytest.mark.parametrize(
    ("env", "root"),
    [
        ({}, "/home/dev/.qwen"),
        ({"QWEN_HOME": "/q"}, "/q"),
        ({"QWEN_HOME": "~/q"}, "/home/dev/q"),
        ({"QWEN_HOME": "/q", "QWEN_RUNTIME_DIR": "/r"}, "/r"),
        ({"QWEN_RUNTIME_DIR": " "}, "/home/dev/.qwen"),
    ],
)
def test_the_store_is_where_the_program_keeps_it(env: dict[str, str], root: str) -> None:
    assert qwen.open_store({"HOME": "/home/dev", **env}).root == root


def test_the_hook_answers_a_session_s_first_prompt_in_the_program_s_form() -> None:
    assert qwen.hook_event is HookEvent.FIRST_PROMPT
    answer = {"hookEventName": "UserPromptSubmit", "additionalContext": "words"}
    assert json.loads(qwen.write_hook_answer("words")) == {"hookSpecificOutput": answer}
    payload = {"session_id": ONE, "cwd": "/p", "transcript_path": "/t", "hook_event_name": "UserPromptSubmit"}
    found = qwen.read_observation(payload)
    assert found is not None
    assert (found.native_id, found.cwd, found.transcript_path) == (ONE, "/p", "/t")
    assert qwen.read_observation({**payload, "hook_event_name": "SessionStart"}) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} // end', {"a": 1}),
        ('{/* a\nb */ "a": "// no comment"}', {"a": "// no comment"}),
        ('\ufeff{"a": "\\"/*"}', {"a": '"/*'}),
        ("[]", None),
        ("", None),
    ],
)
def test_comments_are_passed_over_and_texts_are_not(text: str, value: dict[str, object] | None) -> None:
    assert decode_object(text) == value


@pytest.mark.parametrize(
    ("record", "pieces", "losses"),
    [
        (user("a", "b"), [(Kind.MESSAGE, "a"), (Kind.MESSAGE, "b")], ()),
        (user("typed", subtype="mid_turn_user_message"), [(Kind.MESSAGE, "typed")], ()),
        (user("a", subtype="goal_runtime"), [], ("meta",)),
        (assistant({"text": "x", "thought": True}, {"text": "y"}), [(Kind.MESSAGE, "y")], ("hidden_reasoning",)),
        (assistant({"inlineData": {"mimeType": "image/png"}}), [], ("attachment_image",)),
        (assistant({"toCome": 1}), [], ("unknown:part",)),
        (note("ui_telemetry", uiEvent={"event.name": "qwen-code.tool_call"}), [], ("meta",)),
        (note("to_come"), [], ("unknown:to_come",)),
        ({"type": "to_come"}, [], ("unknown:to_come",)),
    ],
)
def test_records_are_read_for_what_they_say(
    record: dict[str, object], pieces: list[tuple[Kind, str]], losses: tuple[str, ...]
) -> None:
    (item,) = extract({"uuid": "u", **record}, 0)
    assert [(piece.kind, piece.text) for piece in item.pieces] == pieces
    assert item.losses == losses


def test_a_tool_that_failed_is_told_from_one_that_did_not() -> None:
    for status, expected in (("success", None), ("error", "error"), ("cancelled", "error")):
        (item,) = extract({"uuid": "u", **result("call_1", "out", status)}, 0)
        (piece,) = item.pieces
        assert (piece.kind, piece.call_id, piece.tool, piece.status) == (
            Kind.TOOL_RESULT,
            "call_1",
            "run_shell_command",
            expected,
        )
