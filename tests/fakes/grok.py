"""Grok Build, as far as a launch and its store are concerned: one headless turn."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from tests.fakes.answer import answer
from tests.fakes.place import note_launch

SYSTEM: dict[str, object] = {"type": "system", "content": "You are Grok."}
INFO: dict[str, object] = {"type": "user", "content": [{"type": "text", "text": "<user_info>linux</user_info>"}]}


def main(argv: list[str]) -> int:
    note_launch(argv)
    parser = argparse.ArgumentParser(prog="grok", allow_abbrev=False)
    parser.add_argument("-p", "--single", required=True)
    parser.add_argument("-s", "--session-id", type=uuid.UUID)
    parser.add_argument("-r", "--resume")
    parser.add_argument("--fork-session", action="store_true")
    parser.add_argument("--rules", action="append", default=[])
    parser.add_argument("--yolo", action="store_true")
    options = parser.parse_args(argv)
    if len(options.rules) > 1:
        parser.error("the argument '--rules <RULES>' cannot be used multiple times")
    root = Path(os.environ.get("GROK_HOME") or Path.home() / ".grok", "sessions", quote(os.getcwd(), safe=""))
    return take_turn(root, options)


def take_turn(root: Path, options: argparse.Namespace) -> int:
    parent = None
    native_id = options.resume or str(options.session_id or uuid.uuid4())
    folder = root / native_id
    if options.resume and not folder.is_dir():
        print(f"error: session {options.resume} not found", file=sys.stderr)
        return 1
    if options.session_id and folder.exists():
        print(f"error: session {native_id} is already in use", file=sys.stderr)
        return 1
    rows = read(folder / "chat_history.jsonl") or [SYSTEM, INFO]
    if options.fork_session:
        parent, native_id = native_id, str(uuid.uuid4())
        folder = root / native_id
    said = add_turn(rows, options.single, options.rules)
    write(folder, native_id, parent, rows)
    print(said)
    return 0


def add_turn(rows: list[dict[str, object]], prompt: str, rules: list[str]) -> str:
    rows.append({"type": "user", "content": [{"type": "text", "text": f"<user_query>\n{prompt}\n</user_query>"}]})
    for path in re.findall(r"read the whole file (\S+):", " ".join(rules)):
        call = {"id": f"call-{len(rows)}", "name": "read_file", "arguments": json.dumps({"path": path})}
        rows.append({"type": "assistant", "content": "", "tool_calls": [call]})
        rows.append({"type": "tool_result", "tool_call_id": call["id"], "content": Path(path).read_text()})
    said = answer(prompt, [json.dumps(row) for row in rows if prompt not in json.dumps(row)])
    rows.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": "thought"}]})
    rows.append({"type": "assistant", "content": said})
    return said


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write(folder: Path, native_id: str, parent: str | None, rows: list[dict[str, object]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "summary.json"
    now = datetime.now(UTC).isoformat()
    summary = json.loads(path.read_text()) if path.exists() else {"created_at": now}
    summary |= {"info": {"id": native_id, "cwd": os.getcwd()}, "updated_at": now, "parent_session_id": parent}
    path.write_text(json.dumps(summary))
    (folder / "chat_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
