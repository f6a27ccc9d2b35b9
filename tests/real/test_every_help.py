"""What each agent's help tells of its options is what rigline's table of them says, so that no value is mistaken."""

from __future__ import annotations

import re
import sys

import pytest

from rigline.harness import get_harness
from rigline.harness.argv import OptionTable, Takes
from tests.real.conftest import Other

#: the options at the beginning of a line, each perhaps with a value
OPTIONS = re.compile(r"^\s+((?:-[\w-]+(?:[ =](?:<[^>]*>|\[[^\]]*\]))?(?:, *|\s+/\s+)?)+)", re.MULTILINE)
NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
#: Claude Code, Codex and OpenCode have tests of their own, with their subcommands
NAMES = ("pi", "omp", "kimi-code", "copilot", "qwen-code", "gemini-cli", "command-code")


def read_help(text: str) -> dict[str, bool]:
    """The options that a help text lists, and whether each has to have a value."""
    found: dict[str, bool] = {}
    for line in OPTIONS.findall(text):
        names = NAME.findall(re.sub(r"<[^>]*>|\[[^\]]*\]", "", line))
        found |= dict.fromkeys(names, "<" in line)
    return found


@pytest.mark.parametrize("other", NAMES, indirect=True)
def test_every_option_that_an_agent_s_help_lists_is_in_its_table(other: Other) -> None:
    told = other.rigline.agent(other.path, "--help").ok()
    options = read_help(told.out + told.err)
    table: OptionTable = sys.modules[type(get_harness(other.agent.name)).__module__].GRAMMAR.table
    assert len(options) > 15
    assert [name for name in options if table.find(name) is None] == []
    known = {name: option for name in options if (option := table.find(name)) is not None}
    assert [name for name, option in known.items() if options[name] and option.takes is Takes.NOTHING] == []
