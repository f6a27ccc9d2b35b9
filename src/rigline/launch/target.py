"""The harness, its program and the native arguments of a run: all that can be refused before any lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rigline import process
from rigline.config import Settings
from rigline.errors import NothingToContinue, RiglineError, UnknownHarness, UnknownWorkstream, UsageError
from rigline.harness import HARNESSES, find_name, find_program, get_executable, get_harness, list_names, list_words
from rigline.harness.base import Classification, Harness
from rigline.launch.choose import HarnessChoice, check_request, choose_harness
from rigline.launch.environment import read_env_file
from rigline.launch.options import RunOptions, strip_wrapper_words
from rigline.ledger.base import Ledger
from rigline.model import Scope, SessionInfo, Workstream


class Target(Struct, frozen=True, kw_only=True):
    """What is to be started. `given` are the user's K=V pairs, `adopt` a session that a bare run takes over."""

    harness: Harness
    executable: str
    args: tuple[str, ...]
    classification: Classification
    options: RunOptions
    given: tuple[str, ...] = ()
    adopt: SessionInfo | None = None
    reason: str = "named on the command line"


def read_target(options: RunOptions, env: Mapping[str, str], settings: Settings) -> Target:
    """The target that the command line names; raises `UnknownHarness`, `HarnessNotFound`, `UsageError` and kin."""
    assert options.harness is not None
    name = find_name(options.harness)
    if name is None:
        raise unknown_harness(options.harness)
    harness = find_variant(name, options.args)
    options = strip_wrapper_words(options, harness.find_options(options.args))
    classification = harness.classify(options.args)
    check_request(classification, fresh=options.fresh, new=options.new is not None)
    given = read_given(options)
    program = find_program(options.harness) if options.harness is not None else None
    return Target(
        harness=harness,
        executable=find_executable(harness, options.executable or program, env, given, settings),
        args=options.args,
        classification=classification,
        options=options,
        given=given,
    )


def find_variant(name: str, args: tuple[str, ...]) -> Harness:
    """The harness of that name, or the one that shares its program and that the arguments start in its place."""
    harness = get_harness(name)
    variant = harness.find_variant(args)
    return harness if variant == name else get_harness(variant)


def choose_target(
    options: RunOptions, env: Mapping[str, str], settings: Settings, scope: Scope, ledger: Ledger
) -> Target:
    """The target of a bare `rigline run`; raises `NothingToContinue` and says what to type."""
    if options.executable is not None:
        raise UsageError("--executable names a program, but not which harness it is. Give the harness as well.")
    given = read_given(options)
    child_env = {**env, **dict(pair.split("=", 1) for pair in given)}
    choice = _choose(find_line(options, scope, ledger), child_env, settings, scope.cwd)
    harness = get_harness(choice.harness)
    return Target(
        harness=harness,
        executable=find_executable(harness, None, env, given, settings),
        args=(),
        classification=harness.classify(()),
        options=options,
        given=given,
        adopt=None if options.fresh or options.new else choice.adopt,
        reason=choice.reason,
    )


def _choose(workstream: Workstream | None, env: Mapping[str, str], settings: Settings, cwd: str) -> HarnessChoice:
    """Among the built-in harnesses; third parties' are asked where the line is bound to one, or nothing else fits."""
    bound = {binding.harness for binding in workstream.bindings} if workstream is not None else set()
    if bound <= HARNESSES.keys():
        try:
            return _choose_among(list(HARNESSES), workstream, env, settings, cwd)
        except NothingToContinue:
            pass
    return _choose_among(list_names(), workstream, env, settings, cwd)


def _choose_among(
    names: Sequence[str], workstream: Workstream | None, env: Mapping[str, str], settings: Settings, cwd: str
) -> HarnessChoice:
    """Stores are looked at only where the line itself does not tell: that loads every adapter."""
    available = {name for name in names if _is_installed(name, env, settings)}
    bindings = workstream.bindings if workstream is not None else ()
    is_told = any(binding.is_current and binding.harness in available for binding in bindings)
    return choose_harness(workstream, available, [] if is_told else _list_local(names, env, cwd), cwd)


def find_line(options: RunOptions, scope: Scope, ledger: Ledger) -> Workstream | None:
    """The workstream that a run would work on, None where it would be a new one; raises `UnknownWorkstream`."""
    if options.new is not None:
        return None
    found = ledger.find_workstream(scope, options.workstream)
    if found is None and options.workstream is not None:
        known = [line.name for line in ledger.list_workstreams(scope)]
        raise UnknownWorkstream(
            f"This checkout has no workstream {options.workstream!r}. It has: {', '.join(known) or 'none yet'}. "
            f"`--new {options.workstream}` makes it.",
            workstream=options.workstream,
            known=known,
        )
    return found


def read_given(options: RunOptions) -> tuple[str, ...]:
    """The K=V pairs for the child: the file's first, `--env` over them."""
    from_file = read_env_file(options.env_file) if options.env_file else []
    for pair in options.env:
        if not pair.partition("=")[0] or "=" not in pair:
            raise UsageError(f"--env: {pair!r} is not NAME=VALUE.")
    return (*from_file, *options.env)


def find_executable(
    harness: Harness,
    named: str | None,
    env: Mapping[str, str],
    given: Sequence[str],
    settings: Settings,
) -> str:
    """The program's path: `--executable`, else the user's setting, else the harness's own name, on the child's PATH."""
    word = named or _find_word(harness.name, settings)
    return process.find_executable(word, {**env, **dict(pair.split("=", 1) for pair in given)})


def unknown_harness(word: str) -> UnknownHarness:
    """The refusal, with the nearest name."""
    import difflib

    words = list_words()
    near = difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownHarness(
        f"There is no harness {word!r}.{hint} Known: {', '.join(sorted(words))}.",
        word=word,
        known=sorted(set(words.values())),
    )


def _find_word(name: str, settings: Settings) -> str:
    configured = settings.executables.get(name)
    return configured.value if configured else get_executable(name)


def _is_installed(name: str, env: Mapping[str, str], settings: Settings) -> bool:
    """Whether the harness's program is here. No built-in adapter is loaded for it."""
    try:
        process.find_executable(_find_word(name, settings), env)
    except RiglineError:
        return False
    return True


def _list_local(names: Sequence[str], env: Mapping[str, str], cwd: str) -> list[SessionInfo]:
    return [info for name in names for info in get_harness(name).open_store(env).list_sessions(cwd, limit=1)]
