"""`rigline resume`: the list that it shows, what it refuses, and what it starts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rigline import liveness
from rigline.cli import resume
from rigline.host import host_name
from rigline.ledger.base import PrepareRequest
from rigline.tui.page import Choice, Page
from tests.integration.cli.conftest import User
from tests.integration.cli.pickers import Became, add_line, catch_becoming, commit, make_checkout, put_agents


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_agents(tmp_path / "bin", monkeypatch)
    catch_becoming(monkeypatch)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, as far as the command asks for one."""
    monkeypatch.setattr(resume, "check_terminal", lambda command: None)


def let_choose(monkeypatch: pytest.MonkeyPatch, name: str, option: str = "auto") -> list[Page]:
    """Somebody who chooses a line by name, unless the page says that it cannot be; the pages that were shown."""
    shown = []

    def pick(page: Page) -> Choice | None:
        shown.append(page)
        key = next(item.key for item in page.items if item.name == name)
        choice = Choice(key=key, option=option)
        page.title = str(page.choose(choice) or "")
        return None if page.title else choice

    monkeypatch.setattr(resume, "pick", pick)
    return shown


def test_it_lists_this_checkouts_lines_and_with_all_every_ones(user: User, tmp_path: Path) -> None:
    other = make_checkout(tmp_path / "other")
    add_line(user, user.checkout, "main", "claude-code", "codex", says="All tests pass.", title="Fix the parser")
    add_line(user, other, "docs", "codex")
    here = user.call("resume", "--json").value
    assert [line["name"] for line in here["lines"]] == ["main"]
    assert here["installed"] == ["claude-code", "codex"]
    line = here["lines"][0]
    assert (line["cwd"], line["title"]) == (str(user.checkout), "Fix the parser")
    assert line["last_words"] == {"speaker": "agent", "text": "All tests pass."}
    assert (line["harnesses"], line["harness"]) == (["codex", "claude-code"], "codex")
    everywhere = user.call("resume", "--all", "--json").value["lines"]
    assert [line["name"] for line in everywhere] == ["docs", "main"]


def test_lines_of_this_checkout_are_listed_whatever_their_workspace(user: User) -> None:
    add_line(user, user.checkout, "main")
    (user.checkout / ".rigline.toml").write_text('workspace = "work"\n')
    add_line(user, user.checkout, "later")
    assert [line["name"] for line in user.call("resume", "--json").value["lines"]] == ["later", "main"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["c", "b", "a"]),
        (["--search", "PARSER"], ["c", "a"]),
        (["--search", "parser", "--limit", "1"], ["c"]),
        (["--limit", "2"], ["c", "b"]),
        (["--search", "app"], ["c", "b", "a"]),  # the path
        (["--search", "zzz"], []),
        (["--search", "[a-z]"], []),
    ],
)
def test_search_and_limit_choose_from_the_list(user: User, words: list[str], names: list[str]) -> None:
    add_line(user, user.checkout, "a", title="the parser")
    add_line(user, user.checkout, "b", title="the docs")
    add_line(user, user.checkout, "c", says="the parser too")
    assert [line["name"] for line in user.call("resume", "--json", *words).value["lines"]] == names


def test_drift_since_the_last_run_is_told(user: User, tmp_path: Path) -> None:
    app = make_checkout(tmp_path / "drifted")
    add_line(user, app, "main")
    drift = user.call("resume", "--all", "--json").value["lines"][0]["drift"]
    assert (drift["place"], drift["told"]) == ("same", "as the last run left it")
    subprocess.run(["git", "checkout", "-q", "-b", "topic"], cwd=app, check=True)
    commit(app, "second")
    commit(app, "third")
    (app / "new.txt").write_text("x")
    drift = user.call("resume", "--all", "--json").value["lines"][0]["drift"]
    assert (drift["commits_since"], drift["commits_missing"], drift["branch"]) == (2, 0, "topic")
    assert drift["told"] == "2 commits since, branch topic instead of main and 1 file changed"
    subprocess.run(["git", "reset", "-q", "--hard", "HEAD~1"], cwd=app, check=True)
    assert user.call("resume", "--all", "--json").value["lines"][0]["drift"]["commits_since"] == 1


def test_a_last_commit_that_is_gone_is_said_to_be(user: User, tmp_path: Path) -> None:
    app = make_checkout(tmp_path / "rewritten")
    add_line(user, app, "main")
    for words in ("checkout -q --orphan new", "branch -q -D main", "reflog expire --expire=now --all"):
        subprocess.run(["git", *words.split()], cwd=app, check=True)
    commit(app, "anew")
    subprocess.run(["git", "prune", "--expire=now"], cwd=app, check=True)
    told = user.call("resume", "--all", "--json").value["lines"][0]["drift"]["told"]
    assert "its last commit is not in the repository any more" in told


