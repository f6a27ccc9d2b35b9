"""A stand-in for Crush, which cannot be had here, built from its public source (charmbracelet/crush, 0.96).

It reads the configuration that the environment leads to, keeps sessions in the project's database with the real tables,
and answers like the scripted model: `say: TEXT`, `bash: COMMAND`, `recall: WORD` (whether the word is in the context
files or in the session). Without `run` it takes one prompt a line from standard input, as a terminal's session would.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from typing import Any

from tests.fakes.place import note_launch
from tests.fixtures.crush_store import FOLDER

Options = dict[str, Any]


def global_folder(variable: str, base: str, default: str) -> str:
    if os.environ.get(variable):
        return os.environ[variable]
    parent = os.environ.get(base) or os.path.join(os.environ["HOME"], default)
    return os.path.join(parent, "crush")


CONFIG = global_folder("CRUSH_GLOBAL_CONFIG", "XDG_CONFIG_HOME", ".config")
DATA = global_folder("CRUSH_GLOBAL_DATA", "XDG_DATA_HOME", ".local/share")


def load_options(cwd: str) -> Options:
    options: Options = {}
    for folder, name in ((CONFIG, "crush.json"), (DATA, "crush.json"), (cwd, "crush.json"), (cwd, ".crush.json")):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                options.update(json.load(file).get("options", {}))
        except FileNotFoundError:
            pass
        except ValueError as error:
            sys.exit(f"Error: failed to load config: {error}")
    return options


def read_context(options: Options) -> str:
    paths = options.get("global_context_paths") or [
        os.path.join(CONFIG, "CRUSH.md"),
        os.path.join(os.path.dirname(CONFIG), "AGENTS.md"),
    ]
    texts = []
    for path in paths:
        try:
            with open(os.path.expanduser(path), encoding="utf-8") as file:
                texts.append(file.read())
        except FileNotFoundError:
            pass
    return "\n".join(texts)


def open_database(folder: str) -> sqlite3.Connection:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    is_new = not os.path.exists(os.path.join(folder, "crush.db"))
    database = sqlite3.connect(os.path.join(folder, "crush.db"), isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    if is_new:
        database.executescript((FOLDER / "schema.sql").read_text())
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("*\n")
    return database


def register(cwd: str, folder: str) -> None:
    path = os.path.join(DATA, "projects.json")
    os.makedirs(DATA, exist_ok=True)
    try:
        with open(path, encoding="utf-8") as file:
            projects = json.load(file)["projects"]
    except FileNotFoundError:
        projects = []
    projects = [each for each in projects if each["path"] != cwd]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"projects": [{"path": cwd, "data_dir": folder, "last_accessed": time.time()}, *projects]}, file)


def find_session(database: sqlite3.Connection, arguments: argparse.Namespace, prompt: str) -> str:
    if arguments.session:
        rows = database.execute("SELECT id FROM sessions WHERE id = ?", (arguments.session,)).fetchall()
        if not rows:
            sys.exit(f"Error: session not found: {arguments.session}")
        return str(rows[0][0])
    if arguments.resume_last:
        query = "SELECT id FROM sessions WHERE parent_session_id IS NULL ORDER BY updated_at DESC, rowid DESC LIMIT 1"
        rows = database.execute(query).fetchall()
        if rows:
            return str(rows[0][0])
    session = str(uuid.uuid4())
    now = int(time.time())
    statement = "INSERT INTO sessions(id, title, updated_at, created_at) VALUES(?,?,?,?)"
    database.execute(statement, (session, prompt[:60], now, now))
    return session


def add(database: sqlite3.Connection, session: str, role: str, parts: list[Options]) -> str:
    now = int(time.time())
    message = str(uuid.uuid4())
    statement = "INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES(?,?,?,?,?,?)"
    database.execute(statement, (message, session, role, json.dumps(parts), now, now))
    database.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (now, session))
    return message


def part(kind: str, **data: Any) -> Options:
    return {"type": kind, "data": data}


def finish(reason: str) -> Options:
    return part("finish", reason=reason, time=int(time.time()))


def turn(database: sqlite3.Connection, session: str, prompt: str, context: str) -> None:
    add(database, session, "user", [part("text", text=prompt), finish("stop")])
    kind, _, words = prompt.partition(": ")
    if kind == "bash":
        call_id = f"call_{uuid.uuid4().hex[:12]}"
        call = part("tool_call", id=call_id, name="bash", input=json.dumps({"command": words}), finished=True)
        add(database, session, "assistant", [part("text", text="Running it."), call, finish("tool_use")])
        env = {**os.environ, "CRUSH": "1"}
        done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, env=env, check=False)
        result = part(
            "tool_result", tool_call_id=call_id, name="bash", content=done.stdout, is_error=done.returncode != 0
        )
        add(database, session, "tool", [result, finish("stop")])
        answer = f"tool said: {done.stdout.strip().splitlines()[-1:]}"
    elif kind == "recall":
        rows = database.execute("SELECT parts FROM messages WHERE session_id = ?", (session,)).fetchall()
        history = context + "".join(parts for (parts,) in rows[:-1])
        answer = f"recall {words}: {'yes' if words in history else 'no'}"
    else:
        answer = words if kind == "say" else prompt
    thinking = part("reasoning", thinking="hidden thoughts", started_at=0)
    message = add(database, session, "assistant", [thinking, part("text", text=answer[: len(answer) // 2])])
    whole = [thinking, part("text", text=answer), finish("end_turn")]
    statement = "UPDATE messages SET parts = ?, updated_at = ?, finished_at = ? WHERE id = ?"
    database.execute(statement, (json.dumps(whole), int(time.time()), int(time.time()), message))
    print(answer)


def main() -> None:
    note_launch(sys.argv[1:])
    parser = argparse.ArgumentParser(prog="crush")
    parser.add_argument("--version", "-v", action="version", version="crush version v0.96.1")
    words = sys.argv[1:]
    is_run = words[:1] in (["run"], ["r"])
    parser.add_argument("--session", "-s", default="")
    parser.add_argument("--continue", "-C", dest="resume_last", action="store_true")
    parser.add_argument("--data-dir", "-D", default="")
    parser.add_argument("--quiet", "-q", action="store_true")
    if not is_run:  # `run` knows no such option
        parser.add_argument("--yolo", "-y", action="store_true")
    if is_run:
        parser.add_argument("prompt", nargs="*")
    arguments = parser.parse_args(words[1:] if is_run else words)
    cwd = os.getcwd()
    options = load_options(cwd)
    folder = os.path.join(cwd, arguments.data_dir or options.get("data_directory", ".crush"))
    register(cwd, folder)
    database = open_database(folder)
    context = read_context(options)
    prompts = [" ".join(arguments.prompt)] if is_run else [line.rstrip("\n") for line in sys.stdin]
    session = ""
    for prompt in prompts:
        session = session or find_session(database, arguments, prompt)
        turn(database, session, prompt, context)
    # killed as by a closed terminal: the log stays
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
