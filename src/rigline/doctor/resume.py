"""Whether the sessions of the current line of work would resume here, and if not, why."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from rigline.doctor.agents import Agent
from rigline.doctor.check import Check, fail, ok, warn
from rigline.launch.deliver import define_hooks
from rigline.ledger.base import Ledger
from rigline.model import Binding, LiveSession, Lookup, Presence, Scope, Workstream

#: harnesses that run a launch's hook only with a proof of trust (Codex 0.171.0; Claude Code wants none)
NEEDS_PROOF = frozenset({"codex"})


def check_line(ledger: Ledger, scope: Scope, agents: Sequence[Agent], env: Mapping[str, str]) -> list[Check]:
    """The current line's bound sessions, each as the next `rigline run` would find it."""
    line = ledger.find_workstream(scope)
    if line is None:
        return [ok("line of work", "none in this checkout yet")]
    checks = []
    for agent in agents:
        binding = _find_binding(line, agent.harness.name)
        if binding is not None:
            lookup = agent.store.look_up(binding.native_id, scope.cwd)
            live = agent.store.find_live(binding.native_id)
            checks.append(judge(agent.harness.label, line.name, binding, lookup, live))
            checks += check_trust(agent, env, scope.cwd)
    return checks or [ok("line of work", f"{line.name!r} has no session yet")]


def _find_binding(line: Workstream, harness: str) -> Binding | None:
    return next((each for each in line.bindings if each.harness == harness and each.is_current), None)


def judge(label: str, line: str, binding: Binding, lookup: Lookup, live: LiveSession | None) -> Check:
    """What the store's answer means for the next run. Pure."""
    name = f"line {line}"
    session = f"{label} session {binding.native_id}"
    facts = {"harness": binding.harness, "native_id": binding.native_id, "presence": str(lookup.presence)}
    if lookup.presence is Presence.MISSING:
        step = "Nothing to do: the next run begins a fresh session with this line's history."
        return warn(name, f"{session} is gone from {label}'s store", step, **facts)
    if lookup.presence is Presence.UNREADABLE:
        step = "The next run tries it all the same; `rigline run --fresh` begins another session."
        return fail(name, f"{session} cannot be read: {lookup.reason}", step, **facts)
    if not lookup.resumable:
        step = "The next run begins a fresh session with this line's history."
        return warn(name, f"{session} would not resume here: {lookup.reason}", step, **facts)
    if live is not None:
        holder = f"process {live.pid}" if live.pid is not None else "another process"
        step = "Go on there or end it: rigline does not open a session twice."
        return warn(name, f"{session} is open in {holder}", step, pid=live.pid, **facts)
    return ok(name, f"{session} will resume", **facts)


def check_trust(agent: Agent, env: Mapping[str, str], cwd: str) -> list[Check]:
    """Whether the harness would run the start hook that shows it the history; nothing to say when it would."""
    harness = agent.harness
    if agent.executable is None or harness.name not in NEEDS_PROOF:
        return []
    if harness.trust_hooks(define_hooks(1, sys.executable, harness.hook_event), agent.executable, env, cwd).trust:
        return []
    text = f"{harness.label} gave no proof for the start hook, without which it would not run it"
    step = "It starts all the same, but is not shown what other agents did. A newer version may give one."
    return [warn(f"{harness.name} hook", text, step)]
