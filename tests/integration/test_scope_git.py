"""Scope and checkpoint of real checkouts, made by the real git in temporary folders."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rigline import host, scope
from rigline.errors import ConfigError, UsageError
from rigline.model import UNKNOWN_STATUS, Checkpoint, Scope
from rigline.scope import inspect_checkout, resolve_scope, start_inspection, take_checkpoint

Env = dict[str, str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def env(root: Path) -> Env:
    """A user without a git configuration of their own, whose home is beside the checkouts."""
    (root / "home").mkdir()
    who = {f"GIT_{role}_{what}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    places = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "RIGLINE_HOME": str(root / "rig")}
    return {**places, **who, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def app(root: Path, env: Env) -> Path:
    """A repository on `main` with one commit of two files."""
    folder = root / "app"
    git(env, root, "init", "-q", "-b", "main", "app")
    (folder / "a.txt").write_text("a\n" * 20)
    (folder / "src").mkdir()
    (folder / "src" / "b.txt").write_text("b\n")
    git(env, folder, "add", ".")
    git(env, folder, "commit", "-q", "-m", "first")
    return folder


def git(env: Env, folder: Path, *words: str) -> str:
    answer = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def inspect(folder: Path, env: Env, **words: str) -> tuple[Scope, Checkpoint, list[str]]:
    notes: list[str] = []
    found, checkpoint = inspect_checkout(str(folder), 7, env=env, notes=notes, **words)
    return found, checkpoint, notes


def resolve(folder: Path, env: Env) -> Scope:
    return resolve_scope(str(folder), env=env)


# Identity


def test_a_clone_shares_the_repository_and_not_the_worktree(root: Path, env: Env, app: Path) -> None:
    for name in ("one", "two"):
        git(env, root, "clone", "-q", str(app), name)
    one, two = resolve(root / "one", env), resolve(root / "two", env)
    assert one.repo_fingerprint == two.repo_fingerprint
    assert one.worktree_fingerprint != two.worktree_fingerprint
    assert one.repo_source == "remote"
    assert (one.project, two.project) == ("one", "two")


def test_a_linked_worktree_shares_the_repository_and_its_name(root: Path, env: Env, app: Path) -> None:
    git(env, app, "worktree", "add", "-q", "../fix")
    main, linked = resolve(app, env), resolve(root / "fix", env)
    assert linked.repo_fingerprint == main.repo_fingerprint
    assert linked.worktree_fingerprint != main.worktree_fingerprint
    assert (linked.project, main.project) == ("app", "app")
    assert linked.toplevel == str(root / "fix")


def test_a_subdirectory_is_the_same_checkout_at_another_place(env: Env, app: Path) -> None:
    top, below = resolve(app, env), resolve(app / "src", env)
    assert below.worktree_fingerprint == top.worktree_fingerprint
    assert below.repo_fingerprint == top.repo_fingerprint
    assert (below.cwd, below.toplevel) == (str(app / "src"), str(app))


def test_a_checkout_reached_by_a_symbolic_link_is_the_same(root: Path, env: Env, app: Path) -> None:
    (root / "link").symlink_to(app)
    assert resolve(root / "link" / "src", env) == resolve(app / "src", env)


def test_a_remote_is_one_however_it_is_written(env: Env, app: Path) -> None:
    git(env, app, "remote", "add", "origin", "https://ann:ghp_secret@GitHub.com/ann/app.git")
    written_long = resolve(app, env)
    git(env, app, "remote", "set-url", "origin", "git@github.com:ann/app")
    assert resolve(app, env) == written_long
    git(env, app, "config", "--global", "url.https://github.com/.insteadOf", "gh:")
    git(env, app, "remote", "set-url", "origin", "gh:ann/app")
    assert resolve(app, env) == written_long
    git(env, app, "remote", "set-url", "origin", "gh:ann/other")
    assert resolve(app, env).repo_fingerprint != written_long.repo_fingerprint


def test_only_the_origin_counts_where_there_is_one(env: Env, app: Path) -> None:
    git(env, app, "remote", "add", "origin", "https://host/ann/app")
    alone = resolve(app, env)
    git(env, app, "remote", "add", "fork", "https://host/bob/app")
    assert resolve(app, env) == alone
    git(env, app, "remote", "remove", "origin")
    assert resolve(app, env).repo_fingerprint != alone.repo_fingerprint


def test_a_new_remote_changes_the_repository_and_not_the_worktree(env: Env, app: Path) -> None:
    before = resolve(app, env)
    git(env, app, "remote", "add", "origin", "https://host/ann/app")
    after = resolve(app, env)
    assert (before.repo_source, after.repo_source) == ("git_dir", "remote")
    assert before.repo_fingerprint != after.repo_fingerprint
    assert before.worktree_fingerprint == after.worktree_fingerprint


def test_a_remote_that_is_a_path_is_the_place_it_leads_to(root: Path, env: Env, app: Path) -> None:
    git(env, root, "clone", "-q", "--bare", str(app), "store.git")
    (root / "link.git").symlink_to(root / "store.git")
    git(env, app, "remote", "add", "origin", str(root / "store.git"))
    expected = resolve(app, env).repo_fingerprint
    for url in ("../store", "../store.git/", f"file://{root}/store.git", "../link.git"):
        git(env, app, "remote", "set-url", "origin", url)
        assert resolve(app, env).repo_fingerprint == expected
    git(env, app, "remote", "set-url", "origin", "../other.git")
    assert resolve(app, env).repo_fingerprint != expected


def test_a_submodule_is_a_repository_of_its_own(root: Path, env: Env, app: Path) -> None:
    git(env, root, "init", "-q", "outer")
    outer = root / "outer"
    git(env, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(app), "lib")
    inner = resolve(outer / "lib", env)
    assert (inner.project, inner.toplevel) == ("lib", str(outer / "lib"))
    assert inner.worktree_fingerprint != resolve(outer, env).worktree_fingerprint
    git(env, outer / "lib", "remote", "set-url", "origin", "https://host/ann/app")
    git(env, app, "remote", "add", "origin", "https://host/ann/app")
    assert resolve(outer / "lib", env).repo_fingerprint == resolve(app, env).repo_fingerprint


def test_a_moved_checkout_is_another_worktree_of_the_same_repository(root: Path, env: Env, app: Path) -> None:
    git(env, app, "remote", "add", "origin", "https://host/ann/app")
    before = resolve(app, env)
    app.rename(root / "moved")
    after = resolve(root / "moved", env)
    assert after.repo_fingerprint == before.repo_fingerprint
    assert after.worktree_fingerprint != before.worktree_fingerprint


def test_two_paths_that_agents_encode_alike_stay_apart(root: Path, env: Env) -> None:
    first, second = root / "a-b" / "c", root / "a" / "b-c"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    assert resolve(first, env).worktree_fingerprint != resolve(second, env).worktree_fingerprint


def test_paths_that_differ_by_case_alone_are_one_where_the_host_says_so(
    root: Path, env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "App").mkdir()
    (root / "app").mkdir()
    assert resolve(root / "App", env).worktree_fingerprint != resolve(root / "app", env).worktree_fingerprint
    monkeypatch.setattr(host, "fold_path", lambda path, *, is_wsl: path.lower())
    assert resolve(root / "App", env).worktree_fingerprint == resolve(root / "app", env).worktree_fingerprint


def test_a_directory_outside_any_repository_is_its_own(root: Path, env: Env) -> None:
    (root / "My Notes" / "inner").mkdir(parents=True)
    found, checkpoint, notes = inspect(root / "My Notes", env)
    assert (found.repo_source, found.project, found.workspace) == ("directory", "my-notes", "default")
    assert (found.toplevel, found.marker, found.cwd) == (None, None, str(root / "My Notes"))
    assert checkpoint == Checkpoint(at_ms=7)
    assert notes == []
    assert resolve(root / "My Notes" / "inner", env).repo_fingerprint != found.repo_fingerprint


def test_an_empty_repository_is_one_already(root: Path, env: Env) -> None:
    git(env, root, "init", "-q", "-b", "trunk", "new")
    found, checkpoint, notes = inspect(root / "new", env)
    assert (found.repo_source, found.project, found.toplevel) == ("git_dir", "new", str(root / "new"))
    assert checkpoint == Checkpoint(at_ms=7, head=None, branch="trunk")
    assert notes == []


def test_a_bare_repository_and_its_worktrees_are_one_repository(root: Path, env: Env, app: Path) -> None:
    git(env, root, "clone", "-q", "--bare", str(app), "store.git")
    git(env, root / "store.git", "worktree", "add", "-q", "../fix")
    bare, checkpoint, notes = inspect(root / "store.git", env)
    linked = resolve(root / "fix", env)
    assert (bare.project, linked.project, bare.toplevel) == ("store", "store", None)
    assert bare.repo_fingerprint == linked.repo_fingerprint
    assert bare.worktree_fingerprint != linked.worktree_fingerprint
    assert checkpoint.paths == ()
    assert "without a work tree" in notes[0]


def test_the_environment_of_a_git_hook_does_not_choose_the_checkout(root: Path, env: Env, app: Path) -> None:
    git(env, root, "init", "-q", "other")
    hooked = {**env, "GIT_DIR": str(root / "other" / ".git"), "GIT_WORK_TREE": str(root / "other"), "GIT_PREFIX": "x/"}
    hooked["GIT_INDEX_FILE"] = str(root / "other" / ".git" / "index.lock")
    assert inspect(app, hooked) == inspect(app, env)


@pytest.mark.parametrize("name", [b"caf\xe9", b"two\nlines", b" blank ", "日本".encode()])
def test_any_folder_name_gives_a_scope(root: Path, env: Env, name: bytes) -> None:
    folder = os.path.join(os.fsencode(root), name)
    os.mkdir(folder)
    git(env, Path(os.fsdecode(folder)), "init", "-q")
    found, checkpoint, notes = inspect(Path(os.fsdecode(folder)), env)
    assert found.cwd == found.toplevel == folder.decode("utf-8", "replace")
    assert (found.repo_source, notes) == ("git_dir", [])
    assert checkpoint.status_hash is None


# Names


def test_a_marker_names_the_line_and_the_users_words_win(env: Env, app: Path) -> None:
    marker = app / ".rigline.toml"
    marker.write_text('workspace = "acme"\nproject = "site"\n')
    found, _, _ = inspect(app / "src", env)
    assert (found.workspace, found.project, found.marker) == ("acme", "site", str(marker))
    named, _, _ = inspect(app / "src", env, project="mine")
    assert (named.workspace, named.project) == ("acme", "mine")
    assert (named.repo_fingerprint, named.worktree_fingerprint) == (found.repo_fingerprint, found.worktree_fingerprint)


def test_a_word_that_is_no_name_is_refused(env: Env, app: Path) -> None:
    with pytest.raises(UsageError, match=r"--workspace: 'My Team' is not a name: .*'my-team' would do"):
        inspect(app, env, workspace="My Team")
    with pytest.raises(UsageError, match="--project: '' is not a name"):
        inspect(app, env, project="")


def test_a_bad_marker_leaves_no_process_behind(env: Env, app: Path) -> None:
    (app / ".rigline.toml").write_text("nonsense")
    with pytest.raises(ConfigError, match="not TOML"):
        inspect(app, env)
    assert not has_children()


# Checkpoint


def test_a_clean_checkout_has_a_head_and_a_branch(env: Env, app: Path) -> None:
    _, checkpoint, _ = inspect(app, env)
    head = git(env, app, "rev-parse", "HEAD")
    assert checkpoint == Checkpoint(at_ms=7, head=head, branch="main")


def test_a_dirty_checkout_has_the_hash_of_gits_status_and_its_paths(env: Env, app: Path) -> None:
    git(env, app, "mv", "a.txt", "with blank.txt")
    (app / "src" / "b.txt").write_text("changed\n")
    (app / "new.txt").write_text("")
    checkpoint = take_checkpoint(str(app / "src"), 7, env=env)
    raw = subprocess.run(["git", "status", "--porcelain=v2", "-z"], cwd=app, env=env, capture_output=True).stdout
    assert checkpoint.status_hash == hashlib.sha256(raw).hexdigest()
    assert checkpoint.paths == ("src/b.txt", "with blank.txt", "a.txt", "new.txt")
    assert checkpoint.paths_left_out == 0


def test_many_changes_are_counted_and_not_all_kept(env: Env, app: Path) -> None:
    for number in range(300):
        (app / f"new{number}").write_text("")
    checkpoint = take_checkpoint(str(app), 7, env=env)
    assert (len(checkpoint.paths), checkpoint.paths_left_out) == (256, 44)


def test_a_detached_head_has_no_branch(env: Env, app: Path) -> None:
    git(env, app, "checkout", "-q", "--detach")
    checkpoint = take_checkpoint(str(app), 7, env=env)
    assert (checkpoint.head, checkpoint.branch) == (git(env, app, "rev-parse", "HEAD"), None)


def test_a_conflict_is_part_of_the_state(env: Env, app: Path) -> None:
    git(env, app, "checkout", "-q", "-b", "side")
    for branch in ("side", "main"):
        git(env, app, "checkout", "-q", branch)
        (app / "a.txt").write_text(branch)
        git(env, app, "commit", "-q", "-a", "-m", branch)
    subprocess.run(["git", "merge", "-q", "side"], cwd=app, env=env, capture_output=True)
    assert take_checkpoint(str(app), 7, env=env).paths == ("a.txt",)


def test_the_checkpoint_of_a_directory_that_is_gone_is_said_to_be_unknown(root: Path, env: Env) -> None:
    notes: list[str] = []
    checkpoint = take_checkpoint(str(root / "gone"), 7, env=env, notes=notes)
    assert checkpoint == Checkpoint(at_ms=7, status_hash=UNKNOWN_STATUS)
    assert "is not there" in notes[0]


# Nothing is changed


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and time of change, every folder with its own."""
    found: dict[str, tuple[bytes, int]] = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
        found[str(path)] = (content, info.st_mtime_ns)
    return found


