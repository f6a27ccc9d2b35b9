"""State machines that any ledger must survive: the lease, and the way of packets.

A subclass says how its ledger is opened; hypothesis then looks for a history that breaks a promise.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule
from msgspec.structs import replace

from rigline.errors import LeaseHeld, RunSuperseded
from rigline.ledger.base import Ledger
from rigline.model import Delivery, Event, Grant, LinkKind, RunRef, SessionInfo, SessionLink
from rigline.testing.clock import FakeClock
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window

_LEASE_MS = 90_000
_MAX_SESSIONS = 5
HOSTS = ("host-1", "host-2")


class _LedgerMachine(RuleBasedStateMachine):
    """What both machines share: a ledger that is opened anew now and then, and its clock."""

    open: Callable[[FakeClock], Ledger]

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.ledger = type(self).open(self.clock)

    @rule()
    def open_anew(self) -> None:
        self.ledger.close()
        self.ledger = type(self).open(self.clock)

    def teardown(self) -> None:
        self.ledger.close()


class LeaseMachine(_LedgerMachine):
    """Never two active runs on a workstream, generations that only grow, and no word from a run that was replaced."""

    runs = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        self.holder: dict[str, RunRef] = {}
        self.expires: dict[str, int] = {}
        self.host: dict[str, str] = {}
        self.generation: dict[str, int] = {}
        self.state: dict[str, str] = {}

    @rule(target=runs, name=st.sampled_from(["one", "two"]), knows_death=st.booleans(), host=st.sampled_from(HOSTS))
    def prepare(self, name: str, knows_death: bool, host: str) -> object:
        holder = self.holder.get(name)
        request = make_request(dead_holder=holder.run_id if holder and knows_death else None, host=host)
        is_new = name not in self.generation
        request = replace(request, new_name=name) if is_new else replace(request, name=name)
        is_lost = holder is not None and self.expires[name] <= self.clock.now_ms and self.host[name] != host
        if holder and not knows_death and not is_lost:
            with pytest.raises(LeaseHeld) as held:
                self.ledger.prepare(request)
            assert held.value.details["run_id"] == holder.run_id
            return (name, holder)
        grant = self.ledger.prepare(request)
        assert grant.run.generation > self.generation.get(name, 0)
        assert (grant.taken_over.run_id if grant.taken_over else None) == (holder.run_id if holder else None)
        if holder:
            self.state[holder.run_id] = "expired"
        self._hold(name, grant)
        self.host[name] = host
        return (name, grant.run)

    def _hold(self, name: str, grant: Grant) -> None:
        self.holder[name] = grant.run
        self.expires[name] = self.clock.now_ms + _LEASE_MS
        self.generation[name] = grant.run.generation
        self.state[grant.run.run_id] = "active"

    @rule(entry=runs)
    def renew(self, entry: tuple[str, RunRef]) -> None:
        name, run = entry
        if self.holder.get(name) == run:
            self.expires[name] = self.ledger.renew(run)
            assert self.expires[name] == self.clock.now_ms + _LEASE_MS
        else:
            with pytest.raises(RunSuperseded):
                self.ledger.renew(run)

    @rule(entry=runs)
    def bind(self, entry: tuple[str, RunRef]) -> None:
        name, run = entry
        info = make_session(f"session-of-{run.run_id}")
        if self.holder.get(name) == run:
            self.ledger.bind(run, info, evidence="hook", created_via="run", store="/store")
        else:
            with pytest.raises(RunSuperseded):
                self.ledger.bind(run, info, evidence="hook", created_via="run", store="/store")

    @rule(entry=runs)
    def finish(self, entry: tuple[str, RunRef]) -> None:
        name, run = entry
        self.ledger.finish(run, 0, None)
        self._release(name, run, "finished")

    @rule(entry=runs)
    def cancel(self, entry: tuple[str, RunRef]) -> None:
        name, run = entry
        before = self.state[run.run_id]
        self.ledger.cancel(run)
        if before == "active":
            self._release(name, run, "cancelled")

    def _release(self, name: str, run: RunRef, state: str) -> None:
        if self.holder.get(name) == run:
            del self.holder[name]
            self.state[run.run_id] = state
        elif self.state[run.run_id] == "expired":
            self.state[run.run_id] = "superseded"

    @rule(ms=st.sampled_from([1, 30_000, _LEASE_MS - 1, _LEASE_MS, 10 * _LEASE_MS, -_LEASE_MS]))
    def pass_time(self, ms: int) -> None:
        self.clock.advance(ms)

    @invariant()
    def the_ledger_tells_the_same_story(self) -> None:
        active = {run.id for run in self.ledger.list_runs(None, active_only=True)}
        assert active == {run.run_id for run in self.holder.values()}
        assert {run.id: run.state for run in self.ledger.list_runs(None)} == self.state


class _Native:
    """A session's own transcript: what was said in it, and which packet parts stand in it."""

    def __init__(self, info: SessionInfo, entries: list[str | tuple[str, int, int]]) -> None:
        self.info = info
        self.entries = entries
        self.imported = 0
        self.link: SessionLink | None = None

    def texts(self, through: int | None = None) -> set[str]:
        return {entry for entry in self.entries[:through] if isinstance(entry, str)}

    def packets(self, through: int | None = None) -> set[str]:
        """The deliveries that stand whole in the transcript."""
        parts = [entry for entry in self.entries[:through] if isinstance(entry, tuple)]
        return {
            name for name, _, total in parts if {n for each, n, _ in parts if each == name} == set(range(1, total + 1))
        }


