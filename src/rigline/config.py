"""What the user may set: the checkout's marker file, and the user's own settings, each value with its source.

A marker comes with a checkout, perhaps from somebody else, so it can name things and nothing more; whatever starts
a program or decides what is kept stands in the user's own file or environment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from msgspec import Struct

from rigline.errors import ConfigError
from rigline.paths import config_file, user_home

MARKER_NAME = ".rigline.toml"
MAX_FILE_BYTES = 64 * 1024
NAME_RULE = "lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit, 64 at most"
DEFAULT_PACKET_TOKENS = 8000
WHEN_BUSY = ("ask", "wait", "fail")

_MARKER_KEYS = ("workspace", "project", "hub")
_SETTING_KEYS = ("packet_tokens", "when_busy", "redaction", "harness")
_REDACTION_KEYS = ("patterns", "allow")
_HARNESS_KEYS = ("executable", "packet_tokens")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")

T = TypeVar("T")


class Marker(Struct, frozen=True, kw_only=True):
    """A `.rigline.toml`. `hub` is kept for later and has no effect yet."""

    path: str
    workspace: str | None = None
    project: str | None = None
    hub: str | None = None


class Value(Struct, Generic[T], frozen=True):
    """A setting, and where it comes from: an environment variable's name, a file's path, or `default`."""

    value: T
    source: str = "default"


class Settings(Struct, frozen=True, kw_only=True):
    """The user's settings.

    `packet_tokens`: how much history one session is shown at most. `when_busy`: what to do when another run holds the
    workstream: `ask` a person and fail without one, `wait` until its lease ends, or `fail`. `redact_patterns` are
    regular expressions (RE2) for further secrets, `redact_allow` texts that mark a match as none. `executables` and
    `harness_packet_tokens` are by harness name.
    """

    packet_tokens: Value[int]
    when_busy: Value[str]
    redact_patterns: Value[tuple[str, ...]]
    redact_allow: Value[tuple[str, ...]]
    executables: dict[str, Value[str]]
    harness_packet_tokens: dict[str, Value[int]]

    def packet_tokens_for(self, harness: str) -> Value[int]:
        """The packet's budget for one harness."""
        return self.harness_packet_tokens.get(harness, self.packet_tokens)


def load_settings(env: Mapping[str, str], harnesses: Collection[str]) -> Settings:
    """Read the user's settings: environment, else the configuration file, else defaults.

    `harnesses` are the names that a `[harness.NAME]` table may have. A missing file is an empty one. Raises
    `ConfigError` for anything that is not understood: nothing is ignored in silence.
    """
    path = config_file(env)
    table = _Table(read_toml(path) if os.path.lexists(path) else {}, path)
    table.allow(_SETTING_KEYS)
    patterns, allow = _read_redaction(table)
    sections = table.get_table("harness")
    sections.allow(harnesses)
    by_harness = {name: sections.get_table(name) for name in sections.values}
    for section in by_harness.values():
        section.allow(_HARNESS_KEYS)
    return Settings(
        packet_tokens=_packet_tokens_from(env) or table.find_count("packet_tokens") or Value(DEFAULT_PACKET_TOKENS),
        when_busy=_when_busy_from(env) or table.find_choice("when_busy", WHEN_BUSY) or Value(WHEN_BUSY[0]),
        redact_patterns=patterns,
        redact_allow=allow,
        executables={
            name: Value(_expand(found.value, env), found.source)
            for name, section in by_harness.items()
            if (found := section.find_text("executable"))
        },
        harness_packet_tokens={
            name: tokens for name, section in by_harness.items() if (tokens := section.find_count("packet_tokens"))
        },
    )


def load_redaction(env: Mapping[str, str]) -> tuple[Value[tuple[str, ...]], Value[tuple[str, ...]]]:
    """The user's own patterns for secrets, and texts that are none, without the other settings."""
    path = config_file(env)
    return _read_redaction(_Table(read_toml(path) if os.path.lexists(path) else {}, path))


def _read_redaction(table: _Table) -> tuple[Value[tuple[str, ...]], Value[tuple[str, ...]]]:
    redaction = table.get_table("redaction")
    redaction.allow(_REDACTION_KEYS)
    return redaction.find_texts("patterns") or Value(()), redaction.find_texts("allow") or Value(())


def find_marker(cwd: str, home: str) -> str | None:
    """The nearest marker file at or above `cwd`, both real paths.

    The search ends at the checkout's root (the first folder with a `.git`), outside a checkout at `home`, and outside
    both it looks at `cwd` alone: a file in a folder that others share decides nothing.
    """
    for folder in _folders_to_search(cwd, home):
        path = os.path.join(folder, MARKER_NAME)
        if os.path.lexists(path):
            return path
    return None