def test_no_byte_of_the_checkout_changes(root: Path, env: Env, app: Path) -> None:
    git(env, root, "init", "-q", "outer")
    outer = root / "outer"
    git(env, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(app), "lib")
    for folder in (app, outer / "lib"):
        # An index whose times are out of date is what git status would like to write anew.
        os.utime(folder / "a.txt", (1, 1))
        (folder / "src" / "b.txt").write_text("B\n")
    git(env, app, "config", "core.untrackedCache", "true")
    before = snapshot(app) | snapshot(outer)
    for folder in (app, outer, outer / "lib"):
        inspect(folder, env)
        resolve(folder, env)
        take_checkpoint(str(folder), 7, env=env)
    assert snapshot(app) | snapshot(outer) == before


def test_the_precaution_is_needed_since_a_plain_status_writes_the_index(env: Env, app: Path) -> None:
    os.utime(app / "a.txt", (1, 1))
    before = snapshot(app / ".git")
    git(env, app, "status")
    assert snapshot(app / ".git") != before


def test_no_program_that_the_checkout_names_is_run(root: Path, env: Env, app: Path) -> None:
    trap = root / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho $0 >>{root}/sprung\n")
    trap.chmod(0o755)
    for sample in (app / ".git" / "hooks").iterdir():
        sample.unlink()
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        (app / ".git" / "hooks" / hook).symlink_to(trap)
    for key in ("core.fsmonitor", "core.pager", "pager.status", "diff.external", "core.editor", "core.askpass"):
        git({**env, "GIT_OPTIONAL_LOCKS": "0"}, app, "-c", "core.hooksPath=/dev/null", "config", key, str(trap))
    os.utime(app / "a.txt", (1, 1))
    inspect(app, env)
    assert not (root / "sprung").exists()
    git(env, app, "status")
    assert (root / "sprung").exists()


