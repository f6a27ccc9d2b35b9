"""What the pages show as data is data: each block of JSON or TOML can be read."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.markdown import Block, list_pages, read_blocks

READERS = {"json": json.loads, "toml": tomllib.loads}


def list_data_blocks() -> list[Block]:
    """The blocks of all pages that a program could read."""
    return [block for page in list_pages() for block in read_blocks(page) if block.language in READERS]


@pytest.mark.parametrize("block", list_data_blocks(), ids=lambda block: block.place)
def test_data_on_a_page_can_be_read(block: Block) -> None:
    assert READERS[block.language](block.text)
