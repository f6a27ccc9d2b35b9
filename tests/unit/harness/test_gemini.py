"""Gemini CLI's command line, launch plan and records, by tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.gemini_store import MARKER, call, gemini, notice, user

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.gemini import Gemini
from rigline.harness.gemini_records import read_message
from rigline.harness.windows import Item
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook --part 1",), trust=("node",))
adapter = Gemini()


def request(*args: str, private_dir: str = "/private/run", **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=adapter.classify(args), private_dir=private_dir, **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("hello",), Mode.SESSION, True),
        (("-i", "hello"), Mode.SESSION, True),
        (("-p", "hello"), Mode.SESSION, False),
        (("--prompt=mcp",), Mode.SESSION, False),
        (("hello", "mcp"), Mode.SESSION, True),
        (("mcp", "list"), Mode.PASSTHROUGH, True),
        (("extensions", "link", "x"), Mode.PASSTHROUGH, True),
        (("--acp",), Mode.PASSTHROUGH, True),
        (("-w", "one"), Mode.PASSTHROUGH, True),
        (("--delete-session", "2"), Mode.PASSTHROUGH, True),
        (("--listSessions",), Mode.PASSTHROUGH, True),
        (("-v",), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = adapter.classify(args)
    assert found.mode is mode
    if mode is Mode.SESSION:
        assert found.interactive is interactive


@pytest.mark.parametrize(
    ("args", "words", "native_id"),
    [
        (("-r", ONE, "-p", "x"), ("-r", ONE), ONE),
        ((f"--resume={ONE}",), (f"--resume={ONE}",), ONE),
        (("-r", "my-own_id"), ("-r", "my-own_id"), "my-own_id"),
        (("-r", "latest"), ("-r", "latest"), None),
        (("-r", "3"), ("-r", "3"), None),
        (("-r", "-p", "x"), ("-r",), None),
        (("--session-file", "saved.json"), ("--session-file", "saved.json"), None),
        (("--session-id", "my-own_id"), ("--session-id", "my-own_id"), "my-own_id"),
        (("--sessionId", ONE), ("--sessionId", ONE), ONE),
    ],
)
def test_the_users_choice_of_a_session_is_seen(
    args: tuple[str, ...], words: tuple[str, ...], native_id: str | None
) -> None:
    selector = adapter.classify(args).selector
    assert selector is not None
    assert (selector.words, selector.native_id, selector.forks) == (words, native_id, False)


def test_a_prompt_that_looks_like_a_selector_chooses_nothing() -> None:
    assert adapter.classify(("-m", "x", "say -r latest")).selector is None


def test_a_bound_session_is_resumed_and_a_fresh_one_has_the_id_that_was_chosen() -> None:
    resumed = adapter.plan(request("-p", "x", resume_id=ONE))
    assert (resumed.args, resumed.expected_id) == (("-r", ONE, "-p", "x"), ONE)
    fresh = adapter.plan(request("-p", "x", fresh_id=ONE))
    assert (fresh.args, fresh.expected_id) == (("--session-id", ONE, "-p", "x"), ONE)
    assert adapter.plan(request("-r", "latest")).expected_id is None


def test_the_hook_is_an_extension_of_the_run_s_own_folder_and_no_setting_is_moved() -> None:
    plan = adapter.plan(request("-p", "x", hooks=HOOKS, packet=("CANARY",), private_dir="/pri vate/run"))
    option = "--import=file:///pri%20vate/run/gemini-preload.mjs"
    assert plan.variables == {"NODE_OPTIONS": option}
    assert plan.has_hooks
    hooks = json.loads(plan.files["gemini-extension/hooks/hooks.json"])["hooks"]
    assert [each["command"] for each in hooks["BeforeAgent"][0]["hooks"]] == ["hook --part 1"]
    assert json.loads(plan.files["gemini-extension/gemini-extension.json"])["name"] == "rigline-run"
    source = json.loads(plan.files["gemini-extension/.gemini-extension-install.json"])["source"]
    assert source == "/pri vate/run/gemini-extension"
    module = plan.files["gemini-preload.mjs"]
    assert f'const OWN_OPTION = "{option}";' in module
    assert f'const OWN_EXTENSION = "{source}";' in module
    assert "CANARY" not in repr(plan)
    assert adapter.hook_event is HookEvent.FIRST_PROMPT


@pytest.mark.parametrize(
    ("args", "resume_id", "expected"),
    [(("-p", "x"), ONE, ONE), (("-r", "mine"), None, "mine"), (("-r", "latest"), None, ""), (("-p", "x"), None, "")],
)
def test_the_module_knows_the_session_that_is_resumed(
    args: tuple[str, ...], resume_id: str | None, expected: str
) -> None:
    plan = adapter.plan(request(*args, resume_id=resume_id, hooks=HOOKS))
    assert f'const RESUMED_ID = "{expected}";' in plan.files["gemini-preload.mjs"]


def test_where_the_user_chooses_among_extensions_ours_is_chosen_besides() -> None:
    plan = adapter.plan(request("-e", "none", "-p", "x", hooks=HOOKS))
    assert plan.args == ("--extensions", "rigline-run", "-e", "none", "-p", "x")
    assert "rigline-run" not in adapter.plan(request("-p", "x", hooks=HOOKS)).args


def test_the_user_s_own_options_for_node_are_kept() -> None:
    settings = adapter.read_settings({"NODE_OPTIONS": "--max-old-space-size=4096"}, "/")
    plan = adapter.plan(request("-p", "x", hooks=HOOKS, settings=settings))
    assert plan.variables["NODE_OPTIONS"].startswith("--max-old-space-size=4096 --import=file:///private/run/")
    assert adapter.read_settings({"NODE_OPTIONS": "  "}, "/") == {}


@pytest.mark.parametrize(("head", "is_node"), [(b"#!/usr/bin/env node\n", True), (b"\x7fELF\x02\x01\x01node", False)])
def test_a_program_that_node_does_not_run_is_told_of_the_danger(head: bytes, is_node: bool, tmp_path: Path) -> None:
    (tmp_path / "gemini").write_bytes(head)
    proved = adapter.trust_hooks(HookDefinition(commands=("hook",)), str(tmp_path / "gemini"), {}, "/")
    plan = adapter.plan(request("-p", "x", hooks=proved))
    assert (plan.has_hooks, bool(plan.variables)) == (is_node, is_node)
    assert ["sessionRetention" in note for note in plan.notes] == ([] if is_node else [True])


@pytest.mark.parametrize(
    ("args", "is_noted"), [(("-r", "latest"), True), (("-r",), True), (("-r", ONE), False), ((), False)]
)
def test_that_the_newest_session_may_be_none_is_said(args: tuple[str, ...], is_noted: bool) -> None:
    assert bool(adapter.plan(request(*args)).notes) is is_noted


@pytest.mark.parametrize(
    ("args", "expected", "is_noted"),
    [
        ((), ("--yolo",), False),
        (("-y",), ("-y",), False),
        (("--approval-mode", "plan"), ("--approval-mode", "plan"), True),
        (("--approvalMode=auto_edit",), ("--approvalMode=auto_edit",), True),
        (("--policy", "mine.toml"), ("--policy", "mine.toml"), True),
    ],
)
def test_yolo_never_widens_a_choice(args: tuple[str, ...], expected: tuple[str, ...], is_noted: bool) -> None:
    plan = adapter.plan(request(*args, yolo=True))
    assert (plan.args, bool(plan.notes)) == (expected, is_noted)


def test_only_a_hook_before_a_turn_names_a_session() -> None:
    claim = {"session_id": ONE, "cwd": "/x", "hook_event_name": "BeforeAgent"}
    found = adapter.read_observation(claim)
    assert found is not None
    assert found.native_id == ONE
    assert adapter.read_observation({**claim, "hook_event_name": "SessionStart"}) is None


def test_the_answer_begins_a_line_of_its_own_so_that_its_marker_is_found_behind_the_program_s_tag() -> None:
    answer = json.loads(adapter.write_hook_answer(f"{MARKER}\nwords"))["hookSpecificOutput"]
    assert answer == {"hookEventName": "BeforeAgent", "additionalContext": f"\n{MARKER}\nwords"}
    item = read_message(user("u1", "go", f"<hook_context>{answer['additionalContext']}</hook_context>"), Item(key=""))
    assert item.packets == (("abcdefghij0123456789klmnop", 1, 1),)


def test_a_blank_variable_counts_as_unset() -> None:
    assert adapter.open_store({"HOME": "/home/me", "GEMINI_CLI_HOME": " "}).root == "/home/me/.gemini"
    assert adapter.open_store({"HOME": "/home/me", "GEMINI_CLI_HOME": "/else"}).root == "/else/.gemini"


def picture() -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": "x"}}


@pytest.mark.parametrize(
    ("message", "losses"),
    [
        (user("u", "<session_context>\nx\n</session_context>"), ("meta",)),
        (user("u", "<hook_context>x</hook_context>"), ("meta",)),
        (user("u", f"<hook_context>\n{MARKER}\nold</hook_context>"), ("own_packet",)),
        ({**user("u"), "content": [picture()]}, ("attachment_image",)),
        (gemini("g", "", thoughts=[{"subject": "x"}]), ("hidden_reasoning",)),
        ({**gemini("g", ""), "content": [{"text": "x", "thought": True}]}, ("hidden_reasoning",)),
        (notice("n", "info", "x"), ("meta",)),
        (notice("n", "warning", "x"), ("meta",)),
        (notice("n", "error", "x"), ("api_error",)),
        (notice("n", "holodeck", "x"), ("unknown:holodeck",)),
        (notice("n", "info", ""), ()),
    ],
)
def test_what_is_left_out_is_counted_by_kind(message: dict[str, Any], losses: tuple[str, ...]) -> None:
    item = read_message(message, Item(key=""))
    assert (item.losses, item.pieces) == (losses, ())


def test_a_tool_s_answer_in_the_user_s_name_is_told_with_its_call_alone() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "words"}}}
    item = read_message({**user("u"), "content": [answer]}, Item(key=""))
    assert (item.pieces, item.losses, item.is_prompt) == ((), (), False)


def test_a_call_and_its_result_are_paired_and_a_failure_is_told() -> None:
    made = [call("c1", "read_file", "words", file_path="x"), call("c2", "edit", "broken", status="error")]
    item = read_message(gemini("g", "Doing it.", *made), Item(key=""))
    assert [(piece.kind, piece.block, piece.call_id, piece.status) for piece in item.pieces] == [
        (Kind.MESSAGE, 0, None, None),
        (Kind.TOOL_CALL, 1, "c1", None),
        (Kind.TOOL_RESULT, 1, "c1", None),
        (Kind.TOOL_CALL, 2, "c2", None),
        (Kind.TOOL_RESULT, 2, "c2", "error"),
    ]
    assert item.pieces[1].text == 'read_file {"file_path":"x"}'


def test_a_result_that_holds_other_calls_answers_too_gives_its_own() -> None:
    first, second = call("c1", "read_file", "one"), call("c2", "read_file", "two")
    both = [*first["result"], *second["result"]]
    item = read_message(gemini("g", "", {**first, "result": both}, {**second, "result": both}), Item(key=""))
    assert [piece.text for piece in item.pieces if piece.kind is Kind.TOOL_RESULT] == ["one", "two"]


def test_a_result_that_repeats_a_packet_is_no_history() -> None:
    item = read_message(gemini("g", "", call("c1", "read_file", f"1\t{MARKER}\nold")), Item(key=""))
    assert item.losses == ("own_packet",)
    assert [piece.kind for piece in item.pieces] == [Kind.TOOL_CALL]


def test_what_a_start_hook_put_before_the_prompt_is_not_the_user_s() -> None:
    item = read_message(user("u", "<hook_context>of a hook</hook_context>\n\nof the user"), Item(key=""))
    assert [piece.text for piece in item.pieces] == ["of the user"]
    assert item.losses == ("meta",)


def test_files_that_a_prompt_names_are_attachments() -> None:
    item = read_message(user("u", "look at @a.txt", "--- Content ---", "words", shown="look at @a.txt"), Item(key=""))
    assert [piece.text for piece in item.pieces] == ["look at @a.txt"]
    assert item.losses == ("attachment_file",)
