"""`rigline continue`: the newest line anywhere, told before it starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.cli.conftest import User
from tests.integration.cli.pickers import Became, add_line, catch_becoming, make_checkout, put_agents


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_agents(tmp_path / "bin", monkeypatch)
    catch_becoming(monkeypatch)


def test_the_newest_line_is_told_and_then_started_where_it_is(
    user: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_checkout(tmp_path / "other")
    add_line(user, user.checkout, "old", "claude-code")
    add_line(user, other, "new", "claude-code", "codex", title="Fix the parser")
    with pytest.raises(Became) as became:
        user.call("continue", "--yolo")
    said = " ".join(capsys.readouterr().err.split())
    for fact in ("'new'", "Fix the parser", str(other), "codex", "last active"):
        assert fact in said
    assert (became.value.cwd, became.value.env["PWD"]) == (str(other), str(other))
    named = ["--workspace=default", "--project=other", "--workstream=new"]
    assert became.value.words == ["run", *named, "--yolo", "codex"]


def test_the_line_selected_last_is_the_newest_whatever_the_clock_says(user: User) -> None:
    add_line(user, user.checkout, "first")
    user.clock.advance(-86_400_000)
    add_line(user, user.checkout, "second")
    assert user.call("continue", "--json").value["line"]["name"] == "second"


def test_json_and_dry_run_tell_and_start_nothing(user: User) -> None:
    add_line(user, user.checkout, "main", "codex", says="Done.")
    told = user.call("continue", "--json").value
    assert (told["line"]["name"], told["line"]["harness"]) == ("main", "codex")
    assert told["command"][:2] == ["rigline", "run"]
    assert told["command"][-1] == "codex"
    answer = user.call("continue", "--dry-run")
    assert answer.status == 0
    assert answer.lines[-2] == f"cd {user.checkout}"
    assert answer.lines[-1].endswith("--workstream=main codex")
    assert max(map(len, answer.lines[:-2])) <= 80


def test_an_agent_that_is_not_here_is_left_to_run_to_choose(user: User) -> None:
    add_line(user, user.checkout, "main", "codex")
    os.unlink(os.environ["PATH"].partition(os.pathsep)[0] + "/codex")
    assert user.call("continue", "--json").value["command"][-1] == "--workstream=main"


def test_a_checkout_that_is_gone_is_refused_and_nothing_else_is_started(user: User, tmp_path: Path) -> None:
    add_line(user, user.checkout, "old")
    other = make_checkout(tmp_path / "other")
    add_line(user, other, "new")
    other.rename(tmp_path / "renamed")
    answer = user.call("continue")
    assert answer.status == 64
    assert "`rigline relocate`" in " ".join(answer.err.split())
    assert user.call("continue", "--json").value["line"]["drift"]["place"] == "gone"


def test_where_there_is_no_line_it_says_how_to_begin_one(user: User) -> None:
    answer = user.call("continue", "--json")
    assert (answer.status, answer.value["error"]["code"]) == (64, "nothing_to_continue")