class DeliveryMachine(_LedgerMachine):
    """No event is shown again once its packet was found in the transcript, none is left out, none is echoed."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.natives: list[_Native] = []
        self.bound: list[_Native] = []
        self.covered: dict[str, set[str]] = {}
        self.said = 0

    @initialize(target=sessions)
    def launch(self) -> object:
        self.grant = self.ledger.prepare(make_request())
        natives = [self._add("claude-code", []), self._add("codex", [])]
        for native in natives:
            self.bind(native)
            self.talk(native, 2, is_read=True)
        return multiple(*natives)

    def _add(self, harness: str, entries: list[str | tuple[str, int, int]]) -> _Native:
        self.clock.advance(10)
        info = make_session(f"n{len(self.natives)}", harness, started_ms=self.clock.now_ms)
        native = _Native(info, entries)
        self.natives.append(native)
        self.clock.advance(10)
        return native

    @precondition(lambda self: len(self.natives) < _MAX_SESSIONS)
    @rule(target=sessions, harness=st.sampled_from(["claude-code", "codex"]))
    def begin(self, harness: str) -> _Native:
        return self._add(harness, [])

    @precondition(lambda self: len(self.natives) < _MAX_SESSIONS)
    @rule(target=sessions, parent=sessions, link=st.sampled_from(["told", "read", "none"]), is_bound=st.booleans())
    def fork(self, parent: _Native, link: str, is_bound: bool) -> _Native:
        child = self._add(parent.info.harness, list(parent.entries))
        evidence = SessionLink(
            child_id=child.info.native_id, parent_id=parent.info.native_id, kind=LinkKind.FORK, evidence="test"
        )
        if link == "told":
            self.ledger.add_link(parent.info.harness, evidence)
        elif link == "read":
            child.link = evidence
        if is_bound:
            self.bind(child)
        return child

    @rule(native=sessions, count=st.integers(min_value=1, max_value=3), is_read=st.booleans())
    def talk(self, native: _Native, count: int, is_read: bool) -> None:
        for _ in range(count):
            self.said += 1
            native.entries.append(f"said {self.said}")
        if is_read:
            self.read(native, share=100, is_replay=False)

    @rule(native=sessions, share=st.sampled_from([1, 3, 100]), is_replay=st.booleans())
    def read(self, native: _Native, share: int, is_replay: bool) -> None:
        start = 0 if is_replay else native.imported
        end = max(native.imported, min(len(native.entries), start + share))
        entries = native.entries[start:end]
        window = make_window(
            native.info.native_id,
            f"{start}-{end}",
            [self._build_event(native, start + n, text) for n, text in enumerate(entries) if isinstance(text, str)],
            packets=[entry for entry in entries if isinstance(entry, tuple)],
            links=[native.link] if native.link and start == 0 else [],
        )
        self.ledger.append(native.info, window, scope=make_scope(), run=None)
        native.imported = max(native.imported, end)
        self.clock.advance(10)

    def _build_event(self, native: _Native, place: int, text: str) -> Event:
        name = native.info.native_id
        return make_event(name, f"{name}-{place}", text, harness=native.info.harness, copy_key=text)

    @rule(native=sessions)
    def bind(self, native: _Native) -> None:
        self.ledger.bind(self.grant.run, native.info, evidence="hook", created_via="run", store="/store")
        if native not in self.bound:
            self.bound.append(native)

    @rule(
        receiver=sessions,
        is_fresh=st.booleans(),
        parts=st.sampled_from([1, 2]),
        outcome=st.sampled_from(["whole", "whole", "half", "lost"]),
        is_read=st.booleans(),
    )
    def deliver(self, receiver: _Native, is_fresh: bool, parts: int, outcome: str, is_read: bool) -> None:
        """A packet is made for the session, or for one that is not known yet and turns out to be it."""
        delivery_id = f"d{len(self.covered)}"
        native_id = None if is_fresh else receiver.info.native_id
        unseen = self.ledger.get_unseen(self.grant.workstream.id, receiver.info.harness, native_id)
        sources = [native for native in self.bound if is_fresh or native is not receiver]
        self.covered[delivery_id] = {text for native in sources for text in native.texts(native.imported)}
        delivery = Delivery(id=delivery_id, native_id=native_id, parts=parts, through=unseen.through)
        self.ledger.offer(self.grant.run, delivery)
        shown = {"whole": parts, "half": parts // 2, "lost": 0}[outcome]
        receiver.entries.extend((delivery_id, part, parts) for part in range(1, shown + 1))
        if is_read:
            self.read(receiver, share=100, is_replay=False)

    @precondition(lambda self: self.bound)
    @invariant()
    def each_session_is_shown_the_rest(self) -> None:
        for native in self.natives:
            unseen = self.ledger.get_unseen(self.grant.workstream.id, native.info.harness, native.info.native_id)
            texts = [event.text for event in unseen.events]
            assert len(texts) == len(set(texts)) == sum(unseen.counts.values())
            told = {text for other in self.bound if other is not native for text in other.texts(other.imported)}
            known = native.texts() | self._cover(native.packets())
            proved = native.texts(native.imported) | self._cover(native.packets(native.imported))
            assert told - known <= set(texts), "an event was left out"
            assert not set(texts) & proved, "an event was shown again"
            assert set(texts) <= told, "an event of nowhere"

    def _cover(self, packets: set[str]) -> set[str]:
        return {text for name in packets for text in self.covered[name]}

    @invariant()
    def history_has_each_event_once(self) -> None:
        if not hasattr(self, "grant"):
            return
        texts = [event.text for event in self.ledger.get_history(self.grant.workstream.id, limit=10_000)]
        assert sorted(texts) == sorted({text for native in self.bound for text in native.texts(native.imported)})
