"""Kiro CLI with both engines, as far as a launch and its stores are concerned: one turn, then the end."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fakes.answer import answer
from tests.fakes.place import note_launch


def main(argv: list[str]) -> int:
    note_launch(argv)
    parser = argparse.ArgumentParser(prog="kiro-cli", allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--resume-id")
    parser.add_argument("--v3", action="store_true")
    parser.add_argument("--mode")
    parser.add_argument("--agent-engine", default="v2")
    parser.add_argument("-a", "--trust-all-tools", action="store_true")
    parser.add_argument("--trust-tools")
    parser.add_argument("-v", "--verbose", action="count")
    parser.add_argument("--no-interactive", action="store_true")
    options = parser.parse_args(argv)
    prompt = " ".join(word for word in options.words if word != "chat")
    if options.no_interactive:
        print(answer(prompt, []))
        return 0
    is_v3 = options.v3 or options.mode is not None or options.agent_engine == "v3"
    return (take_v3_turn if is_v3 else take_v2_turn)(prompt, options.resume_id)


def fail(native_id: str) -> int:
    print(f"error: no session with the id {native_id}", file=sys.stderr)
    return 1


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def take_v2_turn(prompt: str, resume_id: str | None) -> int:
    folder = Path(os.environ.get("KIRO_HOME") or Path.home() / ".kiro", "sessions", "cli")
    native_id = resume_id or str(uuid.uuid4())
    meta, messages = folder / f"{native_id}.json", folder / f"{native_id}.jsonl"
    if resume_id and not meta.exists():
        return fail(resume_id)
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / f"{native_id}.lock"
    lock.write_text(json.dumps({"pid": os.getpid(), "started_at": now()}))
    if not resume_id:
        meta.write_text(json.dumps({"session_id": native_id, "cwd": os.getcwd(), "created_at": now()}))
    history = messages.read_text().splitlines() if messages.exists() else []
    said = answer(prompt, history)
    stamp = {"timestamp": int(datetime.now(UTC).timestamp())}
    append(messages, envelope("Prompt", {"kind": "text", "data": prompt}, meta=stamp))
    append(messages, envelope("AssistantMessage", {"kind": "text", "data": said}))
    print(said)
    lock.unlink()
    return 0


def envelope(kind: str, *parts: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"version": "v1", "kind": kind, "data": {"message_id": str(uuid.uuid4()), "content": parts, **more}}


def take_v3_turn(prompt: str, resume_id: str | None) -> int:
    """2.16.2 writes below the home folder, whatever `KIRO_HOME` says, and resumes only what lies below that."""
    home = Path.home() / ".kiro" / "sessions"
    own = Path(os.environ.get("KIRO_HOME") or Path.home() / ".kiro") / "sessions"
    native_id = resume_id or f"sess_{uuid.uuid4()}"
    bucket = hashlib.sha256(os.getcwd().encode()).hexdigest()[:16]
    folder = (own if resume_id else home) / bucket / native_id
    if resume_id and not folder.is_dir():
        return fail(resume_id)
    folder.mkdir(parents=True, exist_ok=True)
    messages = folder / "messages.jsonl"
    meta = {"schemaVersion": "1.0.0", "dataModelVersion": 1, "id": native_id, "workspacePaths": [os.getcwd()]}
    if not resume_id:
        (folder / "session.json").write_text(json.dumps({**meta, "createdAt": now(), "lastModifiedAt": now()}))
    said = answer(prompt, messages.read_text().splitlines() if messages.exists() else [])
    for payload in (
        {"type": "user", "content": prompt},
        {"type": "turn_start", "executionId": "e"},
        {"type": "assistant", "content": "thought", "operationType": "Reasoning"},
        {"type": "assistant", "content": said, "operationType": "Say"},
        {"type": "turn_end", "stopReason": "end_turn"},
    ):
        append(messages, {"id": str(uuid.uuid4()), "timestamp": now(), "payload": payload})
    print(said)
    return 0


def append(path: Path, record: dict[str, Any]) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
