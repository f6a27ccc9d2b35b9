"""Every command that a page shows in a `console` block is run, in order, and succeeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.markdown import Block, list_pages, read_blocks
from tests.real.conftest import NEWEST, Rigline


def runnable(page: Path) -> list[Block]:
    """The blocks of a page that are run."""
    return [block for block in read_blocks(page) if block.language == "console"]


@pytest.mark.parametrize("agents", [NEWEST], indirect=True)
@pytest.mark.parametrize(
    "page", [page for page in list_pages() if runnable(page)], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_what_a_page_shows_can_be_typed(page: Path, rigline: Rigline) -> None:
    for block in runnable(page):
        for command in block.commands:
            done = rigline.agent("sh", "-c", command)
            assert done.code == 0, f"{block.place}: {done}"
            assert "Traceback" not in done.err, f"{block.place}: {done}"
