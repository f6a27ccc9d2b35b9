"""`--dry-run` and `--print-context`: what a run would do, without a lease, a folder or a child."""

from __future__ import annotations

import shlex
import sys

import msgspec

from rigline.errors import RiglineError
from rigline.harness import find_name, find_program, get_harness
from rigline.harness.base import Mode
from rigline.launch.child import make_plan
from rigline.launch.session import Place, Session, build_environment, choose_session
from rigline.launch.target import Target, find_executable, find_line
from rigline.ledger.base import Ledger
from rigline.model import Workstream
from rigline.readable import format_counts

#: Stands for the folder that a real run would make.
NO_FOLDER = "<run folder>"


def preview(target: Target, place: Place, ledger: Ledger) -> int:
    """Print the packet or the plan on stdout; changes nothing. Returns the exit code."""
    options = target.options
    workstream = find_line(options, place.scope, ledger)
    if target.classification.mode is Mode.PASSTHROUGH:
        return _print_passthrough(target)
    session = choose_session(target, place, ledger, workstream, None)
    if options.print_context:
        return _print_context(session, as_json=options.json)
    plan = _describe_plan(target, place, session, workstream)
    sys.stdout.write(msgspec.json.encode(plan).decode() + "\n" if options.json else _render(plan))
    return 0


def _print_passthrough(target: Target) -> int:
    argv = [target.executable, *target.args]
    plan = {"harness": target.harness.name, "start": "passthrough", "why": target.classification.reason, "argv": argv}
    if target.options.json:
        sys.stdout.write(msgspec.json.encode(plan).decode() + "\n")
    else:
        sys.stdout.write(f"passed through unchanged ({plan['why']}): {shlex.join(argv)}\n")
    return 0


def _print_context(session: Session, *, as_json: bool) -> int:
    text = session.offer.packet.text if session.offer.packet else ""
    if as_json:
        packet = {"context": text, "parts": session.offer.parts}
        sys.stdout.write(msgspec.json.encode(packet).decode() + "\n")
    else:
        sys.stdout.write(text + "\n" if text else "Nothing: there is no history that this session has not seen.\n")
    return 0


def _describe_plan(target: Target, place: Place, session: Session, workstream: Workstream | None) -> dict[str, object]:
    environment = build_environment(target, place, None, NO_FOLDER)
    settings = target.harness.read_settings(environment.variables, place.scope.cwd)
    launch = make_plan(target, session, None, environment, NO_FOLDER, settings)
    return {
        "harness": target.harness.name,
        "reason": target.reason,
        "workstream": workstream.name if workstream else target.options.new or "main",
        "workstream_exists": workstream is not None,
        "start": session.choice.start,
        "native_id": session.choice.native_id,
        "why": session.choice.reason,
        "notices": [*session.choice.notices, *launch.notes, *_tell_hook(target)],
        "argv": list(launch.argv),
        "cwd": place.scope.cwd,
        "environment_removed": list(environment.removed),
        "environment_added": sorted(set(launch.environment.variables) - set(environment.variables)),
        "history": session.offer.packet.shown if session.offer.packet else {},
        "then": _list_then(target, place),
    }


def _list_then(target: Target, place: Place) -> list[dict[str, object]]:
    """The harnesses to go on with at a usage limit, in order, and whether each is here."""
    found: list[dict[str, object]] = []
    for word in target.options.then:
        harness = get_harness(find_name(word) or word)
        try:
            find_executable(harness, find_program(word), place.env, target.given, place.settings)
        except RiglineError:
            found.append({"harness": harness.name, "is_installed": False})
        else:
            found.append({"harness": harness.name, "is_installed": True})
    return found


def _tell_hook(target: Target) -> list[str]:
    """What the command line leaves out. Which form the hook has is asked of the harness at a launch only."""
    if target.classification.skips_hooks:
        return []
    return ["a start hook is added for this launch, which shows the history and tells the session's id"]


def _render(plan: dict[str, object]) -> str:
    argv = plan["argv"]
    assert isinstance(argv, list)
    history = plan["history"]
    assert isinstance(history, dict)
    shown = format_counts(history) or "nothing unseen"
    rows = [
        f"harness     {plan['harness']} ({plan['reason']})",
        f"line        {plan['workstream']}{'' if plan['workstream_exists'] else ' (would be created)'}",
        f"session     {' '.join([str(plan['start']), str(plan['native_id'] or '')]).strip()} ({plan['why']})",
        f"history     {shown}",
        f"directory   {plan['cwd']}",
        f"command     {shlex.join(argv)}",
    ]
    then = plan["then"]
    assert isinstance(then, list)
    if then:
        names = [each["harness"] + ("" if each["is_installed"] else " (not installed here)") for each in then]
        rows.append(f"then        {', '.join(names)}, at a usage limit")
    removed = plan["environment_removed"]
    assert isinstance(removed, list)
    if removed:
        rows.append(f"removed     {', '.join(removed)}")
    added = plan["environment_added"]
    assert isinstance(added, list)
    if added:
        rows.append(f"added       {', '.join(added)}")
    notices = plan["notices"]
    assert isinstance(notices, list)
    rows += [f"note        {notice}" for notice in notices]
    return "\n".join(rows) + "\n"
