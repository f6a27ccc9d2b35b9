"""The folder that the agents of these tests work in."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cwd(tmp_path: Path) -> str:
    """A checkout with a folder below it, by a name that letter case tells from another."""
    folder = tmp_path / "Project"
    (folder / "below").mkdir(parents=True)
    return str(folder)
