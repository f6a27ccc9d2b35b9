"""Harnesses of third parties: entry points of the group `rigline.harnesses`.

An entry point's name is the harness's, its object the adapter's class. The adapter may have `aliases`, a tuple of
further words for it. To find out what is installed takes longer than Python's own start (`importlib.metadata`), so it
is done only for a word that no built-in harness has, and where all harnesses are wanted; and not even then where no
installed package has such an entry point, which the files themselves tell in a millisecond. An adapter that cannot be
used is passed over and named: it costs nobody the others.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from msgspec import Struct

from rigline.errors import HarnessBroken
from rigline.harness.base import Facts, Harness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rigline.harnesses"

_TEXTS = ("name", "label", "executable")
_VALUES = ("limits", "hook_event", "known_versions", "session_variables", "store_variables")
_METHODS = (
    *("find_variant", "classify", "find_options", "new_native_id", "plan", "read_settings", "open_store"),
    *("read_observation", "write_hook_answer", "trust_hooks"),
)


class Problem(Struct, frozen=True, kw_only=True):
    """An installed adapter that is passed over: its name, its object, the package that brings it, and why."""

    name: str
    target: str
    package: str
    cause: str

    def __str__(self) -> str:
        return f"the harness {self.name!r} of {self.package} ({self.target}) is passed over: {self.cause}"


@cache
def list_entries() -> tuple[EntryPoint, ...]:
    """What is installed, by name; the first of those with one name is the one that counts."""
    if not any(_names_group(path) for path in sys.path):
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


def _names_group(path: str) -> bool:
    """Whether a place where Python looks for packages may have one with such an entry point."""
    try:
        names = os.listdir(path or os.curdir)
    except NotADirectoryError:
        return True
    except OSError:
        return False
    folders = (os.path.join(path, name) for name in names if name.endswith((".dist-info", ".egg-info")))
    return any(GROUP.encode() in _read(os.path.join(folder, "entry_points.txt")) for folder in folders)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def list_names() -> list[str]:
    """The names that the entry points give, without those that are taken. No adapter is loaded."""
    return list(dict.fromkeys(entry.name for entry in list_entries() if not _is_taken(entry.name)))


def find_name(word: str) -> str | None:
    """The harness with that name or alias, or None. Adapters are loaded only to be asked for their aliases."""
    names = list_names()
    if word in names:
        return word
    return next((name for name in names if _is_sound(name) and word in get_aliases(name)), None)


def get_aliases(name: str) -> tuple[str, ...]:
    """Further words for a harness, without those of built-in ones; raises as `load` does."""
    return tuple(alias for alias in getattr(load(name), "aliases", ()) if not _is_taken(alias))


@cache
def load(name: str) -> Harness:
    """The adapter; raises `HarnessBroken` when it cannot be used, and KeyError when there is none of that name."""
    entry = next((entry for entry in list_entries() if entry.name == name and not _is_taken(name)), None)
    if entry is None:
        raise KeyError(name)
    try:
        adapter = entry.load()()
        cause = _find_fault(adapter, name)
    except (Exception, SystemExit) as error:  # whatever a stranger's module does when it is imported
        cause = f"it cannot be loaded: {type(error).__name__}: {error}"
    if cause:
        problem = _describe(entry, cause)
        raise HarnessBroken(
            f"The harness {name!r} cannot be used: {cause}. It comes with {problem.package} ({problem.target}): "
            "upgrade or remove that package.",
            name=name,
            package=problem.package,
            target=problem.target,
            cause=cause,
        )
    sound: Harness = adapter
    return sound


def find_package(name: str) -> str | None:
    """The package that brings a harness, with its version."""
    entry = next((entry for entry in list_entries() if entry.name == name), None)
    return _describe(entry, "").package if entry is not None else None


def list_sound() -> list[str]:
    """The names of the adapters that can be used."""
    return [name for name in list_names() if _is_sound(name)]


def list_problems() -> list[Problem]:
    """The adapters that are passed over. All are loaded for it."""
    problems, seen = [], set()
    for entry in list_entries():
        if _is_taken(entry.name):
            problems.append(_describe(entry, "a built-in harness has that name"))
        elif entry.name in seen:
            problems.append(_describe(entry, "another package has a harness of that name"))
        elif cause := _find_cause(entry.name):
            problems.append(_describe(entry, cause))
        seen.add(entry.name)
    return problems


def forget() -> None:
    """Look again at what is installed, the next time that it is asked for."""
    list_entries.cache_clear()
    load.cache_clear()


def _is_taken(word: str) -> bool:
    from rigline.harness import find_built_in

    return find_built_in(word) is not None


def _is_sound(name: str) -> bool:
    return not _find_cause(name)


def _find_cause(name: str) -> str:
    try:
        load(name)
    except HarnessBroken as error:
        return str(error.details["cause"])
    return ""


def _find_fault(adapter: object, name: str) -> str:
    """What an adapter lacks, or an empty string."""
    for text in _TEXTS:
        if not isinstance(getattr(adapter, text, None), str):
            return f"it has no `{text}`"
    if getattr(adapter, "name", "") != name:
        return f"it calls itself {getattr(adapter, 'name', '')!r}, and its entry point {name!r}"
    lacking = [each for each in _VALUES if not hasattr(adapter, each)]
    lacking += [each for each in _METHODS if not callable(getattr(adapter, each, None))]
    if lacking:
        return f"it has no `{lacking[0]}`"
    if not isinstance(getattr(adapter, "facts", None), Facts):
        return "its `facts` are none"
    return ""


def _describe(entry: EntryPoint, cause: str) -> Problem:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
    return Problem(name=entry.name, target=entry.value, package=package, cause=cause)
