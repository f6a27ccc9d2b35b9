"""Checkouts as they are now: what stands at a path, how many commits came, and what is asked only once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rigline import lines
from rigline.config import load_settings
from rigline.model import Checkpoint
from rigline.picking import Place
from rigline.scope import count_commits, take_checkpoint
from tests.integration.cli.pickers import commit, make_checkout, put_agents
from tests.unit.test_picking import make_line


def get_head(folder: Path) -> str:
    words = ["git", "rev-parse", "HEAD"]
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_commits_are_counted_on_both_sides(tmp_path: Path) -> None:
    app = make_checkout(tmp_path / "app")
    commit(app, "second")
    then = get_head(app)
    subprocess.run(["git", "checkout", "-q", "-b", "topic", "HEAD~1"], cwd=app, check=True)
    assert count_commits(str(app), then, env=os.environ) == (1, 0)
    commit(app, "other")
    commit(app, "another")
    assert count_commits(str(app), then, env=os.environ) == (1, 2)


@pytest.mark.parametrize("since", ["", "--all", "HEAD", "main", "-n1", "0" * 40, "A" * 40])
def test_what_is_no_commits_id_is_no_question_to_git(tmp_path: Path, since: str) -> None:
    app = make_checkout(tmp_path / "app")
    assert count_commits(str(app), since, env=os.environ) is None


def test_without_git_nothing_is_counted(tmp_path: Path) -> None:
    assert count_commits(str(tmp_path), "a" * 40, env={"PATH": str(tmp_path)}) is None


def test_a_place_is_the_same_only_while_the_checkout_is_there(tmp_path: Path) -> None:
    app = make_checkout(tmp_path / "app")
    (app / "below").mkdir()
    own = lines.find_checkout_here(str(app), os.environ)

    def find(path: Path) -> Place:
        return lines.find_place(str(path), own, os.environ)

    assert find(app) is Place.SAME
    assert find(app / "below") is Place.SAME
    assert find(tmp_path) is Place.OTHER
    assert find(tmp_path / "nowhere") is Place.GONE
    (tmp_path / "link").symlink_to(app)
    assert find(tmp_path / "link") is Place.SAME
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert find(tmp_path / "dangling") is Place.NO_FOLDER
    (tmp_path / "file").write_text("")
    assert find(tmp_path / "file") is Place.NO_FOLDER


def test_a_folder_of_several_lines_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_checkout(tmp_path / "app")
    own = lines.find_checkout_here(str(app), os.environ)
    asked = []

    def take(cwd: str, now_ms: int, *, env: object) -> Checkpoint:
        asked.append(cwd)
        return take_checkpoint(cwd, now_ms, env=os.environ)

    monkeypatch.setattr(lines, "take_checkpoint", take)
    looker = lines.Looker(os.environ)
    for name in ("one", "two"):
        standing = looker.look(make_line(name, cwd=str(app), worktree_fingerprint=own))
        assert standing.now is not None
        assert standing.now.head == get_head(app)
    assert asked == [str(app)]


def test_an_agent_is_here_when_its_program_is_by_setting_or_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_agents(tmp_path / "bin", monkeypatch, ("codex", "my-claude"))
    assert lines.find_installed(os.environ, load_settings(os.environ, ("claude-code",))) == ("codex",)
    monkeypatch.setenv("RIGLINE_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('[harness.claude-code]\nexecutable = "my-claude"\n')
    settings = load_settings(os.environ, ("claude-code",))
    assert lines.find_installed(os.environ, settings) == ("claude-code", "codex")
