"""Pi's and OMP's command lines, launch plans, store places and entries, by tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.pi_store import MARKER, entry, message, tool_output

from rigline.harness.base import HookDefinition, LaunchRequest, Mode
from rigline.harness.omp import Omp, find_sessions
from rigline.harness.pi import Pi
from rigline.harness.pi_store import extract, find_limit, find_parent
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
NEW = "22222222-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook '--part' 1",))
pi, omp = Pi(), Omp()
Adapter = Pi | Omp


def request(adapter: Adapter, *args: str, **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=adapter.classify(args), private_dir="/private/run", **more)


@pytest.mark.parametrize(
    ("adapter", "args", "mode", "interactive"),
    [
        (pi, (), Mode.SESSION, True),
        (pi, ("-p", "hello"), Mode.SESSION, False),
        (pi, ("--mode", "json", "hello"), Mode.SESSION, False),
        (pi, ("--mode", "text"), Mode.SESSION, True),
        (pi, ("--model", "x", "install"), Mode.SESSION, True),
        (pi, ("install", "a-package"), Mode.PASSTHROUGH, True),
        (pi, ("--", "--help"), Mode.SESSION, True),
        (pi, ("--append-system-prompt", "--help"), Mode.SESSION, True),
        (pi, ("--export", "x.jsonl"), Mode.PASSTHROUGH, True),
        (pi, ("-v",), Mode.PASSTHROUGH, True),
        (omp, ("-p", "hello"), Mode.SESSION, False),
        (omp, ("--mode=rpc-ui",), Mode.SESSION, False),
        (omp, ("ps",), Mode.PASSTHROUGH, True),
        (omp, ("--cwd", "/elsewhere"), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(
    adapter: Adapter, args: tuple[str, ...], mode: Mode, interactive: bool
) -> None:
    found = adapter.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("adapter", "args", "native_id", "forks", "chosen_id"),
    [
        (pi, ("--session", ONE), ONE, False, None),
        (pi, ("--session", ONE[:8]), None, False, None),
        (pi, ("--session", "/a/path.jsonl"), None, False, None),
        (pi, ("-r",), None, False, None),
        (pi, ("-c",), None, False, None),
        (pi, ("--session-id", "my-own-id"), "my-own-id", False, None),
        (pi, ("--fork", ONE), ONE, True, None),
        (pi, ("--fork", ONE, "--session-id", "my-fork"), ONE, True, "my-fork"),
        (omp, ("-r", ONE), ONE, False, None),
        (omp, (f"--resume={ONE}",), ONE, False, None),
        (omp, ("--resume", "--model", "x"), None, False, None),
        (omp, ("--fork", ONE), ONE, True, None),
    ],
)
def test_the_user_s_selector_is_read(
    adapter: Adapter, args: tuple[str, ...], native_id: str | None, forks: bool, chosen_id: str | None
) -> None:
    selector = adapter.classify(args).selector
    assert selector is not None
    assert (selector.native_id, selector.forks, selector.chosen_id) == (native_id, forks, chosen_id)


@pytest.mark.parametrize(
    ("adapter", "args", "more", "added", "expected_id"),
    [
        (pi, ("hello",), {"fresh_id": NEW}, ("--session-id", NEW), NEW),
        (pi, ("hello",), {"resume_id": ONE}, ("--session", ONE), ONE),
        (pi, ("--fork", ONE), {"fresh_id": NEW}, ("--session-id", NEW), NEW),
        (pi, ("hello",), {"yolo": True}, ("--approve",), None),
        (pi, ("-na", "hello"), {"yolo": True}, (), None),
        (omp, ("hello",), {"resume_id": ONE}, (f"--resume={ONE}",), ONE),
        (omp, ("hello",), {"yolo": True}, ("--auto-approve",), None),
        (omp, ("--yolo", "hello"), {"yolo": True}, (), None),
        (omp, ("--approval-mode", "write"), {"yolo": True}, (), None),
    ],
)
def test_a_plan_adds_what_is_needed_and_keeps_the_rest(
    adapter: Adapter, args: tuple[str, ...], more: dict[str, Any], added: tuple[str, ...], expected_id: str | None
) -> None:
    plan = adapter.plan(request(adapter, *args, **more))
    assert plan.args == (*added, *args)
    assert plan.expected_id == expected_id


def test_the_hook_travels_in_a_private_file_and_its_quotes_survive() -> None:
    plan = pi.plan(request(pi, "hello", hooks=HOOKS))
    ((name, text),) = plan.files.items()
    assert plan.args == ("-e", f"/private/run/{name}", "hello")
    assert plan.has_hooks
    assert f"const commands = {json.dumps(list(HOOKS.commands), separators=(',', ':'))};" in text


def test_a_path_behind_a_selector_is_warned_of() -> None:
    assert "without a word" in pi.plan(request(pi, "--session", "/a/b.jsonl")).notes[0]
    assert not pi.plan(request(pi, "--session", ONE)).notes


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({}, "/h/.omp/agent/sessions"),
        ({"PI_CODING_AGENT_DIR": "/d"}, "/d/sessions"),
        ({"PI_CODING_AGENT_DIR": " "}, "/h/.omp/agent/sessions"),
        ({"PI_CODING_AGENT_SESSION_DIR": "/s", "OMP_PROFILE": "work"}, "/s"),
        ({"OMP_PROFILE": "work", "PI_CODING_AGENT_DIR": "/d"}, "/h/.omp/profiles/work/agent/sessions"),
        ({"PI_PROFILE": "old"}, "/h/.omp/profiles/old/agent/sessions"),
        ({"OMP_PROFILE": "", "PI_PROFILE": "old"}, "/h/.omp/agent/sessions"),
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
    assert find_sessions({**env, "OMP_PROFILE": "work"}) == "/h/.omp/profiles/work/agent/sessions"


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
    assert omp.read_store_variables(("--profile=work",)) == {"OMP_PROFILE": "work"}
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
