"""A scripted model on loopback, for driving the real agent CLIs offline.

It speaks the part of four wire formats that the agent CLIs use:

    Anthropic Messages        POST /v1/messages, POST /v1/messages/count_tokens
    OpenAI Responses          POST /v1/responses, GET /v1/models
    OpenAI chat completions   POST /v1/chat/completions
    Gemini                    POST /v1beta/models/MODEL:generateContent, :streamGenerateContent, :countTokens

What it answers is described in `lab/script.py`. Every request is logged, so that one can see what history a
resumed session sent:

    python -m lab.model_server serve --port 8399 --log requests.jsonl
    python -m lab.model_server show requests.jsonl          # one line a request
    python -m lab.model_server show requests.jsonl --n 4    # the messages of request 4
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lab import completions_wire, gemini_wire, limits, messages_wire, responses_wire
from lab.request_log import RequestLog, show_log
from lab.script import JsonObject, decide


class Handler(BaseHTTPRequestHandler):
    """One request: read, logged, answered."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *args: Any) -> None:
        """Say nothing on stderr: the request log is the only log."""

    def read_raw_body(self) -> bytes:
        """The body's bytes, chunked or not."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        raw = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def read_body(self) -> Any:
        """The body as JSON, or as text where it is none."""
        raw = self.read_raw_body()
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw) if raw else None
        except ValueError:
            return raw.decode("utf-8", "replace")

    def send_json(self, status: int, value: JsonObject, headers: dict[str, str] | None = None) -> None:
        """Answer with one JSON object."""
        raw = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def send_refusal(self, refusal: limits.Refusal) -> None:
        """Answer as a vendor does at a limit."""
        status, headers, body = refusal
        self.send_json(status, body, headers)

    def send_events(self, events: Iterator[JsonObject], finish: bool) -> None:
        """Answer with a stream; an unfinished one stays open until the server stops."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        if not finish:
            self.server.stopping.wait()

    def handle_request(self) -> None:
        """Log and answer; a client that went away is no fault."""
        body = self.read_body()
        self.server.log.add(self.command, self.path, dict(self.headers), body)
        try:
            self.answer(self.path.split("?")[0].rstrip("/"), body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_HEAD = do_PUT = handle_request  # noqa: N815  (http.server looks for these names)

    def answer(self, path: str, body: Any) -> None:
        """The routes."""
        posted = self.command == "POST" and isinstance(body, dict)
        if posted and path.endswith("/messages"):
            self.answer_messages(body)
        elif posted and path.endswith("/messages/count_tokens"):
            self.send_json(200, {"input_tokens": len(messages_wire.read_request(body).history) // 4 + 1})
        elif posted and path.endswith("/responses"):
            self.answer_responses(body)
        elif posted and path.endswith("/chat/completions"):
            self.answer_completions(body)
        elif posted and path.endswith("enerateContent"):
            self.answer_gemini(path, body)
        elif posted and path.endswith(":countTokens"):
            self.send_json(200, {"totalTokens": len(json.dumps(body)) // 4 + 1})
        elif path.endswith("/models"):
            self.send_json(200, {"object": "list", "data": [], "models": []})
        elif path == "":
            self.send_json(200, {"ok": True})
        else:
            error = {"type": "not_found_error", "message": f"no route {self.command} {path}"}
            self.send_json(404, {"type": "error", "error": error})

    def answer_messages(self, body: JsonObject) -> None:
        """Anthropic Messages."""
        request = messages_wire.read_request(body)
        reply = decide(request)
        if reply.limit:
            self.send_refusal(limits.refuse_messages(reply.limit))
        elif reply.status != 200:
            error = {"type": "api_error", "message": f"scripted {reply.status}"}
            self.send_json(reply.status, {"type": "error", "error": error})
        elif request.stream:
            self.send_events(messages_wire.write_events(request, reply), reply.finish)
        else:
            self.send_json(200, messages_wire.write_message(request, reply))

    def answer_responses(self, body: JsonObject) -> None:
        """OpenAI Responses."""
        request = responses_wire.read_request(body)
        reply = decide(request)
        if reply.limit:
            self.send_refusal(limits.refuse_openai(reply.limit))
        elif reply.status != 200:
            error = {"type": "server_error", "message": f"scripted {reply.status}"}
            self.send_json(reply.status, {"error": error})
        elif request.stream:
            self.send_events(responses_wire.write_events(request, reply), reply.finish)
        else:
            items = responses_wire.write_items(reply)
            self.send_json(200, responses_wire.write_response(request, reply, items))

    def answer_completions(self, body: JsonObject) -> None:
        """OpenAI chat completions."""
        request = completions_wire.read_request(body)
        reply = decide(request)
        if reply.limit:
            self.send_refusal(limits.refuse_openai(reply.limit))
        elif reply.status != 200:
            error = {"type": "server_error", "message": f"scripted {reply.status}"}
            self.send_json(reply.status, {"error": error})
        elif request.stream:
            self.send_events(completions_wire.write_events(request, reply), reply.finish)
            self.wfile.write(b"data: [DONE]\n\n")
        else:
            self.send_json(200, completions_wire.write_completion(request, reply))

    def answer_gemini(self, path: str, body: JsonObject) -> None:
        """Gemini's generateContent."""
        model = path.rpartition("/")[2].partition(":")[0]
        request = gemini_wire.read_request(body, model, stream="stream" in path)
        reply = decide(request)
        if reply.limit:
            self.send_refusal(limits.refuse_gemini(reply.limit))
        elif reply.status != 200:
            error = {"code": reply.status, "message": f"scripted {reply.status}", "status": "INTERNAL"}
            self.send_json(reply.status, {"error": error})
        elif request.stream:
            self.send_events(gemini_wire.write_events(request, reply), reply.finish)
        else:
            self.send_json(200, gemini_wire.write_response(request, reply))


class ModelServer(ThreadingHTTPServer):
    """The server, bound to loopback at once. Port 0 picks a free one; `url` is its base."""

    daemon_threads = True

    def __init__(self, port: int, log: str | os.PathLike[str]) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.log = RequestLog(log)
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed while it sent is expected here; anything else is shown as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def open_model_server(log: str | os.PathLike[str], port: int = 0) -> Iterator[ModelServer]:
    """A server that answers on a thread of its own until the context ends."""
    server = ModelServer(port, log)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def serve(port: int, log: str) -> None:
    """Print the URL and answer until interrupted."""
    server = ModelServer(port, log)
    print(server.url, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.stopping.set()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.model_server", description="A scripted model on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="run the server until interrupted")
    serving.add_argument("--port", type=int, default=0, help="0 picks a free port")
    serving.add_argument("--log", default="requests.jsonl")
    showing = commands.add_parser("show", help="print a request log")
    showing.add_argument("log")
    showing.add_argument("--n", type=int, help="print the messages of this request")
    arguments = parser.parse_args()
    if arguments.command == "serve":
        serve(arguments.port, arguments.log)
    else:
        show_log(arguments.log, arguments.n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
