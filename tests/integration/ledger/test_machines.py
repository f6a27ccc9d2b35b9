"""The local ledger survives every history of launches and packets that hypothesis can think of."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rigline.ledger.base import Ledger
from rigline.ledger.local import open_ledger
from rigline.testing.clock import FakeClock
from tests.integration.ledger.conftest import keep_text
from tests.integration.ledger.machines import DeliveryMachine, LeaseMachine

_SETTINGS = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def _open_in(homes: list[str]) -> Callable[[FakeClock], Ledger]:
    """Opens the ledger of the newest home: each machine has one of its own and may open it several times."""

    def open_it(clock: FakeClock) -> Ledger:
        return open_ledger(homes[-1], clock=clock, redactor=keep_text)

    return open_it


class LocalLeases(LeaseMachine):
    def __init__(self) -> None:
        _HOMES.append(tempfile.mkdtemp())
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(_HOMES.pop())


class LocalDeliveries(DeliveryMachine):
    def __init__(self) -> None:
        _HOMES.append(tempfile.mkdtemp())
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(_HOMES.pop())


_HOMES: list[str] = []
LocalLeases.open = staticmethod(_open_in(_HOMES))
LocalDeliveries.open = staticmethod(_open_in(_HOMES))


def test_a_lease_is_never_held_twice() -> None:
    run_state_machine_as_test(LocalLeases, settings=_SETTINGS)


def test_packets_show_everything_once() -> None:
    run_state_machine_as_test(LocalDeliveries, settings=_SETTINGS)
