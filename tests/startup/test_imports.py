"""The fast path stays fast: what the commands that everybody waits for may load, by name and by number.

Times differ between machines; the modules that are loaded do not. What each costs stands in
`docs/explanation/dependencies.md`. Raise a number here only together with a reason in the commit message.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.fixtures.example_harness import install_example
from tests.startup.conftest import list_imports

#: too dear for any command that comes before the agent
NEVER = frozenset(
    """
    asyncio concurrent.futures email http.client http.server importlib.metadata importlib.resources logging
    multiprocessing pkg_resources platformdirs pydoc requests rich ssl textual unittest urllib.request xml
    """.split()  # noqa: SIM905  (a paragraph of names is read more easily than a column)
)
#: too dear for what runs inside an agent or answers at once
DEAR = NEVER | frozenset(
    """
    argparse dataclasses inspect msgspec pathlib re2 secrets shutil subprocess tempfile threading tomllib typing uuid
    """.split()  # noqa: SIM905
)

# command -> (forbidden, most modules beyond the bare interpreter)
VERSION = (DEAR | {"json", "re", "sqlite3"}, 2)
HOOK = (DEAR | {"sqlite3"}, 32)
SEARCH = (DEAR - {"argparse"}, 75)
RUN_HELP = (NEVER | {"re2", "sqlite3", "inspect"}, 80)  # inspect: what typing_extensions would load
#: they look for third parties' harnesses, which can be chosen too; here is none
PICKERS = (NEVER | {"re2"}, 150)


def check(loaded: Iterable[str], budget: tuple[frozenset[str], int]) -> None:
    """Fail with the forbidden modules, or with all of them when there are too many."""
    forbidden, most = budget
    names = list(loaded)
    assert not sorted(forbidden & set(names))
    assert len(names) <= most, f"{len(names)} modules, at most {most}: {sorted(names)}"


def test_version_answers_before_anything_is_loaded(tmp_path: Path) -> None:
    check(list_imports(["--version"], {}, tmp_path), VERSION)


def test_the_hook_loads_json_and_little_else(tmp_path: Path, run_dir: Path) -> None:
    payload = '{"session_id": "S", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}'
    words = ["hook", "session-start", "--part", "1"]
    check(list_imports(words, {"RIGLINE_RUN_DIR": str(run_dir)}, tmp_path, payload), HOOK)
    assert (run_dir / "observed.jsonl").is_file()


@pytest.mark.parametrize("where", [["--all"], []], ids=["everything", "this checkout"])
def test_search_loads_sqlite_and_little_else(tmp_path: Path, ledger_home: Path, where: list[str]) -> None:
    words = ["search", "needlec000001", *where, "--json"]
    loaded = list_imports(words, {"RIGLINE_HOME": str(ledger_home)}, tmp_path)
    assert "sqlite3" in loaded
    check(loaded, SEARCH)


def test_help_for_run_loads_no_ledger(tmp_path: Path) -> None:
    check(list_imports(["run", "--help"], {}, tmp_path), RUN_HELP)


def test_a_run_of_a_built_in_harness_looks_for_no_other(tmp_path: Path) -> None:
    install_example(tmp_path / "site", tmp_path / "bin")
    (tmp_path / "bin" / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "claude").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {"PYTHONPATH": str(tmp_path / "site"), "RIGLINE_HOME": str(tmp_path / "rigline"), "PATH": path}
    others = {"importlib.metadata", "rigline.harness.plugins", "example_harness.store"}
    assert not others & set(list_imports(["run", "--dry-run", "claude"], env, tmp_path))
    assert others <= set(list_imports(["run", "--dry-run", "example"], env, tmp_path))


@pytest.mark.parametrize("words", [["resume", "--all"], ["show", "--no-scan"], ["continue"]], ids=" ".join)
def test_the_pickers_lists_load_no_screen(tmp_path: Path, ledger_home: Path, words: list[str]) -> None:
    # `continue` finds nothing to tell of in a ledger without lines: its own modules are loaded before that
    code = "import sys; from rigline.__main__ import main; main(); sys.exit(0)"
    check(list_imports([*words, "--json"], {"RIGLINE_HOME": str(ledger_home)}, tmp_path, code=code), PICKERS)


def test_the_check_itself_sees_what_is_loaded(tmp_path: Path) -> None:
    loaded = list_imports([], {}, tmp_path, code="import dataclasses")
    with pytest.raises(AssertionError, match="dataclasses"):
        check(loaded, VERSION)
    with pytest.raises(AssertionError, match="modules, at most 1"):
        check(loaded, (frozenset(), 1))
