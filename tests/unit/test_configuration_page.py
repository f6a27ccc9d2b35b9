"""The page about the configuration names what there is: every key, variable and file, with the values that hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rigline import config
from rigline.harness import HARNESSES, get_harness
from rigline.ledger.local import DATABASE_NAME, SEGMENTS_NAME
from tests.markdown import read_blocks


@pytest.fixture(scope="module")
def page(root: Path) -> Path:
    return root / "docs" / "reference" / "configuration.md"


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def read_section(text: str, title: str) -> str:
    """What stands below a heading, up to the next one."""
    return re.split(r"^## ", text.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def read_first_cells(section: str) -> list[str]:
    """The words in backticks of the first column of a section's tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`(.+?)`", cell)]


def list_setting_keys() -> list[str]:
    flat = [key for key in config._SETTING_KEYS if key not in ("redaction", "harness")]
    nested = [f"redaction.{key}" for key in config._REDACTION_KEYS]
    return [*flat, *nested, *(f"harness.NAME.{key}" for key in config._HARNESS_KEYS)]


def test_every_setting_is_on_the_page_and_nothing_else(text: str) -> None:
    assert sorted(read_first_cells(read_section(text, "config.toml"))) == sorted(list_setting_keys())


def test_every_key_of_a_marker_is_on_the_page_and_nothing_else(text: str) -> None:
    assert sorted(read_first_cells(read_section(text, "The marker file"))) == sorted(config._MARKER_KEYS)


def test_the_defaults_are_those_of_the_program(text: str) -> None:
    section = read_section(text, "config.toml")
    assert f"| `packet_tokens` | {config.DEFAULT_PACKET_TOKENS} |" in section
    assert f'| `when_busy` | `"{config.WHEN_BUSY[0]}"` |' in section
    assert all(f'`"{choice}"`' in section for choice in config.WHEN_BUSY)
    assert f"{config.MAX_FILE_BYTES // 1024} KiB" in section


def test_what_differs_between_harnesses_is_on_their_own_page(text: str, root: Path) -> None:
    assert text.count("[Harnesses](harnesses.md)") == 3
    harnesses = (root / "docs" / "reference" / "harnesses.md").read_text(encoding="utf-8")
    for name in HARNESSES:
        harness = get_harness(name)
        words = (name, harness.executable, *harness.store_variables, *harness.session_variables)
        assert not [word for word in words if f"`{word}`" not in harnesses]
        most = f"{harness.limits.part_chars * harness.limits.max_parts:,} characters"
        assert most in harnesses or not harness.facts.injection


def test_the_example_settings_are_taken(page: Path, tmp_path: Path) -> None:
    blocks = [block.text for block in read_blocks(page) if block.language == "toml"]
    (tmp_path / "config.toml").write_text(blocks[0])
    settings = config.load_settings({"RIGLINE_HOME": str(tmp_path), "HOME": "/home/dev"}, HARNESSES)
    assert settings.when_busy.value == "wait"
    assert settings.packet_tokens_for("claude-code").value == 12000
    assert settings.packet_tokens_for("codex").value == 6000
    assert settings.executables["claude-code"].value == "/home/dev/claude-next/bin/claude"
    marker = tmp_path / config.MARKER_NAME
    marker.write_text(blocks[1])
    assert config.read_marker(str(marker)).project == "word-counter"


def test_every_variable_that_the_code_reads_or_sets_is_on_the_page(text: str, root: Path) -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (root / "src").rglob("*.py"))
    known = set(re.findall(r"RIGLINE_[A-Z_]+", sources))
    told = set(read_first_cells(read_section(text, "Environment variables")))
    assert told == known | {"XDG_DATA_HOME", "XDG_CONFIG_HOME"}


def test_the_files_are_those_that_the_code_names(text: str) -> None:
    cells = read_first_cells(read_section(text, "Where files live"))
    assert DATABASE_NAME in cells
    assert any(cell.startswith(f"{SEGMENTS_NAME}/") for cell in cells)
    assert {"host-id", "crash.log", "config.toml", "cache/", "runs/ID/"} <= set(cells)
