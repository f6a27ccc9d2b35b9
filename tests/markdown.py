"""The parts of a Markdown page that tests look at: fenced blocks and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT


@dataclass(frozen=True)
class Block:
    """A fenced block. `line` is where it opens, counted from 1."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """What follows a `$ ` at the beginning of a line."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]

    @property
    def place(self) -> str:
        """`page:line`."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def list_pages() -> list[Path]:
    """Every page that a person may read."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def read_blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    blocks: list[Block] = []
    opened: tuple[int, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.startswith("```"):
            inside.append(line)
        elif opened is None:
            opened, inside = (number, line[3:].strip()), []
        else:
            blocks.append(Block(page, opened[0], opened[1], "\n".join(inside)))
            opened = None
    assert opened is None, f"{page}:{opened} is never closed"
    return blocks


def read_links(page: Path) -> list[str]:
    """The targets of all links of a page, fenced blocks left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", text)


def read_named_tests(page: Path) -> list[tuple[str, Path]]:
    """The tests and contracts that a page names as links: each name, and the file it points to."""
    pattern = r"\[`(\w+)`\]\(((?:[^)]*/)?(?:tests|testing)/[^)]+\.py)\)"
    found = re.findall(pattern, page.read_text(encoding="utf-8"))
    return [(name, page.parent / file) for name, file in found]


def list_anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page make."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
