"""What a store answers about a bound session, as advice."""

from __future__ import annotations

import pytest

from rigline.doctor.check import Level, fail, find_worst, ok, warn
from rigline.doctor.resume import judge
from rigline.model import Binding, LiveSession, Lookup, Presence

BINDING = Binding(harness="codex", native_id="S1", evidence="hook", created_via="fresh", bound_ms=0, is_current=True)
LIVE = LiveSession(native_id="S1", pid=42)


@pytest.mark.parametrize(
    ("lookup", "live", "level", "words"),
    [
        (Lookup(presence=Presence.EXISTS), None, Level.OK, "will resume"),
        (Lookup(presence=Presence.EXISTS), LIVE, Level.WARN, "open in process 42"),
        (Lookup(presence=Presence.EXISTS), LiveSession(native_id="S1", pid=None), Level.WARN, "another process"),
        (Lookup(presence=Presence.EXISTS, resumable=False, reason="other folder."), None, Level.WARN, "other folder."),
        (Lookup(presence=Presence.MISSING), None, Level.WARN, "gone from Codex's store"),
        (Lookup(presence=Presence.UNREADABLE, reason="permission denied"), None, Level.FAIL, "permission denied"),
    ],
)
def test_each_answer_of_the_store_becomes_advice(
    lookup: Lookup, live: LiveSession | None, level: Level, words: str
) -> None:
    check = judge("Codex", "main", BINDING, lookup, live)
    assert check.level is level
    assert words in check.text
    assert "S1" in check.text
    assert bool(check.next_step) == (level is not Level.OK)


def test_the_gravest_level_counts() -> None:
    assert find_worst([]) is Level.OK
    assert find_worst([ok("a", ""), warn("b", "", "")]) is Level.WARN
    assert find_worst([fail("c", "", ""), ok("a", ""), warn("b", "", "")]) is Level.FAIL
