"""The child's environment: the user's, minus what marks another agent's session, plus ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from rigline.errors import UsageError

#: what a plan's own variables replaced, for a run that is started inside of that one: their former values as JSON
REPLACED = "RIGLINE_REPLACED"


class Environment(Struct, frozen=True, kw_only=True):
    """The variables for the child, and the names that were taken out of what was inherited."""

    variables: dict[str, str]
    removed: tuple[str, ...]


def build_environment(
    inherited: Mapping[str, str],
    *,
    session_variables: Iterable[str],
    store_variables: Iterable[str],
    given: Iterable[str],
    own: Mapping[str, str],
    blank_values: Iterable[tuple[str, str]] = (),
) -> Environment:
    """Inherited < the user's K=V pairs (later wins) < rigline's own.

    Only inherited session markers are removed: one that the user gives by `--env` is the user's will.
    Blank store overrides count as unset and go too, unless `blank_values` says what one means. What an outer run's plan
    put in for its own agent is taken back.
    """
    variables = take_back(inherited)
    removed = sorted(name for name in set(session_variables) if name in variables)
    for name in removed:
        del variables[name]
    for pair in given:
        name, value = split_pair(pair)
        variables[name] = value
    for name in store_variables:
        if name in variables and not variables[name].strip():
            del variables[name]
            variables.update(pair for pair in blank_values if pair[0] == name)
    variables.update(own)
    return Environment(variables=variables, removed=tuple(removed))


def replace_variables(variables: Mapping[str, str], planned: Mapping[str, str]) -> dict[str, str]:
    """The child's variables with those of its plan, and with what they replaced."""
    if not planned:
        return dict(variables)
    former = {name: variables.get(name) for name in planned}
    return {**variables, **planned, REPLACED: msgspec.json.encode(former).decode()}


def take_back(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment without what an outer run's plan put in: that leads to the outer run's private files, and ends
    with it. A variable that has been changed since, which is one without that run's id in it, stays as it is.
    """
    variables = dict(inherited)
    try:
        former = msgspec.json.decode(variables.pop(REPLACED, "{}"), type=dict[str, str | None])
    except (msgspec.DecodeError, UnicodeError):
        return variables
    run_id = variables.get("RIGLINE_RUN_ID", "")
    for name, value in former.items():
        if not run_id or run_id not in variables.get(name, ""):
            continue
        del variables[name]
        if value is not None:
            variables[name] = value
    return variables


def split_pair(pair: str, where: str = "--env") -> tuple[str, str]:
    """`K=V` as a pair; raises `UsageError` naming where it stood."""
    name, separator, value = pair.partition("=")
    if not separator or not name or "\0" in pair:
        raise UsageError(f"{where}: {pair!r} is not NAME=VALUE.", where=where)
    return name, value


def read_env_file(path: str) -> list[str]:
    """The K=V lines of a file; blank lines and `#` comments are skipped. Raises `UsageError` with file and line."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--env-file {path}: {_cause(error)}. Give a readable file of NAME=VALUE lines.") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            split_pair(text, f"{path}:{number}")
            pairs.append(text)
    return pairs


def _cause(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
