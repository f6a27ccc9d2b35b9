"""A ledger that is locked, damaged, or of a newer rigline: said by name, and nothing of the work is lost."""

from __future__ import annotations

import os
import sqlite3
import time

import pytest

from tests.faults.runs import (
    TURN,
    both,
    end,
    newest,
    notices,
    start_broken,
    texts,
    wait_for_request,
)
from tests.real.conftest import Model, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]


@both
def test_a_locked_ledger_is_told_once_and_its_release_once_and_nothing_is_lost(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: before").ok()
    process = start_broken(rigline, "quick,eager", *TURN[harness], "slow: 4")
    wait_for_request(model, "slow: 4")
    other = sqlite3.connect(os.path.join(rigline.home.rigline_dir, "ledger.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    time.sleep(2)
    other.execute("ROLLBACK")
    other.close()
    code, out, err = end(process)
    said = notices(err)
    assert (code, out.strip()[:10]) == (0, "slow reply")
    assert len([each for each in said if "does not answer" in each]) == 1, said
    assert len([each for each in said if "answers again" in each]) == 1, said
    assert "could not be saved" not in err
    found = texts(rigline)
    assert (found.count("before"), found.count("slow: 4")) == (1, 1)
    assert len([text for text in found if text.startswith("slow reply")]) == 1


@both
def test_a_damaged_ledger_starts_no_agent_and_comes_back_from_its_segments(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: the codeword is marigold").ok()
    before, bound = texts(rigline), bindings(rigline)
    database = os.path.join(rigline.home.rigline_dir, "ledger.db")
    with open(database, "r+b") as file:
        file.write(b"damage " * 2000)
    refused = rigline(*TURN[harness], "say: x")
    assert (refused.code, refused.out) == (69, "")
    assert database in refused.err
    assert "rigline recover --from-segments" in refused.err
    assert model.conversations("say: x") == []

    rigline("recover", "--from-segments", "--yes").ok()
    assert sorted(texts(rigline)) == sorted(before)
    assert bindings(rigline) == bound
    assert rigline(*TURN[harness], "recall: marigold").ok().out.strip() == "recall marigold: yes"
    assert bindings(rigline) == bound
    assert len(texts(rigline)) == len(before) + 2


def test_a_newer_ledger_starts_no_agent_and_stays_as_it_is(rigline: Rigline, model: Model) -> None:
    rigline(*TURN["claude"], "say: before").ok()
    database = os.path.join(rigline.home.rigline_dir, "ledger.db")
    newer = sqlite3.connect(database)
    with newer:
        newer.execute("INSERT INTO migrations VALUES (9999, 'of tomorrow', 0)")
    refused = rigline(*TURN["claude"], "say: x")
    assert (refused.code, refused.out) == (69, "")
    assert "upgrade rigline" in refused.err
    assert model.conversations("say: x") == []
    with newer:
        newer.execute("DELETE FROM migrations WHERE number = 9999")
    newer.close()
    assert texts(rigline).count("before") == 1
