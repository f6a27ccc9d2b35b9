"""Command lines read by option tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.harness.argv import (
    Option,
    OptionTable,
    Role,
    Takes,
    Token,
    find_subcommand,
    find_value,
    has_option,
    tokenize,
)

OPTIONS = (
    Option(("--flag", "-f")),
    Option(("--global", "-g")),
    Option(("--one", "-o"), Takes.ONE),
    Option(("--maybe", "-m"), Takes.OPTIONAL),
    Option(("--many", "-y", "--lots"), Takes.MANY),
)
COMMANDER = OptionTable(
    options=OPTIONS,
    subcommands=frozenset({"sub"}),
    value_may_be_option=True,
    separator_hides_subcommands=False,
)
CLAP = OptionTable(
    options=OPTIONS,
    subcommands=frozenset({"sub", "run"}),
    tables={"run": OptionTable(options=(Option(("--flag",), Takes.ONE),), subcommands=frozenset({"again"}))},
    glued_equals=True,
)
BOTH = pytest.mark.parametrize("table", [COMMANDER, CLAP], ids=["commander", "clap"])


def write(tokens: tuple[Token, ...]) -> list[str]:
    """Tokens in short: `-option=value`, `(value)`, a word, `[subcommand]`, `--`."""
    return [_write(token) for token in tokens]


def _write(token: Token) -> str:
    if token.role is Role.OPTION:
        return f"{token.option}={token.value}" if token.value is not None else str(token.option)
    if token.role is Role.VALUE:
        return f"({token.value})"
    return f"[{token.value}]" if token.role is Role.SUBCOMMAND else str(token.value)


@BOTH
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], []),
        (["word"], ["word"]),
        (["-f", "word"], ["--flag", "word"]),
        (["--one", "v", "word"], ["--one=v", "(v)", "word"]),
        (["--one=v", "word"], ["--one=v", "word"]),
        (["--one=", "word"], ["--one=", "word"]),
        (["--one=a=b"], ["--one=a=b"]),
        (["-ov"], ["--one=v"]),
        (["-fov"], ["--flag", "--one=v"]),
        (["-fo", "v", "w"], ["--flag", "--one=v", "(v)", "w"]),
        (["--maybe", "v", "w"], ["--maybe=v", "(v)", "w"]),
        (["--maybe", "-f"], ["--maybe", "--flag"]),
        (["--maybe"], ["--maybe"]),
        (["-mv", "w"], ["--maybe=v", "w"]),
        (["--many", "a", "b", "-f", "c"], ["--many=a", "(a)", "(b)", "--flag", "c"]),
        (["--lots", "a", "--", "b"], ["--many=a", "(a)", "--", "b"]),
        (["--many=a", "b"], ["--many=a", "b"]),
        (["-", "x"], ["-", "x"]),
        (["--", "-f", "--one"], ["--", "-f", "--one"]),
        (["--nothing-known", "x"], ["--nothing-known", "x"]),
        (["--nothing=x", "y"], ["--nothing=x", "y"]),
        (["--flag=x", "y"], ["--flag=x", "y"]),
        (["-z"], ["-z"]),
        (["-fz"], ["--flag", "-z"]),
        (["--one"], ["--one"]),
        (["sub", "x", "sub"], ["[sub]", "x", "sub"]),
        (["word", "sub"], ["word", "sub"]),
        (["--one", "sub", "x"], ["--one=sub", "(sub)", "x"]),
        (["--many", "a", "sub"], ["--many=a", "(a)", "(sub)"]),
        ([""], [""]),
        (["--one", ""], ["--one=", "()"]),
    ],
)
def test_both_parsers_read_alike(table: OptionTable, args: list[str], expected: list[str]) -> None:
    assert write(tokenize(args, table)) == expected


@pytest.mark.parametrize(
    ("args", "commander", "clap"),
    [
        # A value that has to be there: Commander takes whatever comes, clap nothing with a dash.
        (["--one", "-f", "x"], ["--one=-f", "(-f)", "x"], ["--one", "--flag", "x"]),
        (["--one", "--", "x"], ["--one=--", "(--)", "x"], ["--one", "--", "x"]),
        (["--many", "-f", "x"], ["--many=-f", "(-f)", "(x)"], ["--many", "--flag", "x"]),
        # `-o=v`
        (["-o=v"], ["--one==v"], ["--one=v"]),
        (["-m=v"], ["--maybe==v"], ["--maybe=v"]),
        # Behind `--`, Commander still knows subcommands.
        (["--", "sub"], ["--", "[sub]"], ["--", "sub"]),
        # A subcommand's own options.
        (["run", "--flag", "v", "again"], ["run", "--flag", "v", "again"], ["[run]", "--flag=v", "(v)", "[again]"]),
    ],
)
def test_the_parsers_differ_by_fields_of_the_table(args: list[str], commander: list[str], clap: list[str]) -> None:
    assert write(tokenize(args, COMMANDER)) == commander
    assert write(tokenize(args, CLAP)) == clap


def test_options_in_one_element_share_its_index() -> None:
    assert [(token.index, token.option) for token in tokenize(["x", "-fo", "v"], CLAP)] == [
        (0, None),
        (1, "--flag"),
        (1, "--one"),
        (2, "--one"),
    ]


def test_an_unknown_option_says_so() -> None:
    tokens = tokenize(["--flag", "--what", "--what=1", "-z"], CLAP)
    assert [token.is_known for token in tokens] == [True, False, False, False]


def test_the_last_value_wins() -> None:
    tokens = tokenize(["--one", "a", "-ob", "--one=c", "x"], CLAP)
    assert find_value(tokens, "--one") == "c"
    assert find_value(tokens, "--maybe") is None


def test_has_option_does_not_see_values_and_prompts() -> None:
    tokens = tokenize(["--one", "-f", "--", "-g"], COMMANDER)
    assert not has_option(tokens, "--flag", "--global")
    assert has_option(tokens, "--one")
    assert find_subcommand(tokens) is None


WORDS = st.one_of(
    st.sampled_from(
        ["--flag", "-f", "-fg", "--one", "-o", "-ov", "--one=v", "--maybe", "--many", "--", "-", "sub", "run"]
    ),
    st.text(max_size=4),
    st.text(alphabet="-=fomyg ", max_size=5),
)


@BOTH
@given(args=st.lists(WORDS, max_size=8))
def test_every_element_is_read_once_and_in_order(table: OptionTable, args: list[str]) -> None:
    tokens = tokenize(args, table)
    indexes = [token.index for token in tokens]
    assert sorted(set(indexes)) == list(range(len(args)))
    assert indexes == sorted(indexes)
    for token in tokens:
        if token.role is not Role.OPTION:
            assert token.value == args[token.index]
