"""The pages keep step with the program. What they show as runnable is run by `tests/real/test_docs_run.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rigline.cli import COMMANDS
from tests.conftest import ROOT
from tests.markdown import list_anchors, list_pages, read_blocks, read_links, read_named_tests

#: `console` blocks are run by a test; `text` ones are not; the others are data or code to read
LANGUAGES = {"console", "text", "toml", "yaml", "json", "python"}

PAGES = pytest.mark.parametrize("page", list_pages(), ids=lambda page: page.relative_to(ROOT).as_posix())


@PAGES
def test_every_block_says_what_it_is(page: Path) -> None:
    assert not [block.place for block in read_blocks(page) if block.language not in LANGUAGES]


@PAGES
def test_console_blocks_hold_nothing_but_our_own_commands(page: Path) -> None:
    blocks = [block for block in read_blocks(page) if block.language == "console"]
    assert not [block.place for block in blocks if not block.commands]
    assert not [command for block in blocks for command in block.commands if not command.startswith("rigline ")]


@PAGES
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = []
    for link in read_links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            lost.append(link)
    assert not lost


@PAGES
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    lost = [name for name, file in read_named_tests(page) if f"def {name}(" not in file.read_text(encoding="utf-8")]
    assert not lost


def test_the_index_leads_to_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in read_links(index)}
    assert set(ROOT.glob("docs/*/*.md")) <= linked


def test_every_fault_that_is_made_is_on_the_page_of_faults() -> None:
    made = {
        name
        for file in (ROOT / "tests" / "faults").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = {name for name, _ in read_named_tests(ROOT / "docs" / "explanation" / "faults.md")}
    assert len(made) > 30
    assert not made - named


def test_the_readme_names_the_tests_of_its_promises() -> None:
    assert len(read_named_tests(ROOT / "README.md")) > 10


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_is_in_the_pages(verb: str) -> None:
    said = re.compile(rf"\brigline {re.escape(verb)}\b")
    assert [page for page in list_pages() if said.search(page.read_text(encoding="utf-8"))]
