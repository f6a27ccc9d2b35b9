"""OpenCode through `rigline run`, as a user would: its own plugin hook and database. Few runs, since each is slow."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from lab.tmux import Tmux

from rigline.harness.opencode import GRAMMAR
from tests.real.conftest import Done, Model, Other

pytestmark = pytest.mark.parametrize("other", ["opencode"], indirect=True)
ABSENT = "ses_dd0000000ffeabsentabsent00"


def opencode(other: Other, *words: str, cwd: str | None = None, **env: str) -> Done:
    """One answer of OpenCode under rigline."""
    return other.rigline("run", "opencode", "run", *words, cwd=cwd, timeout_s=60, **env)


def sessions(other: Other) -> dict[str, str]:
    """The line's current session of each harness."""
    shown = other.rigline("workstreams", "show", "main", "--json").ok().json
    return {session["harness"]: session["native_id"] for session in shown["sessions"]}


def database(other: Other) -> Path:
    """Its own database."""
    return Path(other.rigline.home.path, ".local/share/opencode/opencode.db")


def query(other: Other, statement: str) -> list[tuple[object, ...]]:
    """Rows of it, seen as the program sees them."""
    with closing(sqlite3.connect(database(other))) as found:
        return list(found.execute(statement))


@pytest.fixture
def plugin(other: Other) -> Path:
    """A plugin of the user's own, which writes down that it was loaded."""
    log = Path(other.rigline.home.path, "loaded.txt")
    path = Path(other.rigline.home.path, "own.js")
    path.write_text(
        'import { appendFileSync } from "node:fs"\n'
        f'export const Own = async () => {{ appendFileSync("{log}", "x"); return {{}} }}\n'
    )
    return log


def test_a_line_goes_from_claude_code_to_opencode_on_in_its_session_to_a_fork_and_back(
    other: Other, model: Model, plugin: Path
) -> None:
    """The whole way: packet at the first prompt, beside the user's own plugin; resume by id; a fork counted once."""
    other.rigline("run", "claude", "-p", "say: the word is marigold").ok()
    own = f'{{"plugin":["file://{plugin.with_name("own.js")}"]}}'
    begun = opencode(other, "recall: marigold", OPENCODE_CONFIG_CONTENT=own).ok()
    assert "recall marigold: yes" in begun.out
    assert plugin.read_text()
    native_id = sessions(other)["opencode"]
    assert query(other, "SELECT count(*) FROM part WHERE data LIKE '%[rigline packet%'") == [(1,)]

    again = opencode(other, "bash: echo from-the-tool").ok()
    assert "as history" not in again.err
    assert sessions(other)["opencode"] == native_id
    assert "recall: marigold" in str(model.conversation("bash: echo from-the-tool"))

    forked = opencode(other, "--fork", "recall: from-the-tool").ok()
    assert "recall from-the-tool: yes" in forked.out
    assert "saved 2 new events" in forked.err
    fork_id = sessions(other)["opencode"]
    assert fork_id != native_id
    lineage = other.rigline("lineage", "--json").ok().out
    assert fork_id in lineage
    assert native_id in lineage

    back = other.rigline("run", "claude", "-p", "recall: from-the-tool").ok()
    assert "recall from-the-tool: yes" in back.out
    assert not list(Path(other.rigline.home.rigline_dir, "runs").iterdir())


def test_an_id_that_is_missing_is_refused_by_opencode_and_repoints_nothing(other: Other) -> None:
    refused = opencode(other, "--session", ABSENT, "say: x")
    assert refused.code == 1
    assert "Session not found" in refused.err
    assert "opencode" not in sessions(other)


def test_a_session_is_not_resumed_from_elsewhere_where_the_program_would_hang(other: Other, model: Model) -> None:
    opencode(other, "say: the word is marigold").ok()
    native_id = sessions(other)["opencode"]
    below = Path(other.rigline.cwd, "below")
    below.mkdir()
    elsewhere = opencode(other, "recall: marigold", cwd=os.fspath(below)).ok()
    assert "cannot be resumed here" in elsewhere.err
    assert "never comes to an end" in elsewhere.err
    assert "recall marigold: yes" in elsewhere.out
    assert sessions(other)["opencode"] != native_id


def test_the_terminal_is_shown_the_history_as_well(other: Other, tmux: Tmux) -> None:
    other.rigline("run", "claude", "-p", "say: the word is marigold").ok()
    argv = other.rigline.argv("run", "opencode", "--prompt", "recall: marigold")
    pane = tmux.open_pane(argv, other.rigline.env, other.rigline.cwd)
    pane.wait_for("recall marigold: yes")
    ((native_id,),) = query(other, "SELECT id FROM session")
    assert query(other, 'SELECT count(*) FROM message WHERE data LIKE \'%"role":"user"%\'') == [(1,)]
    pane.press("C-c")
    assert pane.wait_for_exit() == 0
    assert sessions(other)["opencode"] == native_id


def test_every_option_that_the_program_tells_of_is_in_the_table(other: Other) -> None:
    """So that no value of one is taken for a prompt, a subcommand, or another option."""
    for words, table in ((("--help",), GRAMMAR.table), (("run", "--help"), GRAMMAR.table.tables["run"])):
        told = other.rigline.agent(other.path, *words).ok()
        lines = re.findall(r"^ +((?:-\w, )? *--[\w-]+) .*$", told.out + told.err, re.MULTILINE)
        names = {name for line in lines for name in re.findall(r"--?[\w-]+", line)}
        assert {"--session", "-s", "--fork", "--auto"} <= names
        assert {name for name in names if table.find(name) is None} == set()
