"""A ledger in a folder of the test's own, with a clock that stands still and a redaction that does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rigline.ledger.local import LocalLedger, open_ledger
from rigline.testing.clock import FakeClock


def keep_text(text: str) -> tuple[str, dict[str, int]]:
    """The redaction of tests that are about something else."""
    return text, {}


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ledger(home: str, clock: FakeClock) -> Iterator[LocalLedger]:
    opened = open_ledger(home, clock=clock, redactor=keep_text)
    yield opened
    opened.close()
