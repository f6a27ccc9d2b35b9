"""The project's own files: nothing of one machine, nothing too long, nothing under a name that says nothing."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SRC = ROOT / "src" / "rigline"
LINES_IN_A_MODULE = 400
LINES_IN_A_FUNCTION = 50
#: words that name no thing
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "service", "services"}

# The patterns are put together from pieces, else this file would be the first to be found.
OF_ONE_MACHINE = re.compile(
    "|".join(
        [
            "/" + r"work/(main|shared)\b",
            "/" + r"root/",
            r"\.\./" + "shared",
            "/" + r"tmp/agents",
        ]
    )
)
REGISTRIES = re.compile(
    "|".join(
        [
            r"registry\." + r"(npm|yarn)",
            r"pypi\." + "org",
            r"files\." + "pythonhosted",
            r"crates\." + "io",
            r"proxy\." + "golang",
            r"deb\." + "debian",
        ]
    )
)


def list_files() -> list[Path]:
    """Every file that is or will be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def find_lines(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """Where a pattern occurs, as `file:line: text`."""
    found = []
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        for match in pattern.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.name}:{number}: {text[match.start() : match.end() + 30]!r}")
    return found


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not find_lines(OF_ONE_MACHINE, list_files())


def test_no_file_names_a_package_registry() -> None:
    assert not find_lines(REGISTRIES, list_files())


def test_a_machine_path_and_a_registry_are_found(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("first\nsee /" + "root/x and https://registry." + "npmjs.org/\n")
    assert [line[:7] for line in find_lines(OF_ONE_MACHINE, [file])] == ["file:2:"]
    assert [line[:7] for line in find_lines(REGISTRIES, [file])] == ["file:2:"]


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(SRC.rglob("*.py"))


def test_a_module_can_be_read_in_a_sitting() -> None:
    lengths = {str(path.relative_to(SRC)): len(path.read_text().splitlines()) for path in modules()}
    assert not {name: lines for name, lines in lengths.items() if lines > LINES_IN_A_MODULE}


def test_a_function_fits_a_screen() -> None:
    too_long = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= LINES_IN_A_FUNCTION:
                too_long.append(f"{path.relative_to(SRC)}:{node.lineno} {node.name}")
    assert not too_long


def test_modules_are_named_for_what_is_in_them() -> None:
    words = {path: set(re.split(r"[/_.]", path.relative_to(SRC).as_posix())) for path in modules()}
    assert not {str(path.relative_to(SRC)) for path, parts in words.items() if parts & EMPTY_NAMES}


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SRC).as_posix())
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_the_version_is_in_the_changelog() -> None:
    from rigline import __version__

    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:] == [] or headings[1] == __version__
