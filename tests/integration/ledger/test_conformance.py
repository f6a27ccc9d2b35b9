"""The local ledger keeps every contract of the ledger, with rigline's own redaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.ledger.local import open_ledger
from rigline.testing.ledger_conformance import CONTRACTS, Contract, run_contract


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
def test_the_local_ledger_keeps(contract: Contract, tmp_path: Path) -> None:
    run_contract(contract, lambda clock: open_ledger(str(tmp_path / "home"), clock=clock))
