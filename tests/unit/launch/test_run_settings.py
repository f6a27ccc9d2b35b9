"""Settings that a run refuses before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.config import load_settings
from rigline.errors import ConfigError, UsageError
from rigline.harness import HARNESSES
from rigline.launch.run import check_redaction, refuse_unwritable_paths


def test_a_pattern_that_cannot_be_used_is_named_before_the_agent_starts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[redaction]\npatterns = ["ok", "(?=x)"]\n')
    with pytest.raises(ConfigError, match=r"\(\?=x\)"):
        check_redaction(load_settings({"RIGLINE_HOME": str(tmp_path)}, HARNESSES))


def test_patterns_that_can_be_used_are_taken(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[redaction]\npatterns = ["ticket-[0-9]+"]\n')
    check_redaction(load_settings({"RIGLINE_HOME": str(tmp_path)}, HARNESSES))


@pytest.mark.parametrize(
    ("name", "step"), [("HOME", "HOME to a link that has such a name"), ("the data folder", "RIGLINE_HOME to one")]
)
def test_a_path_that_is_no_text_is_refused_by_name(name: str, step: str) -> None:
    refuse_unwritable_paths({name: "/home/d\u00e9v"})
    with pytest.raises(UsageError, match=rf"{name} is /home/d\ufffdv, which is not UTF-8 .* {step}"):
        refuse_unwritable_paths({name: "/home/d\udcffv"})
