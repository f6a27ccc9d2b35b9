"""The wrapper's words, and the native arguments that are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.cli.run_arguments import find_own_words, parse_run
from rigline.errors import UsageError
from rigline.launch.options import RunOptions, strip_wrapper_words


@pytest.mark.parametrize(
    ("words", "harness", "args"),
    [
        ([], None, ()),
        (["claude"], "claude", ()),
        (["claude", "-p", "hello"], "claude", ("-p", "hello")),
        (["--fresh", "claude", "--model", "opus"], "claude", ("--model", "opus")),
        (["--env", "A=1", "codex", "exec", "--json"], "codex", ("exec", "--json")),
        (["--env=A=1", "codex"], "codex", ()),
        (["--", "claude", "--fresh"], "claude", ("--fresh",)),
        (["claude", "--", "--fresh"], "claude", ("--fresh",)),
        (["claude", "--", "--", "x"], "claude", ("--", "x")),
        (["claude", "-p", "--", "--fresh"], "claude", ("-p", "--", "--fresh")),
    ],
)
def test_everything_after_the_harness_is_native(words: list[str], harness: str | None, args: tuple[str, ...]) -> None:
    options = parse_run(words)
    assert (options.harness, options.args) == (harness, args)


def test_wrapper_options_before_the_harness_are_read() -> None:
    words = "--fresh --yolo --new n --workspace w --project p --executable e --env A=1 --env B=2 --env-file f --json"
    options = parse_run([*words.split(), "--dry-run", "--print-context", "claude"])
    assert options == RunOptions(
        harness="claude",
        fresh=True,
        yolo=True,
        new="n",
        workspace="w",
        project="p",
        executable="e",
        env=("A=1", "B=2"),
        env_file="f",
        json=True,
        dry_run=True,
        print_context=True,
    )


@pytest.mark.parametrize(
    "words", [["--fesh", "claude"], ["--new"], ["--new", "a", "--workstream", "b", "claude"], ["--env"], ["--dry"]]
)
def test_a_wrong_wrapper_option_is_a_usage_error(words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_run(words)
    assert caught.value.exit_status == 64


def test_trailing_wrapper_words_are_taken_out_where_they_are_options() -> None:
    options = parse_run(["claude", "--fresh", "-p", "--fresh", "--yolo"])
    stripped = strip_wrapper_words(options, frozenset({0, 1, 3}))
    assert stripped.args == ("-p", "--fresh")
    assert (stripped.fresh, stripped.yolo) == (True, True)


def test_a_prompt_that_reads_like_a_wrapper_word_is_kept() -> None:
    options = parse_run(["claude", "-p", "--fresh"])
    assert strip_wrapper_words(options, frozenset({0})) == options


def test_a_separator_protects_every_native_word() -> None:
    options = parse_run(["claude", "--", "--yolo"])
    assert strip_wrapper_words(options, frozenset({0})) == options


def test_json_after_the_harness_is_the_harness_s_own() -> None:
    assert "--json" not in find_own_words(["codex", "exec", "--json"])
    assert "--json" in find_own_words(["--json", "codex", "exec"])


@given(st.lists(st.text(max_size=8), max_size=8))
def test_native_arguments_come_out_as_they_went_in(words: list[str]) -> None:
    options = parse_run(["--fresh", "claude", "--", *words])
    assert options.args == tuple(words)
