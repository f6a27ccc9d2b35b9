"""What agents leave in their stores, through the ledger: everything is there, and once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rigline.harness.claude_store import ClaudeStore
from rigline.ledger.local import LocalLedger, open_ledger
from rigline.testing.samples import make_scope
from tests.fixtures.claude_store import assistant, text, user, write_session

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "aaaaaaaa-0000-4000-8000-000000000002"
CWD = "/w"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[LocalLedger]:
    ledger = open_ledger(str(tmp_path / "home"))
    yield ledger
    ledger.close()


def take_all(ledger: LocalLedger, config: Path) -> list[str]:
    """Import every session twice; the texts that the ledger then has."""
    store = ClaudeStore(str(config))
    for _ in range(2):
        for info in sorted(store.iter_sessions(), key=lambda info: info.path):
            for window in store.read(info, ledger.get_cursor(info.harness, info.native_id)):
                ledger.append(info, window, scope=make_scope(), run=None)
    events = [event for name in (ONE, TWO) for event in ledger.get_session_history("claude-code", name)]
    return [event.text for event in {event.seq: event for event in events}.values()]


def turn(session: str, number: int, prompt: str, answer: str) -> list[dict[str, Any]]:
    """A prompt and its answer; the answer's id is the vendor's server's."""
    message = {"id": f"msg_{number:020d}"}
    return [
        user(session, f"u{session[-1]}{number}", None, prompt),
        assistant(session, f"a{session[-1]}{number}", f"u{session[-1]}{number}", text(answer), message=message),
    ]


def test_a_session_that_lies_in_two_folders_is_counted_once(ledger: LocalLedger, config: Path) -> None:
    records = turn(ONE, 1, "first", "one") + turn(ONE, 2, "second", "two")
    write_session(config, CWD, ONE, *records[:2])
    write_session(config, f"{CWD}/copy", ONE, *records)
    assert take_all(ledger, config) == ["first", "one", "second", "two"]


def test_what_another_session_wrote_into_a_transcript_is_counted_once(ledger: LocalLedger, config: Path) -> None:
    theirs = turn(TWO, 2, "theirs", "two")
    write_session(config, CWD, ONE, *turn(ONE, 1, "ours", "one"), *theirs)
    write_session(config, CWD, TWO, *theirs)
    assert sorted(take_all(ledger, config)) == ["one", "ours", "theirs", "two"]


def test_answers_that_a_resume_wrote_again_under_other_ids_are_counted_once(ledger: LocalLedger, config: Path) -> None:
    again = [{**record, "uuid": f"again-{record['uuid']}"} for record in turn(ONE, 1, "first", "one")]
    write_session(config, CWD, ONE, *turn(ONE, 1, "first", "one"), *again, *turn(ONE, 2, "second", "two"))
    assert take_all(ledger, config).count("one") == 1


def test_what_was_said_before_a_summary_is_kept(ledger: LocalLedger, config: Path) -> None:
    summary = {"type": "summary", "summary": "it was long", "leafUuid": "a12"}
    write_session(config, CWD, ONE, *turn(ONE, 1, "first", "one"), *turn(ONE, 2, "second", "two"), summary)
    assert take_all(ledger, config) == ["first", "one", "second", "two", "it was long"]