# git that cannot answer


def test_without_git_the_directory_is_the_project_and_that_is_said(env: Env, app: Path) -> None:
    found, checkpoint, notes = inspect(app, {**env, "PATH": "/nonexistent"})
    assert (found.repo_source, found.project) == ("directory", "app")
    assert checkpoint == Checkpoint(at_ms=7, status_hash=UNKNOWN_STATUS)
    assert notes == ["git is not on PATH: this directory counts as a project of its own, without checkpoints."]


def test_a_git_of_the_checkouts_own_is_never_run(
    root: Path, env: Env, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_git(app, f"touch {root}/sprung")
    monkeypatch.chdir(app)
    found, _, _ = inspect(app, {**env, "PATH": f".::{env['PATH']}"})
    assert found.repo_source == "git_dir"
    assert not (root / "sprung").exists()


def test_a_git_that_cannot_be_executed_is_said(root: Path, env: Env, app: Path) -> None:
    make_git(root / "bin", "")
    (root / "bin" / "git").write_text("#!/nonexistent/interpreter\n")
    found, _, notes = inspect(app, {**env, "PATH": str(root / "bin")})
    assert found.repo_source == "directory"
    assert "git cannot be started (No such file or directory)" in notes[0]


def test_a_repository_that_git_refuses_is_said_with_the_way_out(env: Env, app: Path) -> None:
    """git's own switch for its tests makes every owner another one."""
    found, checkpoint, notes = inspect(app, {**env, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert (found.repo_source, checkpoint.status_hash) == ("directory", UNKNOWN_STATUS)
    assert "dubious ownership" in notes[0]
    assert "safe.directory" in notes[0]


def test_a_damaged_repository_is_said(root: Path, env: Env, app: Path) -> None:
    (app / ".git" / "config").write_text("[core\n")
    found, _, notes = inspect(app, env)
    assert found.repo_source == "directory"
    assert "bad config line 1" in notes[0]


def test_a_worktree_whose_repository_is_gone_is_said(root: Path, env: Env, app: Path) -> None:
    git(env, app, "worktree", "add", "-q", "../fix")
    app.rename(root / "moved")
    found, _, notes = inspect(root / "fix", env)
    assert found.repo_source == "directory"
    assert "not a git repository: " in notes[0]


def test_a_status_that_takes_too_long_leaves_head_and_branch(
    root: Path, env: Env, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = next(f"{folder}/git" for folder in env["PATH"].split(":") if os.path.exists(f"{folder}/git"))
    make_git(root / "bin", f'case "$*" in *porcelain*) sleep 60 & wait;; *) exec {real} "$@";; esac')
    monkeypatch.setattr(scope, "GIT_DEADLINE_S", 0.7)
    began = time.monotonic()
    found, checkpoint, notes = inspect(app, {**env, "PATH": f"{root}/bin:{env['PATH']}"})
    assert time.monotonic() - began < 3
    assert found == resolve(app, env)
    assert (checkpoint.head, checkpoint.branch) == (git(env, app, "rev-parse", "HEAD"), "main")
    assert (checkpoint.status_hash, checkpoint.paths) == (UNKNOWN_STATUS, ())
    assert notes == ["The checkpoint has no state of files: git did not answer in time."]
    assert not has_children()


def test_a_git_that_says_more_than_a_pipe_holds_is_heard_out(env: Env, app: Path) -> None:
    checkpoint = take_checkpoint(str(app), 7, env={**env, "GIT_TRACE": "1", "GIT_TRACE_SETUP": "1"})
    assert checkpoint.status_hash is None
    for number in range(3000):
        (app / f"a-rather-long-name-of-a-new-file-{number}").write_text("")
    checkpoint = take_checkpoint(str(app), 7, env=env)
    assert checkpoint.paths_left_out == 3000 - 256


def test_an_inspection_that_is_given_up_leaves_no_process(env: Env, app: Path) -> None:
    start_inspection(str(app), env=env).stop()
    assert not has_children()


def test_git_is_heard_where_the_end_of_children_is_ignored(env: Env, app: Path) -> None:
    """As some supervisors start their programs: the system then keeps no exit status."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        found, checkpoint, notes = inspect(app, env)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (found.repo_source, checkpoint.branch, notes) == ("git_dir", "main", [])


def test_git_does_not_inherit_blocked_signals(root: Path, env: Env, app: Path) -> None:
    make_git(root / "bin", f"while read -r line; do echo $line >>{root}/masks; done </proc/$$/status")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        inspect(app, {**env, "PATH": f"{root}/bin:{env['PATH']}"})
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    lines = (root / "masks").read_text().splitlines()
    assert {int(line.split()[1], 16) for line in lines if line.startswith("SigBlk")} == {0}


# Directories that are not there


@pytest.fixture
def deleted(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = root / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    return folder


def test_a_deleted_working_directory_is_said(deleted: Path) -> None:
    with pytest.raises(UsageError, match="not there any more"):
        scope.current_directory()


def test_a_directory_that_is_not_there_is_said(root: Path, env: Env) -> None:
    (root / "file").write_text("")
    with pytest.raises(UsageError, match="gone is not there"):
        resolve(root / "gone", env)
    with pytest.raises(UsageError, match="file is not a directory"):
        resolve(root / "file", env)


def test_starting_loads_little() -> None:
    code = "import sys, rigline.scope; print(*{'msgspec', 'typing', 're', 'subprocess', 'enum'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == ""


def make_git(folder: Path, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "git").chmod(0o755)


def has_children() -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        return True
    return False
