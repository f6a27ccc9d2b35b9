"""The launch plan: facts and choices in, the command line, environment and files out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from rigline.harness.base import Classification, Harness, HookDefinition, LaunchRequest
from rigline.launch.choose import SessionChoice, Start
from rigline.launch.environment import Environment, build_environment, replace_variables
from rigline.model import RunRef


class SessionPlan(Struct, frozen=True, kw_only=True):
    """Which native session will be written, as far as that is known before the launch.

    `receiver_id` is the session whose unseen history the packet holds. `receivers` are the ids that the prepared
    packet may be given to: None for whichever starts, empty when it has to be made once the session is known.
    """

    resume_id: str | None
    fresh_id: str | None
    receiver_id: str | None
    receivers: tuple[str, ...] | None
    parent_id: str | None
    created_via: str
    session_cwd: str | None = None

    @property
    def needs_all_parts(self) -> bool:
        """Whether a packet of unknown length may be asked for."""
        return self.receivers == ()


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """What will be started."""

    argv: tuple[str, ...]
    environment: Environment
    files: dict[str, str]
    expected_id: str | None
    has_hooks: bool
    shows_packet: bool
    notes: tuple[str, ...]


def plan_session(
    choice: SessionChoice, classification: Classification, new_id: str | None, *, session_cwd: str | None = None
) -> SessionPlan:
    """Turn the choice into ids. `new_id` is one for a session that begins, where the harness takes it from us.

    `session_cwd` is the directory of the session that the store was asked about.
    """
    if choice.start is Start.RESUME:
        assert choice.native_id is not None
        return _plan_resume(choice.native_id, new_id if classification.forks else None, classification)
    if choice.start is Start.FRESH:
        return SessionPlan(
            resume_id=None,
            fresh_id=new_id,
            receiver_id=None,
            receivers=(new_id,) if new_id else None,
            parent_id=None,
            created_via="fresh",
        )
    return replace(_plan_explicit(classification, new_id), session_cwd=session_cwd)


def _plan_resume(native_id: str, fork_id: str | None, classification: Classification) -> SessionPlan:
    """The session itself, or a fork of it where the command line says so."""
    forks = classification.forks
    return SessionPlan(
        resume_id=native_id,
        fresh_id=fork_id,
        receiver_id=native_id,
        receivers=None if forks else (native_id,),
        parent_id=native_id if forks else None,
        created_via="fork" if forks else "resume",
    )


def _plan_explicit(classification: Classification, new_id: str | None) -> SessionPlan:
    selector = classification.selector
    assert selector is not None
    named = selector.native_id or selector.chosen_id
    return SessionPlan(
        resume_id=None,
        fresh_id=new_id if selector.forks and selector.chosen_id is None else None,
        receiver_id=selector.native_id,
        receivers=None if selector.forks else (named,) if named else (),
        parent_id=selector.native_id if selector.forks else None,
        created_via="fork" if selector.forks else "selector",
    )


def plan_launch(
    harness: Harness,
    *,
    executable: str,
    args: tuple[str, ...],
    classification: Classification,
    session: SessionPlan,
    yolo: bool,
    hooks: HookDefinition | None,
    private_dir: str,
    environment: Environment,
    packet: tuple[str, ...] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> LaunchPlan:
    """The whole plan. The user's arguments come out in order, with at most the adapter's additions."""
    native = harness.plan(
        LaunchRequest(
            args=args,
            classification=classification,
            resume_id=session.resume_id,
            session_cwd=session.session_cwd,
            fresh_id=session.fresh_id,
            yolo=yolo,
            hooks=hooks,
            private_dir=private_dir,
            packet=packet,
            settings=dict(settings),
        )
    )
    return LaunchPlan(
        argv=(executable, *native.args),
        environment=replace(environment, variables=replace_variables(environment.variables, native.variables)),
        files=native.files,
        expected_id=native.expected_id,
        has_hooks=native.has_hooks,
        shows_packet=native.shows_packet,
        notes=native.notes,
    )


def plan_environment(
    harness: Harness,
    inherited: Mapping[str, str],
    given: tuple[str, ...],
    *,
    run: RunRef | None,
    home: str,
    private_dir: str,
    session_variables: frozenset[str],
) -> Environment:
    """The child's environment. Without a run (a preview) only what concerns the harness is in it."""
    own = {"RIGLINE_HOME": home}
    if run is not None:
        own |= {
            "RIGLINE_RUN_ID": run.run_id,
            "RIGLINE_WORKSTREAM_ID": run.workstream_id,
            "RIGLINE_RUN_DIR": private_dir,
        }
    return build_environment(
        inherited,
        session_variables=session_variables,
        store_variables=harness.store_variables,
        given=given,
        own=own,
        blank_values=harness.blank_values,
    )
