"""The page about the commands says what the commands say of themselves."""

from __future__ import annotations

import argparse
import runpy
from importlib import import_module
from pathlib import Path

import pytest

from rigline.cli import COMMANDS
from rigline.cli.run_arguments import build_parser


def test_the_page_is_up_to_date(root: Path) -> None:
    script = runpy.run_path(str(root / "scripts" / "generate_reference.py"))
    page = (root / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert page == script["build_page"](), "run scripts/generate_reference.py"


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
