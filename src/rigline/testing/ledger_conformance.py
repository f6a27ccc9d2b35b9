"""What every Ledger must do, as contracts that need no test framework.

    run_ledger_conformance(make_ledger)

`make_ledger` takes a `FakeClock` and returns an empty ledger that goes by it. Each contract gets a fresh one and
raises AssertionError, with the contract's name, where the ledger breaks it.
"""

from __future__ import annotations

from collections.abc import Callable

from rigline.errors import RiglineError
from rigline.ledger.base import Ledger
from rigline.testing.clock import FakeClock
from rigline.testing.ledger_contracts import delivery, history, lease, moves, reports, workstreams

MakeLedger = Callable[[FakeClock], Ledger]
Contract = Callable[[Ledger, FakeClock], None]

CONTRACTS: tuple[Contract, ...] = (
    *lease.CONTRACTS,
    *workstreams.CONTRACTS,
    *moves.CONTRACTS,
    *history.CONTRACTS,
    *delivery.CONTRACTS,
    *reports.CONTRACTS,
)


def run_ledger_conformance(make_ledger: MakeLedger) -> list[str]:
    """Run every contract and return their names; raises AssertionError at the first that is broken."""
    for contract in CONTRACTS:
        run_contract(contract, make_ledger)
    return [contract.__name__ for contract in CONTRACTS]


def run_contract(contract: Contract, make_ledger: MakeLedger) -> None:
    """Run one contract against a fresh ledger."""
    clock = FakeClock()
    ledger = make_ledger(clock)
    try:
        contract(ledger, clock)
    except (AssertionError, RiglineError) as error:
        raise AssertionError(f"{contract.__name__}: {error}") from error
    finally:
        ledger.close()
