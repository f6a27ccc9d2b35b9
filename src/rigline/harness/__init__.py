"""One module per agent CLI. The table is read by name; an adapter is imported when it is asked for.

Third parties' adapters are in `plugins`, which is loaded only where no built-in one is meant, or all are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.harness.base import Harness

#: name -> (module, class, default executable, aliases); an alias `word*` is any word that begins so, see `find_program`
HARNESSES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "claude-code": ("rigline.harness.claude_code", "ClaudeCode", "claude", ("claude", "claude*")),
    "codex": ("rigline.harness.codex", "Codex", "codex", ()),
    "pi": ("rigline.harness.pi", "Pi", "pi", ()),
    "omp": ("rigline.harness.omp", "Omp", "omp", ("oh-my-pi",)),
    "kimi-code": ("rigline.harness.kimi", "Kimi", "kimi", ("kimi", "kimi-cli")),
    "copilot": ("rigline.harness.copilot", "Copilot", "copilot", ("github-copilot", "copilot-cli")),
    "command-code": (
        "rigline.harness.command_code",
        "CommandCode",
        "command-code",
        ("cmdc", "commandcode", "cmd-code"),
    ),
    "kiro": ("rigline.harness.kiro", "KiroV2", "kiro-cli", ("kiro-cli", "kiro-v2")),
    "kiro-v3": ("rigline.harness.kiro", "KiroV3", "kiro-cli", ()),
    "grok-build": ("rigline.harness.grok", "Grok", "grok", ("grok",)),
    "antigravity": ("rigline.harness.antigravity", "Antigravity", "agy", ("agy",)),
    "crush": ("rigline.harness.crush", "Crush", "crush", ()),
    "qwen-code": ("rigline.harness.qwen", "Qwen", "qwen", ("qwen",)),
    "gemini-cli": ("rigline.harness.gemini", "Gemini", "gemini", ("gemini",)),
    "opencode": ("rigline.harness.opencode", "OpenCode", "opencode", ("open-code",)),
}


def find_name(word: str) -> str | None:
    """The harness that a word on the command line names, or None."""
    return find_built_in(word) or _find_plugin(word) or _find_by_beginning(word)


def find_program(word: str) -> str | None:
    """The program that a word names beside the harness: `claude-next` is Claude Code, by that very program.

    None for a word that names the harness alone.
    """
    if find_built_in(word) or _find_plugin(word) or not _find_by_beginning(word):
        return None
    return word


def find_built_in(word: str) -> str | None:
    """The harness of the table that has the word as its name or alias, or None."""
    lowered = word.lower()
    return next((name for name in HARNESSES if lowered == name or lowered in get_aliases(name)), None)


def get_aliases(name: str) -> tuple[str, ...]:
    """The other words for a harness; raises KeyError, or `HarnessBroken` for a third party's that cannot be used."""
    if name in HARNESSES:
        return tuple(alias for alias in HARNESSES[name][3] if not alias.endswith("*"))
    from rigline.harness import plugins

    return plugins.get_aliases(name)


def list_aliases(name: str) -> tuple[str, ...]:
    """The other words for a harness as people are told them: `claude*` is any that begins so."""
    if name not in HARNESSES:
        return get_aliases(name)
    aliases = HARNESSES[name][3]
    return tuple(alias for alias in aliases if f"{alias}*" not in aliases)


def get_executable(name: str) -> str:
    """The program of a harness, as it is called when nothing else is said; raises as `get_harness` does."""
    return HARNESSES[name][2] if name in HARNESSES else get_harness(name).executable


def get_harness(name: str) -> Harness:
    """The adapter of a harness by its canonical name.

    Raises KeyError for any other, and `HarnessBroken` for a third party's that cannot be used.
    """
    if name not in HARNESSES:
        from rigline.harness import plugins

        return plugins.load(name)
    from importlib import import_module

    module, cls, _, _ = HARNESSES[name]
    adapter: Harness = getattr(import_module(module), cls)()
    return adapter


def find_harness(name: str) -> Harness | None:
    """The adapter of a harness by its canonical name; None where there is none that can be used."""
    from rigline.errors import HarnessBroken

    try:
        return get_harness(name)
    except (KeyError, HarnessBroken):
        return None


def list_names() -> list[str]:
    """All harnesses that can be used, the built-in ones first, then those of third parties."""
    from rigline.harness import plugins

    return [*HARNESSES, *plugins.list_sound()]


def list_words() -> dict[str, str]:
    """Every word that names a harness, with the name that it stands for."""
    return {word: name for name in list_names() for word in (name, *get_aliases(name))}


class Names(Collection[str]):
    """The names of all installed harnesses. Third parties' are looked for only where a name is no built-in one."""

    def __contains__(self, name: object) -> bool:
        return name in HARNESSES or name in self._list_others()

    def __iter__(self) -> Iterator[str]:
        yield from HARNESSES
        yield from self._list_others()

    def __len__(self) -> int:
        return len(HARNESSES) + len(self._list_others())

    def _list_others(self) -> list[str]:
        from rigline.harness import plugins

        return plugins.list_names()


NAMES = Names()


def _find_plugin(word: str) -> str | None:
    from rigline.harness import plugins

    return plugins.find_name(word.lower())


def _find_by_beginning(word: str) -> str | None:
    """The harness with an alias `word*` that fits a word which may be a program's name."""
    if not all(character.isalnum() or character in "._-+" for character in word):
        return None
    lowered = word.lower()
    for name, (_, _, _, aliases) in HARNESSES.items():
        if any(alias.endswith("*") and lowered.startswith(alias[:-1]) for alias in aliases):
            return name
    return None
