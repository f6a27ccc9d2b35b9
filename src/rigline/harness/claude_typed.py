"""What a person typed into Claude Code, told apart from what the program writes in the user's name. Pure.

Every step is linear in the text's length, whatever tags it repeats.
"""

from __future__ import annotations

import re

from msgspec import Struct

_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"
#: commands that stay with the program and their output, what the program tells about the outside, broken reminders
_NOT_TYPED = re.compile(
    r"<(?:system-reminder|command-name|local-command-(?:caveat|stdout|stderr)|task-notification|ide_\w+)>"
    r"|\[Request interrupted by user(?: for tool use)?\]\Z"
)
#: how many reminders behind a tool's output are looked for
_MAX_LAST = 8


class Typed(Struct, frozen=True):
    """A user's text as typed, empty when nobody typed it. `is_output`: it is what the user's `!` command printed."""

    text: str = ""
    has_injected: bool = False
    is_output: bool = False


def read_typed(text: str) -> Typed:
    """A text block of a user's record as it was typed: `/name args` for a command, `! line` for a shell line."""
    rest = _skip_reminders(text)
    has_injected = rest is not text
    words = rest.strip()
    if words.startswith("<bash-stdout>"):
        return Typed(rest, has_injected, True)
    if _NOT_TYPED.match(words):
        return Typed("", True)
    return Typed(_read_command(words) or _read_shell_line(words) or (rest if words else ""), has_injected)


def is_clear(text: str) -> bool:
    """Whether it is the `/clear` with which a cleared session's transcript begins."""
    return text.lstrip().startswith("<command-name>/clear</command-name>")


def drop_reminders(text: str) -> str:
    """A text without the reminders that the program put anywhere in it."""
    if _CLOSE not in text:
        return text
    kept, at = [], 0
    while (begin := text.find(_OPEN, at)) >= 0 and (end := text.find(_CLOSE, begin)) >= 0:
        kept.append(text[at:begin])
        at = end + len(_CLOSE)
    return "".join([*kept, text[at:]])


def drop_last_reminders(text: str) -> str:
    """A tool's output without the reminders that older versions put behind it."""
    if not text.endswith(_CLOSE) and not text.rstrip().endswith(_CLOSE):
        return text
    rest = text.rstrip()
    for _ in range(_MAX_LAST):
        begin = rest.rfind(_OPEN) if rest.endswith(_CLOSE) else -1
        if begin < 0:
            break
        rest = rest[:begin].rstrip()
    return rest


def _skip_reminders(text: str) -> str:
    """The text behind the reminders that it begins with: the text itself, if with none."""
    at = 0
    while text.startswith(_OPEN, begin := _skip_blanks(text, at)) and (end := text.find(_CLOSE, begin)) >= 0:
        at = end + len(_CLOSE)
    return text[_skip_blanks(text, at) :] if at else text


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _read_command(words: str) -> str:
    """A command whose text went to the model; `<command-name>` first would mark one that stayed with the program."""
    if not words.startswith("<command-message>"):
        return ""
    name, closed, rest = words.partition("<command-name>")[2].partition("</command-name>")
    arguments = rest.partition("<command-args>")[2].rpartition("</command-args>")[0]
    return f"{name} {arguments}".strip() if closed else ""


def _read_shell_line(words: str) -> str:
    line = words.removeprefix("<bash-input>")
    return f"! {line.removesuffix('</bash-input>')}" if line != words and words.endswith("</bash-input>") else ""
