"""Failover on request (`--then`): a run that ended at a usage limit is followed by the next harness of the user's list.

That it did is known from the record that the harness itself writes (`Store.find_usage_limit`). The list is gone through
once at most. Each further run is a managed run like any other: the same line, its own session, the history as a packet.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from rigline.errors import HarnessNotExecutable, HarnessNotFound, Interrupted, LeaseHeld, RiglineError, UsageError
from rigline.harness import find_name, get_harness
from rigline.harness.base import Harness
from rigline.launch.child import Ended
from rigline.launch.console import Console
from rigline.launch.options import RunOptions
from rigline.launch.session import Place
from rigline.launch.target import Target, read_target, unknown_harness
from rigline.readable import clean, clip, flatten

#: what an agent is asked that goes on for one which was not interactive: its own prompt is in the history
PROMPT = "Go on where this line of work stopped."
_WORDS_CHARS = 300


def read_then(options: RunOptions) -> RunOptions:
    """The options with the words of `--then` checked: each names a harness, none twice. They stay as typed, since a
    word may name the program too.

    Raises `UnknownHarness`, or `UsageError` for a list that is no list and for `--yes` with nothing to answer.
    """
    if options.yes and not options.then:
        raise UsageError(
            "--yes answers the question that --then brings at a usage limit; without --then nothing is asked. Leave it "
            "out, or name the agents to go on with: --then codex,pi."
        )
    words = tuple(word.strip() for word in options.then)
    names = [get_name(word) for word in words]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--then names {twice} twice. Each agent is tried once; leave one of them out.", harness=twice)
    return replace(options, then=words)


def get_name(word: str) -> str:
    """The harness that a word of the list names; raises `UnknownHarness`, or `UsageError` for no word."""
    if not word:
        raise UsageError("--then wants harnesses with commas between them, such as --then codex,pi.")
    name = find_name(word)
    if name is None:
        raise unknown_harness(word)
    return name


def check_first(target: Target) -> None:
    """Refuse a list that has the harness itself in it: its limit would be the same."""
    if target.harness.name in map(get_name, target.options.then):
        raise UsageError(
            f"--then says with which agents to go on when {target.harness.label} is at its limit; it cannot be "
            f"{target.harness.label} itself. Leave it out of the list.",
            harness=target.harness.name,
        )


def follow(ended: Ended, place: Place, console: Console, start: Callable[[Target, str], Ended]) -> int:
    """Go on with the list for as long as runs end at a usage limit; returns the last child's exit code.

    `start` runs a target on the workstream with that id. Nothing is raised: an agent has run already.
    """
    waiting = list(ended.target.options.then)
    while ended.limit is not None:
        target = _find_next(waiting, ended, place, console)
        if target is None:
            console.say(f"{describe_limit(ended)} Nobody is left of --then to go on with.")
            break
        if not _may_switch(ended, target, console):
            break
        console.say(describe_switch(ended, target))
        try:
            ended = start(target, ended.workstream_id)
        except Interrupted:
            break
        except LeaseHeld as error:
            console.say(str(error))
            break
        except RiglineError as error:
            console.say(f"{target.harness.label} is passed over: {error}")
    return ended.code


def _find_next(waiting: list[str], ended: Ended, place: Place, console: Console) -> Target | None:
    """The next of the list that can be started; those that cannot are told."""
    while waiting:
        word = waiting.pop(0)
        harness = get_harness(get_name(word))
        if _has_no_way(harness, ended, console):
            console.say(f"{harness.label} is passed over: it cannot be asked anything without a terminal.")
            continue
        try:
            return build_next(word, harness, ended, place)
        except (HarnessNotFound, HarnessNotExecutable) as error:
            console.say(f"{harness.label} is passed over: {error}")
    return None


def _has_no_way(harness: Harness, ended: Ended, console: Console) -> bool:
    return not (ended.target.classification.interactive or harness.headless or console.is_interactive)


def build_next(word: str, harness: Harness, ended: Ended, place: Place) -> Target:
    """What is started next. Of the former one's options those stay that say how, not what: `--yolo`, `--env`, `--json`.

    Raises `HarnessNotFound` or `HarnessNotExecutable`.
    """
    is_headless = not ended.target.classification.interactive and harness.headless
    options = replace(
        ended.target.options,
        harness=word,
        args=(*harness.headless, PROMPT) if is_headless else (),
        is_raw=True,
        fresh=False,
        new=None,
        executable=None,
    )
    return read_target(options, place.env, place.settings)


def _may_switch(ended: Ended, target: Target, console: Console) -> bool:
    """Whether the person wants it, by `--yes` or when asked. Where nobody can be asked it is only said how."""
    words, label = describe_limit(ended), target.harness.label
    if ended.target.options.yes:
        console.say(words)
        return True
    if not console.is_interactive:
        console.say(f"{words} `rigline run {target.harness.name}` continues this line; --yes does so by itself.")
        return False
    try:
        answer = console.ask(f"{words}\nContinue this line with {label}? [Y/n] ")
    except KeyboardInterrupt:
        console.write("\n")
        return False
    return answer is not None and answer.lower() in ("", "y", "yes")


def describe_limit(ended: Ended) -> str:
    """What the vendor says, in its own words."""
    words = clip(flatten(clean(ended.limit or "")), _WORDS_CHARS)
    return f"{ended.target.harness.label} says: '{words}'."


def describe_switch(ended: Ended, target: Target) -> str:
    """What happens now, and what does not."""
    former, label = ended.target, target.harness.label
    asked = f", with the words '{PROMPT.rstrip('.')}'" if target.args else ""
    left_out = ""
    if former.args:
        left_out = f" What was on {former.harness.label}'s command line is not given to it."
    return f"going on with {label}{asked}.{left_out}"
