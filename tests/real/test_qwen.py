"""Qwen Code in a workstream, as a person would use it: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab.home import make_project
from lab.tmux import Tmux

from rigline.harness.qwen_store import QwenStore
from tests.real.conftest import Done, Model, Other
from tests.real.test_run import bindings

pytestmark = pytest.mark.parametrize("other", ["qwen-code"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def qwen(other: Other, prompt: str, *words: str, cwd: str | None = None, system: str = "") -> Done:
    return other.rigline("run", "qwen", *words, "-p", prompt, cwd=cwd, QWEN_CODE_SYSTEM_SETTINGS_PATH=system)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def find_home(other: Other) -> Path:
    return Path(other.rigline.home.path, ".qwen")


def list_chats(other: Other) -> list[Path]:
    return list(find_home(other).glob("projects/*/chats/*.jsonl"))


def count_packets(chat: Path) -> int:
    """How often history was shown in a session, by the prompts that it keeps."""
    records = [json.loads(line) for line in chat.read_text().splitlines()]
    return sum(json.dumps(each["message"]).count("[rigline packet") for each in records if each["type"] == "user")


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    qwen(other, "say: the word is marigold").ok()
    (first,) = list_chats(other)
    assert bindings(other.rigline)["qwen-code"] == first.stem
    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    assert "recall foxglove: yes" in qwen(other, "recall: foxglove").ok().out
    assert list_chats(other) == [first]
    history = model.conversation("recall: foxglove").history
    assert "marigold" in history.partition("[rigline packet")[0], "the session's own words came from the session"
    assert (history.count("[rigline packet"), count_packets(first)) == (1, 1)

    assert "recall foxglove: yes" in qwen(other, "recall: foxglove").ok().out
    assert count_packets(first) == 1, "the session keeps it, so it is not shown again"


def test_a_long_packet_comes_whole_beside_hooks_of_the_user_and_the_machine_and_nothing_of_theirs_changes(
    other: Other, model: Model, tmp_path: Path
) -> None:
    settings, defaults = find_home(other) / "settings.json", tmp_path / "system-defaults.json"
    mine = {"$version": 4, **json.loads(settings.read_text())}  # the program rewrites what has an older form
    for path, said, content in ((settings, "USER", mine), (defaults, "MACHINE", {"$version": 4})):
        answer = {"hookSpecificOutput": {"additionalContext": f"HOOK-OF-THE-{said}"}}
        hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
        path.write_text(f"// a comment\n{json.dumps({**content, 'hooks': {'UserPromptSubmit': [{'hooks': [hook]}]}})}")
    before = settings.read_bytes(), defaults.read_bytes()

    claude(other, "say: begin").ok()
    claude(other, "big: 9000").ok()
    claude(other, "say: the end is a lupin").ok()
    qwen(other, "say: hello", system=str(tmp_path / "settings.json")).ok()
    history = model.conversation("say: hello").history
    for words in ("begin", "the end is a lupin", "HOOK-OF-THE-USER", "HOOK-OF-THE-MACHINE"):
        assert words in history
    assert (settings.read_bytes(), defaults.read_bytes()) == before
    assert not [run for run in Path(other.rigline.home.rigline_dir, "runs").glob("*") if run.is_dir()]


def test_a_missing_id_and_one_of_another_directory_are_refused_by_the_program_and_bind_nothing(
    other: Other, tmp_path: Path
) -> None:
    done = qwen(other, "say: x", "-r", ABSENT)
    assert done.code == 1
    assert ABSENT in done.err
    assert bindings(other.rigline) == {}

    qwen(other, "say: the word is marigold").ok()
    (chat,) = list_chats(other)
    before = chat.read_bytes()
    refused = qwen(other, "say: x", "-r", chat.stem, cwd=make_project(str(tmp_path / "elsewhere")))
    assert refused.code == 1
    assert chat.stem in refused.err
    assert chat.read_bytes() == before


def test_a_fork_gets_an_id_of_the_program_s_and_the_line_goes_on_with_it(other: Other, project: str) -> None:
    qwen(other, "say: the word is marigold").ok()
    (parent,) = list_chats(other)
    before = parent.read_bytes()
    assert "recall marigold: yes" in qwen(other, "recall: marigold", "-r", parent.stem, "--fork-session").ok().out
    (fork,) = set(list_chats(other)) - {parent}
    assert parent.read_bytes() == before
    info = QwenStore(str(find_home(other))).look_up(fork.stem, project).info
    assert info is not None
    assert info.parent is not None
    assert info.parent.parent_id == parent.stem
    assert bindings(other.rigline)["qwen-code"] == fork.stem


def test_a_terminal_session_receives_the_line_with_its_first_prompt_is_seen_live_and_is_collected(
    other: Other, tmux: Tmux
) -> None:
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "qwen"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("Type your message")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    (chat,) = list_chats(other)
    live = QwenStore(str(find_home(other))).find_live(chat.stem)
    assert live is not None
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert QwenStore(str(find_home(other))).find_live(chat.stem) is None
    assert count_packets(chat) == 1
    assert bindings(other.rigline)["qwen-code"] == chat.stem
