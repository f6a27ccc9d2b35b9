"""A checkout was renamed: its line goes on there, in the agents' own sessions as far as they allow it."""

from __future__ import annotations

import os

import pytest
from lab.tmux import Tmux

from tests.real.conftest import NEWEST, Model, Rigline
from tests.real.test_run import bindings, claude, codex, store_bytes

pytestmark = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])


@pytest.fixture
def renamed(project: str) -> str:
    """The name that the checkout gets."""
    return f"{project}-renamed"


def rename(rigline: Rigline, project: str, renamed: str) -> None:
    os.rename(project, renamed)
    rigline.home.trust(renamed)
    rigline.cwd = renamed


def test_a_renamed_checkout_gets_its_line_back_with_what_still_resumes(
    rigline: Rigline, model: Model, project: str, renamed: str
) -> None:
    claude(rigline, "say: the codeword is marigold")
    codex(rigline, "say: the parser moved to lexer.py")
    before = bindings(rigline)
    rename(rigline, project, renamed)
    native = store_bytes(rigline)

    done = rigline("relocate", "--yes", "--json").ok().json
    (line,) = done["lines"]
    assert line["is_relocated"]
    resumes = {session["harness"]: session["resumes"] for session in line["sessions"]}
    assert resumes == {"claude-code": False, "codex": True}
    assert store_bytes(rigline) == native, "the agents' own files"

    told = rigline("run", "codex", "exec", "--skip-git-repo-check", "recall: lexer.py").ok()
    assert told.out.strip() == "recall lexer.py: yes"
    assert bindings(rigline)["codex"] == before["codex"]
    told = rigline("run", "claude", "-p", "recall: marigold").ok()
    assert told.out.strip() == "recall marigold: yes"
    assert "cannot be resumed here" in told.err
    assert "[rigline packet" in model.conversation("recall: marigold").history
    now = bindings(rigline)["claude-code"]
    assert now != before["claude-code"]
    assert rigline("run", "claude", "-p", "say: once more").ok().err.count("cannot be resumed") == 0
    assert bindings(rigline)["claude-code"] == now


def test_a_person_in_a_renamed_checkout_is_asked_before_another_line_is_begun(
    rigline: Rigline, tmux: Tmux, project: str, renamed: str
) -> None:
    claude(rigline, "say: the codeword is marigold")
    rename(rigline, project, renamed)
    pane = tmux.open_pane(rigline.argv("run", "claude"), rigline.env, renamed)
    asked = pane.wait_for("Go on with it here? [Y/n]")
    assert "This checkout was renamed" in asked
    pane.press("Enter")
    pane.wait_for("shift+tab to cycle")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    pane.enter("/exit")
    assert pane.wait_for_exit() == 0
    (line,) = rigline("workstreams", "--all", "--json").ok().json["workstreams"]
    assert line["cwd"] == renamed


def test_a_script_in_a_renamed_checkout_is_told_how_to_get_the_line_back(
    rigline: Rigline, project: str, renamed: str
) -> None:
    claude(rigline, "say: the codeword is marigold")
    rename(rigline, project, renamed)
    told = rigline("run", "claude", "-p", "say: under the new name").ok()
    assert "`rigline relocate`" in told.err
    done = rigline("relocate", "--yes").ok()
    assert "since there is a line main here already" in " ".join(done.out.split())
    assert len(rigline("workstreams", "--json").ok().json["workstreams"]) == 2
