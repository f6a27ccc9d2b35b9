"""Clocks that jump: no event is lost, and nobody writes beside a holder that lives."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.faults.runs import TURN, both, end, newest, run_broken, start_broken, texts, wait_for_request
from tests.real.conftest import Model, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]


@both
@pytest.mark.parametrize("fault", ["clock forward and back", "clock back"])
def test_a_clock_that_jumps_during_a_run_loses_and_doubles_nothing(
    rigline: Rigline, model: Model, harness: str, fault: str
) -> None:
    run_broken(rigline, f"{fault},eager", *TURN[harness], "slow: 2").ok()
    bound = bindings(rigline)
    rigline(*TURN[harness], "say: after").ok()
    counts = Counter(text[:10] for text in texts(rigline))
    assert counts == {"slow: 2": 1, "slow reply": 1, "say: after": 1, "after": 1}
    assert bindings(rigline) == bound


def test_a_lease_that_only_the_clock_ended_is_not_taken_from_a_holder_that_lives(
    rigline: Rigline, model: Model
) -> None:
    process = rigline.start(rigline.argv(*TURN["claude"], "slow: 4"))
    wait_for_request(model, "slow: 4")
    refused = run_broken(rigline, "clock ahead,quick", *TURN["codex"], "say: beside it")
    assert (refused.code, refused.out) == (75, "")
    assert f"pid {process.pid} on" in refused.err
    assert "that process is not gone" in refused.err
    assert model.conversations("say: beside it") == []
    code, _, err = end(process)
    assert code == 0
    assert "took this line over" not in err


def test_a_lease_of_the_future_is_taken_from_a_holder_that_is_dead(rigline: Rigline, model: Model) -> None:
    process = start_broken(rigline, "clock ahead", *TURN["claude"], "slow: 2")
    wait_for_request(model, "slow: 2")
    process.send_signal(signal.SIGKILL)
    process.wait()
    rigline("run", "--fresh", *TURN["claude"][1:], "say: after").ok()
