"""What gets into the modules that agents load: values of the launch as data, whatever they hold."""

import json

import pytest

from rigline.harness.base import HookDefinition, LaunchRequest
from rigline.harness.command_code import CommandCode
from rigline.harness.javascript import write_asking_module, write_module
from rigline.harness.kimi import Kimi
from rigline.harness.opencode import OpenCode
from rigline.harness.pi import Pi

ODD = "'/a \"b\"\\\n`${x}`/COMMANDS/HOOK_MS/OWN_TYPE/OWN_SOURCE/OWN_ROOT/%s\u2028/python' -P"


def read_constants(text: str) -> dict[str, object]:
    """The constants in front of a module's body: one a line, since JSON has no line ends."""
    head = text.split("\n\n")[0].split("\n")
    pairs = [line.removeprefix("const ").removesuffix(";").split(" = ", 1) for line in head]
    return {name: json.loads(value) for name, value in pairs}


def test_a_value_stays_what_it_is_and_never_becomes_code() -> None:
    text = write_module("body(ONE);", ONE=ODD, TWO=[ODD])
    assert read_constants(text) == {"ONE": ODD, "TWO": [ODD]}
    assert text.endswith("\n\nbody(ONE);")


def test_the_commands_of_a_hook_stay_what_they_are() -> None:
    assert read_constants(write_asking_module((ODD, "b"), ""))["COMMANDS"] == [ODD, "b"]


@pytest.mark.parametrize("harness", [Pi(), CommandCode(), OpenCode(), Kimi()], ids=lambda each: each.name)
def test_a_path_that_holds_a_name_of_the_text_s_own_does_not_change_it(
    harness: Pi | CommandCode | OpenCode | Kimi,
) -> None:
    request = LaunchRequest(
        args=(),
        classification=harness.classify(()),
        private_dir=f"/data/{ODD}",
        hooks=HookDefinition(commands=(ODD,), trust=("node",)),
    )
    files = harness.plan(request).files
    module = next(text for name, text in files.items() if name.endswith(("js", "mjs")))
    constants = read_constants(module)
    if harness.name == "kimi-code":
        assert str(constants["OWN_ROOT"]).startswith(f"/data/{ODD}")
    else:
        assert constants["COMMANDS"] == [ODD]
