"""One module per agent CLI. The table is read by name; an adapter is imported when it is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.harness.base import Harness

#: name -> (module, class, default executable, aliases)
HARNESSES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "claude-code": ("rigline.harness.claude_code", "ClaudeCode", "claude", ("claude",)),
    "codex": ("rigline.harness.codex", "Codex", "codex", ()),
}


def find_name(word: str) -> str | None:
    """The harness that a word on the command line names, or None."""
    lowered = word.lower()
    for name, (_, _, _, aliases) in HARNESSES.items():
        if lowered == name or lowered in aliases:
            return name
    return None


def get_harness(name: str) -> Harness:
    """The adapter of a harness by its canonical name; raises KeyError for any other."""
    from importlib import import_module

    module, cls, _, _ = HARNESSES[name]
    adapter: Harness = getattr(import_module(module), cls)()
    return adapter
