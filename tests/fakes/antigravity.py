"""Antigravity CLI, as far as a launch and its store are concerned: one headless turn.

`FAKE_WITHOUT_LOG=1` leaves out the readable transcript.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fakes.answer import answer
from tests.fakes.place import note_launch


def main(argv: list[str]) -> int:
    note_launch(argv)
    parser = argparse.ArgumentParser(prog="agy", allow_abbrev=False)
    parser.add_argument("-p", "--print", dest="prompt", required=True)
    parser.add_argument("--conversation")
    parser.add_argument("--dangerously-skip-permissions", action="store_true")
    options = parser.parse_args(argv)
    root = Path.home() / ".gemini" / "antigravity-cli"
    native_id = options.conversation or str(uuid.uuid4())
    database = root / "conversations" / f"{native_id}.db"
    if options.conversation and not database.exists():
        print(f"error: conversation {native_id} not found", file=sys.stderr)
        return 1
    if not database.exists():
        make_database(database, os.getcwd())
    steps = root / "brain" / native_id / ".system_generated" / "logs" / "transcript_full.jsonl"
    earlier = steps.read_text().splitlines() if steps.exists() else []
    said = answer(options.prompt, earlier)
    note_prompt(root / "history.jsonl", native_id, options.prompt)
    if os.environ.get("FAKE_WITHOUT_LOG") != "1":
        append_steps(steps, len(earlier), options.prompt, said)
    print(said)
    return 0


def make_database(path: Path, workspace: str) -> None:
    """A conversation's database with its workspace; its steps are bytes without a public meaning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    blob = field(1, field(1, Path(workspace).as_uri().encode())) + field(2, b"\x08\x01")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type INTEGER, step_payload BLOB)")
        connection.execute("CREATE TABLE trajectory_metadata_blob (id TEXT PRIMARY KEY, data BLOB)")
        connection.execute("INSERT INTO trajectory_metadata_blob VALUES ('main', ?)", (blob,))


def field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field."""
    length, size = b"", len(content)
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def note_prompt(path: Path, native_id: str, prompt: str) -> None:
    row = {"display": prompt, "timestamp": int(time.time() * 1000), "workspace": os.getcwd()}
    append(path, {**row, "conversationId": native_id})


def append_steps(path: Path, index: int, prompt: str, said: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    text = f"<USER_REQUEST>\n{prompt}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nthe time\n</ADDITIONAL_METADATA>"
    common = {"status": "DONE", "created_at": at}
    append(path, {"step_index": index, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": text, **common})
    append(path, {"step_index": index + 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": said, **common})


def append(path: Path, record: dict[str, Any]) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
