"""What of one record of a Codex rollout is history."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.fixtures.codex_store import DELIVERY, call, message, meta, output, record, told

from rigline.harness.codex_records import extract, find_told
from rigline.model import Kind


def kinds(*names: str) -> dict[str, Any]:
    return {"internal_chat_message_metadata_passthrough": {"content_item_kinds": list(names)}}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (message("user", "fix it"), (Kind.MESSAGE, "user", "fix it")),
        (message("user", "fix it", **kinds("user.text")), (Kind.MESSAGE, "user", "fix it")),
        (
            message("user", "<environment_context>", **kinds("user.text")),
            (Kind.MESSAGE, "user", "<environment_context>"),
        ),
        (message("assistant", "done", **kinds("unknown")), (Kind.MESSAGE, "assistant", "done")),
        (message("assistant", "one", "two"), (Kind.MESSAGE, "assistant", "one\ntwo")),
        (record("compacted", message="so far"), (Kind.COMPACTION, "assistant", "so far")),
    ],
)
def test_messages_and_compactions_are_history(item: dict[str, Any], expected: tuple[Kind, str, str]) -> None:
    found = extract(item)
    assert (found.kind, found.role, found.text) == expected
    assert found.is_prompt is (found.role == "user")


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/x</cwd>",
        "# AGENTS.md instructions for /x\n<INSTRUCTIONS>",
        "<user_instructions>be brief",
        "<turn_aborted>\nThe user interrupted",
        "<user_shell_command>\n<command>ls",
        "<skill>\n<name>x",
        "\n  <ENVIRONMENT_CONTEXT>",
    ],
)
def test_what_the_program_says_in_the_user_s_name_is_in_doubt(text: str) -> None:
    found = extract(message("user", text))
    assert (found.kind, found.doubtful, found.is_prompt) == (None, text, False)


def test_other_kinds_of_content_are_the_program_s_own_whatever_they_say() -> None:
    found = extract(message("user", "go on", **kinds("generic.turn_aborted")))
    assert (found.kind, found.doubtful, found.losses) == (None, "", ["meta"])


def test_only_what_was_typed_is_kept_of_a_message_of_several_texts() -> None:
    found = extract(message("user", "# AGENTS.md instructions for /x", "fix it"))
    assert (found.text, found.losses, found.doubtful) == ("fix it", ["meta"], "")


def test_pictures_are_counted_and_their_tags_left_out() -> None:
    item = message("user", '<image name=[Image #1] path="/home/dev/a.png">', "</image>", "what is it?")
    item["payload"]["content"].insert(1, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"})
    found = extract(item)
    assert (found.text, found.losses) == ("what is it?", ["attachment_image"])


def test_markers_count_in_developer_messages_and_on_their_first_line_only() -> None:
    marker = f"[rigline packet {DELIVERY} part 2/3]"
    assert extract(message("developer", f"{marker}\nwords")).packets == [(DELIVERY, 2, 3)]
    assert extract(message("developer", f"words\n{marker}\n")).packets == []
    assert extract(message("user", f"{marker}\nwords")).packets == []
    assert extract(message("assistant", f"{marker}\nwords")).packets == []


def test_developer_messages_and_base_instructions_are_never_history() -> None:
    assert extract(message("developer", "obey")).losses == ["system_prompt"]
    assert extract(meta("x", base_instructions={"text": "obey"})).losses == ["system_prompt"]
    assert extract(message("developer", "obey")).kind is None


@pytest.mark.parametrize(
    ("item", "tool", "text"),
    [
        (call("c", arguments='{"cmd":"ls"}'), "exec_command", 'exec_command {"cmd":"ls"}'),
        (call("c", "spawn_agent", "{}", namespace="agents"), "agents/spawn_agent", "agents/spawn_agent {}"),
        (
            record("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c"),
            "apply_patch",
            "apply_patch *** Begin",
        ),
        (
            record("response_item", type="local_shell_call", call_id="c", action={"command": ["ls"]}),
            "local_shell",
            'local_shell {"command":["ls"]}',
        ),
        (
            record("response_item", type="web_search_call", id="c", action={"query": "codex"}),
            "web_search",
            'web_search {"query":"codex"}',
        ),
    ],
)
def test_tool_calls_are_history(item: dict[str, Any], tool: str, text: str) -> None:
    found = extract(item)
    assert (found.kind, found.role, found.tool, found.text, found.call_id) == (
        Kind.TOOL_CALL,
        "assistant",
        tool,
        text,
        "c",
    )


#: what 0.120.0 and 0.171.0 write above the output of a command that has ended
FRAME = "Chunk ID: a166ad\nWall time: 0.0000 seconds\nProcess exited with code"


@pytest.mark.parametrize(
    ("value", "text", "status"),
    [
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nhi", None, None),
        ("Chunk ID: 1\nProcess exited with code 2\nOutput:\nhi", None, "error"),
        (f"{FRAME} 0\nOriginal token count: 4\nOutput:\nhi\n", "hi\n", None),
        (f"{FRAME} 2\nOriginal token count: 4\nOutput:\nno", "Process exited with code 2\nno", "error"),
        (f"{FRAME} 0\nOutput:\nProcess exited with code 1", "Process exited with code 1", None),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", None, "error"),
        ("Exit code: 0\nOutput:\nProcess exited with code 1", None, None),
        ("plain", None, None),
        ("aborted by user after 1.2s", None, "error"),
        (json.dumps({"output": "hi", "metadata": {"exit_code": 0}}, separators=(",", ":")), "hi", None),
        (json.dumps({"output": "no", "metadata": {"exit_code": 127}}, separators=(",", ":")), "no", "error"),
        ({"content": "no", "success": False}, "no", "error"),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", None),
    ],
)
def test_tool_results_tell_whether_they_failed(value: object, text: str | None, status: str | None) -> None:
    found = extract(output("c", value))
    assert (found.kind, found.role, found.call_id) == (Kind.TOOL_RESULT, "tool", "c")
    assert (found.text, found.status) == (value if text is None else text, status)


def test_a_tool_result_that_repeats_a_packet_is_left_out() -> None:
    found = extract(output("c", f"  1\t[rigline packet {DELIVERY} part 1/1]\n  2\tx"))
    assert (found.kind, found.losses, found.packets) == (None, ["own_packet"], [])


@pytest.mark.parametrize(
    ("item", "losses"),
    [
        (record("response_item", type="reasoning", summary=[], encrypted_content="x"), ["hidden_reasoning"]),
        (record("response_item", type="something_new"), ["unknown:something_new"]),
        (record("something_new"), ["unknown:something_new"]),
        (record("something new " * 9), ["unknown:other"]),
        (record("response_item", type="image_generation_call", result="AAAA"), ["attachment_image"]),
        (record("compacted", message=""), ["encrypted_compaction"]),
        (record("response_item", type="ghost_snapshot"), []),
        (record("event_msg", type="agent_message", message="said twice"), []),
        (record("turn_context", user_instructions="obey"), []),
        (record("world_state", state={}), []),
        ({}, ["unknown:other"]),
        ({"type": "response_item", "payload": None}, ["unknown:other"]),
        ({"type": "response_item", "payload": {"type": "message", "role": "user", "content": "text"}}, []),
        ({"type": "response_item", "payload": {"type": "function_call", "arguments": None}}, []),
    ],
)
def test_everything_else_is_counted_or_bookkeeping_and_never_raises(item: dict[str, Any], losses: list[str]) -> None:
    assert extract(item).losses == losses


def test_events_for_people_tell_what_was_typed() -> None:
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "hello"}, {"type": "image"}]}
    assert find_told(told("hello")["payload"]) == "hello"
    assert find_told({"type": "item_completed", "item": item}) == "hello"
    assert find_told({"type": "item_completed", "item": {"type": "AgentMessage", "content": [{"text": "x"}]}}) == ""
    assert find_told({"type": "agent_message", "message": "x"}) == ""
