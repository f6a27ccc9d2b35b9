"""The whole examination, in the order in which things depend on each other."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from rigline import scope as scopes
from rigline.config import Settings, load_settings
from rigline.doctor import ledger as ledger_checks
from rigline.doctor import place, resume, retention, runs
from rigline.doctor.agents import Agent, check_agents, look_at_agents
from rigline.doctor.check import Check, Level, fail, find_worst, warn
from rigline.errors import ConfigError, RiglineError
from rigline.harness import NAMES, plugins
from rigline.ledger.local import DATABASE_NAME, open_ledger


def examine(home: str, env: Mapping[str, str], cwd: str, *, deep: bool) -> list[Check]:
    """Look at everything; nothing is changed, and no failure of one check keeps another from being made."""
    agents = look_at_agents(env, _find_settings(env))
    checks = [place.check_program(), *place.check_folder(home), place.check_settings(env), place.check_git(env)]
    about_ledger = ledger_checks.check_ledger(home, deep=deep)
    checks += [*about_ledger, *runs.check_runs(home)]
    checks += check_agents(agents)
    for problem in plugins.list_problems():
        step = "Upgrade or remove that package; all other harnesses work without it."
        checks.append(warn(problem.name, f"{problem}", step))
    if find_worst(about_ledger) is not Level.FAIL and os.path.exists(os.path.join(home, DATABASE_NAME)):
        checks += _examine_history(home, env, cwd, agents)
    elif find_worst(about_ledger) is Level.FAIL:
        checks.append(warn("history", "not looked at, since the ledger cannot be used", "Repair the ledger first."))
    return checks


def _find_settings(env: Mapping[str, str]) -> Settings | None:
    try:
        return load_settings(env, NAMES)
    except ConfigError:
        return None


def _examine_history(home: str, env: Mapping[str, str], cwd: str, agents: list[Agent]) -> list[Check]:
    checks: list[Check] = []
    try:
        ledger = open_ledger(home)
    except RiglineError as error:
        return [fail("history", str(error), "Put that right, then try again.")]
    try:
        notes: list[str] = []
        found = scopes.resolve_scope(cwd, env=env, notes=notes)
        checks += [warn("checkout", note, "See what `git status` says here.") for note in notes]
        checks += resume.check_line(ledger, found, agents, env)
        now_ms = int(time.time() * 1000)
        for agent in agents:
            checks += retention.check_retention(agent, ledger, now_ms)
    except RiglineError as error:
        checks.append(fail("history", str(error), "Put that right, then try again."))
    finally:
        ledger.close()
    return checks
