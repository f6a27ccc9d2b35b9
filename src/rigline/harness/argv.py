"""Native command lines read by option tables, so that a value or a prompt that looks like a flag is no flag.

Two families of parsers are told apart by fields of the table, not by names in code: Commander.js (Claude Code)
and clap (Codex). The rules are those that the parsers' own documentation states and the real programs showed.
Nothing here refuses a command line: what the table does not know is an option that takes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct


class Takes(StrEnum):
    """How many values an option has. MANY is one or more, up to the next option."""

    NOTHING = "nothing"
    ONE = "one"
    OPTIONAL = "optional"
    MANY = "many"


class Role(StrEnum):
    """What one element of a command line is. `subcommand` is the positional that names one."""

    OPTION = "option"
    VALUE = "value"
    POSITIONAL = "positional"
    SUBCOMMAND = "subcommand"
    SEPARATOR = "separator"


class Option(Struct, frozen=True):
    """One option of a program: every spelling with its dashes, the leading one first."""

    names: tuple[str, ...]
    takes: Takes = Takes.NOTHING


class OptionTable(Struct, frozen=True, kw_only=True):
    """What a program's parser knows.

    `tables` holds the options of subcommands that have their own: after such a word its table is in force.
    `value_may_be_option`: a value that an option must have is the next element, whatever it looks like
    (Commander); else an element with a leading dash is never a value (clap). `glued_equals`: `-oV` may also
    be written `-o=V` (clap). `separator_hides_subcommands`: behind `--` no word is a subcommand (clap).
    `subcommand_after_positional`: a word behind a prompt may still name a subcommand (clap).
    `joins_values`: `--option=VALUE` is that option with its value; else it is an option that is not known (Pi).
    """

    options: tuple[Option, ...]
    subcommands: frozenset[str] = frozenset()
    tables: dict[str, OptionTable] = {}
    value_may_be_option: bool = False
    glued_equals: bool = False
    separator_hides_subcommands: bool = True
    subcommand_after_positional: bool = False
    joins_values: bool = True

    def find(self, name: str) -> Option | None:
        """The option with that spelling, or None."""
        return next((option for option in self.options if name in option.names), None)


_TAKES = {"": Takes.NOTHING, "1": Takes.ONE, "?": Takes.OPTIONAL, "+": Takes.MANY}


def read_options(words: str) -> tuple[Option, ...]:
    """A table written as words: `--model,-m=1` has two spellings and takes one value, `=?` at most one, `=+` many."""
    split = [word.partition("=") for word in words.split()]
    return tuple(Option(tuple(names.split(",")), _TAKES[count]) for names, _, count in split)


class Token(Struct, frozen=True, kw_only=True):
    """One thing said on a command line; `index` is the element it stands in.

    `option` is the leading name of the option that it is, or is a value of (as written, where unknown).
    `value` is, for an option, its first value however it was joined (`-o V`, `-oV`, `--opt=V`); for any other
    role the element itself. Options written together (`-pc`) are several tokens with one index.
    """

    index: int
    role: Role
    option: str | None = None
    value: str | None = None
    is_known: bool = True


def looks_like_option(word: str) -> bool:
    """Whether a parser would take the word for an option: a dash and more."""
    return len(word) > 1 and word.startswith("-")


def tokenize(args: Iterable[str], table: OptionTable) -> tuple[Token, ...]:
    """Read a native command line (without the program's name). Never raises."""
    return tuple(_Reader(tuple(args), table).read())


def has_option(tokens: Iterable[Token], *names: str) -> bool:
    """Whether one of the options (leading names) is given."""
    return any(token.role is Role.OPTION and token.option in names for token in tokens)


def find_value(tokens: Iterable[Token], name: str) -> str | None:
    """The value of an option's last use (parsers let the last one win), or None."""
    found = None
    for token in tokens:
        if token.role is Role.OPTION and token.option == name:
            found = token.value
    return found


def find_subcommand(tokens: Iterable[Token]) -> str | None:
    """The first subcommand named, or None."""
    return next((token.value for token in tokens if token.role is Role.SUBCOMMAND), None)


class _Reader:
    """A walk along one command line; `_at` is the next element."""

    def __init__(self, args: tuple[str, ...], table: OptionTable) -> None:
        self._args = args
        self._table = table
        self._at = 0
        self._has_positional = False

    def read(self) -> Iterator[Token]:
        while self._at < len(self._args):
            word = self._args[self._at]
            if word == "--":
                yield from self._read_rest()
            elif looks_like_option(word):
                yield from self._read_option(word)
            else:
                yield self._take_positional(may_name_subcommand=True)

    def _read_rest(self) -> Iterator[Token]:
        yield Token(index=self._at, role=Role.SEPARATOR, value="--")
        self._at += 1
        while self._at < len(self._args):
            yield self._take_positional(may_name_subcommand=not self._table.separator_hides_subcommands)

    def _take_positional(self, *, may_name_subcommand: bool) -> Token:
        index, word = self._at, self._args[self._at]
        self._at += 1
        may_name_subcommand &= self._table.subcommand_after_positional or not self._has_positional
        names_one = may_name_subcommand and word in self._table.subcommands
        self._has_positional = True
        if not names_one:
            return Token(index=index, role=Role.POSITIONAL, value=word)
        if word in self._table.tables:
            self._table = self._table.tables[word]
            self._has_positional = False
        return Token(index=index, role=Role.SUBCOMMAND, value=word)

    def _read_option(self, word: str) -> Iterator[Token]:
        option = self._table.find(word)
        if option is not None:
            return self._read_with_values(option)
        if not word.startswith("--"):
            return self._read_glued(word)
        return self._read_long(word)

    def _read_with_values(self, option: Option) -> Iterator[Token]:
        """An option in an element of its own, and the elements after it that are its values."""
        index = self._at
        self._at += 1
        count = self._count_values(option)
        values = self._args[self._at : self._at + count]
        name = option.names[0]
        yield Token(index=index, role=Role.OPTION, option=name, value=values[0] if values else None)
        for value in values:
            yield Token(index=self._at, role=Role.VALUE, option=name, value=value)
            self._at += 1

    def _count_values(self, option: Option) -> int:
        if option.takes is Takes.NOTHING or self._at >= len(self._args):
            return 0
        if option.takes is Takes.OPTIONAL or not self._table.value_may_be_option:
            first_fits = not looks_like_option(self._args[self._at])
        else:
            first_fits = True
        if not first_fits or option.takes is not Takes.MANY:
            return int(first_fits)
        count = 1
        for word in self._args[self._at + 1 :]:
            if looks_like_option(word):
                break
            count += 1
        return count

    def _read_glued(self, word: str) -> Iterator[Token]:
        """`-oVALUE`, or several short options in one element, of which only the last may have a value."""
        index, rest = self._at, word[1:]
        while rest:
            option = self._table.find("-" + rest[0])
            if option is None:
                self._at += 1
                yield Token(index=index, role=Role.OPTION, option="-" + rest, is_known=False)
                return
            rest = rest[1:]
            if not rest:
                yield from self._read_with_values(option)
                return
            if option.takes is not Takes.NOTHING:
                self._at += 1
                yield Token(index=index, role=Role.OPTION, option=option.names[0], value=self._unglue(rest))
                return
            yield Token(index=index, role=Role.OPTION, option=option.names[0])

    def _unglue(self, rest: str) -> str:
        return rest[1:] if self._table.glued_equals and rest.startswith("=") else rest

    def _read_long(self, word: str) -> Iterator[Token]:
        """`--option=VALUE`, or an option that the table does not know."""
        index = self._at
        self._at += 1
        name, equals, value = word.partition("=")
        option = self._table.find(name) if equals and self._table.joins_values else None
        if option is None or option.takes is Takes.NOTHING:
            yield Token(index=index, role=Role.OPTION, option=word, is_known=False)
        else:
            yield Token(index=index, role=Role.OPTION, option=option.names[0], value=value)
