"""Codex's threads in a real ledger: what forks share is counted once, whichever comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.codex import Codex
from rigline.harness.codex_store import CodexStore
from rigline.ledger.local import open_ledger
from tests.fixtures.codex_store import LEGACY, LEGACY_FORK, LINEAGE, REWOUND, place, place_tree

LEGACY_PARENT = "0.120.0/parent"
LEGACY_COPY = "0.120.0/forked-copies-parent-and-its-session-meta"


def import_all(store: CodexStore, home: Path, ids: tuple[str, ...]) -> list[tuple[int, int]]:
    """(added, copied) of each session in turn."""
    ledger = open_ledger(str(home))
    try:
        found = []
        for native_id in ids:
            info = store.look_up(native_id, "/").info
            assert info is not None
            appended = [ledger.append(info, window, scope=None, run=None) for window in store.read(info, None)]
            found.append((sum(a.added for a in appended), sum(a.copied for a in appended)))
        return found
    finally:
        ledger.close()


@pytest.fixture
def store(tmp_path: Path) -> CodexStore:
    return Codex().open_store({"CODEX_HOME": str(tmp_path / "codex")})


@pytest.mark.parametrize(
    ("order", "counts"),
    [((LEGACY, LEGACY_FORK), [(7, 0), (2, 7)]), ((LEGACY_FORK, LEGACY), [(9, 0), (0, 7)])],
    ids=["parent first", "fork first"],
)
def test_a_legacy_fork_s_copies_are_counted_once(
    store: CodexStore, tmp_path: Path, order: tuple[str, ...], counts: list[tuple[int, int]]
) -> None:
    place(LEGACY_PARENT, tmp_path / "codex")
    place(LEGACY_COPY, tmp_path / "codex")
    assert import_all(store, tmp_path / "ledger", order) == counts


def test_a_paginated_lineage_holds_each_event_once(store: CodexStore, tmp_path: Path) -> None:
    place_tree("fork-lineage", tmp_path / "codex")
    counts = import_all(store, tmp_path / "ledger", LINEAGE)
    assert all(added and not copied for added, copied in counts)


def test_importing_again_adds_nothing(store: CodexStore, tmp_path: Path) -> None:
    place_tree("rewound", tmp_path / "codex")
    first = import_all(store, tmp_path / "ledger", (REWOUND,))
    assert first[0][0] > 0
    assert import_all(store, tmp_path / "ledger", (REWOUND,)) == [(0, 0)]


def test_what_was_asked_before_the_first_prompt_was_asked_anew_is_abandoned(store: CodexStore, tmp_path: Path) -> None:
    place_tree("rewound", tmp_path / "codex")
    import_all(store, tmp_path / "ledger", (REWOUND,))
    ledger = open_ledger(str(tmp_path / "ledger"))
    told = {e.text: e.is_abandoned for e in ledger.get_session_history("codex", REWOUND) if e.role == "user"}
    ledger.close()
    assert [told[text] for text in ("say: t1", "say: t2", "say: t3", "say: t3 v2", "say: t1 v3")] == [True] * 4 + [
        False
    ]
