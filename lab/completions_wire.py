"""OpenAI chat completions, as far as Pi, Kimi Code, Qwen Code, OpenCode, Copilot, OMP and Command Code use them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from lab.script import JsonObject, Message, Reply, Request, flatten


def read_request(body: JsonObject) -> Request:
    """The body of `POST /v1/chat/completions`."""
    tools = [tool.get("function") or {} for tool in body.get("tools") or []]
    output_format = body.get("response_format") or {}
    return Request(
        messages=[message for entry in body.get("messages", []) for message in read_message(entry)],
        tools={tool.get("name", "") for tool in tools},
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        wants_json=output_format.get("type") in ("json_schema", "json_object"),
        parameters={tool.get("name", ""): tool.get("parameters") or {} for tool in tools},
    )


def read_message(entry: JsonObject) -> Iterator[Message]:
    """The parts of one message; kinds that say nothing are left out."""
    role: str = entry.get("role", "")
    content = entry.get("content")
    if role == "tool":
        yield Message(role, flatten(content), "result")
        return
    for part in content if isinstance(content, list) else [content]:
        if text := flatten(part):
            yield Message(role, text)
    for call in entry.get("tool_calls") or []:
        function = call.get("function") or {}
        yield Message(role, f"{function.get('name')} {function.get('arguments')}", "call")


def write_calls(reply: Reply) -> list[JsonObject]:
    """The tool calls of a reply."""
    if reply.call is None:
        return []
    name, arguments = reply.call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"index": 0, "id": "call_" + uuid.uuid4().hex[:24], "type": "function", "function": function}]


def write_completion(request: Request, reply: Reply) -> JsonObject:
    """The whole reply as one object."""
    message: JsonObject = {"role": "assistant", "content": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    calls = write_calls(reply)
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _count(request, reply)}


def write_events(request: Request, reply: Reply) -> Iterator[JsonObject]:
    """The reply as server-sent events; `[DONE]` follows the last."""
    head = _head(request, "chat.completion.chunk")
    calls = write_calls(reply)
    yield {**head, "choices": [_choose({"role": "assistant", "content": ""})]}
    if reply.thinking:
        yield {**head, "choices": [_choose({"reasoning_content": reply.thinking})]}
    for piece in reply.pieces():
        yield {**head, "choices": [_choose({"content": piece})]}
    if not reply.finish:
        return
    for call in calls:
        yield {**head, "choices": [_choose({"tool_calls": [call]})]}
    yield {**head, "choices": [_choose({}, "tool_calls" if calls else "stop")]}
    yield {**head, "choices": [], "usage": _count(request, reply)}


def _head(request: Request, kind: str) -> JsonObject:
    return {"id": "chatcmpl-" + uuid.uuid4().hex[:24], "object": kind, "created": 1767225600, "model": request.model}


def _choose(delta: JsonObject, reason: str | None = None) -> JsonObject:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def _count(request: Request, reply: Reply) -> JsonObject:
    tokens_in, tokens_out = len(request.history) // 4 + 1, len(reply.text) // 4 + 1
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
