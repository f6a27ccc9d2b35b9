"""`rigline run` as one straight line, from argv to the child's exit code.

1 argv      options.py, target.py     what the user asked for, and of which harness
2 scope     scope.py                  which checkout this is; its git state
3 classify  the adapter               session-bearing, or passed through untouched
4 prepare   lease.py                  the workstream, and the right to write it
5 choose    session.py, choose.py     which native session
6 plan      plan.py, deliver.py       command line, environment, packet
7 spawn     child.py, process.py      the child has the terminal; a thread works beside it
8 bind      collect.py                the observed session, proved by the harness's own store
9 collect   collect.py                what was said, in windows, while it runs and after
10 finish   child.py                  lease released, the child's own exit code returned

A checkout that was renamed is asked about before step 4 (`relocate.py`). With `--then` a run that ended at a usage
limit is followed by another one (`failover.py`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import NoReturn

from msgspec.structs import replace

from rigline import liveness, paths, process
from rigline.config import Settings, load_settings
from rigline.errors import Interrupted, UsageError
from rigline.harness import NAMES
from rigline.harness.base import Mode
from rigline.launch.child import Ended, ManagedRun
from rigline.launch.choose import find_moved
from rigline.launch.console import Console
from rigline.launch.folder import RunFolder
from rigline.launch.lease import refuse_nested, take_lease
from rigline.launch.options import RunOptions
from rigline.launch.session import Place, choose_session
from rigline.launch.target import Target, choose_target, read_target
from rigline.ledger.base import Ledger, PrepareRequest
from rigline.ledger.local import has_ledger, open_ledger
from rigline.leftovers import collect_leftovers
from rigline.scope import Inspection, take_checkpoint


def run(options: RunOptions, env: Mapping[str, str], inspection: Inspection, notes: list[str], console: Console) -> int:
    """Start an agent on this checkout's line of work; returns the exit code for the shell.

    `inspection` is git at work on the current directory, started as early as possible; it fills `notes`. Raises
    `RiglineError` for everything refused before the child starts. After that nothing is raised: what could not be
    saved is said, and collected by the next command.
    """
    settings = load_settings(env, NAMES)
    check_redaction(settings)
    if options.then or options.yes:
        from rigline.launch.failover import read_then

        options = read_then(options)
    target = read_target(options, env, settings) if options.harness is not None else None
    is_preview = options.dry_run or options.print_context
    if target is not None and target.classification.mode is Mode.PASSTHROUGH and not is_preview:
        inspection.stop()
        if options.then:
            console.say(f"--then says nothing to a command that is passed through ({target.classification.reason}).")
        pass_through(target, env)
    place = _look_around(options, env, inspection, settings)
    for note in notes:
        console.say(note)
    with _open_ledger(place.home, is_preview=is_preview) as ledger:
        collect_leftovers(place.home, console.say, ledger)
        if options.new is None and not is_preview and (target is None or target.classification.interactive):
            _offer_moved(place, options, ledger, console)
        if target is None:
            target = choose_target(options, env, settings, place.scope, ledger)
        if options.then:
            from rigline.launch.failover import check_first

            check_first(target)
        if is_preview:
            from rigline.launch.preview import preview

            return preview(target, place, ledger)
        return _run_managed(target, place, ledger, console)


@contextmanager
def _open_ledger(home: str, *, is_preview: bool) -> Iterator[Ledger]:
    """The ledger. A preview leaves nothing behind: where there is no ledger yet it looks at an empty one."""
    if is_preview and not has_ledger(home):
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="rigline-") as folder, closing(open_ledger(folder)) as ledger:
            yield ledger
        return
    with closing(open_ledger(home)) as ledger:
        yield ledger


def _look_around(options: RunOptions, env: Mapping[str, str], inspection: Inspection, settings: Settings) -> Place:
    now_ms = int(time.time() * 1000)
    refuse_unwritable_paths({"HOME": env.get("HOME", ""), "the data folder": paths.data_home(env)})
    scope, checkpoint = inspection.finish(now_ms, workspace=options.workspace, project=options.project)
    return Place(env=env, home=paths.data_home(env), settings=settings, scope=scope, checkpoint=checkpoint)


def refuse_unwritable_paths(places: Mapping[str, str]) -> None:
    """Refuse a path that is no text: what a run keeps for those who collect it is; raises `UsageError`."""
    for name, path in places.items():
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            raise UsageError(
                f"{name} is {shown}, which is not UTF-8 and cannot be kept. Use a folder whose name is text, or set "
                f"{'RIGLINE_HOME to one' if name != 'HOME' else 'HOME to a link that has such a name'}."
            ) from None


def check_redaction(settings: Settings) -> None:
    """Refuse a pattern that cannot be used while there is still somebody to tell; raises `ConfigError`."""
    if settings.redact_patterns.value:
        from rigline.ledger.redact import Redactor

        Redactor(settings.redact_patterns.value, settings.redact_allow.value)


def pass_through(target: Target, env: Mapping[str, str]) -> NoReturn:
    """Become the harness: help, versions and utility commands are none of rigline's business."""
    child_env = {**env, **dict(pair.split("=", 1) for pair in target.given)}
    process.become([target.executable, *target.args], child_env)


