"""Gemini's generateContent, as far as Gemini CLI uses it (0.61.0)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from lab.script import JsonObject, Message, Reply, Request


def read_request(body: JsonObject, model: str = "", *, stream: bool = False) -> Request:
    """The body of `POST /v1beta/models/MODEL:generateContent` or `:streamGenerateContent`."""
    tools = [
        function
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations") or tool.get("function_declarations") or []
    ]
    settings = body.get("generationConfig") or {}
    return Request(
        messages=[message for entry in body.get("contents", []) for message in read_content(entry)],
        tools={tool.get("name", "") for tool in tools},
        model=model,
        stream=stream,
        wants_json=settings.get("responseMimeType") == "application/json",
        parameters={
            tool.get("name", ""): tool.get("parametersJsonSchema") or tool.get("parameters") or {} for tool in tools
        },
    )


def read_content(entry: JsonObject) -> Iterator[Message]:
    """The parts of one entry; kinds that say nothing are left out."""
    role = "assistant" if entry.get("role") == "model" else "user"
    for part in entry.get("parts") or []:
        if "functionResponse" in part:
            response = part["functionResponse"].get("response") or {}
            yield Message("tool", str(response.get("output") or json.dumps(response)), "result")
        elif "functionCall" in part:
            call = part["functionCall"]
            yield Message(role, f"{call.get('name')} {json.dumps(call.get('args'))}", "call")
        elif part.get("thought"):
            yield Message(role, part.get("text", ""), "thinking")
        elif part.get("text"):
            yield Message(role, part["text"])


def write_response(request: Request, reply: Reply) -> JsonObject:
    """The whole reply as one response."""
    return _respond(request, reply, [*_think(reply), {"text": reply.text}, *_call(reply)], "STOP")


def write_events(request: Request, reply: Reply) -> Iterator[JsonObject]:
    """The reply as server-sent events."""
    for part in _think(reply):
        yield _respond(request, reply, [part])
    for piece in reply.pieces():
        yield _respond(request, reply, [{"text": piece}])
    if reply.finish:
        yield _respond(request, reply, _call(reply) or [{"text": ""}], "STOP")


def _think(reply: Reply) -> list[JsonObject]:
    return [{"text": reply.thinking, "thought": True}] if reply.thinking else []


def _call(reply: Reply) -> list[JsonObject]:
    if reply.call is None:
        return []
    name, arguments = reply.call
    return [{"functionCall": {"id": "fc_" + uuid.uuid4().hex[:16], "name": name, "args": arguments}}]


def _respond(request: Request, reply: Reply, parts: list[JsonObject], reason: str = "") -> JsonObject:
    candidate: JsonObject = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reason:
        candidate["finishReason"] = reason
    tokens_in, tokens_out = len(request.history) // 4 + 1, len(reply.text) // 4 + 1
    usage = {"promptTokenCount": tokens_in, "candidatesTokenCount": tokens_out}
    return {
        "candidates": [candidate],
        "usageMetadata": {**usage, "totalTokenCount": tokens_in + tokens_out},
        "modelVersion": request.model,
        "responseId": uuid.uuid4().hex[:16],
    }
