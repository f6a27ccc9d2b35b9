"""OpenAI Responses, as far as Codex uses it (0.120.0 and 0.171.0)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from lab.script import JsonObject, Message, Reply, Request, flatten


def read_request(body: JsonObject) -> Request:
    """The body of `POST /v1/responses`."""
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    output_format = (body.get("text") or {}).get("format") or {}
    return Request(
        messages=[message for item in items for message in read_item(item)],
        tools={tool.get("name") or tool.get("type", "") for tool in body.get("tools") or []},
        model=body.get("model", ""),
        stream=bool(body.get("stream", True)),
        wants_json=output_format.get("type") == "json_schema",
    )


def read_item(item: JsonObject) -> Iterator[Message]:
    """The blocks of one input item; kinds that say nothing are left out."""
    kind = item.get("type", "message")
    if kind == "message":
        content = item.get("content")
        for block in content if isinstance(content, list) else [content]:
            yield Message(item.get("role", ""), flatten(block))
    elif kind.endswith("_call_output"):
        yield Message("tool", flatten(item.get("output")), "result")
    elif kind.endswith("_call"):
        yield Message("assistant", f"{item.get('name')} {item.get('arguments') or item.get('input')}", "call")
    elif kind == "reasoning":
        yield Message("assistant", flatten(item.get("summary")), "thinking")


def write_call(name: str, arguments: JsonObject) -> JsonObject:
    """A function call; NAMESPACE/NAME becomes two fields."""
    namespace, _, bare = name.rpartition("/")
    call = {
        "type": "function_call",
        "id": "fc_" + uuid.uuid4().hex[:24],
        "call_id": "call_" + uuid.uuid4().hex[:24],
        "name": bare,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }
    return {**call, "namespace": namespace} if namespace else call


def write_items(reply: Reply) -> list[JsonObject]:
    """The output items of a reply."""
    items: list[JsonObject] = []
    if reply.thinking:
        items.append(
            {
                "type": "reasoning",
                "id": "rs_" + uuid.uuid4().hex[:24],
                "summary": [{"type": "summary_text", "text": reply.thinking}],
                "encrypted_content": "c2NyaXB0ZWQgcmVhc29uaW5n",
            }
        )
    if reply.text:
        items.append(
            {
                "type": "message",
                "id": "msg_" + uuid.uuid4().hex[:24],
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
            }
        )
    if reply.call:
        items.append(write_call(*reply.call))
    return items


def write_response(request: Request, reply: Reply, items: list[JsonObject]) -> JsonObject:
    """The whole reply as one response object."""
    tokens_in, tokens_out = len(request.history) // 4 + 1, len(reply.text) // 4 + 1
    return {
        "id": "resp_" + uuid.uuid4().hex[:24],
        "object": "response",
        "status": "completed",
        "model": request.model,
        "output": items,
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens_in + tokens_out,
        },
    }


def write_deltas(item: JsonObject, reply: Reply) -> Iterator[JsonObject]:
    """What fills an item after it was opened."""
    if item["type"] == "message":
        for piece in reply.pieces():
            yield {"type": "response.output_text.delta", "content_index": 0, "delta": piece}
    elif item["type"] == "reasoning":
        yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": reply.thinking}


def write_events(request: Request, reply: Reply) -> Iterator[JsonObject]:
    """The reply as server-sent events."""
    items = write_items(reply)
    whole = write_response(request, reply, items)
    yield {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(items):
        opening = {**item, "content": []} if item["type"] == "message" else item
        yield {"type": "response.output_item.added", "output_index": index, "item": opening}
        for delta in write_deltas(item, reply):
            yield {**delta, "output_index": index, "item_id": item["id"]}
        if item["type"] == "message" and not reply.finish:
            return
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}
