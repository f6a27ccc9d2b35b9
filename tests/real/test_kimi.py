"""Kimi Code in a workstream, as a person would use it: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lab.home import make_project
from lab.tmux import Tmux

from rigline.harness.base import HookDefinition, LaunchRequest
from rigline.harness.kimi import Kimi
from rigline.harness.kimi_store import KimiStore
from tests.real.conftest import Done, Model, Other
from tests.real.test_run import bindings

pytestmark = pytest.mark.parametrize("other", ["kimi-code"], indirect=True)
ABSENT = "session_ffffffff-ffff-4fff-8fff-ffffffffffff"


def kimi(other: Other, prompt: str, *words: str, cwd: str | None = None, node_options: str = "") -> Done:
    return other.rigline("run", "kimi", *words, "-p", prompt, cwd=cwd, NODE_OPTIONS=node_options)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def find_home(other: Other) -> Path:
    return Path(other.rigline.home.path, ".kimi-code")


def list_journals(other: Other) -> list[Path]:
    return list(find_home(other).glob("sessions/*/*/agents/main/wire.jsonl"))


def count_packets(journal: Path) -> int:
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    said = [json.dumps(each["message"]) for each in records if each["type"] == "context.append_message"]
    return sum(text.count("[rigline packet") for text in said)


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    kimi(other, "say: the word is marigold").ok()
    (first,) = list_journals(other)
    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    assert "recall foxglove: yes" in kimi(other, "recall: foxglove").ok().out
    assert list_journals(other) == [first]
    history = model.conversation("recall: foxglove").history
    assert "marigold" in history.partition("[rigline packet")[0], "the session's own words came from the session"
    assert (history.count("[rigline packet"), count_packets(first)) == (1, 1)

    assert "recall foxglove: yes" in kimi(other, "recall: foxglove").ok().out
    assert count_packets(first) == 1, "the session keeps it, so it is not shown again"


def test_a_long_packet_comes_whole_beside_the_user_s_own_hooks_and_nothing_of_the_user_s_changes(
    other: Other, model: Model
) -> None:
    home = find_home(other)
    (home / "plugins" / "mine").mkdir(parents=True)
    config, plugins = home / "config.toml", home / "plugins" / "installed.json"
    config.write_text('[[hooks]]\nevent = "UserPromptSubmit"\ncommand = "echo HOOK-OF-THE-USER"\n')
    hook = {"event": "UserPromptSubmit", "command": "echo PLUGIN-OF-THE-USER"}
    (home / "plugins" / "mine" / "kimi.plugin.json").write_text(json.dumps({"name": "mine", "hooks": [hook]}))
    mine = {"id": "mine", "root": str(home / "plugins" / "mine"), "source": "local-path", "enabled": True}
    plugins.write_text(json.dumps({"version": 1, "plugins": [{**mine, "installedAt": "2026-01-01T00:00:00.000Z"}]}))
    before = config.read_bytes(), plugins.read_bytes()

    claude(other, "say: begin").ok()
    claude(other, "big: 9000").ok()
    claude(other, "say: the end is a lupin").ok()
    done = kimi(other, "bash: echo options=$NODE_OPTIONS.", node_options="--no-deprecation").ok()
    assert "options=--no-deprecation." in done.out, "what the agent starts has the user's options and not ours"
    history = model.conversation("bash: echo").history
    assert "begin" in history
    assert "the end is a lupin" in history
    assert "HOOK-OF-THE-USER" in history
    assert "PLUGIN-OF-THE-USER" in history
    assert (config.read_bytes(), plugins.read_bytes()) == before
    (state,) = home.glob("sessions/*/*/state.json")
    assert str(state.parent) in state.read_text(), "the session knows its place by the user's own folder"
    assert not [run for run in Path(other.rigline.home.rigline_dir, "runs").glob("*") if run.is_dir()]


def test_a_missing_id_and_one_of_another_directory_are_refused_by_the_program_and_bind_nothing(
    other: Other, tmp_path: Path
) -> None:
    done = kimi(other, "say: x", "-S", ABSENT)
    assert done.code == 1
    assert ABSENT in done.err
    assert bindings(other.rigline) == {}

    kimi(other, "say: the word is marigold").ok()
    (journal,) = list_journals(other)
    before = journal.read_bytes()
    elsewhere = make_project(str(tmp_path / "elsewhere"))
    native_id = journal.parents[2].name
    refused = kimi(other, "say: x", "-S", native_id, cwd=elsewhere)
    assert refused.code == 1
    assert "different directory" in refused.err
    assert journal.read_bytes() == before


def test_a_fork_has_a_parent_and_goes_on_by_itself(other: Other, project: str) -> None:
    kimi(other, "say: the word is marigold").ok()
    (parent,) = list_journals(other)
    other.rigline("run", "kimi", "fork", parent.parents[2].name, "-y").ok()
    (fork,) = set(list_journals(other)) - {parent}
    store = KimiStore(os.fspath(find_home(other)))
    info = store.look_up(fork.parents[2].name, project).info
    assert info is not None
    assert info.parent is not None
    assert info.parent.parent_id == parent.parents[2].name
    before = parent.read_bytes()
    assert "recall marigold: yes" in kimi(other, "recall: marigold", "-S", info.native_id).ok().out
    assert parent.read_bytes() == before


def test_a_terminal_session_receives_the_line_with_its_first_prompt_and_is_collected(
    other: Other, tmux: Tmux, model: Model
) -> None:
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "kimi"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("Trust this folder?")
    pane.press("Enter")
    pane.wait_for("Welcome to Kimi Code!")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    (journal,) = list_journals(other)
    pane.enter("/new")
    pane.wait_for(lambda screen: "recall marigold" not in screen)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: no")
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    assert count_packets(journal) == 1
    (new,) = [each for each in list_journals(other) if each != journal]
    assert count_packets(new) == 0, "asked for to be empty"
    assert bindings(other.rigline)["kimi-code"] == new.parents[2].name, "the line goes on with what was used last"


def test_what_the_program_writes_in_its_list_of_plugins_is_never_ours(other: Other, tmp_path: Path) -> None:
    request = LaunchRequest(
        args=(),
        classification=Kimi().classify(()),
        hooks=HookDefinition(commands=("true",), trust=("node",)),
        private_dir=os.fspath(tmp_path),
    )
    plan = Kimi().plan(request)
    for name, text in plan.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    listed = tmp_path / "plugins" / "installed.json"
    listed.parent.mkdir()
    listed.write_text('{"version":1,"plugins":[{"id":"mine"}]}')
    script = tmp_path / "as-the-program-does.mjs"
    script.write_text(
        f"""
        import {{readFile, writeFile, rename}} from 'node:fs/promises';
        const list = JSON.parse(await readFile({json.dumps(str(listed))}, 'utf8'));
        console.log(list.plugins.map(each => each.id).join(' '), process.env.NODE_OPTIONS ?? 'no options');
        await writeFile({json.dumps(f"{listed}.tmp")}, JSON.stringify(list), 'utf8');
        await rename({json.dumps(f"{listed}.tmp")}, {json.dumps(str(listed))});
        """
    )
    done = other.rigline.execute(["node", str(script)], cwd=None, timeout_s=20, **plan.variables).ok()
    assert done.out.strip() == "mine rigline-run no options"
    assert json.loads(listed.read_text()) == {"version": 1, "plugins": [{"id": "mine"}]}
