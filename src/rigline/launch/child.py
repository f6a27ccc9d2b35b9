"""Steps 6 to 10 of a managed run: its folder and plan, the child with the terminal, and the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from rigline import liveness, process, scope
from rigline.errors import describe_cause
from rigline.harness.base import HookDefinition
from rigline.launch import deliver, plan
from rigline.launch.collect import Collector
from rigline.launch.console import Console
from rigline.launch.environment import Environment
from rigline.launch.folder import RunFolder, RunState
from rigline.launch.lease import Keeper
from rigline.launch.session import Place, Session, build_environment
from rigline.launch.summary import Summary, describe_start, report
from rigline.launch.target import Target
from rigline.ledger.base import Ledger
from rigline.model import Checkpoint, Grant

#: Between two looks at what the start hook reported.
TICK_S = 0.5


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended: the child's exit code, on which line, and the vendor's words when it was at a usage limit.

    The limit is looked for only where the user wants to go on with another harness then.
    """

    code: int
    target: Target
    workstream_id: str
    limit: str | None = None


class ManagedRun:
    """One run under its lease: `prepare`, then `run`."""

    def __init__(
        self,
        target: Target,
        place: Place,
        ledger: Ledger,
        console: Console,
        grant: Grant,
        session: Session,
        folder: RunFolder,
    ) -> None:
        self._target, self._place, self._ledger, self._console = target, place, ledger, console
        self._grant, self._session, self._folder = grant, session, folder
        self._trouble = ""

    def prepare(self) -> None:
        """Make the plan and write everything that the child and a later recovery need."""
        run = self._grant.run
        environment = build_environment(self._target, self._place, run, self._folder.path)
        if environment.removed:
            names = ", ".join(environment.removed)
            self._console.say(f"left out of the agent's environment, another session's: {names}.")
        hooks = self._define_hooks(environment)
        settings = self._target.harness.read_settings(environment.variables, self._place.scope.cwd)
        self._launch = make_plan(self._target, self._session, hooks, environment, self._folder.path, settings)
        for note in self._launch.notes:
            self._console.say(note)
        if not (self._launch.has_hooks or self._launch.shows_packet):
            self._session = replace(self._session, offer=deliver.Offer())
        self._state = self._build_state(environment)
        self._write_folder()
        self._ledger.record_checkpoint(run, "start", self._place.checkpoint)
        deliver.record_offer(self._ledger, run, self._session.offer)
        store = self._target.harness.open_store(environment.variables)
        self._collector = Collector(self._ledger, self._target.harness, store, self._folder, self._state, self._console)
        self._keeper = Keeper(self._ledger, run, self._console, work=self._work, work_every_s=TICK_S)

    def run(self) -> Ended:
        """Run the child to its end, save what it said, and tell how it ended.

        Raises `HarnessNotFound` or `HarnessNotExecutable` when it cannot be started, and nothing after that.
        """
        launch, console = self._launch, self._console
        console.say(
            describe_start(self._target, self._grant, self._session.choice, self._session.offer, launch.expected_id)
        )
        with process.run_child(launch.argv, env=launch.environment.variables, on_started=self._note_started) as status:
            self._keeper.stop()
            console.release()
            code = self._finish(status.code)
            limit = self._find_limit() if self._target.options.then else None
            return Ended(code=code, target=self._target, workstream_id=self._grant.workstream.id, limit=limit)

    def _find_limit(self) -> str | None:
        try:
            return self._collector.find_usage_limit()
        except Exception as error:  # whether it was a limit is not worth the agent's exit code
            self._console.say(f"whether this was a usage limit cannot be told ({describe_cause(error)}).")
            return None

    def _finish(self, code: int) -> int:
        """Whatever happens here, the exit code is the child's."""
        try:
            self._collector.set_child(None)
            collected = self._collector.finish()
            self._ledger.finish(self._grant.run, code, self._take_checkpoint())
            self._folder.remove()
        except (Exception, KeyboardInterrupt) as error:  # a fault of ours must not cost the agent's exit code
            cause = describe_cause(error)
            why = "" if cause == self._trouble else f" ({cause})"
            self._console.say(f"this session could not be saved now{why}; the next rigline command will do it.")
            return code
        offer = self._session.offer
        summary = Summary(
            harness=self._target.harness.name,
            label=self._target.harness.label,
            workstream=self._grant.workstream.name,
            native_ids=self._collector.native_ids,
            added=collected.added,
            offered=offer.delivery.id if offer.delivery else None,
            confirmed=collected.confirmed,
            exit_code=code,
            expects_transcript=not self._target.classification.skips_persistence,
            is_traceable=self._launch.has_hooks or self._launch.expected_id is not None,
            expects_packet=self._launch.has_hooks,
        )
        report(summary, self._console, as_json=self._target.options.json)
        return code

    def _take_checkpoint(self) -> Checkpoint:
        return scope.take_checkpoint(self._place.scope.cwd, int(time.time() * 1000), env=self._place.env)

    def _define_hooks(self, environment: Environment) -> HookDefinition | None:
        """The start hook. Where a person may go to another session inside, all parts are laid out."""
        target, session = self._target, self._session
        if target.classification.skips_hooks:
            label = target.harness.label
            self._console.say(f"{label} runs without hooks here; the line's history cannot be shown to it.")
            return None
        is_open = target.classification.interactive or session.plan.needs_all_parts
        parts = target.harness.limits.max_parts if is_open else max(1, session.offer.parts)
        definition = deliver.define_hooks(parts, sys.executable, target.harness.hook_event)
        cwd = self._place.scope.cwd
        return target.harness.trust_hooks(definition, target.executable, environment.variables, cwd)

    def _build_state(self, environment: Environment) -> RunState:
        kept = ("HOME", *self._target.harness.store_variables)
        return RunState(
            run=self._grant.run,
            scope=self._place.scope,
            store_env={name: environment.variables.get(name, "") for name in kept},
            since_ms=int(time.time() * 1000),
            expected_id=self._launch.expected_id,
            created_via=self._session.plan.created_via,
            parent_id=self._session.plan.parent_id,
            has_hooks=self._launch.has_hooks,
            is_interactive=self._target.classification.interactive,
        )

    def _write_folder(self) -> None:
        folder = self._folder
        for name, text in self._launch.files.items():
            folder.write(name, text)
        deliver.write_answers(folder, self._session.offer, self._target.harness)
        deliver.write_hook_file(folder, self._session.offer, self._session.plan.receivers)
        folder.write_state(self._state)

    def _note_started(self, pid: int) -> None:
        """The agent is there already: nothing here may stop it, and its end is waited for whatever fails."""
        try:
            self._collector.set_child(pid)
            started = replace(self._state, child_pid=pid, child_started=liveness.process_start(pid))
            self._folder.write_state(started)
        except Exception as error:
            self._console.note_trouble(f"the run's folder cannot be kept up to date ({describe_cause(error)}).")
        if self._target.classification.interactive:
            self._console.hold()
        self._keeper.start()

    def _work(self) -> None:
        try:
            self._collector.tick()
        except Exception as error:  # the lease is kept by this thread: no fault of ours may end it
            self._trouble = describe_cause(error)
            where = self._place.home
            self._console.note_trouble(
                f"what is said cannot be saved in {where} yet ({self._trouble}); it will be tried again."
            )


def make_plan(
    target: Target,
    session: Session,
    hooks: HookDefinition | None,
    environment: Environment,
    private_dir: str,
    settings: Mapping[str, str],
) -> plan.LaunchPlan:
    """Everything that is known, as a launch plan. Pure."""
    return plan.plan_launch(
        target.harness,
        executable=target.executable,
        args=target.args,
        classification=target.classification,
        session=session.plan,
        yolo=target.options.yolo,
        hooks=hooks,
        private_dir=private_dir,
        environment=environment,
        packet=session.offer.packet.parts if session.offer.packet else (),
        settings=settings,
    )
