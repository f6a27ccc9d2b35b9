"""Start hooks as Codex takes them on its command line: settings in TOML. Pure."""

from __future__ import annotations

from collections.abc import Iterable

#: a hook that takes longer is dropped by Codex, and its packet is offered again
_HOOK_TIMEOUT_S = 20
#: in units of four bytes, as the default of 2,500 is: an answer of 9,000 characters may have 36,000 bytes
_ANSWER_LIMIT = 12_000


def write_hooks(commands: Iterable[str]) -> str:
    """The setting that gives the start hooks, one a command, in TOML."""
    hooks = ",".join(
        f'{{type="command",command={write_string(command)},timeout={_HOOK_TIMEOUT_S},'
        f"additionalContextLimit={_ANSWER_LIMIT}}}"
        for command in commands
    )
    return f"hooks.SessionStart=[{{hooks=[{hooks}]}}]"


def write_trust(trust: Iterable[str]) -> str:
    """The setting that proves them, as one table: dotted keys are not heeded (0.171.0)."""
    return "hooks.state={" + ",".join(trust) + "}"


def write_string(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char >= " " and char != "\x7f" else f"\\u{ord(char):04x}" for char in escaped) + '"'
