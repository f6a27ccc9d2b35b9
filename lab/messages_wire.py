"""Anthropic Messages, as far as Claude Code uses it (2.1.197 and 2.1.332)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from lab.script import JsonObject, Message, Reply, Request, flatten


def read_request(body: JsonObject) -> Request:
    """The body of `POST /v1/messages`."""
    output_format = (body.get("output_config") or {}).get("format") or body.get("output_format")
    return Request(
        messages=[message for entry in body.get("messages", []) for message in read_message(entry)],
        tools={tool.get("name", "") for tool in body.get("tools") or []},
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        wants_json=bool(output_format),
    )


def read_message(entry: JsonObject) -> Iterator[Message]:
    """The blocks of one message; kinds that say nothing are left out."""
    role: str = entry.get("role", "")
    content = entry.get("content")
    blocks: list[JsonObject] = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            yield Message(role, block.get("text") or "")
        elif kind == "tool_use":
            yield Message(role, f"{block.get('name')} {json.dumps(block.get('input'))}", "call")
        elif kind == "tool_result":
            yield Message(role, flatten(block.get("content")), "result")
        elif kind in ("thinking", "redacted_thinking"):
            yield Message(role, block.get("thinking", ""), "thinking")


def write_blocks(reply: Reply) -> list[JsonObject]:
    """The content blocks of a reply."""
    blocks: list[JsonObject] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": "c2NyaXB0ZWQ="})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    if reply.call:
        name, arguments = reply.call
        call_id = "toolu_" + uuid.uuid4().hex[:24]
        blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
    return blocks


def write_message(request: Request, reply: Reply) -> JsonObject:
    """The whole reply as one message."""
    return {
        "id": "msg_" + uuid.uuid4().hex[:24],
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": write_blocks(reply),
        "stop_reason": "tool_use" if reply.call else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": len(request.history) // 4 + 1,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": len(reply.text) // 4 + 1,
        },
    }


def open_block(block: JsonObject, reply: Reply) -> tuple[JsonObject, Iterator[JsonObject]]:
    """A block as its stream begins, and the deltas that fill it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, ({"type": "text_delta", "text": piece} for piece in reply.pieces())
    if block["type"] == "thinking":
        thinking = {"type": "thinking_delta", "thinking": block["thinking"]}
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, iter([thinking, signature])
    partial = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, iter([partial])


def write_events(request: Request, reply: Reply) -> Iterator[JsonObject]:
    """The reply as server-sent events."""
    message = write_message(request, reply)
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        opening, deltas = open_block(block, reply)
        yield {"type": "content_block_start", "index": index, "content_block": opening}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        if not reply.finish:
            return
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}
