"""The child's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from rigline.errors import UsageError
from rigline.launch.environment import build_environment, read_env_file, split_pair


def build(inherited: dict[str, str], given: tuple[str, ...] = (), own: dict[str, str] | None = None) -> dict[str, str]:
    return build_environment(
        inherited,
        session_variables=("CLAUDECODE", "CODEX_THREAD_ID"),
        store_variables=("CODEX_HOME",),
        given=given,
        own=own or {},
    ).variables


def test_markers_of_another_agent_s_session_are_removed_and_named() -> None:
    environment = build_environment(
        {"CLAUDECODE": "1", "CODEX_THREAD_ID": "x", "PATH": "/bin"},
        session_variables=("CODEX_THREAD_ID", "CLAUDECODE"),
        store_variables=(),
        given=(),
        own={},
    )
    assert environment.variables == {"PATH": "/bin"}
    assert environment.removed == ("CLAUDECODE", "CODEX_THREAD_ID")


def test_configuration_is_never_touched() -> None:
    inherited = {"CODEX_HOME": "/c", "ANTHROPIC_API_KEY": "k", "CLAUDE_CONFIG_DIR": "/d"}
    assert build(inherited) == inherited


def test_what_the_user_gives_wins_over_what_was_inherited() -> None:
    assert build({"A": "1"}, given=("A=2", "A=3"))["A"] == "3"
    assert build({"CLAUDECODE": "1"}, given=("CLAUDECODE=mine",))["CLAUDECODE"] == "mine"


def test_what_rigline_says_of_its_run_wins_over_all() -> None:
    assert build({"RIGLINE_RUN_ID": "outer"}, own={"RIGLINE_RUN_ID": "inner"})["RIGLINE_RUN_ID"] == "inner"


def test_a_blank_store_variable_counts_as_unset() -> None:
    assert build({"CODEX_HOME": " "}) == {}


@pytest.mark.parametrize("pair", ["A", "=1", "A=\0"])
def test_a_malformed_pair_is_refused(pair: str) -> None:
    with pytest.raises(UsageError):
        split_pair(pair)


def test_an_env_file_may_have_comments_and_values_with_equals(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text("# keys\n\nA=1\n  B = 2=3 \n")
    assert read_env_file(str(file)) == ["A=1", "B = 2=3"]


def test_a_bad_line_of_an_env_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text("A=1\nnonsense\n")
    with pytest.raises(UsageError, match=":2"):
        read_env_file(str(file))


def test_an_absent_env_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        read_env_file(str(tmp_path / "nowhere"))
