"""`rigline relocate` with real checkouts: renamed, moved with their parent, copied, cloned anew, made a repository."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rigline import liveness
from rigline.errors import LeaseHeld
from rigline.ledger.base import PrepareRequest
from rigline.model import Checkpoint
from rigline.scope import has_commit, resolve_scope, take_checkpoint
from tests.integration.cli.conftest import User

IDENTITY = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def committed(user: User) -> str:
    """A commit in the user's checkout; its id."""
    git(user.checkout, "commit", "-q", "--allow-empty", "-m", "Begin")
    return git(user.checkout, "rev-parse", "HEAD")


def work(user: User, native_id: str = "s1", *, new: str | None = None) -> str:
    """A run of Claude Code in the current directory that is over; the line's id."""
    grant = user.start(new=new)
    user.say(user.bind(grant, native_id), f"said in {native_id}")
    user.ledger.finish(grant.run, 0, take_checkpoint(os.getcwd(), user.clock.now_ms, env=os.environ))
    return grant.workstream.id


def go_to(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.chdir(folder)
    return folder


def rename(user: User, monkeypatch: pytest.MonkeyPatch, name: str = "renamed") -> Path:
    """Rename the checkout, and go there."""
    target = user.checkout.parent / name
    user.checkout.rename(target)
    return go_to(monkeypatch, target)


def test_a_renamed_checkout_gets_its_lines_back(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = {work(user), work(user, "s2", new="docs")}
    rename(user, monkeypatch)
    done = user.call("relocate", "--yes")
    assert done.status == 0, done.err
    assert "the same git directory, under another path" in done.out
    assert {line.id for line in user.ledger.list_workstreams(user.scope)} == ids
    assert "main is now a line of" in done.out
    assert user.call("workstreams", "--json").value["workstreams"][0]["name"] == "docs", "used last, so the current one"
    assert "said in s1" in user.call("search", "said").out, "search here finds what was said there"


def test_without_a_terminal_nothing_is_done_unless_yes_is_said(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    line = work(user)
    rename(user, monkeypatch)
    refused = user.call("relocate")
    assert refused.status == 64
    assert "--yes" in refused.err
    shown = user.call("relocate", "--dry-run", "--json")
    assert shown.status == 0
    (found,) = shown.value["lines"]
    assert (found["id"], found["verdict"], found["is_relocated"]) == (line, "moved", False)
    assert user.ledger.list_workstreams(user.scope) == []
    assert user.call("relocate", "--json").value["error"]["code"] == "usage"


@pytest.mark.parametrize(("typed", "moves"), [("\n", True), ("y\n", True), ("n\n", False), ("", False), ("?\n", False)])
def test_a_person_is_asked(user: User, monkeypatch: pytest.MonkeyPatch, typed: str, moves: bool) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    work(user)
    rename(user, monkeypatch)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", Terminal())
    done = user.call("relocate")
    assert done.status == (0 if moves else 1)
    assert ("is now a line of" in done.out) is moves
    assert ("Nothing was changed." in done.out) is not moves
    assert bool(user.ledger.list_workstreams(user.scope)) is moves


def test_a_parent_folder_that_moved_takes_its_checkouts_along(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = user.checkout / "clients" / "one"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    monkeypatch.chdir(inner)
    line = work(user)
    monkeypatch.chdir(user.checkout)
    outer = work(user, "s2")
    target = rename(user, monkeypatch)
    monkeypatch.chdir(target / "clients" / "one")
    assert user.call("relocate", "--yes").status == 0
    assert [each.id for each in user.ledger.list_workstreams(user.scope)] == [line]
    assert outer not in {each.id for each in user.ledger.list_workstreams(user.scope)}


def test_a_copy_takes_nothing_and_says_where_the_lines_are(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    line = work(user)
    copy = user.checkout.parent / "copy"
    shutil.copytree(user.checkout, copy)
    monkeypatch.chdir(copy)
    shown = user.call("relocate", "--yes")
    assert shown.status == 1
    assert "still there" in shown.out
    asked = user.call("relocate", "--yes", "--from", str(user.checkout))
    assert asked.status == 64
    assert "It goes on there" in asked.err
    assert user.ledger.get_workstream(line, None).cwd == str(user.checkout)


def test_a_clone_of_what_is_gone_takes_the_lines_over(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    upstream = user.checkout.parent / "upstream.git"
    git(user.checkout.parent, "clone", "-q", "--bare", str(user.checkout), str(upstream))
    git(user.checkout, "remote", "add", "origin", "https://git.example.org/dev/app.git")
    line = work(user)
    shutil.rmtree(user.checkout)
    clone = user.checkout.parent / "anew"
    git(user.checkout.parent, "clone", "-q", str(upstream), str(clone))
    git(clone, "remote", "set-url", "origin", "git@git.example.org:dev/app.git")
    monkeypatch.chdir(clone)
    done = user.call("relocate", "--yes")
    assert done.status == 0
    assert f"its last commit {committed[:10]} is here" in " ".join(done.out.split())
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_clone_without_the_last_commit_takes_only_what_is_named(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    clone = user.checkout.parent / "anew"
    git(user.checkout.parent, "clone", "-q", str(user.checkout), str(clone))
    for folder in (user.checkout, clone):
        words = ["set-url"] if folder == clone else ["add"]
        git(folder, "remote", *words, "origin", "https://git.example.org/dev/app.git")
    git(user.checkout, "commit", "-q", "--allow-empty", "-m", "Never pushed")
    line = work(user)
    shutil.rmtree(user.checkout)
    monkeypatch.chdir(clone)
    assert user.call("relocate", "--yes").status == 1
    refused = user.call("relocate", "--yes", "--workstream", "main")
    assert refused.status == 64
    assert "is not here" in refused.err
    assert f"--from {user.checkout}" in refused.err
    assert user.call("relocate", "--yes", "--from", str(user.checkout)).status == 0
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_another_repository_takes_nothing_even_when_named(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    line = work(user)
    shutil.rmtree(user.checkout)
    other = user.checkout.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "Something else")
    monkeypatch.chdir(other)
    assert user.call("relocate", "--yes").status == 1
    refused = user.call("relocate", "--yes", "--from", str(user.checkout))
    assert refused.status == 64
    assert "another repository" in refused.err
    assert user.call("relocate", "--yes", "--workstream", line).status == 64


def test_another_clone_put_in_its_place_does_not_keep_the_lines(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    """The former path leads to a checkout with the same fingerprint by its path, and is another one all the same."""
    line = work(user)
    target = rename(user, monkeypatch, "set-aside")
    git(user.checkout.parent, "clone", "-q", str(target), str(user.checkout))
    assert user.call("relocate", "--yes").status == 0
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_linked_worktree_follows_its_main_repository(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    tree = user.checkout.parent / "tree"
    git(user.checkout, "worktree", "add", "-q", str(tree))
    monkeypatch.chdir(tree)
    line = work(user)
    monkeypatch.chdir(user.checkout)
    target = rename(user, monkeypatch)
    git(target, "worktree", "repair", str(tree))
    monkeypatch.chdir(tree)
    assert user.ledger.list_workstreams(user.scope) == []
    assert user.call("relocate", "--yes").status == 0
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_linked_worktree_that_is_moved_itself_needs_nothing(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    tree, moved = user.checkout.parent / "tree", user.checkout.parent / "moved"
    git(user.checkout, "worktree", "add", "-q", str(tree))
    monkeypatch.chdir(tree)
    line = work(user)
    monkeypatch.chdir(user.checkout)
    git(user.checkout, "worktree", "move", str(tree), str(moved))
    monkeypatch.chdir(moved)
    assert user.ledger.list_workstreams(user.scope)[0].id == line
    assert user.call("relocate", "--yes").status == 1


def test_a_folder_that_became_a_repository_keeps_its_lines(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = user.checkout.parent / "plain"
    plain.mkdir()
    monkeypatch.chdir(plain)
    line = work(user)
    git(plain, "init", "-q")
    assert user.ledger.list_workstreams(user.scope) == []
    done = user.call("relocate", "--yes")
    assert "same folder" in done.out
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_plain_folder_that_moved_is_taken_by_its_name_only(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, target = user.checkout.parent / "plain", user.checkout.parent / "elsewhere"
    plain.mkdir()
    monkeypatch.chdir(plain)
    line = work(user)
    plain.rename(target)
    monkeypatch.chdir(target)
    if user.scope.inode_fingerprint is None:
        assert user.call("relocate", "--yes").status == 1
    assert user.call("relocate", "--yes", "--from", str(plain)).status == 0
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_line_that_is_here_already_is_no_candidate(user: User) -> None:
    work(user)
    done = user.call("relocate", "--yes")
    assert done.status == 1
    assert "No line of another checkout belongs to" in done.out


def test_a_line_on_which_nothing_is_known_of_git_s_directory_moves_by_its_last_commit(
    user: User, monkeypatch: pytest.MonkeyPatch, committed: str
) -> None:
    """As a rigline wrote it that did not know inodes; a repository without remotes changes its fingerprint as well."""
    line = work(user)
    with user.ledger._db.writing():
        user.ledger._db._connection.execute("UPDATE workstreams SET inode_fingerprint = NULL")
    rename(user, monkeypatch)
    done = user.call("relocate", "--yes")
    assert f"its last commit {committed[:10]} is in this repository" in " ".join(done.out.split())
    assert user.ledger.list_workstreams(user.scope)[0].id == line


def test_a_taken_name_is_told(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    line = work(user)
    rename(user, monkeypatch)
    own = work(user, "s9")
    done = user.call("relocate", "--yes", "--json")
    (found,) = done.value["lines"]
    assert found["new_name"].startswith("main-")
    assert {each.id for each in user.ledger.list_workstreams(user.scope)} == {line, own}


def test_a_line_with_a_run_at_work_stays(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.getpid()
    grant = user.ledger.prepare(
        PrepareRequest(
            scope=user.scope, harness="codex", host=user.scope.host, pid=me, pid_started=liveness.process_start(me)
        )
    )
    rename(user, monkeypatch)
    held = user.call("relocate", "--yes")
    assert held.status == LeaseHeld.exit_status
    assert "was left where it was" in held.out
    user.ledger.finish(grant.run, 0, Checkpoint(at_ms=0))
    assert user.call("relocate", "--yes").status == 0


def test_a_move_is_told_with_the_line(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    work(user)
    rename(user, monkeypatch)
    user.call("relocate", "--yes")
    told = user.call("workstreams", "show").out
    assert "Moved here" in told
    assert "proved  it is the same git directory" in told
    (move,) = user.call("workstreams", "show", "--json").value["moves"]
    assert (move["from_cwd"], move["evidence"]) == (
        str(user.checkout),
        "it is the same git directory, under another path",
    )


def test_an_unknown_word_is_refused(user: User) -> None:
    assert user.call("relocate", "--yes", "--workstream", "nope").status == 64
    assert user.call("relocate", "--yes", "--from", "/nowhere/at/all").status == 64


def test_a_renamed_checkout_has_the_same_inode_fingerprint_and_a_copy_another(user: User, committed: str) -> None:
    before = user.scope.inode_fingerprint
    copy, target = user.checkout.parent / "copy", user.checkout.parent / "renamed"
    shutil.copytree(user.checkout, copy)
    user.checkout.rename(target)
    assert before is not None
    assert resolve_scope(str(target), env=os.environ).inode_fingerprint == before
    assert resolve_scope(str(copy), env=os.environ).inode_fingerprint != before
    (target / "sub").mkdir()
    assert resolve_scope(str(target / "sub"), env=os.environ).inode_fingerprint == before


def test_a_repository_made_after_another_was_deleted_is_not_taken_for_it(user: User) -> None:
    """File systems give an inode's number anew at once."""
    seen = set()
    for number in range(4):
        folder = user.checkout.parent / f"r{number}"
        folder.mkdir()
        git(folder, "init", "-q")
        found = resolve_scope(str(folder), env=os.environ).inode_fingerprint
        assert found is not None
        assert found not in seen
        seen.add(found)
        shutil.rmtree(folder)


def test_a_commit_is_known_by_its_whole_id(user: User, committed: str) -> None:
    here = str(user.checkout)
    assert has_commit(here, committed, env=os.environ) is True
    assert has_commit(here, "0" * 40, env=os.environ) is False
    tree = git(user.checkout, "rev-parse", "HEAD^{tree}")
    assert has_commit(here, tree, env=os.environ) is False, "no commit"
    for word in ("HEAD", "--help", committed[:10], ""):
        assert has_commit(here, word, env=os.environ) is None
