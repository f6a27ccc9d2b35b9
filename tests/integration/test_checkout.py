"""A checkout told from files alone is the one that git tells, or it is left to git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rigline.checkout import find_worktree_fingerprint
from rigline.scope import resolve_scope


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def git(*words: str, cwd: Path) -> None:
    who = {f"GIT_{role}_{what}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    words = ("-c", "protocol.file.allow=always", *words)
    subprocess.run(["git", *words], cwd=cwd, env={**os.environ, **who}, check=True, capture_output=True)


def make_repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git("init", "-q", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=path)
    return path


def check(cwd: Path) -> str | None:
    """The fingerprint from files, after a comparison with git's if there is one."""
    found = find_worktree_fingerprint(str(cwd), os.environ)
    if found is not None:
        assert found == resolve_scope(str(cwd), env=os.environ).worktree_fingerprint
    return found


def test_plain_folders_and_repositories_are_told_as_git_tells_them(root: Path) -> None:
    repository = make_repository(root / "app")
    (repository / "src" / "deep").mkdir(parents=True)
    (root / "plain").mkdir()
    assert check(repository) == check(repository / "src" / "deep") is not None
    assert check(root / "plain") is not None
    assert check(root / "plain") != check(root)


def test_linked_worktrees_submodules_and_nested_repositories_are_their_own(root: Path) -> None:
    repository = make_repository(root / "app")
    library = make_repository(root / "library")
    git("worktree", "add", "-q", str(root / "linked"), cwd=repository)
    git("submodule", "add", "-q", str(library), "vendored", cwd=repository)
    nested = make_repository(repository / "nested")
    places = [repository, library, root / "linked", repository / "vendored", nested]
    assert len({check(place) for place in places} - {None}) == len(places)


def test_a_symbolic_link_leads_to_the_real_checkout(root: Path) -> None:
    repository = make_repository(root / "app")
    (root / "alias").symlink_to(repository)
    assert check(root / "alias") == check(repository) is not None


def test_a_git_directory_elsewhere_is_followed(root: Path) -> None:
    (root / "work").mkdir()
    git("init", "-q", "--separate-git-dir", str(root / "elsewhere"), cwd=root / "work")
    assert check(root / "work") is not None
    git("init", "-q", cwd=root / "work")
    shutil.move(root / "elsewhere", root / "moved")
    (root / "work" / ".git").unlink()
    (root / "work" / ".git").symlink_to(root / "moved")
    assert check(root / "work") is not None


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b"gitdir: /nowhere/at/all\n", b"gitdir: .\n"])
def test_a_git_file_that_leads_nowhere_is_left_to_git(root: Path, content: bytes) -> None:
    (root / "broken").mkdir()
    (root / "broken" / ".git").write_bytes(content)
    assert check(root / "broken") is None


def test_an_empty_git_folder_and_a_bare_repository_are_left_to_git(root: Path) -> None:
    (root / "empty" / ".git").mkdir(parents=True)
    assert check(root / "empty") is None
    (root / "bare").mkdir()
    git("init", "-q", "--bare", cwd=root / "bare")
    assert check(root / "bare") is None
    assert check(make_repository(root / "app") / ".git") is None


def test_what_changes_gits_search_is_left_to_git(root: Path) -> None:
    repository = make_repository(root / "app")
    assert find_worktree_fingerprint(str(repository), {**os.environ, "GIT_CEILING_DIRECTORIES": "/x"}) is None


def test_a_directory_that_is_gone_is_left_to_git(root: Path) -> None:
    assert find_worktree_fingerprint(str(root / "gone"), os.environ) is None
