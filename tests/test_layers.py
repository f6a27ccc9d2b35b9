"""The shape of the house: imports point down, decisions are pure, and few modules start a process."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SRC = ROOT / "src" / "rigline"

#: decisions: no clock, no files, no processes. A folder stands for everything below it.
PURE = (
    "errors.py",
    "model.py",
    "harness/__init__.py",
    "harness/argv.py",
    "harness/base.py",
    "harness/adapter.py",
    "harness/grammar.py",
    "harness/turns.py",
    "launch/choose.py",
    "launch/environment.py",
    "launch/options.py",
    "launch/plan.py",
    "launch/summary.py",
    "ledger/base.py",
    "ledger/incoming.py",
    "ledger/excerpt.py",
    "ledger/fence.py",
    "ledger/packet.py",
    "ledger/packet_frame.py",
    "ledger/packet_items.py",
    "ledger/packet_parts.py",
    "ledger/redact.py",
    "ledger/redact_assigned.py",
    "ledger/redact_engine.py",
    "ledger/redact_named.py",
    "ledger/redact_patterns.py",
    "ledger/redact_scan.py",
    "picking.py",
    "remotes.py",
    "store/text.py",
    "store/turns.py",
    "tui/browse.py",
    "tui/draw.py",
    "tui/page.py",
)
IMPURE_MODULES = {"os", "subprocess", "socket", "sqlite3", "time", "threading", "http", "shutil", "tempfile", "pathlib"}

#: who may start a process, and which
STARTERS = {
    "git.py": "git",
    "harness/codex_app_server.py": "`codex app-server`, to ask for the proof of a hook",
    "liveness.py": "ps, where there is no /proc",
    "process.py": "harnesses",
    "tmux.py": "tmux",
}
STARTING_MODULES = {"subprocess", "pty", "multiprocessing", "asyncio"}
STARTING_NAMES = {"posix_spawn", "posix_spawnp", "fork", "forkpty", "popen", "system"}
STARTING_NAMES |= {how + form for how in ("exec", "spawn") for form in "v ve vp vpe l le lp lpe".split()}  # noqa: SIM905


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of `pyproject.toml` against the package in a folder."""
    program = os.path.join(os.path.dirname(sys.executable), "lint-imports")
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    argv = [program, "--no-cache", "--no-logo"]
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def copy_of_the_house(tmp_path: Path) -> Path:
    """The package and its contracts, to be damaged."""
    shutil.copytree(SRC, tmp_path / "src" / "rigline", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_point_down() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_import_that_points_up_is_found(copy_of_the_house: Path) -> None:
    with open(copy_of_the_house / "src" / "rigline" / "errors.py", "a") as errors:
        errors.write("\nimport rigline.store\n")
    done = lint_imports(copy_of_the_house)
    assert done.returncode != 0
    assert "rigline.errors is not allowed to import rigline.store" in done.stdout


def test_a_module_without_a_place_is_found(copy_of_the_house: Path) -> None:
    (copy_of_the_house / "src" / "rigline" / "stray.py").write_text('"""No place."""\n')
    done = lint_imports(copy_of_the_house)
    assert done.returncode != 0
    assert "stray" in done.stdout + done.stderr


def imported_modules(tree: ast.AST) -> set[str]:
    """The first words of everything that is imported, also inside functions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("name", PURE)
def test_decisions_are_pure(name: str) -> None:
    tree = ast.parse((SRC / name).read_text())
    assert not imported_modules(tree) & IMPURE_MODULES


def names_of_os(tree: ast.AST) -> set[str]:
    """What a module uses of `os`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            found |= {alias.name for alias in node.names}
    return found


def find_starters(folder: Path) -> set[str]:
    """The modules that can start a process."""
    found = set()
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text())
        if imported_modules(tree) & STARTING_MODULES or names_of_os(tree) & STARTING_NAMES:
            found.add(path.relative_to(folder).as_posix())
    return found


def test_few_modules_start_processes() -> None:
    assert find_starters(SRC) <= set(STARTERS)


def test_a_new_module_that_starts_processes_is_found(tmp_path: Path) -> None:
    (tmp_path / "by_import.py").write_text("import subprocess\n")
    (tmp_path / "by_call.py").write_text("import os\nos.execv('/bin/true', [])\n")
    (tmp_path / "neither.py").write_text("import os\nos.getcwd()\n")
    assert find_starters(tmp_path) == {"by_import.py", "by_call.py"}
