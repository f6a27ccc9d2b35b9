"""Kimi Code's command line, launch plan and records, by tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.kimi_store import message, result, step
from tests.fixtures.records import MARKER

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.kimi import Kimi
from rigline.harness.kimi_records import extract
from rigline.model import Kind

ONE = "session_0a0a0b25-e0df-4757-8d32-c9cf383b3faa"
HOOKS = HookDefinition(commands=("hook --part 1",), trust=("node",))
USER = {"kind": "user"}
kimi = Kimi()


def request(*args: str, private_dir: str = "/private/run", **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=kimi.classify(args), private_dir=private_dir, **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("-p", "hello"), Mode.SESSION, False),
        (("--prompt=fork",), Mode.SESSION, False),
        (("-p", "-S"), Mode.SESSION, False),
        (("fork", ONE, "-y"), Mode.PASSTHROUGH, True),
        (("session", "list", "--json"), Mode.PASSTHROUGH, True),
        (("web", "-p", "8080"), Mode.PASSTHROUGH, True),
        (("-V",), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = kimi.classify(args)
    assert found.mode is mode
    if mode is Mode.SESSION:
        assert found.interactive is interactive


@pytest.mark.parametrize(
    ("args", "words", "native_id"),
    [
        (("-S", ONE), ("-S", ONE), ONE),
        ((f"-S{ONE}",), (f"-S{ONE}",), ONE),
        ((f"--session={ONE}",), (f"--session={ONE}",), ONE),
        (("-r", ONE, "-p", "x"), ("-r", ONE), ONE),
        (("--resume", ONE), ("--resume", ONE), ONE),
        (("-S",), ("-S",), None),
        (("-c",), ("-c",), None),
        (("-C", "-p", "x"), ("-C",), None),
    ],
)
def test_the_users_choice_of_a_session_is_seen(
    args: tuple[str, ...], words: tuple[str, ...], native_id: str | None
) -> None:
    selector = kimi.classify(args).selector
    assert selector is not None
    assert (selector.words, selector.native_id, selector.forks) == (words, native_id, False)


def test_a_prompt_that_looks_like_a_selector_chooses_nothing() -> None:
    assert kimi.classify(("-p", "-S", "-m", "--continue")).selector is None


@pytest.mark.parametrize("args", [("--agent", "reviewer"), ("--agent-file=reviewer.md",)])
def test_an_agent_profile_begins_a_session_since_the_program_takes_it_nowhere_else(args: tuple[str, ...]) -> None:
    assert kimi.classify(args).cannot_resume


def test_a_bound_session_is_resumed_and_a_fresh_one_has_no_id_yet() -> None:
    resumed = kimi.plan(request("-p", "x", resume_id=ONE))
    assert (resumed.args, resumed.expected_id) == (("-S", ONE, "-p", "x"), ONE)
    assert kimi.plan(request("-p", "x")).expected_id is None
    assert kimi.new_native_id() is None


def test_the_hook_is_a_plugin_of_the_run_s_own_folder_and_the_store_stays_where_it_is() -> None:
    plan = kimi.plan(request("-p", "x", hooks=HOOKS, packet=("CANARY",), private_dir="/pri vate/run"))
    option = "--import=file:///pri%20vate/run/kimi-plugin/preload.mjs"
    assert plan.variables == {"NODE_OPTIONS": option}
    assert plan.has_hooks
    hooks = json.loads(plan.files["kimi-plugin/kimi.plugin.json"])["hooks"]
    assert [(each["event"], each["command"]) for each in hooks] == [("UserPromptSubmit", "hook --part 1")]
    assert f'"{option}"' in plan.files["kimi-plugin/preload.mjs"]
    assert '"/pri vate/run/kimi-plugin"' in plan.files["kimi-plugin/preload.mjs"]
    assert "CANARY" not in repr(plan)
    assert kimi.hook_event is HookEvent.FIRST_PROMPT


def test_the_user_s_own_options_for_node_are_kept() -> None:
    settings = kimi.read_settings({"NODE_OPTIONS": "--max-old-space-size=4096"}, "/")
    plan = kimi.plan(request("-p", "x", hooks=HOOKS, settings=settings))
    assert plan.variables["NODE_OPTIONS"].startswith("--max-old-space-size=4096 --import=file:///private/run/")
    assert kimi.read_settings({"NODE_OPTIONS": "  "}, "/") == {}


@pytest.mark.parametrize(
    ("head", "is_node"),
    [
        (b"#!/usr/bin/env node\nimport x\n", True),
        (b'#!/bin/sh\nexec node "$basedir/main.mjs" "$@"\n', True),
        (b"#!/bin/sh\nexec kimi.real\n", False),
        (b"\x7fELF\x02\x01\x01node", False),
    ],
)
def test_only_a_program_that_node_runs_is_given_the_hook(head: bytes, is_node: bool, tmp_path: Path) -> None:
    (tmp_path / "kimi").write_bytes(head)
    definition = HookDefinition(commands=("hook --part 1",))
    proved = kimi.trust_hooks(definition, str(tmp_path / "kimi"), {}, "/")
    plan = kimi.plan(request("-p", "x", hooks=proved))
    assert (plan.has_hooks, bool(plan.variables), bool(plan.notes)) == (is_node, is_node, not is_node)


@pytest.mark.parametrize(
    ("args", "expected", "is_noted"),
    [
        ((), ("--yolo",), False),
        (("-y",), ("-y",), False),
        (("--plan",), ("--plan",), True),
        (("--auto",), ("--auto",), True),
        (("-p", "x"), ("-p", "x"), False),
    ],
)
def test_yolo_never_widens_a_choice_and_is_left_out_where_the_program_refuses_it(
    args: tuple[str, ...], expected: tuple[str, ...], is_noted: bool
) -> None:
    plan = kimi.plan(request(*args, yolo=True))
    assert (plan.args, bool(plan.notes)) == (expected, is_noted)


def test_only_a_prompt_s_hook_names_a_session() -> None:
    claim = {"session_id": ONE, "cwd": "/x", "hook_event_name": "UserPromptSubmit"}
    found = kimi.read_observation(claim)
    assert found is not None
    assert found.native_id == ONE
    assert kimi.read_observation({**claim, "hook_event_name": "SessionStart"}) is None


@pytest.mark.parametrize(
    ("record", "losses"),
    [
        (message("user", "x", {"kind": "injection"}), ("meta",)),
        (message("user", "x", {"kind": "skill_activation"}), ("meta",)),
        (message("user", "x", {"kind": "cron_job"}), ("meta",)),
        (message("user", "x", {"kind": "hook_result"}), ("meta",)),
        (message("user", f"<hook_result>\n{MARKER}\nold\n</hook_result>", {"kind": "hook_result"}), ("own_packet",)),
        (message("assistant", "blocked", {"kind": "hook_result"}), ("meta",)),
        (message("system", "x"), ("system_prompt",)),
        (step("content.part", uuid="u", part={"type": "think", "think": "x"}), ("hidden_reasoning",)),
        (step("content.part", uuid="u", part={"type": "image_url"}), ("attachment_image",)),
        (step("from.the.future", uuid="u"), ("unknown:from.the.future",)),
        (result("u", f"  1\t{MARKER}\nold"), ("own_packet",)),
        ({"type": "holodeck.enter"}, ("unknown:holodeck.enter",)),
        ({"type": 7}, ("unknown:other",)),
    ],
)
def test_what_is_left_out_is_counted_by_kind(record: dict[str, Any], losses: tuple[str, ...]) -> None:
    (item,) = extract(record, 7)
    assert (item.losses, item.pieces) == (losses, ())


@pytest.mark.parametrize(
    "kind", ["usage.record", "turn.prompt", "llm.request", "forked", "metadata", "plugin.session_start"]
)
def test_bookkeeping_is_passed_over(kind: str) -> None:
    assert extract({"type": kind, "time": 1}, 0) == []


def test_the_second_telling_of_a_message_is_passed_over() -> None:
    told: dict[str, object] = {
        "kind": "event",
        "type": "agent.message.appended",
        "message": {"role": "user", "content": "x"},
    }
    assert extract(told, 0) == []


def test_a_hook_s_answer_with_a_packet_is_seen_as_that_packet() -> None:
    (item,) = extract(message("user", f"<hook_result>\n{MARKER}\nold\n</hook_result>", {"kind": "hook_result"}), 0)
    assert item.packets == (("abcdefghij0123456789klmnop", 1, 1),)


def test_a_subagent_s_task_is_its_prompt() -> None:
    (item,) = extract(message("user", "look", {"kind": "system_trigger", "name": "subagent"}, "msg_1"), 0)
    assert (item.is_prompt, item.pieces[0].text) == (True, "look")
    (other,) = extract(message("user", "look", {"kind": "system_trigger", "name": "goal"}), 0)
    assert (other.is_prompt, other.losses) == (False, ("meta",))


def test_a_call_and_its_result_are_paired_and_a_failure_is_told() -> None:
    (call,) = extract(step("tool.call", uuid="u", toolCallId="call-u", name="Bash", args={"command": "ls"}), 0)
    (done,) = extract(result("u", "broken", isError=True), 0)
    assert call.pieces[0].text == 'Bash {"command":"ls"}'
    assert call.pieces[0].call_id == done.pieces[0].call_id == "call-u"
    assert (done.pieces[0].status, done.pieces[0].kind) == ("error", Kind.TOOL_RESULT)
    assert call.key != done.key


def test_a_record_without_an_id_keeps_its_key_wherever_it_stands() -> None:
    record = message("assistant", "said")
    assert extract(record, 0)[0].key == extract(record, 4711)[0].key
    assert extract(record, 0)[0].key != extract(message("assistant", "other"), 0)[0].key
