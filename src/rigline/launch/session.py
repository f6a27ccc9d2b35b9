"""Step 5: which native session a run writes, and the packet of history for it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rigline import liveness
from rigline.config import Settings
from rigline.harness.session_variables import ALL_SESSION_VARIABLES
from rigline.launch import adopt, choose, deliver, plan
from rigline.launch.console import Console
from rigline.launch.environment import Environment
from rigline.launch.folder import list_folders
from rigline.launch.target import Target
from rigline.ledger.base import Ledger
from rigline.model import Binding, Checkpoint, LiveSession, RunRef, Scope, Workstream


class Place(Struct, frozen=True, kw_only=True):
    """Where a run happens: the user's environment and settings, the checkout and its state."""

    env: Mapping[str, str]
    home: str
    settings: Settings
    scope: Scope
    checkpoint: Checkpoint


class Session(Struct, frozen=True, kw_only=True):
    """Which native session, why, and the packet for it."""

    choice: choose.SessionChoice
    plan: plan.SessionPlan
    offer: deliver.Offer


def choose_session(
    target: Target, place: Place, ledger: Ledger, workstream: Workstream | None, console: Console | None
) -> Session:
    """The session and its packet. Without a console nobody is asked and nothing is said: a preview.

    Raises `SessionHeld` when another live process has the session open.
    """
    facts = _ask_store(target, place, ledger, workstream)
    choice = choose.choose_session(
        target.classification,
        facts,
        label=target.harness.label,
        workstream=workstream,
        fresh=target.options.fresh or target.options.new is not None,
    )
    if choice.may_adopt:
        choice = _adopt(choice, target, place, ledger, console)
    if console is not None:
        for notice in choice.notices:
            console.say(notice)
    info = facts.lookup.info if facts.lookup is not None else None
    planned = plan.plan_session(
        choice, target.classification, target.harness.new_native_id(), session_cwd=info.cwd if info else None
    )
    return Session(choice=choice, plan=planned, offer=_make_offer(target, place, ledger, workstream, planned))


def build_environment(target: Target, place: Place, run: RunRef | None, private_dir: str) -> Environment:
    """The child's environment; without a run (a preview, or a look at the store) with nothing of the run in it."""
    said = target.harness.read_store_variables(target.args)
    return plan.plan_environment(
        target.harness,
        place.env,
        (*target.given, *(f"{name}={value}" for name, value in said.items())),
        run=run,
        home=place.home,
        private_dir=private_dir,
        # a third party's adapter has its own, and is loaded for no other harness
        session_variables=ALL_SESSION_VARIABLES.union(target.harness.session_variables),
    )


def find_binding(workstream: Workstream | None, harness: str) -> Binding | None:
    """The workstream's current session of a harness."""
    bindings = workstream.bindings if workstream is not None else ()
    return next((b for b in bindings if b.harness == harness and b.is_current), None)


def _ask_store(target: Target, place: Place, ledger: Ledger, workstream: Workstream | None) -> choose.SessionFacts:
    store = target.harness.open_store(build_environment(target, place, None, "").variables)
    selector = target.classification.selector
    binding = find_binding(workstream, target.harness.name)
    wanted = selector.native_id if selector is not None else binding.native_id if binding is not None else None
    if wanted is None:
        return choose.SessionFacts(binding=binding)
    live = store.find_live(wanted) or _find_in_run(wanted, target.harness.name, place.home, ledger)
    return choose.SessionFacts(binding=binding, lookup=store.look_up(wanted, place.scope.cwd), live=live)


def _find_in_run(native_id: str, harness: str, home: str, ledger: Ledger) -> LiveSession | None:
    """The agent of another run that has the session, its launcher being alive or not: most harnesses leave no sign of
    a session that is open."""
    for folder in list_folders(home):
        state = folder.read_state()
        if state is None or state.run.harness != harness or state.child_pid is None:
            continue
        if not liveness.is_alive(state.child_pid, state.child_started):
            continue
        binding = find_binding(ledger.get_workstream(state.run.workstream_id, None), harness)
        if native_id in (state.expected_id, binding.native_id if binding is not None else None):
            return LiveSession(native_id=native_id, pid=state.child_pid)
    return None


def _adopt(
    choice: choose.SessionChoice, target: Target, place: Place, ledger: Ledger, console: Console | None
) -> choose.SessionChoice:
    """Give an older session of this checkout its chance, on a workstream that is still empty."""
    info = target.adopt
    if info is None and console is not None and console.is_interactive and target.classification.interactive:
        store = target.harness.open_store(build_environment(target, place, None, "").variables)
        taken = {known.native_id for known in ledger.list_sessions(place.scope) if known.workstream_ids}
        free = adopt.leave_out(store.list_sessions(place.scope.cwd, adopt.OFFERED + len(taken)), taken)
        free = [session for session in free if store.find_live(session.native_id) is None]
        if free:
            now_ms = place.checkpoint.at_ms
            info = adopt.offer_sessions(free[: adopt.OFFERED], console, label=target.harness.label, now_ms=now_ms)
    if info is None:
        return choice
    return choose.SessionChoice(start=choose.Start.RESUME, native_id=info.native_id, reason="adopted")


def _make_offer(
    target: Target, place: Place, ledger: Ledger, workstream: Workstream | None, planned: plan.SessionPlan
) -> deliver.Offer:
    if workstream is None or planned.needs_all_parts or target.classification.skips_hooks:
        return deliver.Offer()
    return deliver.make_offer(
        ledger.get_unseen(workstream.id, target.harness.name, planned.receiver_id),
        target.harness,
        workstream=workstream.name,
        receiver_id=planned.receiver_id,
        checkpoint=place.checkpoint,
        budget_tokens=place.settings.packet_tokens_for(target.harness.name).value,
    )
