"""What the user asked of `rigline run`, and the wrapper's words among the native arguments. Pure."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

#: The words that are also understood after HARNESS.
TRAILING_WORDS = frozenset({"--fresh", "--yolo"})


class RunOptions(Struct, frozen=True, kw_only=True):
    """What the user asked of `rigline run`. `args` are native; `is_raw` says that `--` protects all of them.

    `then` are the harnesses to go on with at a usage limit, in order; with `yes` nobody is asked.
    """

    harness: str | None = None
    args: tuple[str, ...] = ()
    is_raw: bool = False
    fresh: bool = False
    yolo: bool = False
    new: str | None = None
    workstream: str | None = None
    workspace: str | None = None
    project: str | None = None
    executable: str | None = None
    env: tuple[str, ...] = ()
    env_file: str | None = None
    then: tuple[str, ...] = ()
    yes: bool = False
    dry_run: bool = False
    print_context: bool = False
    json: bool = False


def strip_wrapper_words(options: RunOptions, option_indexes: frozenset[int]) -> RunOptions:
    """Take `--fresh` and `--yolo` out of the native arguments, where the harness would see options in them."""
    if options.is_raw:
        return options
    found = [i for i, word in enumerate(options.args) if word in TRAILING_WORDS and i in option_indexes]
    if not found:
        return options
    words = {options.args[i] for i in found}
    return replace(
        options,
        args=tuple(word for i, word in enumerate(options.args) if i not in set(found)),
        fresh=options.fresh or "--fresh" in words,
        yolo=options.yolo or "--yolo" in words,
    )
