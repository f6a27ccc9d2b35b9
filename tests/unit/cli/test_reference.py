"""The reference pages say what the commands and the errors say of themselves."""

from __future__ import annotations

import argparse
import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rigline.cli import COMMANDS
from rigline.cli.run_arguments import build_parser
from rigline.errors import RiglineError


@pytest.fixture(scope="module")
def script(root: Path) -> dict[str, Any]:
    """The script that writes the reference pages."""
    return runpy.run_path(str(root / "scripts" / "generate_reference.py"))


@pytest.mark.parametrize("name", ["commands.md", "exit-codes.md", "harnesses.md", "../adding-a-harness.md"])
def test_a_generated_page_is_up_to_date(root: Path, script: dict[str, Any], name: str) -> None:
    page = (root / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == script["PAGES"][name](), "run scripts/generate_reference.py"


def test_every_error_says_what_helps(script: dict[str, Any]) -> None:
    codes = [error.code for error in script["iterate_errors"](RiglineError)]
    assert sorted(codes) == sorted(script["ADVICE"])
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "run"])
def test_every_command_has_json_examples_and_help_that_fits(name: str) -> None:
    parser = import_module(COMMANDS[name][0]).build_parser()
    told = parser.format_help()
    assert "--json" in told
    assert f"examples:\n  rigline {name}" in told
    assert max(map(len, told.splitlines())) <= 80
    options = [action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]
    assert all(action.help for action in options)


def test_every_option_of_run_is_explained() -> None:
    assert all(action.help for action in build_parser()._actions)
