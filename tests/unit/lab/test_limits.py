"""The scripted model refuses at a limit as each vendor does."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

import pytest
from lab import limits
from lab.model_server import open_model_server

PATHS = {
    "messages": ("/v1/messages", {"messages": [{"role": "user", "content": "limit: KIND"}]}),
    "responses": ("/v1/responses", {"input": "limit: KIND"}),
    "completions": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "limit: KIND"}]}),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "limit: KIND"}]}]},
    ),
}


@pytest.mark.parametrize("kind", limits.KINDS)
def test_each_wire_refuses_in_its_own_way(tmp_path: Path, kind: str) -> None:
    with open_model_server(tmp_path / "log.jsonl") as server:
        for wire, (path, body) in PATHS.items():
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
            connection.request("POST", path, json.dumps(body).replace("KIND", kind))
            answer = connection.getresponse()
            error = json.loads(answer.read())["error"]
            connection.close()
            assert answer.status == (400 if (wire, kind) == ("messages", "credit") else 429), wire
            assert error["message"]


def test_only_an_allowance_that_is_used_up_has_the_headers_of_one() -> None:
    assert "anthropic-ratelimit-unified-status" in limits.refuse_messages("usage")[1]
    assert "anthropic-ratelimit-unified-status" not in limits.refuse_messages("rate")[1]
    assert limits.refuse_openai("usage")[2]["error"]["type"] == "usage_limit_reached"
    assert limits.refuse_openai("credit")[2]["error"]["type"] == "insufficient_quota"