def test_without_a_terminal_it_refuses_and_names_the_way_on(user: User) -> None:
    add_line(user, user.checkout, "main")
    answer = user.call("resume")
    assert (answer.status, answer.out) == (64, "")
    said = " ".join(answer.err.split())
    assert "stdin is none" in said
    assert "`rigline resume --json`" in said


def test_a_terminal_that_cannot_show_it_is_refused_too(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rigline.cli.starting._is_terminal", lambda stream: True)
    for kind in ("dumb", ""):
        monkeypatch.setenv("TERM", kind)
        answer = user.call("resume")
        assert answer.status == 64
        assert f"TERM={kind!r}" in " ".join(answer.err.split())


@pytest.mark.usefixtures("terminal")
def test_where_there_is_no_line_it_says_how_to_begin_one(user: User, tmp_path: Path) -> None:
    answer = user.call("resume")
    assert answer.status == 64
    assert "rigline run claude" in answer.err
    assert user.call("resume", "--json").value["lines"] == []
    add_line(user, make_checkout(tmp_path / "other"), "docs")
    assert "`rigline resume --all`" in " ".join(user.call("resume").err.split())


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("option", "last"), [("auto", []), ("codex", ["codex"])])
def test_enter_starts_what_run_would_in_that_checkout(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, last: list[str]
) -> None:
    app = make_checkout(tmp_path / "other app")
    add_line(user, app, "docs", "claude-code")
    shown = let_choose(monkeypatch, "docs", option)
    with pytest.raises(Became) as became:
        user.call("resume", "--all", "--yolo", "--fresh")
    assert shown[0].options == ("auto", "claude-code", "codex")
    assert became.value.cwd == str(app)
    assert became.value.env["PWD"] == str(app)
    named = ["--workspace=default", "--project=other-app", "--workstream=docs"]
    assert became.value.words == ["run", *named, "--yolo", "--fresh", *last]


@pytest.mark.usefixtures("terminal")
def test_leaving_starts_nothing(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    add_line(user, user.checkout, "main")
    monkeypatch.setattr(resume, "pick", lambda page: None)
    answer = user.call("resume")
    assert (answer.status, answer.out, answer.err) == (130, "", "")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("what", ["gone", "a file", "in another checkout", "no checkout any more"])
def test_a_path_that_is_not_the_checkout_any_more_is_said_and_not_started(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    app = make_checkout(tmp_path / "outer" / "moving")
    add_line(user, app, "docs")
    app.rename(tmp_path / "moved")
    if what == "a file":
        app.write_text("")
    elif what != "gone":
        app.mkdir()
    if what == "in another checkout":
        subprocess.run(["git", "init", "-q", str(app.parent)], check=True)
    shown = let_choose(monkeypatch, "docs")
    assert user.call("resume", "--all").status == 130
    assert "was not started" in shown[0].title
    assert "`rigline relocate`" in shown[0].title


@pytest.mark.usefixtures("terminal")
def test_a_line_that_another_run_writes_is_shown_as_such_and_not_started(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_line(user, user.checkout, "main")
    pid = os.getppid()
    request = PrepareRequest(
        scope=user.scope,
        harness="codex",
        host=host_name(),
        pid=pid,
        pid_started=liveness.process_start(pid),
        name="main",
    )
    run = user.ledger.prepare(request).run
    assert user.call("resume", "--json").value["lines"][0]["held_by"].startswith(f"codex (pid {pid}) since ")
    shown = let_choose(monkeypatch, "main")
    assert user.call("resume").status == 130
    assert shown[0].items[0].age == "running"
    assert f"main is being written by codex (pid {pid})" in shown[0].title
    user.ledger.finish(run, 0, None)
    with pytest.raises(Became):
        user.call("resume")


def test_a_run_whose_process_is_gone_holds_nothing(user: User) -> None:
    request = PrepareRequest(
        scope=user.scope, harness="codex", host=host_name(), pid=os.getpid(), pid_started="long ago", new_name="main"
    )
    user.ledger.prepare(request)
    assert user.call("resume", "--json").value["lines"][0]["held_by"] is None


@pytest.mark.usefixtures("terminal")
def test_rows_are_shown_before_git_is_asked_and_looked_at_later(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    add_line(user, user.checkout, "main", says="Bye.")

    def refuse(*_words: object, **_more: object) -> None:
        raise AssertionError("git was asked for the first screen")

    asked: list[Page] = []

    def pick(page: Page) -> None:
        asked.append(page)
        monkeypatch.undo()

    monkeypatch.setattr("rigline.git.Question.__init__", refuse)
    monkeypatch.setattr(resume, "pick", pick)
    assert resume.main([]) == 130
    page = asked[0]
    assert page.items[0].details[2] == "now: ..."
    assert page.look is not None
    assert page.look(page.items[0].key).details[2] != "now: ..."
