"""What identity makes of paths, and what is read from git's answers, as tables."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rigline import host
from rigline.git import MAX_PATHS, Answer, Repository, build_environment, read_repository, read_settings, read_status
from rigline.host import fold_path, host_id

OID = "a" * 40


@pytest.mark.parametrize(
    ("path", "folded"),
    [
        ("/mnt/c/Users/Ann", "/mnt/c/users/ann"),
        ("/mnt/C/Users", "/mnt/c/users"),
        ("/mnt/c", "/mnt/c"),
        ("/mnt/data/Ann", "/mnt/data/Ann"),
        ("/mnt/1/Ann", "/mnt/1/Ann"),
        ("/home/Ann", "/home/Ann"),
        ("/home/mnt/c/Ann", "/home/mnt/c/Ann"),
        ("/", "/"),
    ],
)
def test_case_makes_no_difference_on_windows_drives_alone(path: str, folded: str) -> None:
    assert fold_path(path, is_wsl=True) == folded
    assert fold_path(path, is_wsl=False) == path


@pytest.fixture
def machine_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "machine-id"
    monkeypatch.setattr(host, "_MACHINE_ID_FILES", (str(tmp_path / "missing"), str(file)))
    return file


def test_the_hosts_id_is_made_from_the_machines_and_does_not_show_it(machine_id: Path, tmp_path: Path) -> None:
    machine_id.write_text("0123456789abcdef" * 2 + "\n")
    env = {"RIGLINE_HOME": str(tmp_path / "rig")}
    assert host_id(env) == hashlib.sha256(b"rigline host\n" + b"0123456789abcdef" * 2).hexdigest()
    assert not (tmp_path / "rig").exists()


@pytest.mark.parametrize("content", [None, "", "uninitialized\n", "not hexadecimal at all, 32 chars"])
def test_a_machine_without_an_id_is_given_one_that_lasts(machine_id: Path, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        machine_id.write_text(content)
    homes = [{"RIGLINE_HOME": str(tmp_path / name)} for name in ("a", "b")]
    assert host_id(homes[0]) == host_id(homes[0]) != host_id(homes[1])
    assert (tmp_path / "a" / "host-id").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["host-id"]


@pytest.mark.usefixtures("machine_id")
def test_where_nothing_can_be_kept_the_hosts_name_serves(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = {"RIGLINE_HOME": str(tmp_path / "file" / "below")}
    expected = hashlib.sha256(b"rigline host\n" + host.host_name().encode()).hexdigest()
    assert host_id(env) == expected


# The folder that a repository is known by


@pytest.mark.parametrize(
    ("git_dir", "common_dir", "toplevel", "folder"),
    [
        ("/w/app/.git", "/w/app/.git", "/w/app", "/w/app"),
        ("/w/app/.git/worktrees/fix", "/w/app/.git", "/w/fix", "/w/app"),
        ("/w/app/.bare/worktrees/fix", "/w/app/.bare", "/w/app/fix", "/w/app"),
        ("/w/app.git/worktrees/fix", "/w/app.git", "/w/fix", "/w/app"),
        ("/w/super/.git/modules/lib", "/w/super/.git/modules/lib", "/w/super/lib", "/w/super/lib"),
        ("/w/super/.git/modules/lib/worktrees/x", "/w/super/.git/modules/lib", "/x", "/w/super/.git/modules/lib"),
        ("/elsewhere/gitdir", "/elsewhere/gitdir", "/w/app", "/w/app"),
        ("/srv/app.git", "/srv/app.git", None, "/srv/app"),
        ("/w/app/.git", "/w/app/.git", None, "/w/app"),
    ],
)
def test_a_linked_worktree_is_known_by_its_main_repository(
    git_dir: str, common_dir: str, toplevel: str | None, folder: str
) -> None:
    repository = Repository(git_dir, toplevel, None, None)
    repository.common_dir = common_dir
    assert repository.folder == folder


# git's answers


def answer(text: str, code: int = 0) -> Answer:
    return Answer(code, text.encode(), "")


def test_a_repositorys_answer_is_read() -> None:
    text = f"/w/app/.git\n--rigline\n/w/app\n--rigline\n{OID}\n--rigline\nrefs/heads/fix/one\n"
    found = read_repository(answer(text))
    assert found is not None
    assert (found.git_dir, found.toplevel, found.head, found.branch) == ("/w/app/.git", "/w/app", OID, "fix/one")


def test_a_line_break_in_a_path_does_not_shift_the_answer() -> None:
    found = read_repository(answer(f"/w/a\nb/.git\n--rigline\n/w/a\nb\n--rigline\n{OID}\n--rigline\nHEAD\n"))
    assert found is not None
    assert (found.git_dir, found.toplevel, found.head, found.branch) == ("/w/a\nb/.git", "/w/a\nb", OID, None)


@pytest.mark.parametrize(
    ("text", "toplevel"), [("/w/a/.git\n--rigline\n/w/a\n--rigline\nHEAD\n", "/w/a"), ("/srv/a.git\n--rigline\n", None)]
)
def test_an_answer_that_git_broke_off_is_used_as_far_as_it_goes(text: str, toplevel: str | None) -> None:
    found = read_repository(answer(text, 128))
    assert found is not None
    assert (found.toplevel, found.head, found.branch) == (toplevel, None, None)


@pytest.mark.parametrize("text", ["", "\n", "--absolute-git-dir\n--rigline\n"])
def test_an_answer_without_a_git_directory_names_no_repository(text: str) -> None:
    assert read_repository(answer(text, 128)) is None


def test_settings_keep_their_order_and_line_breaks() -> None:
    raw = "remote.origin.url\na\nb\0remote.up.url\n\0remote.noval.url\0url.x.insteadof\ny\0"
    assert read_settings(answer(raw)) == [
        ("remote.origin.url", "a\nb"),
        ("remote.up.url", ""),
        ("url.x.insteadof", "y"),
    ]


@pytest.mark.parametrize(
    ("error", "code", "complaint"),
    [
        ("fatal: not a git repository (or any of the parent directories): .git\n", 128, ""),
        ("fatal: not a git repository (or any parent up to mount point /)\nStopping at\n", 128, ""),
        ("fatal: not a git repository: /gone/.git/worktrees/a\n", 128, "not a git repository: /gone/.git/worktrees/a"),
        (
            "fatal: detected dubious ownership in repository at '/w'\nTo add\n",
            128,
            "detected dubious ownership in repository at '/w'",
        ),
        ("", 139, "git ended with status 139"),
        ("anything", None, "git did not answer in time"),
    ],
)
def test_a_complaint_is_gits_own_first_line(error: str, code: int | None, complaint: str) -> None:
    assert Answer(code, b"", error).complaint == complaint


def status(*records: str, head: str = OID, branch: str = "main") -> bytes:
    return "".join(f"{record}\0" for record in (f"# branch.oid {head}", f"# branch.head {branch}", *records)).encode()


def test_a_clean_status_has_no_entries() -> None:
    found = read_status(status())
    assert (found.head, found.branch, found.entries, found.paths, found.left_out) == (OID, "main", b"", [], 0)


def test_a_status_before_the_first_commit_has_a_branch_and_no_head() -> None:
    found = read_status(status(head="(initial)"))
    assert (found.head, found.branch) == (None, "main")


def test_a_detached_head_has_no_branch() -> None:
    found = read_status(status(branch="(detached)"))
    assert (found.head, found.branch) == (OID, None)


def test_every_kind_of_record_gives_its_path() -> None:
    modes = "N... 100644 100644 100644"
    records = [
        f"1 .M {modes} {OID} {OID} src/with blank.py",
        f"2 R. {modes} {OID} {OID} R100 new name",
        "1 old name that looks like a record",
        f"u UU {modes} 100644 {OID} {OID} {OID} both",
        "? untracked",
        "! ignored",
    ]
    raw = status(*records)
    found = read_status(raw)
    expected = ["src/with blank.py", "new name", "1 old name that looks like a record", "both", "untracked"]
    assert found.paths == expected
    assert found.entries == raw.partition(b"main\0")[2]


def test_paths_beyond_the_limit_are_counted() -> None:
    found = read_status(status(*(f"? f{number}" for number in range(MAX_PATHS + 7))))
    assert (len(found.paths), found.left_out) == (MAX_PATHS, 7)


def test_a_path_that_is_not_utf8_is_still_text() -> None:
    assert read_status(b"? a\xff\0").paths == ["a\ufffd"]


def test_gits_environment_names_no_repository() -> None:
    env = {"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_WORK_TREE": "/z", "GIT_SSH": "ssh", "LC_ALL": "de_DE.UTF-8"}
    built = build_environment(env)
    assert "GIT_DIR" not in built
    assert "GIT_INDEX_FILE" not in built
    assert "GIT_WORK_TREE" not in built
    assert (built["GIT_SSH"], built["LC_ALL"], built["GIT_OPTIONAL_LOCKS"]) == ("ssh", "C", "0")
