"""OpenCode: what its command line means, how it is launched, and what its records say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rigline.harness.base import HookDefinition, LaunchRequest, Mode, NativePlan, Selector
from rigline.harness.opencode import OpenCode
from rigline.harness.opencode_plugin import PLUGIN_FILE, VARIABLE, add_plugin, write_plugin
from rigline.harness.opencode_records import Message, extract_entry, extract_part, read_title, unquote
from rigline.model import Kind

ID = "ses_dd1a17bb3ffemT48UbVH5WxcQX"
HOOKS = HookDefinition(commands=("hook --part 1", "hook --part 2"))
OPENCODE = OpenCode()


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("--mini",), Mode.SESSION, True),
        (("run", "x"), Mode.SESSION, False),
        (("-m", "lab/model", "run", "x"), Mode.SESSION, False),
        (("run", "-i", "x"), Mode.SESSION, True),
        (("run", "session", "list"), Mode.SESSION, False),
        (("run", "x", "--attach", "http://localhost:4096"), Mode.PASSTHROUGH, False),
        (("session", "list"), Mode.PASSTHROUGH, True),
        (("auth", "login"), Mode.PASSTHROUGH, True),
        (("serve", "--port", "1"), Mode.PASSTHROUGH, True),
        (("run", "-h"), Mode.PASSTHROUGH, False),
        (("-v",), Mode.PASSTHROUGH, True),
        (("run", "--", "--help"), Mode.SESSION, False),
        (("run", "--title", "serve", "x"), Mode.SESSION, False),
    ],
)
def test_what_a_command_line_is_for(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = OPENCODE.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("args", "selector"),
    [
        ((), None),
        (("run", "x", "--fork"), None),
        (("-s", ID), Selector(words=("-s", ID), native_id=ID)),
        ((f"--session={ID}",), Selector(words=(f"--session={ID}",), native_id=ID)),
        (("run", "-s", ID, "--fork", "x"), Selector(words=("-s", ID), native_id=ID, forks=True)),
        (("run", "-c", "x"), Selector(words=("-c",))),
        (("-c", "--fork"), Selector(words=("-c",), forks=True)),
        # the program heeds the former (1.18.33)
        (("-c", "-s", ID), Selector(words=("-c",))),
        (("run", "--session", "a name"), Selector(words=("--session", "a name"))),
        (("run", "--", "-s", ID), None),
    ],
)
def test_the_user_s_choice_of_a_session(args: tuple[str, ...], selector: Selector | None) -> None:
    assert OPENCODE.classify(args).selector == selector


@pytest.mark.parametrize(
    ("args", "begins_anew"),
    [
        (("run", "--dir", "/elsewhere", "x"), True),
        (("run", "--dir", ".", "x"), False),
        (("/elsewhere",), True),
        ((".",), False),
        (("run", "a prompt"), False),
        (("--prompt", "x"), False),
        (("run", "--dir", "/elsewhere", "-s", ID), False),
    ],
)
def test_nothing_of_this_directory_is_resumed_from_another(args: tuple[str, ...], begins_anew: bool) -> None:
    assert OPENCODE.classify(args).cannot_resume is begins_anew


def plan(*args: str, **more: Any) -> NativePlan:
    request = LaunchRequest(args=args, classification=OPENCODE.classify(args), private_dir="/private", **more)
    return OPENCODE.plan(request)


@pytest.mark.parametrize(
    ("args", "planned"),
    [
        ((), ("--session", ID)),
        (("--prompt", "x"), ("--session", ID, "--prompt", "x")),
        (("run", "x"), ("run", "--session", ID, "x")),
        (("-m", "a/b", "run", "-f", "a", "b"), ("-m", "a/b", "run", "--session", ID, "-f", "a", "b")),
        (("run", "--fork", "x"), ("run", "--session", ID, "--fork", "x")),
        (("run", "--", "run"), ("run", "--session", ID, "--", "run")),
    ],
)
def test_a_session_is_resumed_where_no_list_swallows_it(args: tuple[str, ...], planned: tuple[str, ...]) -> None:
    assert plan(*args, resume_id=ID).args == planned


def test_only_a_session_that_is_gone_on_with_is_expected() -> None:
    assert plan("run", "x", resume_id=ID).expected_id == ID
    assert plan("run", "--fork", "x", resume_id=ID).expected_id is None
    assert plan("run", "-s", ID, "x").expected_id == ID
    assert plan("run", "-s", ID, "--fork", "x").expected_id is None
    assert plan("run", "x").expected_id is None


def test_yolo_is_the_program_s_own_option_once() -> None:
    assert plan("run", "x", yolo=True).args == ("run", "--auto", "x")
    assert plan("--auto", yolo=True).args == ("--auto",)


def test_the_hook_is_a_plugin_beside_the_user_s_own_configuration() -> None:
    own = {"plugin": ["theirs"], "model": "a/b", "agent": {"x": {}}}
    planned = plan("run", "x", hooks=HOOKS, settings={VARIABLE: json.dumps(own)})
    assert planned.has_hooks
    assert json.loads(planned.variables[VARIABLE]) == {**own, "plugin": ["theirs", f"file:///private/{PLUGIN_FILE}"]}
    assert json.dumps(list(HOOKS.commands), separators=(",", ":")) in planned.files[PLUGIN_FILE]
    assert planned.args == ("run", "x")


@pytest.mark.parametrize("config", ['{"a": 1} // theirs', "[]", '{"plugin": "x"}'])
def test_a_configuration_that_cannot_be_added_to_is_left_as_it_is_and_said(config: str) -> None:
    planned = plan("run", "x", hooks=HOOKS, settings={VARIABLE: config})
    assert (planned.has_hooks, planned.variables, planned.files) == (False, {}, {})
    assert VARIABLE in planned.notes[0]


@pytest.mark.parametrize(("args", "settings"), [(("--pure",), {}), ((), {"OPENCODE_PURE": "1"})])
def test_without_plugins_there_is_no_hook(args: tuple[str, ...], settings: dict[str, str]) -> None:
    assert not plan(*args, hooks=HOOKS, settings=settings).has_hooks


def test_the_plugin_of_an_outer_run_is_taken_out() -> None:
    outer = add_plugin('{"plugin": ["theirs"]}', f"/outer/{PLUGIN_FILE}")
    assert outer is not None
    inner = add_plugin(outer, f"/inner run/{PLUGIN_FILE}")
    assert inner is not None
    assert json.loads(inner)["plugin"] == ["theirs", f"file:///inner%20run/{PLUGIN_FILE}"]


def test_settings_are_those_of_the_environment() -> None:
    env = {VARIABLE: "{}", "OPENCODE_PURE": "1", "HOME": "/nowhere"}
    assert OPENCODE.read_settings(env, "/x") == {VARIABLE: "{}", "OPENCODE_PURE": "1"}
    assert OPENCODE.read_settings({VARIABLE: ""}, "/x") == {}


def test_commands_with_any_characters_stand_in_the_plugin_as_a_string() -> None:
    command = "'/a \"b\"/$c`d`' -m rigline \\ %s"
    assert json.dumps(command) in write_plugin((command,))


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ('"two words"', "two words"),
        ('"say \\"two words\\" now"', 'say "two words" now'),
        ('"two\nlines here"', "two\nlines here"),
        ("one", "one"),
        ('"one"', '"one"'),
        ('"first part" and "second part"', '"first part" and "second part"'),
        ('"half quoted', '"half quoted'),
        ('""', '""'),
        ("", ""),
    ],
)
def test_quotes_that_run_puts_around_words_are_taken_off_and_no_others(stored: str, words: str) -> None:
    assert unquote(stored) == words


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("New session - 2026-12-01T03:14:09.982Z", None),
        ("Child session - 2026-12-01T03:14:09.982Z", None),
        ("New session ideas", "New session ideas"),
        (None, None),
    ],
)
def test_a_title_that_stands_for_none_is_none(title: str | None, found: str | None) -> None:
    assert read_title(title) == found


ANSWER = Message(id="msg_2", created_ms=5, role="assistant", prompt="msg_1")


@pytest.mark.parametrize(
    ("state", "results"),
    [
        ({"status": "pending", "input": {}, "raw": ""}, []),
        ({"status": "running", "input": {"a": 1}}, []),
        ({"status": "completed", "input": {}, "output": "out", "metadata": {"exit": 0}}, [("out", None)]),
        ({"status": "completed", "input": {}, "output": "out", "metadata": {"exit": 2}}, [("out", "error")]),
        ({"status": "error", "input": {}, "error": "no such file"}, [("no such file", "error")]),
        ({"status": "completed", "input": {}, "output": " \n"}, []),
        ("no object", []),
    ],
)
def test_a_tool_s_result_is_there_once_it_has_ended(state: object, results: list[tuple[str, str | None]]) -> None:
    part = {"type": "tool", "tool": "bash", "callID": "call_1", "state": state}
    call, *found = extract_part(ANSWER, 0, "prt_1", part).pieces
    assert (call.kind, call.tool, call.call_id) == (Kind.TOOL_CALL, "bash", "call_1")
    assert [(piece.text, piece.status) for piece in found] == results


@pytest.mark.parametrize("field", ["type", "text", "state", "callID", "time", "tool", "synthetic"])
@pytest.mark.parametrize("value", [None, 1, [], {}, "x", [[1]], True])
def test_nothing_that_a_field_may_hold_is_an_error(field: str, value: object) -> None:
    for part in ({"type": "text", "text": "words"}, {"type": "tool", "tool": "x", "state": {"status": "completed"}}):
        for role in ("user", "assistant", ""):
            extract_part(Message(id="m", created_ms=1, role=role), 0, "prt_1", {**part, field: value})


ENTRIES: list[tuple[str, dict[str, Any], list[tuple[str, str]], tuple[str, ...]]] = [
    ("user", {"text": "a prompt", "files": [{"mime": "image/png"}]}, [("message", "a prompt")], ("attachment_image",)),
    (
        "assistant",
        {
            "content": [
                {"type": "reasoning", "text": "hidden"},
                {"type": "text", "text": "words"},
                {
                    "type": "tool",
                    "id": "call_1",
                    "name": "bash",
                    "state": {"status": "completed", "input": {"a": 1}, "content": [{"type": "text", "text": "out"}]},
                },
                {
                    "type": "tool",
                    "id": "call_2",
                    "name": "bash",
                    "state": {"status": "error", "input": {}, "error": {"type": "x", "message": "failed"}},
                },
            ]
        },
        [
            ("message", "words"),
            ("tool_call", 'bash {"a":1}'),
            ("tool_result", "out"),
            ("tool_call", "bash {}"),
            ("tool_result", "failed"),
        ],
        ("hidden_reasoning",),
    ),
    ("shell", {"command": "ls", "output": "a"}, [("tool_call", 'shell {"command":"ls"}'), ("tool_result", "a")], ()),
    ("compaction", {"summary": "so far", "recent": "x"}, [("compaction", "so far")], ()),
    ("system", {"text": "hidden"}, [], ("system_prompt",)),
    ("synthetic", {"text": "added"}, [], ("meta",)),
    ("model-switched", {"model": {}}, [], ()),
    ("no such", {}, [], ("unknown:other",)),
    ("new-kind", {}, [], ("unknown:new-kind",)),
]


@pytest.mark.parametrize(("kind", "data", "pieces", "losses"), ENTRIES, ids=[kind for kind, *_ in ENTRIES])
def test_entries_of_the_newer_layout(
    kind: str, data: dict[str, Any], pieces: list[tuple[str, str]], losses: tuple[str, ...]
) -> None:
    item = extract_entry(Message(id="msg_1", created_ms=5, role=kind, is_prompt=kind == "user"), kind, data)
    assert [(str(piece.kind), piece.text) for piece in item.pieces] == pieces
    assert item.losses == losses
