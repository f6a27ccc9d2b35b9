"""Harnesses that packages bring: found by their entry points, and never in the way of the built-in ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rigline import harness as harnesses
from rigline.config import load_settings
from rigline.errors import ConfigError, HarnessBroken, HarnessNotFound, UnknownHarness
from rigline.harness import HARNESSES, NAMES, find_harness, find_name, find_program, get_harness, plugins
from rigline.launch.options import RunOptions
from rigline.launch.session import build_environment
from rigline.launch.target import Target, read_target
from tests.fixtures.example_harness import install, install_example

#: what strangers' packages do; the last one is no fault of its module
BROKEN = {
    "broken-import": ("import no_such_module_anywhere\n", "ModuleNotFoundError"),
    "broken-exit": ("raise SystemExit('not today')\n", "SystemExit: not today"),
    "broken-class": ("", "AttributeError"),
    "broken-shape": ("class Adapter:\n    name = label = executable = 'broken-shape'\n", "`limits`"),
    "broken-name": ("class Adapter:\n    name = label = executable = 'other'\n", "calls itself 'other'"),
    "codex": ("", "a built-in harness has that name"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which packages are looked for."""
    folder = tmp_path / "site"
    folder.mkdir()
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    plugins.forget()
    yield folder
    plugins.forget()
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.fixture
def example(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, installed; its program is on PATH. Returns the folder of programs."""
    programs = tmp_path / "bin"
    install_example(site, programs)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return programs


@pytest.fixture
def broken(site: Path) -> None:
    """Every kind of package that cannot be used."""
    for name, (code, _) in BROKEN.items():
        module = name.replace("-", "_") + "_module"
        (site / f"{module}.py").write_text(code)
        install(site, f"{name}-package", "0.1", {name: f"{module}:Adapter"})


def read(word: str, *args: str, executable: str | None = None, home: Path) -> Target:
    """The target of `rigline run WORD ARGS`."""
    env = {**os.environ, "RIGLINE_HOME": str(home)}
    return read_target(RunOptions(harness=word, args=args, executable=executable), env, load_settings(env, NAMES))


@pytest.mark.usefixtures("example")
def test_a_package_s_harness_is_found_by_its_name_and_its_alias() -> None:
    assert (find_name("example"), find_name("Example-Agent"), find_name("exampl")) == ("example", "example", None)
    assert get_harness("example").label == "Example Agent"
    assert harnesses.list_names() == [*HARNESSES, "example"]
    assert harnesses.list_words()["example-agent"] == "example"
    assert plugins.find_package("example") == "example-harness 1.0"
    assert "example" in NAMES
    assert "exampl" not in NAMES
    assert [*NAMES] == harnesses.list_names()


@pytest.mark.usefixtures("example")
def test_a_package_s_harness_may_be_configured(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[harness.example]\nexecutable = "/x/example-next"\n')
    settings = load_settings({"RIGLINE_HOME": str(tmp_path)}, NAMES)
    assert settings.executables["example"].value == "/x/example-next"
    (tmp_path / "config.toml").write_text("[harness.exampel]\n")
    with pytest.raises(ConfigError, match="did you mean 'example'"):
        load_settings({"RIGLINE_HOME": str(tmp_path)}, NAMES)


@pytest.mark.usefixtures("example", "broken")
def test_an_adapter_that_cannot_be_used_is_named_and_costs_nobody_the_others() -> None:
    problems = {problem.name: problem for problem in plugins.list_problems()}
    assert sorted(problems) == sorted(BROKEN)
    for name, (_, cause) in BROKEN.items():
        assert cause in problems[name].cause
        assert f"{name}-package 0.1" in str(problems[name])
    assert harnesses.list_names() == [*HARNESSES, "example"]
    assert type(get_harness("codex")).__name__ == "Codex"
    assert find_name("example-agent") == "example"
    assert find_harness("broken-import") is None


@pytest.mark.usefixtures("broken")
def test_a_broken_adapter_that_is_asked_for_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(HarnessBroken, match="cannot be loaded: ModuleNotFoundError") as caught:
        read("broken-import", home=tmp_path)
    assert caught.value.details["package"] == "broken-import-package 0.1"
    with pytest.raises(UnknownHarness, match=r"Known: .*codex"):
        read("no-such", home=tmp_path)


def test_of_two_packages_with_one_name_one_counts_and_the_other_is_named(site: Path, tmp_path: Path) -> None:
    install_example(site, tmp_path / "bin")
    install(site, "copycat", "2.0", {"example": "example_harness:Example"})
    assert harnesses.list_names() == [*HARNESSES, "example"]
    assert [problem.cause for problem in plugins.list_problems()] == ["another package has a harness of that name"]


@pytest.mark.usefixtures("example")
def test_a_package_s_own_session_variables_are_removed_as_well(tmp_path: Path) -> None:
    target = read("example", home=tmp_path)

    env = {"EXAMPLE_SESSION_ID": "x", "CLAUDECODE": "1", "KEPT": "1", "EXAMPLE_HOME": " "}
    here: Any = SimpleNamespace(env=env, home=str(tmp_path))
    environment = build_environment(target, here, None, "")
    assert environment.removed == ("CLAUDECODE", "EXAMPLE_SESSION_ID")
    assert environment.variables == {"KEPT": "1", "RIGLINE_HOME": str(tmp_path)}


def test_where_no_package_brings_a_harness_the_metadata_are_not_read(site: Path) -> None:
    (site / "other-1.0.dist-info").mkdir()
    (site / "other-1.0.dist-info" / "entry_points.txt").write_text("[console_scripts]\nother = other:main\n")
    assert plugins.list_entries() == ()
    assert not plugins._names_group(str(site))
    assert plugins._names_group(__file__), "a file may be an archive with packages in it"
    assert not plugins._names_group(str(site / "nowhere"))


def test_a_word_that_begins_with_claude_is_claude_code_by_that_very_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claude", "Claude-Next", "other"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_name("claude-next"), find_program("claude-next")) == ("claude-code", "claude-next")
    target = read("Claude-Next", "-p", "x", home=tmp_path)
    assert (target.harness.name, target.executable) == ("claude-code", str(tmp_path / "Claude-Next"))
    assert read("claude", home=tmp_path).executable == str(tmp_path / "claude")
    assert read("Claude-Next", executable="other", home=tmp_path).executable == str(tmp_path / "other")
    with pytest.raises(HarnessNotFound, match="'claude-gone'"):
        read("claude-gone", home=tmp_path)


@pytest.mark.parametrize("word", ["claude", "CLAUDE", "claude-code", "Claude-Code", "codex"])
def test_a_harness_s_own_names_name_no_program(word: str) -> None:
    assert find_program(word) is None


@pytest.mark.parametrize("word", ["claude/x", "../claude", "claude next", "claude\n", "claud", "", "xclaude"])
def test_what_is_no_program_s_name_is_no_harness(word: str) -> None:
    assert find_name(word) is None
    assert find_program(word) is None


def test_another_harness_that_begins_so_is_that_one(site: Path) -> None:
    (site / "squad.py").write_text(
        "from example_harness import Example\nclass Squad(Example):\n    name = 'claude-squad'\n"
    )
    install(site, "claude-squad", "1.0", {"claude-squad": "squad:Squad"})
    assert (find_name("claude-squad"), find_program("claude-squad")) == ("claude-squad", None)
    assert find_name("claude-squads") == "claude-code"
