"""What a command line is for, read from a table: the rules that most harnesses share. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from rigline.harness.argv import OptionTable, Role, Token, find_value, has_option, tokenize
from rigline.harness.base import Classification, LaunchRequest, Mode, Selector

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(value: str) -> bool:
    """Whether a word is a UUID, as the ids of most harnesses are."""
    return _UUID.fullmatch(value) is not None


def is_any_id(value: str) -> bool:
    """Whether a word may be an id at all."""
    return bool(value) and not value.startswith("-") and "/" not in value


class SelectorRule(Struct, frozen=True):
    """An option (its leading name) that chooses a session.

    `is_id` says of its value whether it is the session's id; any other value, or none, leaves the id to the harness.
    `is_new` marks options that give a session that begins its id. `forks` marks those that fork what they name.
    """

    option: str
    is_id: Callable[[str], bool] | None = None
    is_new: bool = False
    forks: bool = False


class Grammar(Struct, frozen=True, kw_only=True):
    """A harness's command line, as far as a launch depends on it. All options by their leading names.

    `utilities` are subcommands, `answers` options that answer and end, `elsewhere` options whose session, if any, is
    none of this terminal and store (with the reason, to be read behind the option's name). `headless` options and
    `headless_words` subcommands take no terminal. `selectors` stand in the order in which the program heeds them, and
    `fork_options` turn what one of them chose into a fork. `unkept` options leave no transcript. `yolo` is the native
    option for "ask for nothing", which no option of `permissions` is ever widened by.
    """

    label: str
    table: OptionTable
    utilities: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ("--help", "--version")
    elsewhere: dict[str, str] = {}
    headless: tuple[str, ...] = ()
    headless_words: frozenset[str] = frozenset()
    selectors: tuple[SelectorRule, ...] = ()
    fork_options: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()
    without_hooks: tuple[str, ...] = ()
    yolo: str = ""
    permissions: tuple[str, ...] = ()

    def read(self, args: tuple[str, ...]) -> tuple[Token, ...]:
        """The command line by its table."""
        return tokenize(args, self.table)


def classify(grammar: Grammar, args: tuple[str, ...]) -> Classification:
    """See `Harness.classify`."""
    tokens = grammar.read(args)
    words = find_subcommands(tokens)
    is_headless = has_option(tokens, *grammar.headless) or any(word in grammar.headless_words for word in words[:1])
    reason = find_other_purpose(grammar, tokens, words)
    if reason:
        return Classification(mode=Mode.PASSTHROUGH, interactive=not is_headless, reason=reason)
    is_unkept = has_option(tokens, *grammar.unkept)
    return Classification(
        mode=Mode.SESSION,
        interactive=not is_headless,
        selector=find_selector(grammar, args, tokens),
        forks=has_option(tokens, *grammar.fork_options),
        skips_persistence=is_unkept,
        cannot_resume=is_unkept,
        skips_hooks=has_option(tokens, *grammar.without_hooks),
    )


def find_options(grammar: Grammar, args: tuple[str, ...]) -> frozenset[int]:
    """See `Harness.find_options`."""
    return frozenset(token.index for token in grammar.read(args) if token.role is Role.OPTION)


def find_subcommands(tokens: tuple[Token, ...]) -> list[str]:
    """The subcommands on a command line, in order."""
    return [token.value or "" for token in tokens if token.role is Role.SUBCOMMAND]


def find_other_purpose(grammar: Grammar, tokens: tuple[Token, ...], words: list[str]) -> str:
    """Why the command line starts no session of this terminal and store, or an empty string."""
    if has_option(tokens, *grammar.answers):
        return "it asks for help or the version"
    if words and words[0] in grammar.utilities:
        return f"`{words[0]}` is a utility command of {grammar.label}"
    given = [name for name in grammar.elsewhere if has_option(tokens, name)]
    return f"`{given[0]}` {grammar.elsewhere[given[0]]}" if given else ""


def find_selector(grammar: Grammar, args: tuple[str, ...], tokens: tuple[Token, ...]) -> Selector | None:
    """The user's choice of a session. An option that only forks chooses nothing by itself."""
    given = [rule for rule in grammar.selectors if has_option(tokens, rule.option)]
    chosen_id = next((value for rule in given if rule.is_new and (value := find_value(tokens, rule.option))), None)
    rule = next((rule for rule in given if not rule.is_new), None)
    if rule is None:
        name = next((rule.option for rule in given if rule.is_new), None)
        words = find_words(args, tokens, name) if name else ()
        return Selector(words=words, native_id=chosen_id, is_new=True) if chosen_id else None
    value = find_value(tokens, rule.option)
    forks = rule.forks or has_option(tokens, *grammar.fork_options)
    return Selector(
        words=find_words(args, tokens, rule.option),
        native_id=value if value and rule.is_id is not None and rule.is_id(value) else None,
        forks=forks,
        chosen_id=chosen_id if forks else None,
    )


def find_words(args: tuple[str, ...], tokens: tuple[Token, ...], option: str) -> tuple[str, ...]:
    """The elements of the command line that are an option or its values."""
    places = {token.index for token in tokens if token.option == option and token.role in (Role.OPTION, Role.VALUE)}
    return tuple(args[place] for place in sorted(places))


def find_expected_id(request: LaunchRequest) -> str | None:
    """The id of the session that will be written, where the command line fixes it."""
    if request.fresh_id:
        return request.fresh_id
    selector = request.classification.selector
    if selector is not None:
        return selector.chosen_id if selector.forks else selector.native_id
    return None if request.classification.forks else request.resume_id


def plan_yolo(grammar: Grammar, request: LaunchRequest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`--yolo` as the program's own option, or a note why it is left out. A narrower choice is never widened."""
    if not request.yolo:
        return (), ()
    if not grammar.yolo:
        return (), (f"--yolo has no effect: {grammar.label} has no option for it that is known to work.",)
    tokens = grammar.read(request.args)
    if has_option(tokens, grammar.yolo):
        return (), ()
    narrower = [name for name in grammar.permissions if has_option(tokens, name)]
    if narrower:
        return (), (f"--yolo has no effect: the command line says {narrower[0]}, which is kept as it is.",)
    return (grammar.yolo,), ()


def insert_after_subcommand(
    grammar: Grammar, args: tuple[str, ...], words: tuple[str, ...], subcommands: frozenset[str]
) -> tuple[str, ...]:
    """Put words right behind one of these subcommands (`run`), else at the front."""
    tokens = grammar.read(args)
    places = [token.index for token in tokens if token.role is Role.SUBCOMMAND and token.value in subcommands]
    place = places[0] + 1 if places else 0
    return (*args[:place], *words, *args[place:])