def _run_managed(target: Target, place: Place, ledger: Ledger, console: Console) -> int:
    refuse_nested(ledger, place.env, target.options, place.scope)
    ended = _run_once(target, place, ledger, console)
    if ended.limit is None:
        return ended.code
    from rigline.launch.failover import follow

    def start(following: Target, workstream_id: str) -> Ended:
        name = ledger.get_workstream(workstream_id, None).name
        following = replace(following, options=replace(following.options, workstream=name))
        checkpoint = take_checkpoint(place.scope.cwd, int(time.time() * 1000), env=place.env)
        return _run_once(following, replace(place, checkpoint=checkpoint), ledger, console)

    return follow(ended, place, console, start)


def _run_once(target: Target, place: Place, ledger: Ledger, console: Console) -> Ended:
    try:
        with take_lease(ledger, build_request(target, place), console, may_wait=may_wait(place, console)) as grant:
            if grant.is_new_workstream and target.options.new is None:
                _tell_moved(place, ledger, console)
            session = choose_session(target, place, ledger, grant.workstream, console)
            folder = RunFolder.create(place.home, grant.run.run_id)
            managed = ManagedRun(target, place, ledger, console, grant, session, folder)
            try:
                managed.prepare()
                return managed.run()
            except BaseException:
                folder.remove()
                raise
    except KeyboardInterrupt:
        raise Interrupted("Stopped before an agent was started.") from None


def _offer_moved(place: Place, options: RunOptions, ledger: Ledger, console: Console) -> None:
    """A renamed checkout may get its lines back before anything is begun in it."""
    if not console.is_interactive or ledger.find_workstream(place.scope, options.workstream) is not None:
        return
    from rigline.launch.relocate import offer_moved

    try:
        offer_moved(ledger, place, console)
    except KeyboardInterrupt:
        raise Interrupted("Stopped before an agent was started.") from None


def _tell_moved(place: Place, ledger: Ledger, console: Console) -> None:
    """A checkout that was renamed begins a new line: say how it gets the old one back."""
    moved = find_moved(ledger.list_workstreams(None), place.scope, os.path.isdir)
    if moved is not None:
        console.say(
            f"this begins a new line. Line {moved.name!r} was in {moved.cwd}, of the same repository and not there any "
            "more: if it was renamed or moved, `rigline relocate` re-attaches its lines here. Its history is in "
            f"`rigline log {moved.id}`."
        )


def may_wait(place: Place, console: Console) -> bool:
    """Whether a held lease is waited for: as the user's setting says, which leaves it to a person's being there."""
    when_busy = place.settings.when_busy.value
    return when_busy == "wait" or (when_busy == "ask" and console.is_interactive)


def build_request(target: Target, place: Place) -> PrepareRequest:
    """The request for the lease, naming this process so that others can see whether it still lives."""
    return PrepareRequest(
        scope=place.scope,
        harness=target.harness.name,
        host=place.scope.host,
        pid=os.getpid(),
        pid_started=liveness.process_start(os.getpid()),
        name=target.options.workstream,
        new_name=target.options.new,
    )
