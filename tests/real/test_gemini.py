"""Gemini CLI in a workstream, as a person would use it: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab.home import make_project
from lab.tmux import Tmux

from tests.real.conftest import Done, Model, Other
from tests.real.test_run import bindings

pytestmark = pytest.mark.parametrize("other", ["gemini-cli"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
EARLIER = "session-2026-01-01T00-00"


def gemini(other: Other, prompt: str, *words: str, cwd: str | None = None, node_options: str = "") -> Done:
    return other.rigline("run", "gemini", *words, "-p", prompt, cwd=cwd, NODE_OPTIONS=node_options)


def bare(other: Other, prompt: str, *words: str) -> Done:
    """The program without rigline."""
    return other.rigline.agent(other.path, *words, "-p", prompt).ok()


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def find_home(other: Other) -> Path:
    return Path(other.rigline.home.path, ".gemini")


def list_files(other: Other) -> list[Path]:
    return sorted(find_home(other).glob("tmp/*/chats/session-*.jsonl"))


def count_packets(path: Path) -> int:
    """How many messages of a session carry one, whatever is told again."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return len({each["id"] for each in records if "id" in each and "[rigline packet" in json.dumps(each)})


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    gemini(other, "say: the word is marigold").ok()
    (first,) = list_files(other)
    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    assert "recall foxglove: yes" in gemini(other, "recall: foxglove").ok().out
    history = model.conversation("recall: foxglove").history
    assert "marigold" in history.partition("[rigline packet")[0], "the session's own words came from the session"
    assert history.count("[rigline packet") == count_packets(first) == 1

    assert "recall foxglove: yes" in gemini(other, "recall: foxglove").ok().out, "the session keeps packet and prompt"
    assert count_packets(first) == 1, "so it is not shown again"
    assert bindings(other.rigline)["gemini-cli"][:8] in first.name


def test_a_resumed_session_survives_every_start_with_rigline_and_is_lost_without(other: Other) -> None:
    gemini(other, "say: the word is marigold").ok()
    native_id = bindings(other.rigline)["gemini-cli"]
    (session,) = list_files(other)
    session = session.rename(session.with_name(f"{EARLIER}-{native_id[:8]}.jsonl"))

    gemini(other, "say: resumed in a later minute").ok()
    assert list_files(other) == [session], "a resume with rigline leaves no stub beside it"
    bare(other, "say: resumed without rigline", "-r", native_id)
    (stub,) = set(list_files(other)) - {session}
    gemini(other, "say: another one", "--session-id", "another-session").ok()
    assert session in list_files(other), "a start with rigline takes the stub for no broken session"
    assert stub in list_files(other), "and removes nothing"
    assert "recall marigold: yes" in gemini(other, "recall: marigold", "-r", native_id).ok().out

    bare(other, "say: a new one without rigline")
    assert session not in list_files(other), "the danger is real"
    assert "recall marigold: yes" in gemini(other, "recall: marigold").ok().out, "its history comes back by a packet"


def test_a_long_packet_comes_whole_beside_the_user_s_own_and_nothing_of_the_user_s_changes(
    other: Other, model: Model
) -> None:
    home = find_home(other)
    (home / "extensions" / "mine").mkdir(parents=True)
    (home / "extensions" / "mine" / "gemini-extension.json").write_text('{"name": "mine", "version": "1.0.0"}')
    (home / "extensions" / "mine" / "GEMINI.md").write_text("EXTENSION-OF-THE-USER")
    answer = {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "HOOK-OF-THE-USER"}}
    hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
    settings = json.loads((home / "settings.json").read_text())
    (home / "settings.json").write_text(json.dumps({**settings, "hooks": {"BeforeAgent": [{"hooks": [hook]}]}}))
    before = {path: path.read_bytes() for path in home.glob("extensions/**/*.*")}

    claude(other, "say: begin").ok()
    claude(other, "big: 9000").ok()
    claude(other, "say: the end is a lupin").ok()
    gemini(other, "bash: echo options=$NODE_OPTIONS. > seen", "--yolo", node_options="--no-deprecation").ok()
    seen = Path(other.rigline.cwd, "seen").read_text()
    assert seen == "options=--no-deprecation.\n", "what the agent starts has the user's options and not ours"
    history = model.conversation("bash: echo").history
    assert "begin" in history
    assert "the end is a lupin" in history
    assert "HOOK-OF-THE-USER" in history
    assert any("EXTENSION-OF-THE-USER" in json.dumps(entry.body) for entry in model.entries())
    assert {path: path.read_bytes() for path in home.glob("extensions/**/*.*")} == before
    assert "rigline" not in (home / "settings.json").read_text(), "which the program writes anew by itself"
    assert not [run for run in Path(other.rigline.home.rigline_dir, "runs").glob("*") if run.is_dir()]


def test_a_missing_id_and_one_of_another_directory_are_refused_by_the_program_and_bind_nothing(
    other: Other, tmp_path: Path
) -> None:
    done = gemini(other, "say: x", "-r", ABSENT)
    assert done.code == 42
    assert bindings(other.rigline) == {}

    gemini(other, "say: the word is marigold").ok()
    (session,) = list_files(other)
    before = session.read_bytes()
    native_id = bindings(other.rigline)["gemini-cli"]
    refused = gemini(other, "say: x", "-r", native_id, cwd=make_project(str(tmp_path / "elsewhere")))
    assert refused.code == 42
    assert session.read_bytes() == before


def test_a_terminal_session_receives_the_line_with_its_first_prompt_and_is_collected(
    other: Other, tmux: Tmux, model: Model
) -> None:
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "gemini"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("Type your message")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    (session,) = list_files(other)
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert count_packets(session) == 1
    assert bindings(other.rigline)["gemini-cli"][:8] in session.name