def read_marker(path: str) -> Marker:
    """A marker file's content; raises `ConfigError` for anything that is not understood."""
    table = _Table(read_toml(path), path)
    table.allow(_MARKER_KEYS)
    texts = {key: found.value for key in _MARKER_KEYS if (found := table.find_text(key))}
    for key in ("workspace", "project"):
        if key in texts and not is_name(texts[key]):
            raise table.error(key, explain_name(texts[key]))
    return Marker(path=path, **texts)


def is_name(text: str) -> bool:
    """Whether a text can name a workspace or project."""
    return 0 < len(text) <= 64 and text[0] not in "._-" and _NAME_CHARACTERS.issuperset(text)


def make_name(folder: str, fallback: str) -> str:
    """A name made from a folder's: lower case, each run of other characters one `-`, cut to 64.

    `fallback` when nothing is left of it. Two folders may get one name: names are for people, fingerprints tell
    checkouts apart.
    """
    kept = "".join(character if character in _NAME_CHARACTERS else " " for character in folder.lower())
    return "-".join(kept.split()).strip("._-")[:64].rstrip("._-") or fallback


def explain_name(text: str) -> str:
    """Why a text is no name, with one that would do."""
    suggestion = make_name(text, "")
    return f"{text!r} is not a name: {NAME_RULE}." + (f" {suggestion!r} would do." if suggestion else "")


def read_toml(path: str) -> dict[str, object]:
    """A small TOML file; raises `ConfigError` with its path, and the line where the syntax is wrong."""
    import tomllib

    try:
        # A byte order mark is what some editors put before UTF-8.
        return tomllib.loads(_read_small_file(path).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}.", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: this is not TOML: {error}.", path=path) from error
    except RecursionError as error:
        raise ConfigError(f"{path}: its values are nested too deeply.", path=path) from error


class _Table:
    """A TOML table with its file and name, so that every complaint says where."""

    def __init__(self, values: dict[str, object], path: str, name: str = "") -> None:
        self.values = values
        self._path = path
        self._name = name

    def error(self, key: str, problem: str) -> ConfigError:
        return ConfigError(f"{self._path}: {self._name}{key}: {problem}", path=self._path, key=self._name + key)

    def allow(self, known: Collection[str]) -> None:
        for key in self.values:
            if key not in known:
                raise self.error(key, f"there is no such key{_did_you_mean(key, known)} Known: {', '.join(known)}.")

    def get_table(self, key: str) -> _Table:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table: [{self._name}{key}].")
        return _Table(value, self._path, f"{self._name}{key}.")

    def find_text(self, key: str) -> Value[str] | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise self.error(key, f"must be a text that is not blank, not {value!r}.")
        return Value(value, self._path)

    def find_choice(self, key: str, choices: Collection[str]) -> Value[str] | None:
        found = self.find_text(key)
        if found and found.value not in choices:
            raise self.error(key, _not_a_choice(found.value, choices))
        return found

    def find_count(self, key: str) -> Value[int] | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.error(key, f"must be a whole number above 0, not {value!r}.")
        return Value(value, self._path)

    def find_texts(self, key: str) -> Value[tuple[str, ...]] | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.error(key, "must be a list of texts that are not empty.")
        return Value(tuple(value), self._path)


def _packet_tokens_from(env: Mapping[str, str]) -> Value[int] | None:
    name = "RIGLINE_PACKET_TOKENS"
    text = env.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise ConfigError(f"{name} must be a whole number above 0, not {text[:40]!r}.", key=name)
    return Value(int(text), name)


def _when_busy_from(env: Mapping[str, str]) -> Value[str] | None:
    name = "RIGLINE_WHEN_BUSY"
    text = env.get(name, "").strip()
    if text and text not in WHEN_BUSY:
        raise ConfigError(f"{name} {_not_a_choice(text, WHEN_BUSY)}", key=name)
    return Value(text, name) if text else None


def _not_a_choice(given: str, choices: Collection[str]) -> str:
    return f"must be one of {', '.join(choices)}, not {given!r}{_did_you_mean(given, choices)}"


def _did_you_mean(given: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(given.lower(), known, n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def _expand(path: str, env: Mapping[str, str]) -> str:
    return user_home(env) + path[1:] if path.startswith("~/") else path


def _folders_to_search(cwd: str, home: str) -> list[str]:
    folders = [cwd]
    while folders[-1] != os.path.dirname(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    for position, folder in enumerate(folders):
        if os.path.lexists(os.path.join(folder, ".git")):
            return folders[: position + 1]
    return folders[: folders.index(home) + 1] if home in folders else [cwd]


def _read_small_file(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe must not wait for its writer
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        content = os.read(descriptor, MAX_FILE_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_FILE_BYTES:
        raise OSError(f"it is larger than {MAX_FILE_BYTES // 1024} KiB")
    return content
