"""The two wires that most of the agents speak: what came in is read in one form, and what goes out is valid."""

from __future__ import annotations

from typing import Any

import pytest
from lab import completions_wire, gemini_wire
from lab.script import Reply, decide, shell_call

SHELL = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}, "why": {"type": "string"}},
    "required": ["command", "timeout", "why"],
}
COMPLETION: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "bash: ls"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "bash", "arguments": "{}"}}]},
        {"role": "tool", "content": "a.py"},
    ],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
}
GEMINI: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "bash: ls"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {"output": "a.py"}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SHELL}]}],
}


@pytest.mark.parametrize(
    "request_", [completions_wire.read_request(COMPLETION), gemini_wire.read_request(GEMINI)], ids=["chat", "gemini"]
)
def test_a_tool_s_output_is_answered_with_its_last_line(request_: Any) -> None:
    assert decide(request_).text == "tool said: a.py"


def test_a_shell_call_has_all_that_its_schema_asks_for() -> None:
    body = {**COMPLETION, "messages": COMPLETION["messages"][:2]}
    reply = decide(completions_wire.read_request(body))
    assert reply.call == ("bash", {"command": "ls", "timeout": 10000, "why": "scripted"})
    assert shell_call(gemini_wire.read_request(GEMINI), "pwd")[0] == "run_shell_command"


def test_a_stream_ends_with_a_reason_and_an_unfinished_one_does_not() -> None:
    request = completions_wire.read_request(COMPLETION)
    events = list(completions_wire.write_events(request, Reply(text="hello")))
    assert [event["choices"][0]["finish_reason"] for event in events[:-1]] == [None, None, "stop"]
    hanging = list(completions_wire.write_events(request, Reply(text="hello", finish=False)))
    assert all(choice["finish_reason"] is None for event in hanging for choice in event["choices"])


def test_gemini_s_stream_carries_thoughts_apart_and_ends_with_the_call() -> None:
    request = gemini_wire.read_request(GEMINI, "g", stream=True)
    reply = Reply(text="hello", thinking="hm", call=("run_shell_command", {"command": "ls"}))
    candidates = [event["candidates"][0] for event in gemini_wire.write_events(request, reply)]
    assert candidates[0]["content"]["parts"] == [{"text": "hm", "thought": True}]
    assert candidates[-1]["finishReason"] == "STOP"
    assert candidates[-1]["content"]["parts"][0]["functionCall"]["args"] == {"command": "ls"}
