"""Pi's command line, launch plans, store places and entries, by tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.pi_store import entry, message, tool_output
from tests.fixtures.records import MARKER

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.pi import Pi
from rigline.harness.pi_store import extract, find_limit, find_parent, find_title
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
NEW = "22222222-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook '--part' 1",))
pi = Pi()


def request(*args: str, **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=pi.classify(args), private_dir="/private/run", **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("-p", "hello"), Mode.SESSION, False),
        (("--mode", "json", "hello"), Mode.SESSION, False),
        (("--mode", "text"), Mode.SESSION, True),
        (("--model", "x", "install"), Mode.SESSION, True),
        (("install", "a-package"), Mode.PASSTHROUGH, True),
        (("--", "--help"), Mode.SESSION, True),
        (("--append-system-prompt", "--help"), Mode.SESSION, True),
        (("--export", "x.jsonl"), Mode.PASSTHROUGH, True),
        (("-v",), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = pi.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("args", "native_id", "forks", "chosen_id"),
    [
        (("--session", ONE), ONE, False, None),
        (("--session", ONE[:8]), None, False, None),
        (("--session", "/a/path.jsonl"), None, False, None),
        (("-r",), None, False, None),
        (("-c",), None, False, None),
        (("--session-id", "my-own-id"), "my-own-id", False, None),
        (("--fork", ONE), ONE, True, None),
        (("--fork", ONE, "--session-id", "my-fork"), ONE, True, "my-fork"),
    ],
)
def test_the_user_s_selector_is_read(
    args: tuple[str, ...], native_id: str | None, forks: bool, chosen_id: str | None
) -> None:
    selector = pi.classify(args).selector
    assert selector is not None
    assert (selector.native_id, selector.forks, selector.chosen_id) == (native_id, forks, chosen_id)


@pytest.mark.parametrize(
    ("args", "more", "added", "expected_id"),
    [
        (("hello",), {"fresh_id": NEW}, ("--session-id", NEW), NEW),
        (("hello",), {"resume_id": ONE}, ("--session", ONE), ONE),
        (("--fork", ONE), {"fresh_id": NEW}, ("--session-id", NEW), NEW),
        (("hello",), {"yolo": True}, ("--approve",), None),
        (("-na", "hello"), {"yolo": True}, (), None),
    ],
)
def test_a_plan_adds_what_is_needed_and_keeps_the_rest(
    args: tuple[str, ...], more: dict[str, Any], added: tuple[str, ...], expected_id: str | None
) -> None:
    plan = pi.plan(request(*args, **more))
    assert plan.args == (*added, *args)
    assert plan.expected_id == expected_id


def test_the_hook_travels_in_a_private_file_and_its_quotes_survive() -> None:
    plan = pi.plan(request("hello", hooks=HOOKS))
    ((name, text),) = plan.files.items()
    assert plan.args == ("-e", f"/private/run/{name}", "hello")
    assert plan.has_hooks
    assert f"const COMMANDS = {json.dumps(list(HOOKS.commands), separators=(',', ':'))};" in text


def test_a_session_is_shown_the_line_at_its_first_prompt_only() -> None:
    """The extension is loaded anew at `/reload`, and remembers nothing (1.6.0)."""
    assert pi.hook_event is HookEvent.FIRST_PROMPT


def test_a_value_joined_to_its_option_is_an_option_that_the_program_refuses() -> None:
    assert pi.classify((f"--session={ONE}",)).selector is None
    assert pi.classify(("--mode=json",)).interactive
    assert pi.read_store_variables(("--session-dir=/d",)) == {}


@pytest.mark.parametrize(
    ("names", "title"),
    [((), None), (("Old",), "Old"), (("Old", "New"), "New"), (("Old", ""), None), (("", "New"), "New")],
)
def test_a_title_that_was_taken_back_is_none(names: tuple[str, ...], title: str | None) -> None:
    assert find_title([entry("session_info", name=name) for name in names]) == title


def test_a_path_behind_a_selector_is_warned_of() -> None:
    assert "without a word" in pi.plan(request("--session", "/a/b.jsonl")).notes[0]
    assert not pi.plan(request("--session", ONE)).notes


def test_pi_s_sessions_are_where_its_settings_say_unless_a_variable_does(tmp_path: Path) -> None:
    settings = tmp_path / ".pi" / "agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"sessionDir": "~/kept"}')
    assert pi.open_store({"HOME": str(tmp_path)}).root == f"{tmp_path}/kept"
    assert pi.open_store({"HOME": str(tmp_path), "PI_CODING_AGENT_SESSION_DIR": "/s"}).root == "/s"
    settings.write_text("not json")
    assert pi.open_store({"HOME": str(tmp_path)}).root == f"{tmp_path}/.pi/agent/sessions"


def test_options_that_move_the_store_are_told_as_variables() -> None:
    assert pi.read_store_variables(("--session-dir", "/d")) == {"PI_CODING_AGENT_SESSION_DIR": "/d"}
    assert pi.read_store_variables(("--", "--session-dir", "/d")) == {}


@pytest.mark.parametrize(
    ("record", "kinds", "losses"),
    [
        (message("user", "hello"), [Kind.MESSAGE], ()),
        (message("user", "hello", {"type": "image"}), [Kind.MESSAGE], ("attachment_image",)),
        (message("assistant", {"type": "thinking", "thinking": "x"}, "y"), [Kind.MESSAGE], ("hidden_reasoning",)),
        (message("assistant", stopReason="error", errorMessage="500"), [], ("api_error",)),
        (message("system", "x"), [], ("system_prompt",)),
        (message("stranger", "x"), [], ("unknown:role",)),
        (tool_output("out"), [Kind.TOOL_RESULT], ()),
        (tool_output(f"1 {MARKER}"), [], ("own_packet",)),
        (
            entry("message", message={"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0}),
            [Kind.TOOL_CALL, Kind.TOOL_RESULT],
            (),
        ),
        (
            entry(
                "message", message={"role": "bashExecution", "command": "x", "output": "y", "excludeFromContext": True}
            ),
            [],
            ("withheld_command",),
        ),
        (entry("compaction", summary="what was said"), [Kind.COMPACTION], ()),
        (entry("branch_summary", summary="what was left"), [Kind.MESSAGE], ()),
        (entry("custom_message", customType="rigline", content=f"{MARKER}\nx"), [], ("own_packet",)),
        (entry("custom_message", customType="other", content=f"{MARKER}\nx"), [], ("meta",)),
        (entry("context_edit", targetId="1", replacement=None), [], ()),
        (entry("no_such_type"), [], ("unknown:no_such_type",)),
    ],
)
def test_an_entry_is_read_for_what_it_says(record: dict[str, Any], kinds: list[Kind], losses: tuple[str, ...]) -> None:
    (item,) = extract(record, 0)
    assert [piece.kind for piece in item.pieces] == kinds
    assert item.losses == losses


def test_only_the_extension_of_ours_confirms_a_packet() -> None:
    (ours,) = extract(entry("custom_message", customType="rigline", content=f"{MARKER}\nx"), 0)
    (other,) = extract(entry("custom_message", customType="other", content=f"{MARKER}\nx"), 0)
    (typed,) = extract(message("user", f"{MARKER}\nx"), 0)
    assert ours.packets == (("abcdefghij0123456789klmnop", 1, 1),)
    assert not other.packets
    assert not typed.packets


def test_a_copy_is_told_from_a_stranger_s_record_with_the_same_short_id() -> None:
    record = message("user", "hello")
    (one,), (copy,) = extract(record, 0), extract(dict(record), 99)
    (stranger,) = extract({**record, "timestamp": "2026-12-02T00:00:00.000Z"}, 0)
    assert one.copy_key == copy.copy_key != stranger.copy_key


@pytest.mark.parametrize(
    ("named", "parent_id"),
    [
        ("/h/.pi/agent/sessions/--p--/2026-11-30T21-34-01-770Z_my-own-id-001.jsonl", "my-own-id-001"),
        (ONE, ONE),
        ("", None),
        ("own", None),
    ],
)
def test_a_parent_is_named_by_its_path_or_its_id(named: str, parent_id: str | None) -> None:
    link = find_parent("own", named)
    assert (link.parent_id if link else None) == parent_id


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            '429: {"type":"usage_limit_reached","message":"The usage limit has been reached"}',
            "The usage limit has been reached",
        ),
        (
            "429 You exceeded your current quota (code=insufficient_quota)\nmore",
            "429 You exceeded your current quota (code=insufficient_quota)",
        ),
        ('429: {"type":"server_error","message":"scripted 429"}', None),
        ("500 boom", None),
    ],
)
def test_a_usage_limit_is_told_by_the_service_s_own_name_for_it(error: str, words: str | None) -> None:
    assert find_limit({"role": "assistant", "stopReason": "error", "errorMessage": error}) == words
    assert find_limit({"role": "assistant", "stopReason": "stop", "errorMessage": error}) is None
