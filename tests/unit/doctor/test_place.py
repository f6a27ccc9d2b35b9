"""The data folder is private, and on a disk of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rigline.doctor import place
from rigline.doctor.check import Check, Level

MOUNTS = [
    "/dev/sda1 / ext4 rw 0 0",
    "tmpfs /run tmpfs rw 0 0",
    "server:/export /home nfs4 rw 0 0",
    "C:\\134 /mnt/c 9p rw 0 0",
    r"disk /home/ann/my\040disk xfs rw 0 0",
    "broken",
]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/home/ann/.local", "nfs4"),
        ("/home", "nfs4"),
        ("/homeless", "ext4"),
        ("/home/ann/my disk/rigline", "xfs"),
        ("/mnt/c/Users", "9p"),
        ("/run", "tmpfs"),
    ],
)
def test_the_nearest_mount_above_tells_the_file_system(path: str, kind: str) -> None:
    assert place.find_file_system(path, MOUNTS) == kind


def test_without_mounts_nothing_is_told() -> None:
    assert place.find_file_system("/x", []) == ""


def test_a_ledger_on_a_network_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(place, "MOUNTS_FILE", str(mounts))
    assert place.check_file_system(str(tmp_path)) == []
    mounts.write_text("server:/x / nfs rw 0 0\n")
    (check,) = place.check_file_system(str(tmp_path))
    assert check.level is Level.WARN
    assert "nfs" in check.text
    mounts.write_text("/dev/x / ext4 rw 0 0\n")
    assert place.check_file_system(str(tmp_path)) == []


def check_folder(home: Path) -> Check:
    return place.check_folder(str(home))[0]


def test_a_private_folder_is_well_and_a_missing_one_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert check_folder(home).level is Level.OK
    home.mkdir(mode=0o700)
    assert check_folder(home).level is Level.OK


def test_what_others_may_look_into_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    (home / "ledger.db").touch(mode=0o600)
    (home / "open").touch()
    (home / "open").chmod(0o644)
    check = check_folder(home)
    assert check.level is Level.WARN
    assert str(home / "open") in check.text
    assert "ledger.db" not in check.text
    assert check.next_step == f"chmod -R go-rwx {home}"


def test_files_that_anybody_may_read_are_safe_in_a_private_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "open").touch()
    (home / "open").chmod(0o644)
    assert check_folder(home).level is Level.OK


def test_a_file_or_a_link_in_its_place_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        check = check_folder(tmp_path / name)
        assert check.level is Level.FAIL
        assert "RIGLINE_HOME" in check.next_step


def test_a_folder_of_somebody_else_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    check = check_folder(tmp_path)
    assert check.level is Level.FAIL
    assert "belongs to user" in check.text


def test_bad_settings_fail_with_the_line_that_is_wrong(tmp_path: Path) -> None:
    env = {"RIGLINE_HOME": str(tmp_path)}
    assert place.check_settings(env).level is Level.OK
    (tmp_path / "config.toml").write_text("packet_tokes = 3\n")
    check = place.check_settings(env)
    assert check.level is Level.FAIL
    assert "packet_tokens" in check.text


def test_a_missing_git_is_warned_of(tmp_path: Path) -> None:
    assert place.check_git({"PATH": str(tmp_path)}).level is Level.WARN
    assert place.check_git({"PATH": os.environ["PATH"]}).level is Level.OK
