"""The conformance kit finds faults: each contract is broken by an adapter, and says so; a sound one breaks none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from example_harness.store import ExampleStore
from msgspec.structs import replace

from rigline.model import SessionInfo, Window
from rigline.testing.golden import write_goldens
from rigline.testing.harness_conformance import (
    CONTRACTS,
    Form,
    HarnessCase,
    cut_file,
    run_contract,
    run_harness_conformance,
)
from tests.fixtures.example_harness import EXAMPLE, make_case
from tests.integration.harness.faulty_adapters import FAULTY, each_event, windows

BY_NAME = {contract.__name__: contract for contract in CONTRACTS}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> HarnessCase:
    """A sound adapter with a store and its goldens."""
    folder = tmp_path_factory.mktemp("example")
    case = make_case(folder)
    write_goldens(case.open(), str(folder / "golden"), case.cwd)
    return replace(case, goldens=str(folder / "golden"))


@pytest.fixture(scope="module")
def revised(case: HarnessCase) -> HarnessCase:
    """The same, taken for a store whose records are written anew."""
    return replace(case, form=Form.REVISED)


def break_with(case: HarnessCase, store: type[ExampleStore]) -> HarnessCase:
    """The case with another store."""
    adapter = type("Other", (type(case.harness),), {"open_store": lambda _, env: store(env["EXAMPLE_HOME"])})()
    return replace(case, harness=adapter)


def test_a_sound_adapter_breaks_no_contract(case: HarnessCase) -> None:
    assert run_harness_conformance(case) == list(BY_NAME)


def test_a_sound_adapter_of_a_store_that_is_revised_breaks_no_contract(revised: HarnessCase) -> None:
    assert run_harness_conformance(revised) == list(BY_NAME)


def test_for_every_contract_there_is_an_adapter_that_breaks_it() -> None:
    assert set(FAULTY) == set(BY_NAME)


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, faults in FAULTY.items() for fault in faults])
def test_a_faulty_adapter_is_found(name: str, fault: str, case: HarnessCase) -> None:
    with pytest.raises(AssertionError, match=f": {name}: "):
        run_contract(BY_NAME[name], replace(case, harness=FAULTY[name][fault]))


def test_a_store_that_is_revised_needs_keys_that_stay(revised: HarnessCase) -> None:
    class Counts(ExampleStore):
        """Keys records by their place in a reading."""

        def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
            for window in super().read(info, cursor):
                window.events = [replace(event, record=f"{at}") for at, event in enumerate(window.events)]
                yield window

    with pytest.raises(AssertionError, match="stage"):
        run_contract(BY_NAME["a_session_read_in_two_goes_is_the_session_read_in_one"], break_with(revised, Counts))


def test_a_store_that_is_revised_may_tell_an_event_again_but_not_another(revised: HarnessCase) -> None:
    growing = BY_NAME["a_session_read_as_it_grows_is_the_session_read_in_one"]

    def tell_twice(_info: SessionInfo, window: Window) -> Window:
        window.events = [event for each in window.events for event in (replace(each, text="..."), each)]
        return window

    run_contract(growing, break_with(revised, windows(tell_twice)))
    sizes = each_event(lambda event: replace(event, text=f"{event.text} {id(event)}"))
    with pytest.raises(AssertionError, match="as it grew"):
        run_contract(growing, break_with(revised, sizes))


def test_what_a_harness_takes_back_may_stay_only_where_the_case_says_so(revised: HarnessCase) -> None:
    growing = BY_NAME["a_session_read_as_it_grows_is_the_session_read_in_one"]

    def make_stages(_folder: str, info: SessionInfo) -> list[object]:
        """First with an answer that is undone later."""
        undone = b'{"type": "assistant", "id": "undone", "text": "never mind"}\n'
        *_, whole = cut_file(info.path)

        def begin() -> None:
            whole()
            with open(info.path, "ab") as file:
                file.write(undone)

        return [begin, whole]

    undoing = replace(revised, make_stages=make_stages)
    with pytest.raises(AssertionError, match="told as well"):
        run_contract(growing, undoing)
    run_contract(growing, replace(undoing, withdraws=True))


def test_a_case_that_proves_nothing_is_refused(case: HarnessCase) -> None:
    with pytest.raises(AssertionError, match="stands nowhere"):
        run_contract(BY_NAME["nothing_hidden_is_read"], replace(case, canaries=("CANARY-not-planted",)))
    with pytest.raises(AssertionError, match="no canary"):
        run_contract(BY_NAME["nothing_hidden_is_read"], replace(case, canaries=()))
    without = replace(case, make_tool_output=None)
    for name, lacks in (
        ("windows_are_bounded_and_end_with_a_cursor", "grow"),
        ("damage_costs_only_what_is_damaged", "damage"),
    ):
        with pytest.raises(AssertionError, match=f"`{lacks}`"):
            run_contract(BY_NAME[name], without)


def test_a_golden_text_without_a_session_is_found(case: HarnessCase, tmp_path: Path) -> None:
    for path in Path(case.goldens).iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "gone.txt").write_text("title: None\n")
    with pytest.raises(AssertionError, match=r"no session is read for gone\.txt"):
        run_contract(BY_NAME["what_is_read_is_what_a_person_checked"], replace(case, goldens=str(tmp_path)))


def test_the_example_s_own_tests_pass() -> None:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE / "tests")]
    done = subprocess.run(argv, cwd=EXAMPLE, env=make_env(), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout
    assert f"{len(CONTRACTS) + 1} passed" in done.stdout


def make_env() -> dict[str, str]:
    """As its author has it: rigline and the example are installed."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(EXAMPLE)}
