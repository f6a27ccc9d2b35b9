"""What a run's session said, into the ledger: while it runs, when it ends, and after a crash.

Claims are not facts: a hook's word about its session binds nothing until the harness's own store has that session.
"""

from __future__ import annotations

import os
import time

from msgspec import Struct

from rigline.checkout import find_worktree_fingerprint
from rigline.errors import RunSuperseded
from rigline.harness.base import Harness, Observation, Store
from rigline.ids import shorten_one
from rigline.launch.console import Console
from rigline.launch.folder import RunFolder, RunState
from rigline.ledger.base import Ledger
from rigline.model import LinkKind, Presence, SessionInfo, SessionLink

#: How often a running session's new records are imported.
IMPORT_EVERY_S = 5.0
#: A session that works for so long without a transcript is reported.
SILENT_AFTER_S = 20.0


class Collected(Struct, kw_only=True):
    """What a run brought: new events, packets confirmed, and losses by kind."""

    added: int = 0
    revised: int = 0
    confirmed: tuple[str, ...] = ()


class Collector:
    """Binds the sessions that a run is proved to have written, and imports them. Read-only towards the harness."""

    def __init__(
        self, ledger: Ledger, harness: Harness, store: Store, folder: RunFolder, state: RunState, console: Console
    ) -> None:
        self._ledger, self._harness, self._store = ledger, harness, store
        self._folder, self._state, self._console = folder, state, console
        self._claims: dict[str, Observation] = {}
        self._bound: list[str] = []
        self._next_import = 0.0
        self._silent_since: float | None = None
        self._has_warned = False
        self._child_pid = state.child_pid
        self.collected = Collected()
        if state.expected_id is not None:
            self._claims[state.expected_id] = Observation(native_id=state.expected_id, source="launch")

    @property
    def native_ids(self) -> tuple[str, ...]:
        """The sessions bound so far, the newest last."""
        return tuple(self._bound)

    def set_child(self, pid: int | None) -> None:
        """The harness's process, once it has been started; None when it has ended."""
        self._child_pid = pid

    def tick(self) -> None:
        """A little work beside the running child. Never raises for what it finds."""
        self._observe()
        if time.monotonic() >= self._next_import:
            self._next_import = time.monotonic() + IMPORT_EVERY_S
            self._bind_proved()
            self._import_all()
            self._watch_silence()

    def finish(self) -> Collected:
        """Everything that is there now, after the child has ended."""
        self._observe()
        self._bind_proved()
        self._tell_unproved()
        self._return_to_last_used()
        self._import_all()
        return self.collected

    def find_usage_limit(self) -> str | None:
        """The vendor's words when the last session ended at a usage limit, in a turn of this run and no earlier one."""
        if not self._bound:
            return None
        native_id = self._bound[-1]
        said_ms = self._ledger.get_session(native_id, self._harness.name).last_ms
        is_ours = said_ms >= self._state.since_ms if said_ms is not None else bool(self.collected.added)
        info = self._store.look_up(native_id, self._state.scope.cwd).info if is_ours else None
        return self._store.find_usage_limit(info) if info is not None else None

    def _observe(self) -> None:
        for payload in self._folder.read_new_payloads():
            claim = self._harness.read_observation(payload)
            if claim is None or claim.native_id == self._state.parent_id:
                continue  # a fork's hook may report its parent (Claude Code 2.1.197)
            known = self._claims.get(claim.native_id)
            if known is None or known.source == "launch":
                self._claims[claim.native_id] = claim

    def _bind_proved(self) -> None:
        for native_id, claim in self._claims.items():
            if native_id in self._bound:
                continue
            lookup = self._store.look_up(native_id, self._state.scope.cwd)
            if lookup.presence is Presence.EXISTS and lookup.info is not None and self._is_proved(claim, lookup.info):
                self._bind(lookup.info, claim.source, _describe_evidence(claim, self._state))
        if not self._bound and self._may_search:
            self._find_started()

    def _is_proved(self, claim: Observation, info: SessionInfo) -> bool:
        """Whether a session is this run's. Where a word is all that says so, it has to be written since the launch:
        one that the command line names, and no hook, may have been refused; a hook may name another checkout's."""
        is_mere_word = claim.source == "launch" and self._state.created_via == "selector"
        is_in_doubt = is_mere_word or self._is_elsewhere(info)
        return not info.is_subagent and (info.updated_ms >= self._state.since_ms or not is_in_doubt)

    def _is_elsewhere(self, info: SessionInfo) -> bool:
        found = find_worktree_fingerprint(info.cwd, os.environ) if info.cwd else None
        return found is not None and found != self._state.scope.worktree_fingerprint

    def _tell_unproved(self) -> None:
        """Name the sessions that a hook told of and that this run has not written: a hook may be wrong."""
        for native_id, claim in self._claims.items():
            if claim.source == "launch" or native_id in self._bound:
                continue
            info = self._store.look_up(native_id, self._state.scope.cwd).info
            if info is not None and self._is_elsewhere(info):
                self._console.note_trouble(
                    f"{self._harness.label}'s start hook named session {shorten_one(native_id)} of {info.cwd}, which "
                    "is another checkout; nothing was written to it since the launch, so it was not bound."
                )

    @property
    def _may_search(self) -> bool:
        """Whether the session has to be looked for: its id was not chosen, and no hook has named it rightly.

        A hook that says nothing may have failed, but where a person types, nothing may have been said: there only
        what the process itself has open counts, so nothing is looked for after its end.
        """
        state = self._state
        if state.expected_id is not None:
            return False
        if not state.has_hooks or state.parent_id is not None:
            return True
        return not self._claims and (self._child_pid is not None or not state.is_interactive)

    def _find_started(self) -> None:
        """A session that nobody announced: born here since the launch, and the only one; a fork, of this parent."""
        found = self._store.find_started(self._state.since_ms, self._state.scope.cwd, self._child_pid)
        fresh = [info for info in found if not info.is_subagent and self._may_be_ours(info)]
        if len(fresh) == 1:
            self._bind(fresh[0], "store", "the one session born in this checkout since the launch")
        elif len(fresh) > 1 and not self._has_warned:
            self._has_warned = True
            names = ", ".join(info.native_id for info in fresh)
            self._console.say(f"several {self._harness.label} sessions began here at once ({names}); none was bound.")

    def _may_be_ours(self, info: SessionInfo) -> bool:
        parent = self._state.parent_id
        return parent is None or (info.parent is not None and info.parent.parent_id == parent)

    def _bind(self, info: SessionInfo, source: str, evidence: str) -> None:
        created_via = source if source in {"clear", "fork", "resume"} and self._bound else self._state.created_via
        try:
            self._ledger.bind(self._state.run, info, evidence=evidence, created_via=created_via, store=self._store.root)
        except RunSuperseded:
            self._console.note_trouble(
                f"another run took this line over, so {info.native_id} is kept as history, not as its session."
            )
        if self._state.created_via != "resume":
            self._tell_place(info)
        for link in self._links(info, source):
            # a fork that this run launched is born now, any other was when its own record says
            born_ms = info.started_ms if link is info.parent and self._state.parent_id is None else None
            self._ledger.add_link(self._harness.name, link, born_ms=born_ms)
        self._bound.append(info.native_id)

    def _return_to_last_used(self) -> None:
        """A person who went back to an earlier session of the run is taken there again by the next one."""
        found = [self._store.look_up(native_id, self._state.scope.cwd).info for native_id in self._bound]
        infos = [info for info in found if info is not None]
        if len(infos) < 2 or infos[-1].native_id != self._bound[-1]:
            return
        last = max(infos, key=lambda info: info.updated_ms)
        if last.updated_ms > infos[-1].updated_ms:
            self._bound.remove(last.native_id)
            self._bind(last, "resume", "written last of this run's sessions")

    def _tell_place(self, info: SessionInfo) -> None:
        """Say it once when the command line, or the person inside, took the session to another checkout."""
        if self._is_elsewhere(info):
            self._console.say(
                f"{self._harness.label} session {shorten_one(info.native_id)} works in {info.cwd}, which is another "
                "checkout. This line goes on with it all the same; `--fresh` begins a session here."
            )

    def _links(self, info: SessionInfo, source: str) -> list[SessionLink]:
        links = [info.parent] if info.parent is not None else []
        if source == "clear" and self._bound:
            evidence = "the start hook reported `clear` in the same run"
            links.append(
                SessionLink(child_id=info.native_id, parent_id=self._bound[-1], kind=LinkKind.CLEAR, evidence=evidence)
            )
        parent = self._state.parent_id
        if parent is not None and not self._bound and info.native_id != parent and info.parent is None:
            evidence = "launched as a fork of it by this run"
            links.append(SessionLink(child_id=info.native_id, parent_id=parent, kind=LinkKind.FORK, evidence=evidence))
        return links

    def _import_all(self) -> None:
        for native_id in self._bound:
            lookup = self._store.look_up(native_id, self._state.scope.cwd)
            if lookup.info is not None:
                self._import_session(lookup.info)
                for related in self._store.related(lookup.info):
                    self._import_session(related)

    def _import_session(self, info: SessionInfo) -> None:
        cursor = self._ledger.get_cursor(info.harness, info.native_id)
        for window in self._store.read(info, cursor):
            appended = self._ledger.append(info, window, scope=self._state.scope, run=self._state.run)
            self.collected.added += appended.added
            self.collected.revised += appended.revised
            self.collected.confirmed += appended.confirmed

    def _watch_silence(self) -> None:
        """Say so when an agent works and writes nothing: its words would be lost with it."""
        expected = self._state.expected_id
        if self._bound or expected is None or self._has_warned:
            return
        live = self._store.find_live(expected)
        if live is None or live.status != "busy":
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = time.monotonic()
        elif time.monotonic() - self._silent_since > SILENT_AFTER_S:
            self._has_warned = True
            self._console.say(
                f"{self._harness.label} is working but writes no transcript; nothing of this session can be kept."
            )


def _describe_evidence(claim: Observation, state: RunState) -> str:
    if claim.native_id == state.expected_id:
        who = "chosen at the launch" if claim.source == "launch" else "chosen at the launch, named by the start hook"
    else:
        who = f"named by the start hook ({claim.source})"
    return f"{who}, found in the harness's store"
