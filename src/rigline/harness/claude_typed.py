"""What a person typed into Claude Code, told apart from what the program writes in the user's name. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

_REMINDERS = re.compile(r"\s*(?:<system-reminder>.*?</system-reminder>\s*)+", re.DOTALL)
#: reminders, commands that stay with the program and their output, what the program tells about the outside
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:system-reminder|command-name|local-command-(?:caveat|stdout|stderr)|task-notification|ide_\w+)>"
    r"|\[Request interrupted by user(?: for tool use)?\]\s*\Z)"
)
#: a command whose text goes to the model; `<command-name>` first marks one that stays with the program
_PROMPT_COMMAND = re.compile(
    r"\s*<command-message>.*?</command-message>\s*<command-name>(?P<name>.*?)</command-name>"
    r"(?:\s*<command-args>(?P<args>.*?)</command-args>)?\s*\Z",
    re.DOTALL,
)
_SHELL_INPUT = re.compile(r"\s*<bash-input>(?P<command>.*?)</bash-input>\s*\Z", re.DOTALL)
_SHELL_OUTPUT = re.compile(r"\s*<bash-stdout>")
_CLEAR = re.compile(r"\s*<command-name>/clear</command-name>")


class Typed(Struct, frozen=True):
    """A user's text as typed, empty when nobody typed it. `is_output`: it is what the user's `!` command printed."""

    text: str = ""
    has_injected: bool = False
    is_output: bool = False


def read_typed(text: str) -> Typed:
    """A text block of a user's record as it was typed: `/name args` for a command, `! line` for a shell line."""
    reminders = _REMINDERS.match(text)
    if reminders:
        text = text[reminders.end() :]
    has_injected = reminders is not None
    if _SHELL_OUTPUT.match(text):
        return Typed(text, has_injected, True)
    if _NOT_TYPED.match(text):
        return Typed("", True)
    if command := _PROMPT_COMMAND.match(text):
        text = f"{command['name']} {command['args'] or ''}".strip()
    elif shell := _SHELL_INPUT.match(text):
        text = f"! {shell['command']}"
    return Typed(text if text.strip() else "", has_injected)


def is_clear(text: str) -> bool:
    """Whether it is the `/clear` with which a cleared session's transcript begins."""
    return _CLEAR.match(text) is not None
