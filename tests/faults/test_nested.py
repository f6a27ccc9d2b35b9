"""An agent in an agent: what was put into the outer one's environment for it alone does not reach the inner one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fakes.place import Person

#: the settings of the user's own, in a place of their own
OWN = '{"options":{"global_context_paths":["%s"]}}'


@pytest.fixture
def person(tmp_path: Path) -> Person:
    someone = Person(tmp_path, crush="crush", grok="grok")
    command = someone.bin / "rigline"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rigline "$@"\n')
    command.chmod(0o755)
    return someone


@pytest.mark.parametrize("is_moved", [False, True], ids=["usual place", "place of a variable"])
def test_an_agent_inside_an_agent_is_shown_the_user_s_settings_and_not_the_outer_one_s_history(
    person: Person, is_moved: bool
) -> None:
    settings = person.home / "settings" if is_moved else person.home / ".config" / "crush"
    settings.mkdir(parents=True)
    (settings / "mine.md").write_text("the user's own rule: periwinkle")
    (settings / "crush.json").write_text(OWN % (settings / "mine.md"))
    if is_moved:
        person.env["CRUSH_GLOBAL_CONFIG"] = str(settings)
    person("run", "grok", "-p", "say: the codeword is marigold").ok()
    words = " && ".join(
        f"rigline run --new {name} crush run 'recall: {name}' > {name}.txt" for name in ("marigold", "periwinkle")
    )
    outer = person("run", "crush", "run", f"bash: {words}").ok()
    assert "with 2 earlier events of it as history" in outer.err
    told = {name: Path(person.project, f"{name}.txt").read_text() for name in ("marigold", "periwinkle")}
    assert told == {"marigold": "recall marigold: no\n", "periwinkle": "recall periwinkle: yes\n"}
