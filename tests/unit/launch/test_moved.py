"""What the evidence for a moved checkout comes to: a table, and what holds whatever the clues are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rigline.launch.moved import Clues, Former, Verdict, judge

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SESSION = "its Codex session 0a1b2c3d"

CLUES = st.builds(
    Clues,
    former=st.sampled_from(Former),
    is_same_inode=st.booleans(),
    is_same_repository=st.booleans(),
    is_same_path=st.booleans(),
    has_remote=st.booleans(),
    commit=st.sampled_from([None, COMMIT]),
    has_commit=st.sampled_from([None, False, True]),
    session=st.sampled_from(["", SESSION]),
    is_named=st.booleans(),
).filter(lambda clues: clues.commit is not None or clues.has_commit is None)


@pytest.mark.parametrize(
    ("clues", "verdict", "reason"),
    [
        ({"is_same_inode": True}, Verdict.MOVED, "same git directory"),
        ({"is_same_inode": True, "former": Former.REPLACED}, Verdict.MOVED, "same git directory"),
        ({"is_same_inode": True, "former": Former.THERE}, Verdict.COPIED, "still there"),
        ({"is_same_repository": True, "former": Former.THERE, "session": SESSION}, Verdict.COPIED, "still there"),
        ({"former": Former.THERE, "is_named": True}, Verdict.COPIED, "still there"),
        ({"former": Former.THERE}, Verdict.FOREIGN, ""),
        ({"is_same_repository": True, "session": SESSION}, Verdict.MOVED, f"{SESSION} was recorded here"),
        ({"is_same_repository": True, "commit": COMMIT, "has_commit": True}, Verdict.MOVED, "0123456789 is here"),
        ({"is_same_repository": True, "commit": COMMIT, "has_commit": False}, Verdict.UNPROVED, "0123456789 is not"),
        ({"is_same_repository": True, "commit": COMMIT}, Verdict.UNPROVED, "no session and no commit"),
        ({"is_same_repository": True}, Verdict.UNPROVED, "no session and no commit"),
        ({"is_same_repository": True, "is_named": True}, Verdict.MOVED, "you named it"),
        ({"commit": COMMIT, "has_commit": True}, Verdict.MOVED, "is in this repository"),
        ({"commit": COMMIT, "has_commit": True, "has_remote": True}, Verdict.UNPROVED, "remotes are others"),
        ({"commit": COMMIT, "has_commit": True, "has_remote": True, "is_named": True}, Verdict.MOVED, "is in this"),
        ({"commit": COMMIT, "has_commit": True, "has_remote": True, "is_same_path": True}, Verdict.MOVED, "is in this"),
        ({"commit": COMMIT, "has_commit": False, "is_named": True}, Verdict.UNPROVED, "another repository"),
        ({"commit": COMMIT, "has_commit": False}, Verdict.FOREIGN, ""),
        ({"is_same_path": True, "former": Former.REPLACED}, Verdict.MOVED, "same folder"),
        ({"is_named": True}, Verdict.MOVED, "you named it"),
        ({"session": SESSION}, Verdict.FOREIGN, ""),
        ({}, Verdict.FOREIGN, ""),
    ],
)
def test_the_evidence_is_weighed(clues: dict[str, Any], verdict: Verdict, reason: str) -> None:
    found = judge(Clues(**{"former": Former.GONE, **clues}))
    assert found.verdict is verdict
    assert reason in found.reason


@given(clues=CLUES)
def test_a_line_whose_checkout_is_still_there_is_never_taken(clues: Clues) -> None:
    assert judge(replace(clues, former=Former.THERE)).verdict in (Verdict.COPIED, Verdict.FOREIGN)


@given(clues=CLUES)
def test_without_any_tie_nothing_is_taken(clues: Clues) -> None:
    loose = replace(
        clues, is_same_inode=False, is_same_repository=False, is_same_path=False, has_commit=None, is_named=False
    )
    assert judge(loose).verdict is Verdict.FOREIGN


@given(clues=CLUES)
def test_a_repository_that_lacks_the_last_commit_takes_nothing_that_only_a_name_speaks_for(clues: Clues) -> None:
    other = replace(clues, is_same_inode=False, is_same_repository=False, commit=COMMIT, has_commit=False)
    assert judge(other).verdict is not Verdict.MOVED


@given(clues=CLUES)
def test_naming_a_line_never_speaks_against_it(clues: Clues) -> None:
    unnamed, named = judge(replace(clues, is_named=False)), judge(replace(clues, is_named=True))
    assert unnamed.verdict is not Verdict.MOVED or named.verdict is Verdict.MOVED


@given(clues=CLUES)
def test_every_verdict_has_its_reason(clues: Clues) -> None:
    found = judge(clues)
    assert found.reason
    assert not found.reason.endswith(".")
