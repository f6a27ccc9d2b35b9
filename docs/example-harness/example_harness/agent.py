"""Example Agent itself: a stand-in for a vendor's program, small enough to be read beside its adapter.

    example-agent [--resume ID | --session-id ID | --continue] [--fork] [--context FILE] [--auto] [--print] [PROMPT]

It answers each prompt by repeating it; `recall: WORD` tells whether the session, or what it was given as context,
has the word; `list` runs a tool. Without a prompt it reads prompts from stdin, one a line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

VERSION = "1.0"
Record = dict[str, object]


def main() -> int:
    """Hold a conversation; returns 1 where the session is not there."""
    options = read_options()
    if options.prompt == "sessions":
        print(*(path.stem for path in find_folder().glob("*.jsonl")), sep="\n")
        return 0
    session = open_session(options)
    if session is None:
        print(f"There is no session {options.resume or 'to continue'} of this directory.", file=sys.stderr)
        return 1
    os.environ["EXAMPLE_SESSION_ID"] = session.stem
    if options.context:
        append(session, "context", text=Path(options.context).read_text(encoding="utf-8"))
    for line in [options.prompt] if options.prompt is not None else sys.stdin:
        append(session, "user", text=line.strip())
        answer = think(session, line.strip())
        append(session, "assistant", text=answer)
        print(answer, flush=True)
    return 0


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="example-agent", allow_abbrev=False)
    for name in ("--session-id", "--ask", "--context"):
        parser.add_argument(name)
    for name in ("--fork", "--auto"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--resume", "-r")
    parser.add_argument("--continue", "-c", action="store_true", dest="newest")
    parser.add_argument("--print", "-p", action="store_true")
    parser.add_argument("--version", action="version", version=f"example-agent {VERSION}")
    parser.add_argument("prompt", nargs="?")
    return parser.parse_args()


def find_folder() -> Path:
    """Where sessions lie."""
    return Path(os.environ.get("EXAMPLE_HOME", "").strip() or Path.home() / ".example") / "sessions"


def read(path: Path) -> list[Record]:
    """The records of a session."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def append(path: Path, kind: str, **fields: object) -> None:
    """Write one record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"type": kind, "id": uuid.uuid4().hex, "at": datetime.now(UTC).isoformat(), **fields}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def open_session(options: argparse.Namespace) -> Path | None:
    """The session to write: a new one, the one that is named or newest here, or a fork of that."""
    fresh = find_folder() / f"{options.session_id or uuid.uuid4()}.jsonl"
    header: Record = {"format": 1, "id": fresh.stem, "cwd": os.getcwd(), "version": VERSION}
    if not (options.resume or options.newest):
        append(fresh, "session", **header)
        return fresh
    found = sorted(find_folder().glob(f"{options.resume or '*'}.jsonl"), key=os.path.getmtime, reverse=True)
    here = [path for path in found if read(path)[0]["cwd"] == os.getcwd()]
    if not here or not options.fork:
        return here[0] if here else None
    append(fresh, "session", **header, forked_from=here[0].stem)
    with fresh.open("a", encoding="utf-8") as file:
        file.writelines(here[0].read_text(encoding="utf-8").splitlines(keepends=True)[1:])
    return fresh


def think(session: Path, prompt: str) -> str:
    """The answer to a prompt."""
    append(session, "thinking", text="what may that mean?")
    if prompt.startswith("recall: "):
        word = prompt.removeprefix("recall: ")
        earlier = [str(record.get("text", "")) for record in read(session)[:-2]]
        return f"{word}: {'yes' if any(word in text for text in earlier) else 'no'}"
    if prompt == "list":
        call = uuid.uuid4().hex
        append(session, "tool_call", call=call, name="list", input={"path": "."})
        append(session, "tool_result", call=call, text=" ".join(sorted(os.listdir())), ok=True)
        return "done"
    return f"You said: {prompt}"


if __name__ == "__main__":
    sys.exit(main())
