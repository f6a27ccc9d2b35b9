"""Where things live, and that nobody else can look into them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import platformdirs.macos
import platformdirs.unix
import pytest

from rigline import paths
from rigline.errors import LedgerUnreachable

HOME = "/home/ann"
PLATFORMS = [("linux", platformdirs.unix.Unix), ("darwin", platformdirs.macos.MacOS)]
ENVIRONMENTS = [
    {"HOME": HOME},
    {"HOME": "/home/ann/"},
    {"HOME": HOME, "XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/etc/ann"},
    {"HOME": HOME, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""},
    {"HOME": HOME, "XDG_DATA_HOME": "  ", "XDG_CONFIG_HOME": " "},
    {"HOME": HOME, "XDG_DATA_HOME": "relative", "XDG_CONFIG_HOME": "./here"},
    {"HOME": HOME, "XDG_DATA_HOME": "~/share", "XDG_CONFIG_HOME": "~/etc"},
    {"HOME": HOME, "XDG_DATA_HOME": "/with blank/é", "XDG_CONFIG_HOME": "/with blank/é"},
    {"HOME": "relative"},
    {"HOME": ""},
    {},
]


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize(("platform", "reference"), PLATFORMS, ids=["linux", "darwin"])
def test_folders_are_where_platformdirs_puts_them(
    monkeypatch: pytest.MonkeyPatch, platform: str, reference: type[platformdirs.unix.Unix], env: dict[str, str]
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    expected = reference("rigline", appauthor=False)
    assert paths.data_home(env) == expected.user_data_dir
    assert os.path.dirname(paths.config_file(env)) == expected.user_config_dir


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/srv/rigline", "/srv/rigline"),
        ("/srv/rigline/", "/srv/rigline"),
        ("~/rig", "/home/ann/rig"),
        ("~", "/home/ann"),
        ("", "/home/ann/.local/share/rigline"),
        ("  ", "/home/ann/.local/share/rigline"),
    ],
)
def test_rigline_home_wins_unless_it_is_blank(monkeypatch: pytest.MonkeyPatch, given: str, expected: str) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert paths.data_home({"HOME": HOME, "RIGLINE_HOME": given}) == expected


def test_a_relative_rigline_home_is_taken_from_the_current_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.data_home({"HOME": HOME, "RIGLINE_HOME": "rig"}) == str(tmp_path / "rig")


def test_rigline_home_holds_the_configuration_too() -> None:
    assert paths.config_file({"HOME": HOME, "RIGLINE_HOME": "/srv/rig"}) == "/srv/rig/config.toml"


def test_a_run_has_a_folder_of_its_own() -> None:
    assert paths.run_dir("/srv/rig", "r1") == "/srv/rig/runs/r1"


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("mask", [0, 0o022, 0o077, 0o777])
def test_a_private_folder_is_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    os.umask(mask)
    folder = tmp_path / "a" / "b" / "c"
    paths.make_private(str(folder))
    assert [(tmp_path / part).stat().st_mode & 0o777 for part in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_a_folder_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    paths.make_private(str(tmp_path))
    paths.make_private(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_symbolic_link_is_refused_and_its_target_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(LedgerUnreachable, match=f"symbolic link to {target}.*RIGLINE_HOME"):
        paths.make_private(str(link))
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnreachable, match="not a folder"):
        paths.make_private(str(tmp_path / "file"))
    with pytest.raises(LedgerUnreachable, match="Not a directory"):
        paths.make_private(str(tmp_path / "file" / "below"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o777)
    os.chown(folder, 12345, 12345)
    with pytest.raises(LedgerUnreachable, match="belongs to user 12345"):
        paths.make_private(str(folder))


def test_the_first_executable_file_on_the_path_is_found(tmp_path: Path) -> None:
    for folder in ("dir", "plain", "good", "later"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dir" / "tool").mkdir()
    (tmp_path / "plain" / "tool").write_text("")
    for folder in ("good", "later"):
        (tmp_path / folder / "tool").write_text("")
        (tmp_path / folder / "tool").chmod(0o755)
    search = os.pathsep.join(str(tmp_path / name) for name in ("missing", "dir", "plain", "good", "later"))
    assert paths.find_program("tool", search) == (str(tmp_path / "good" / "tool"), None)
    assert paths.find_program("tool", str(tmp_path / "plain")) == (None, str(tmp_path / "plain" / "tool"))
    assert paths.find_program("tool", str(tmp_path / "dir")) == (None, None)


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_a_checkout_cannot_slip_in_a_program_where_only_absolute_entries_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entry: str
) -> None:
    folder = tmp_path / entry
    folder.mkdir(exist_ok=True)
    (folder / "tool").write_text("")
    (folder / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert paths.find_program("tool", entry)[0] == str(folder / "tool")
    assert paths.find_program("tool", entry, absolute_only=True) == (None, None)


def test_the_module_loads_nothing_that_python_has_not_loaded() -> None:
    code = "import os, sys; before = set(sys.modules); import rigline.paths; print(sorted(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert eval(loaded.stdout) == ["__future__", "rigline", "rigline.errors", "rigline.paths"]
