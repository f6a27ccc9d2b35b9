"""What every harness's adapter must do, as contracts that need no test framework.

    run_harness_conformance(case)

A `HarnessCase` is a store as its harness left it, with what is known to be in it. Contracts that change something
work on a copy. Each raises AssertionError, with the contract's name, where the adapter breaks it. What needs no store
can be asked of an adapter alone: `check_command_line` for any native command line, and the checks of its facts.
"""

from __future__ import annotations

from collections.abc import Callable

from rigline.errors import RiglineError
from rigline.testing.harness_contracts import facts, launches, stores, transcripts
from rigline.testing.harness_contracts.case import Form, HarnessCase, Stage, Unknown, cut_file
from rigline.testing.harness_contracts.facts import check_answers, check_empty_store, check_facts, check_identity
from rigline.testing.harness_contracts.launches import check_command_line

__all__ = [
    "CONTRACTS",
    "Contract",
    "Form",
    "HarnessCase",
    "Stage",
    "Unknown",
    "check_answers",
    "check_command_line",
    "check_empty_store",
    "check_facts",
    "check_identity",
    "cut_file",
    "run_contract",
    "run_harness_conformance",
]

Contract = Callable[[HarnessCase], None]

CONTRACTS: tuple[Contract, ...] = (
    *facts.CONTRACTS,
    *transcripts.CONTRACTS,
    *stores.CONTRACTS,
    *launches.CONTRACTS,
)


def run_harness_conformance(case: HarnessCase) -> list[str]:
    """Run every contract and return their names; raises AssertionError at the first that is broken."""
    for contract in CONTRACTS:
        run_contract(contract, case)
    return [contract.__name__ for contract in CONTRACTS]


def run_contract(contract: Contract, case: HarnessCase) -> None:
    """Run one contract."""
    try:
        contract(case)
    except (AssertionError, RiglineError) as error:
        raise AssertionError(f"{case.harness.name}: {contract.__name__}: {error}") from error
