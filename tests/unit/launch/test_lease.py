"""Taking a lease with patience, and keeping it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rigline import liveness
from rigline.errors import LeaseHeld, LedgerUnreachable, RunSuperseded
from rigline.launch.console import Console
from rigline.launch.lease import Keeper, refuse_nested, take_lease
from rigline.launch.options import RunOptions
from rigline.ledger.base import Ledger, PrepareRequest
from rigline.ledger.local import open_ledger
from rigline.model import Grant, RunRef, Scope, Workstream

RUN = RunRef(run_id="r", workstream_id="w", harness="codex", generation=1)
GRANT = Grant(
    run=RUN,
    workstream=Workstream(
        id="w",
        name="main",
        workspace="default",
        project="p",
        repo_fingerprint="f",
        worktree_fingerprint="t",
        cwd="/w",
        created_ms=0,
        active_ms=0,
        generation=1,
        is_established=False,
    ),
    expires_ms=90_000,
    is_new_workstream=True,
)
REQUEST = PrepareRequest(
    scope=Scope(
        workspace="default",
        project="p",
        repo_fingerprint="f",
        worktree_fingerprint="t",
        cwd="/w",
        host="here",
        repo_source="directory",
    ),
    harness="codex",
    host="here",
    pid=1,
    pid_started="s",
)


def held(**fields: object) -> LeaseHeld:
    details: dict[str, object] = {
        "run_id": "old",
        "harness": "claude-code",
        "host": "there",
        "pid": 1,
        "pid_started": "",
        "since_ms": 0,
        "expires_ms": 90_000,
        "generation": 1,
    }
    return LeaseHeld("held", **{**details, **fields})


class ScriptedLedger:
    """Answers in order; the last answer stays."""

    def __init__(self, *answers: Exception | Grant) -> None:
        self.answers = list(answers)
        self.requests: list[PrepareRequest] = []
        self.cancelled: list[RunRef] = []

    def prepare(self, request: PrepareRequest) -> Grant:
        self.requests.append(request)
        return self._next()

    def renew(self, run: RunRef) -> int:
        self._next()
        return 0

    def cancel(self, run: RunRef) -> None:
        self.cancelled.append(run)

    def _next(self) -> Grant:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class HearingConsole(Console):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def say(self, message: str) -> None:
        self.heard.append(message)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time that passes only by sleeping."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.time", lambda: now[0])
    return now


def take(ledger: Any, console: Console, *, may_wait: bool = False) -> Grant:
    with take_lease(ledger, REQUEST, console, may_wait=may_wait) as grant:
        return grant


def test_a_holder_that_finishes_soon_is_waited_for(clock: list[float]) -> None:
    console = HearingConsole()
    assert take(ScriptedLedger(held(), held(), GRANT), console) is GRANT
    assert clock[0] == 0.5
    assert len(console.heard) == 1
    assert "claude-code" in console.heard[0]


def test_a_script_is_refused_after_five_seconds(clock: list[float]) -> None:
    with pytest.raises(LeaseHeld) as caught:
        take(ScriptedLedger(held()), HearingConsole())
    assert clock[0] == 5.0
    assert caught.value.exit_status == 75


def test_a_person_waits_until_the_lease_lapses(clock: list[float]) -> None:
    console = HearingConsole()
    ledger = ScriptedLedger(*[held()] * 60, GRANT)
    assert take(ledger, console, may_wait=True) is GRANT
    assert "Ctrl-C" in console.heard[-1]


def test_a_holder_that_renews_is_not_waited_for_for_ever(clock: list[float]) -> None:
    console = HearingConsole()
    with pytest.raises(LeaseHeld):
        take(ScriptedLedger(held()), console, may_wait=True)
    assert 90 <= clock[0] <= 97


def test_a_dead_holder_on_this_host_is_taken_over_at_once(clock: list[float]) -> None:
    console = HearingConsole()
    ledger = ScriptedLedger(held(host="here", pid=2**22 + 1, pid_started="gone"), GRANT)
    assert take(ledger, console) is GRANT
    assert ledger.requests[-1].dead_holder == "old"
    assert clock[0] == 0
    assert "taken over" in console.heard[0]


def test_a_living_holder_on_this_host_is_not_taken_over() -> None:
    ours = held(host="here", pid=os.getpid(), pid_started=liveness.process_start(os.getpid()))
    ledger = ScriptedLedger(ours)
    with pytest.raises(LeaseHeld):
        take(ledger, HearingConsole())
    assert all(request.dead_holder is None for request in ledger.requests)


def test_a_pid_of_another_host_proves_nothing() -> None:
    ledger = ScriptedLedger(held(host="there", pid=2**22 + 1, pid_started="gone"))
    with pytest.raises(LeaseHeld):
        take(ledger, HearingConsole())


@pytest.mark.parametrize("failure", [RuntimeError("x"), KeyboardInterrupt(), LedgerUnreachable("y")])
def test_every_failure_after_the_grant_gives_the_lease_back(failure: BaseException) -> None:
    ledger = ScriptedLedger(GRANT)
    with pytest.raises(type(failure)), take_lease(ledger, REQUEST, HearingConsole(), may_wait=False):  # type: ignore[arg-type]
        raise failure
    assert ledger.cancelled == [RUN]


def test_a_run_that_ended_well_is_not_cancelled() -> None:
    ledger = ScriptedLedger(GRANT)
    take(ledger, HearingConsole())
    assert ledger.cancelled == []


def beat(*answers: Exception | Grant) -> list[str]:
    console = HearingConsole()
    keeper = Keeper(ScriptedLedger(*answers), RUN, console, work=lambda: None, work_every_s=1)  # type: ignore[arg-type]
    for _ in answers:
        keeper.beat()
    return console.heard


def test_an_outage_is_told_once_and_its_end_once() -> None:
    heard = beat(GRANT, LedgerUnreachable("a"), LedgerUnreachable("b"), GRANT, GRANT)
    assert len(heard) == 2
    assert "does not answer" in heard[0]
    assert "answers again" in heard[1]


def test_a_takeover_is_told_once() -> None:
    heard = beat(RunSuperseded(), RunSuperseded(), RunSuperseded())
    assert len(heard) == 1
    assert "still kept" in heard[0]


@pytest.fixture
def outer(tmp_path: Path) -> Iterator[tuple[Ledger, Grant]]:
    """A ledger in which a run is at work."""
    ledger = open_ledger(str(tmp_path))
    yield ledger, ledger.prepare(replace(REQUEST, harness="claude-code"))
    ledger.close()


def test_an_agent_inside_a_run_is_not_put_on_whichever_line_is_the_current_one(outer: tuple[Ledger, Grant]) -> None:
    ledger, grant = outer
    ledger.prepare(replace(REQUEST, new_name="another"))
    env = {"RIGLINE_RUN_ID": grant.run.run_id}
    with pytest.raises(LeaseHeld) as caught:
        refuse_nested(ledger, env, RunOptions(), REQUEST.scope)
    assert "'main'" in str(caught.value)
    assert "--new NAME" in str(caught.value)


@pytest.mark.parametrize("case", ["outside", "another line", "a new line", "another checkout", "the run has ended"])
def test_what_is_not_inside_a_run_of_this_line_is_not_refused(outer: tuple[Ledger, Grant], case: str) -> None:
    ledger, grant = outer
    if case == "the run has ended":
        ledger.finish(grant.run, 0, None)
    options = {"another line": RunOptions(workstream="x"), "a new line": RunOptions(new="x")}.get(case, RunOptions())
    scope = replace(REQUEST.scope, worktree_fingerprint="u") if case == "another checkout" else REQUEST.scope
    refuse_nested(ledger, {} if case == "outside" else {"RIGLINE_RUN_ID": grant.run.run_id}, options, scope)
