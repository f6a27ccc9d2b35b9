"""Versions are read from whatever a program prints, and compared with those that are known to work."""

from __future__ import annotations

import pytest

from rigline.doctor.agents import find_version, is_between_known


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ("2.1.332 (Claude Code)\n", "2.1.332"),
        ("codex-cli 0.171.0\n", "0.171.0"),
        ("tool v1.2.3", "1.2.3"),
        ("tool 1.2.3-beta.1+x", "1.2.3-beta.1+x"),
        ("WARNING: something 404\ncodex-cli 0.120.0", "0.120.0"),
        ("omp/18.2.3", "18.2.3"),
        ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", "1.0.102"),
        ("no version here, 7 times", None),
        ("", None),
        (".", None),
    ],
)
def test_the_first_version_of_an_answer_counts(answer: str, version: str | None) -> None:
    assert find_version(answer) == version


@pytest.mark.parametrize(
    ("version", "is_known"),
    [
        ("2.1.197", True),
        ("2.1.332", True),
        ("2.1.200", True),
        ("2.1.300-beta", True),
        ("2.1.9", False),
        ("2.1.333", False),
        ("3.0", False),
    ],
)
def test_versions_between_those_tried_are_known_to_work(version: str, is_known: bool) -> None:
    assert is_between_known(version, ("2.1.332", "2.1.197")) is is_known


def test_nothing_is_known_without_a_version_that_was_tried() -> None:
    assert not is_between_known("1.0", ())
