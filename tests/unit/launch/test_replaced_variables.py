"""What a plan puts into the environment is taken back by a run that is started inside of that one."""

from __future__ import annotations

import pytest

from rigline.launch.environment import REPLACED, replace_variables, take_back

OURS = "/home/u/runs/run-7/settings.json"
OUTER = {"RIGLINE_RUN_ID": "run-7", "HOME": "/home/u"}


@pytest.mark.parametrize("former", [{}, {"TOOL_SETTINGS": ""}, {"TOOL_SETTINGS": "/home/u/own"}])
def test_what_was_replaced_comes_back_as_it_was(former: dict[str, str]) -> None:
    inside = replace_variables({**OUTER, **former}, {"TOOL_SETTINGS": OURS})
    assert inside["TOOL_SETTINGS"] == OURS
    assert take_back(inside) == {**OUTER, **former}


def test_what_somebody_has_set_since_stays() -> None:
    inside = replace_variables(OUTER, {"TOOL_SETTINGS": OURS})
    assert take_back({**inside, "TOOL_SETTINGS": "/home/u/mine"})["TOOL_SETTINGS"] == "/home/u/mine"
    del inside["TOOL_SETTINGS"]
    assert take_back(inside) == OUTER


def test_a_plan_without_variables_leaves_no_trace() -> None:
    assert replace_variables(OUTER, {}) == OUTER


@pytest.mark.parametrize("value", ["", "{", "[1]", '{"HOME":7}', '{"HOME":null}'])
def test_nonsense_takes_nothing_back(value: str) -> None:
    assert take_back({**OUTER, REPLACED: value}) == OUTER
    assert take_back({"HOME": "/home/u", REPLACED: value}) == {"HOME": "/home/u"}
