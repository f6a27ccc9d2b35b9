"""Each harness: is its program there, is its version known to work, where are its sessions and can they be read."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from rigline import process
from rigline.config import Settings
from rigline.doctor.check import Check, fail, ok, warn
from rigline.errors import HarnessNotFound, RiglineError
from rigline.harness import get_harness, list_names
from rigline.harness.base import Harness, Store
from rigline.harness.session_variables import ALL_SESSION_VARIABLES
from rigline.launch.target import find_executable
from rigline.model import SessionInfo
from rigline.readable import format_count, join_words

VERSION_TIMEOUT_S = 5.0
_VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.+-]*[0-9A-Za-z])?")
#: how many programs are asked for their version at once: each takes a core, and a second or two
ASKED_AT_ONCE = 4


class Agent(Struct, frozen=True, kw_only=True):
    """A harness as it is on this machine. `executable` is None when there is none; `trouble` then says why."""

    harness: Harness
    store: Store
    executable: str | None
    trouble: str
    version: str | None
    sessions: tuple[SessionInfo, ...]


def look_at_agents(env: Mapping[str, str], settings: Settings | None) -> list[Agent]:
    """All harnesses, side by side: programs take their time to tell a version, stores to be listed."""
    harnesses = [get_harness(name) for name in list_names()]
    with ThreadPoolExecutor(max_workers=ASKED_AT_ONCE) as pool:
        return list(pool.map(lambda harness: look_at_agent(harness, env, settings), harnesses))


def look_at_agent(harness: Harness, env: Mapping[str, str], settings: Settings | None) -> Agent:
    """One harness: its program is asked for its version, its store listed."""
    executable, trouble = find_program(harness, env, settings)
    store = harness.open_store(env)
    return Agent(
        harness=harness,
        store=store,
        executable=executable,
        trouble=trouble,
        version=ask_version(harness, executable, env) if executable else None,
        sessions=tuple(store.iter_sessions()),
    )


def find_program(harness: Harness, env: Mapping[str, str], settings: Settings | None) -> tuple[str | None, str]:
    """The path of a harness's program, or None and why there is none. Without settings by its own name."""
    try:
        if settings is None:
            return process.find_executable(harness.executable, env), ""
        return find_executable(harness, None, env, (), settings), ""
    except HarnessNotFound as error:
        return None, _tell_absent(error.details.get("program"))
    except RiglineError as error:
        return None, str(error)


def _tell_absent(program: object) -> str:
    return f"not installed: no program {program!r} was found"


def ask_version(harness: Harness, executable: str, env: Mapping[str, str]) -> str | None:
    """What the program says its version is, or None.

    It is kept off the user's own store: some programs write there whenever they start (Codex 0.171.0 and 0.120.0
    lay links to themselves into `$CODEX_HOME`).
    """
    removed = ALL_SESSION_VARIABLES.union(harness.session_variables)
    clean = {name: value for name, value in env.items() if name not in removed}
    with tempfile.TemporaryDirectory(prefix="rigline-", ignore_cleanup_errors=True) as folder:
        asked = {**clean, **dict.fromkeys(harness.store_variables, folder)}
        answer = process.ask([executable, "--version"], env=asked, timeout_s=VERSION_TIMEOUT_S)
    return find_version(answer or "")


def find_version(answer: str) -> str | None:
    """The first version in an answer: `2.1.332` in `2.1.332 (Claude Code)`, `18.2.3` in `omp/18.2.3`. Pure."""
    found = _VERSION.search(answer)
    return found[0] if found else None


def is_between_known(version: str, known: Sequence[str]) -> bool:
    """Whether a version is one that is known to work, or lies between two of them. Pure."""
    numbers = sorted(_read_numbers(each) for each in known)
    return bool(numbers) and numbers[0] <= _read_numbers(version) <= numbers[-1]


def _read_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split(".") if part.isdigit())


def check_agents(agents: Sequence[Agent]) -> list[Check]:
    """What was found: two checks an agent, the program and the store. Those without either are told in one line."""
    absent = [agent.harness.name for agent in agents if is_absent(agent)]
    present = [agent for agent in agents if not is_absent(agent)]
    checks = [check for agent in present for check in (_check_program(agent), _check_store(agent))]
    return [*checks, ok("other agents", f"neither programs nor sessions of {join_words(absent)}")] if absent else checks


def is_absent(agent: Agent) -> bool:
    """Whether nothing of an agent is here, so that nobody expects it to work: no sessions, and no program by its own
    name. One that the user's settings name is expected."""
    return agent.trouble == _tell_absent(agent.harness.executable) and not os.path.isdir(agent.store.root)


def _check_program(agent: Agent) -> Check:
    harness = agent.harness
    known = join_words(harness.known_versions)
    if agent.executable is None:
        step = f"Install {harness.label} or name its program in the settings, if it is to be used here."
        return warn(harness.name, agent.trouble, step)
    facts = {"executable": agent.executable, "version": agent.version, "known_versions": list(harness.known_versions)}
    if agent.version is None:
        step = f"See what `{agent.executable} --version` says."
        return warn(harness.name, f"{agent.executable} does not tell its version", step, **facts)
    if is_between_known(agent.version, harness.known_versions):
        return ok(harness.name, f"{agent.version}, known to work: {agent.executable}", **facts)
    text = f"{agent.version} was not tried with rigline: {agent.executable}"
    tried = f"Tried were {known}" if known else "None was tried: the adapter stands on public facts"
    return warn(harness.name, text, f"It may work all the same. {tried}.", **facts)


def _check_store(agent: Agent) -> Check:
    name = f"{agent.harness.name} sessions"
    root = agent.store.root
    if not os.path.isdir(root):
        return ok(name, f"none yet in {root}", path=root, sessions=0)
    if not os.access(root, os.R_OK | os.X_OK):
        step = "Give yourself the right to read it: nothing can be resumed or imported without."
        return fail(name, f"{root} cannot be read", step, path=root)
    main = [info for info in agent.sessions if not info.is_subagent]
    subagents = len(agent.sessions) - len(main)
    more = f" and {format_count(subagents, 'subagent')}" if subagents else ""
    return ok(name, f"{format_count(len(main), 'session')}{more} in {root}", path=root, sessions=len(main))
