"""From a choice to ids: who is written, and whom the packet is for."""

from __future__ import annotations

import pytest

from rigline.harness.base import Classification, Mode, Selector
from rigline.launch.choose import SessionChoice, Start
from rigline.launch.plan import SessionPlan, plan_session

PLAIN = Classification(mode=Mode.SESSION, interactive=False)


def select(**fields: object) -> Classification:
    selector = Selector(words=("x",), **fields)  # type: ignore[arg-type]
    return Classification(mode=Mode.SESSION, interactive=False, selector=selector)


def plan(start: Start, classification: Classification = PLAIN, native_id: str | None = None) -> SessionPlan:
    return plan_session(SessionChoice(start=start, native_id=native_id), classification, "new")


def test_a_resumed_session_alone_receives_what_it_has_not_seen() -> None:
    planned = plan(Start.RESUME, native_id="r")
    assert (planned.resume_id, planned.receiver_id, planned.receivers) == ("r", "r", ("r",))
    assert planned.fresh_id is None


def test_a_fresh_session_with_a_chosen_id_alone_receives_the_packet() -> None:
    planned = plan(Start.FRESH)
    assert (planned.fresh_id, planned.receiver_id, planned.receivers) == ("new", None, ("new",))


def test_a_fresh_session_without_an_id_receives_it_whoever_it_is() -> None:
    assert plan_session(SessionChoice(start=Start.FRESH), PLAIN, None).receivers is None


def test_a_session_that_only_the_harness_will_know_gets_a_packet_of_its_own() -> None:
    planned = plan(Start.EXPLICIT, select())
    assert planned.receivers == ()
    assert planned.needs_all_parts


def test_a_fork_of_the_line_s_own_session_gets_an_id_of_its_own() -> None:
    forking = Classification(mode=Mode.SESSION, interactive=False, forks=True)
    planned = plan(Start.RESUME, forking, "r")
    assert (planned.resume_id, planned.fresh_id, planned.parent_id) == ("r", "new", "r")
    assert (planned.receiver_id, planned.receivers, planned.created_via) == ("r", None, "fork")


@pytest.mark.parametrize(("chosen_id", "fresh_id"), [(None, "new"), ("c", None)])
def test_a_fork_by_the_user_gets_an_id_unless_it_has_one(chosen_id: str | None, fresh_id: str | None) -> None:
    planned = plan(Start.EXPLICIT, select(native_id="p", forks=True, chosen_id=chosen_id))
    assert planned.fresh_id == fresh_id


def test_a_fork_is_shown_what_its_parent_has_not_seen() -> None:
    planned = plan(Start.EXPLICIT, select(native_id="p", forks=True, chosen_id="c"))
    assert (planned.parent_id, planned.receiver_id, planned.receivers) == ("p", "p", None)
    assert planned.created_via == "fork"


@pytest.mark.parametrize("selector", [{"native_id": "x"}, {"chosen_id": "x"}])
def test_a_session_named_by_the_user_alone_receives_its_packet(selector: dict[str, object]) -> None:
    assert plan(Start.EXPLICIT, select(**selector)).receivers == ("x",)
