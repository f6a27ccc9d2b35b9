"""The scripted model over real HTTP: streams, errors, and a log without secrets."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab.model_server import ModelServer, open_model_server
from lab.request_log import read_log


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    """A server with an empty log."""
    with open_model_server(tmp_path / "requests.jsonl") as running:
        yield running


def post(server: ModelServer, path: str, body: dict[str, Any]) -> str:
    """The answer's text."""
    request = urllib.request.Request(
        server.url + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "X-Api-Key": "sk-secret", "User-Agent": "test"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def test_messages_are_streamed_to_their_end(server: ModelServer) -> None:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "say: hello"}]}
    stream = post(server, "/v1/messages?beta=true", body)
    assert stream.index("message_start") < stream.index('"text": "hello"') < stream.index("event: message_stop")


def test_responses_are_streamed_to_their_end(server: ModelServer) -> None:
    body = {"model": "m", "stream": True, "input": "think: hello"}
    stream = post(server, "/v1/responses", body)
    assert stream.index("response.created") < stream.index("scripted thought") < stream.index("response.completed")


def test_an_http_error_can_be_asked_for(server: ModelServer) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "http: 529"}]}
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(server, "/v1/messages", body)
    with caught.value as error:
        assert error.code == 529


def test_the_log_has_every_request_and_no_key(server: ModelServer) -> None:
    for text in ("say: one", "say: two"):
        post(server, "/v1/messages", {"model": "m", "messages": [{"role": "user", "content": text}]})
    entries = read_log(server.log.path)
    assert [entry.n for entry in entries] == [1, 2]
    assert [entry.request.prompt for entry in entries if entry.request] == ["say: one", "say: two"]
    assert "sk-secret" not in Path(server.log.path).read_text()
