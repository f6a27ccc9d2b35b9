"""Our plugin for OpenCode, run by Node without OpenCode: whatever fails, a prompt goes on."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lab.agents import NODE

from rigline.harness.opencode_plugin import write_plugin

#: loads the plugin, asks it at some prompts, and prints the parts that each has then
DRIVER = """
import { readFileSync } from "node:fs"
const { Rigline } = await import(process.argv[2])
const { sessions, prompts } = JSON.parse(readFileSync(0, "utf8"))
const get = async ({ path: { id } }) => {
  if (sessions[id] === "fails") throw new Error("no server")
  if (sessions[id] === "hangs") await new Promise(() => {})
  return { data: sessions[id] }
}
const hooks = await Rigline({ client: { session: { get } }, directory: "/home/dev/project" })
const told = []
for (const id of prompts) {
  const parts = [{ id: "prt_22f917cda001YwB2vHa83dUwvl", type: "text", text: "typed" }]
  await hooks["chat.message"]({ sessionID: id }, { message: { id: "msg_1" }, parts })
  told.push(parts)
}
console.log(JSON.stringify(told))
process.exit(0)
"""
LATER = {"time": {"created": 99_999_999_999_999}}


@pytest.fixture
def run(tmp_path: Path) -> Any:
    if os.environ.get("RIGLINE_SKIP_REAL") == "1":
        pytest.skip("RIGLINE_SKIP_REAL=1")

    def start(commands: tuple[str, ...], sessions: dict[str, object], *prompts: str) -> list[list[dict[str, Any]]]:
        (tmp_path / "plugin.mjs").write_text(write_plugin(commands))
        (tmp_path / "driver.mjs").write_text(DRIVER)
        done = subprocess.run(
            [os.path.join(NODE.bin_dir, "node"), "driver.mjs", f"file://{tmp_path}/plugin.mjs"],
            input=json.dumps({"sessions": sessions, "prompts": prompts}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told: list[list[dict[str, Any]]] = json.loads(done.stdout)
        return told

    return start


def texts(parts: list[dict[str, Any]]) -> list[str]:
    return [part["text"] for part in parts]


def test_each_answer_is_a_part_before_the_prompt_at_a_session_s_first_prompt_only(run: Any) -> None:
    first, second, other = run(("printf one", "printf two"), {"a": LATER, "b": LATER}, "a", "a", "b")
    assert texts(first) == texts(other) == ["one", "two", "typed"]
    assert texts(second) == ["typed"]
    assert [part["id"] for part in first] == sorted(part["id"] for part in first)
    assert first[0] == {
        "id": "prt_22f917cda00100000000000000",
        "sessionID": "a",
        "messageID": "msg_1",
        "type": "text",
        "text": "one",
        "synthetic": True,
    }


def test_the_hook_is_told_the_session_and_whether_it_began_in_this_run(run: Any) -> None:
    ((told, _), (older, _)) = run(("cat",), {"a": LATER, "b": {"time": {"created": 1}, "directory": "/own"}}, "a", "b")
    assert json.loads(told["text"]) == {"session_id": "a", "cwd": "/home/dev/project", "source": "startup"}
    assert json.loads(older["text"]) == {"session_id": "b", "cwd": "/own", "source": "resume"}


@pytest.mark.parametrize(
    "command", ["exit 3", "/no/such/program", "printf ''", "kill -9 $$", "cat >/dev/null; printf x; exit 1"]
)
def test_a_command_that_fails_or_says_nothing_adds_nothing(run: Any, command: str) -> None:
    ((part, typed),) = run((command, "printf told"), {"a": LATER}, "a")
    assert (part["text"], typed["text"]) == ("told", "typed")


def test_a_command_that_does_not_read_is_no_fault(run: Any) -> None:
    (parts,) = run(("exec 0<&-; printf told",), {"a": LATER}, "a")
    assert texts(parts) == ["told", "typed"]


def test_a_subagent_is_told_nothing(run: Any) -> None:
    (parts,) = run(("printf one",), {"a": {**LATER, "parentID": "b"}}, "a")
    assert texts(parts) == ["typed"]


@pytest.mark.parametrize("session", ["fails", "hangs", None])
def test_a_server_that_does_not_say_which_session_it_is_keeps_no_prompt(run: Any, session: object) -> None:
    (parts,) = run(("printf one",), {"a": session}, "a")
    assert texts(parts) == ["one", "typed"]
