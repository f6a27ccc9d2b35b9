"""Sessions of an agent that leaves no sign of what it has open: no two programs write one, whoever started them."""

from __future__ import annotations

import pytest

from tests.faults.runs import end, texts, wait_for_request, wait_until
from tests.faults.test_kill_private import kill_pi, wait_until_ended
from tests.real.conftest import Model, Other
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, pytest.mark.parametrize("other", ["pi"], indirect=True)]


def test_a_session_that_two_lines_have_is_written_by_one_run_at_a_time(other: Other, model: Model) -> None:
    rigline = other.rigline
    rigline("run", "pi", "-p", "say: one").ok()
    shared = bindings(rigline)["pi"]
    rigline("run", "--new", "second", "pi", "-p", "say: two").ok()
    rigline("run", "--workstream", "second", "pi", "--session", shared, "-p", "say: three").ok()
    assert bindings(rigline, "second")["pi"] == shared

    process = rigline.start(rigline.argv("run", "--workstream", "main", "pi", "-p", "slow: 2"))
    wait_for_request(model, "slow: 2")
    for words in (["pi", "-p", "say: four"], ["pi", "--session", shared, "-p", "say: four"]):
        refused = rigline("run", "--workstream", "second", *words)
        assert (refused.code, refused.out) == (75, "")
        assert f"{shared} is open in process" in refused.err
    assert end(process)[0] == 0
    assert rigline("run", "--workstream", "second", "pi", "-p", "count:").ok().out.strip() == "user=4 assistant=3"


def test_a_session_is_not_opened_again_while_the_agent_lives_that_outlived_its_launcher(
    other: Other, model: Model
) -> None:
    rigline = other.rigline
    rigline("run", "pi", "-p", "say: one").ok()
    kill_pi(rigline, "child started", "slow: 2")
    wait_for_request(model, "slow: 2")
    refused = rigline("run", "pi", "-p", "say: two")
    assert (refused.code, refused.out) == (75, "")
    assert "is open in process" in refused.err
    wait_until_ended(rigline.home.path)
    wait_until(lambda: rigline("run", "pi", "-p", "say: three").code == 0, "the session is free")
    said = texts(rigline)
    assert [said.count(text) for text in ("one", "slow: 2", "three")] == [1, 1, 1]
