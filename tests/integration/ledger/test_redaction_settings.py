"""The user's own patterns decide what is stored, whichever command stores it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.ledger.local import find_redactor


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIGLINE_HOME", str(tmp_path))
    return tmp_path


def test_a_pattern_of_the_user_s_own_is_redacted(home: Path) -> None:
    (home / "config.toml").write_text('[redaction]\npatterns = ["ticket-[0-9]{4}"]\n')
    text, counts = find_redactor()("see ticket-1234")
    assert "1234" not in text
    assert sum(counts.values()) == 1


def test_what_the_user_allows_is_kept(home: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    assert secret not in find_redactor()(secret)[0]
    (home / "config.toml").write_text(f'[redaction]\nallow = ["{secret}"]\n')
    assert find_redactor()(secret)[0] == secret
