"""`rigline show`: the checkouts that it offers, and what it starts there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rigline import lines
from rigline.cli import show, starting
from rigline.tui.page import Choice, Page
from tests.integration.cli.conftest import User
from tests.integration.cli.pickers import Became, add_line, catch_becoming, make_checkout, put_agents


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_agents(tmp_path / "bin", monkeypatch)
    catch_becoming(monkeypatch)
    monkeypatch.setattr(show, "check_terminal", lambda command: None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of projects to stand in."""
    place = tmp_path.resolve() / "src"
    make_checkout(place / "one")
    for name, marker in (("two", "pyproject.toml"), ("three", "package.json"), (".hidden", ".git"), ("plain", "x")):
        (place / name).mkdir()
        (place / name / marker).write_text("")
    (place / "node_modules").mkdir()
    (place / "node_modules" / "package.json").write_text("")
    (place / "linked").symlink_to(place / "one")
    (place / "deep" / "below").mkdir(parents=True)
    (place / "deep" / "below" / "go.mod").write_text("")
    monkeypatch.chdir(place)
    return place


def list_paths(user: User, *words: str) -> list[str]:
    return [each["path"] for each in user.call("show", "--json", *words).value["checkouts"]]


def let_choose(monkeypatch: pytest.MonkeyPatch, path: str, harness: str) -> list[Page]:
    """Somebody who chooses a checkout and then an agent."""
    shown = []

    def pick(page: Page) -> Choice | None:
        shown.append(page)
        following = page.choose(Choice(key=path))
        if not isinstance(following, Page):
            page.title = str(following)
            return None
        shown.append(following)
        choice = Choice(key=harness)
        assert following.choose(choice) is None
        return choice

    monkeypatch.setattr(show, "pick", pick)
    return shown


def test_checkouts_with_lines_come_first_and_then_those_of_the_folder(user: User, folder: Path) -> None:
    add_line(user, user.checkout, "main", "codex")
    add_line(user, folder / "one", "docs", "claude-code")
    add_line(user, folder / "one", "more", "codex")
    found = user.call("show", "--json").value["checkouts"]
    scanned = [str(folder / name) for name in ("three", "two")]
    assert [each["path"] for each in found] == [str(folder / "one"), str(user.checkout), *scanned]
    assert (found[0]["lines"], found[0]["harnesses"]) == (["more", "docs"], ["codex", "claude-code"])
    assert [each["found_by"] for each in found] == [None, None, "package.json", "pyproject.toml"]


def test_a_folder_is_scanned_one_level_deep_without_links_and_hidden_folders(user: User, folder: Path) -> None:
    assert list_paths(user) == [str(folder / name) for name in ("one", "three", "two")]
    assert list_paths(user, "--no-scan") == []
    assert list_paths(user, "--search", "TWO") == [str(folder / "two")]
    assert list_paths(user, "--limit", "1") == [str(folder / "one")]


def test_the_folder_itself_is_offered_and_what_is_in_it_only_once(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "one" / "web").mkdir()
    (folder / "one" / "web" / "package.json").write_text("")
    monkeypatch.chdir(folder / "one")
    assert list_paths(user) == [str(folder / "one")]


def test_a_scan_is_bounded(user: User, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_SCANNED", 0)
    assert list_paths(user) == []


def test_the_checkout_and_the_agent_that_were_chosen_are_started(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = let_choose(monkeypatch, str(folder / "two"), "codex")
    with pytest.raises(Became) as became:
        user.call("show", "--fresh")
    assert [item.key for item in shown[1].items] == ["auto", "claude-code", "codex"]
    assert became.value.words == ["run", "--fresh", "codex"]
    assert became.value.cwd == str(folder / "two")
    monkeypatch.chdir(folder)
    let_choose(monkeypatch, str(folder / "one"), "auto")
    with pytest.raises(Became) as became:
        user.call("show")
    assert became.value.words == ["run"]


def test_an_agent_is_shown_with_its_newest_session_there(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Path(os.environ["HOME"], ".claude", "projects", "any")
    sessions.mkdir(parents=True)
    record = {"type": "user", "cwd": str(folder / "two"), "sessionId": "x", "uuid": "u"}
    said = {**record, "message": {"role": "user", "content": "Fix the parser"}, "timestamp": "2026-03-31T08:00:00Z"}
    name = "11111111-2222-4333-8444-555555555555.jsonl"
    (sessions / name).write_text(str(said).replace("'", '"') + "\n")
    shown = let_choose(monkeypatch, str(folder / "two"), "claude-code")
    with pytest.raises(Became):
        user.call("show")
    look = shown[1].look
    assert look is not None
    assert look("claude-code").text == "Fix the parser"
    assert look("codex").text == ""


def test_a_checkout_that_is_gone_is_said_and_not_started(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_checkout(folder / "moving")
    add_line(user, app, "docs")
    app.rename(folder / "moved")
    shown = let_choose(monkeypatch, str(app), "codex")
    assert user.call("show").status == 130
    assert "its folder is gone" in shown[0].title
    assert "`rigline relocate`" in shown[0].title


def test_where_there_is_nothing_it_says_how_to_begin(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    answer = user.call("show")
    assert answer.status == 64
    assert "rigline run claude" in answer.err


def test_without_a_terminal_it_refuses_and_names_the_way_on(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "check_terminal", starting.check_terminal)
    answer = user.call("show")
    assert (answer.status, answer.out) == (64, "")
    assert "`rigline show --json`" in " ".join(answer.err.split())
