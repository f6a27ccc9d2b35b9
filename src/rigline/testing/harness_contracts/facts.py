"""What an adapter says of itself: complete, and in the form of the table that people read."""

from __future__ import annotations

import os
import re
import tempfile

from rigline.harness.base import Facts, Harness, HookEvent, Mode
from rigline.testing.harness_contracts.case import HarnessCase, expect

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)+\S*")
#: what every harness has; a fork, a live sign and the like there need not be
_NEEDED = ("store", "resume", "source")
_PHRASES = ("store", "resume", "chosen_id", "fork", "lineage", "live", "yolo", "injection", "source")
_LISTS = ("takes", "leaves_out", "cannot")


def an_adapter_tells_who_it_is(case: HarnessCase) -> None:
    """Its names, versions, limits and variables, and the facts for people."""
    check_identity(case.harness)
    check_facts(case.harness.facts)


def an_empty_machine_has_no_sessions(case: HarnessCase) -> None:
    """See `check_empty_store`."""
    check_empty_store(case.harness)


def help_and_version_pass_through(case: HarnessCase) -> None:
    """See `check_answers`."""
    check_answers(case.harness)


def check_identity(harness: Harness) -> None:
    """Names, versions, limits and variables; raises AssertionError."""
    expect(_NAME.fullmatch(harness.name) is not None, f"{harness.name!r} is no name: small letters, digits, dashes")
    expect(bool(harness.label.strip()), "it has no label")
    expect(bool(harness.executable) and os.sep not in harness.executable, f"{harness.executable!r} is no program")
    expect(harness.limits.part_chars >= 1000 and harness.limits.max_parts >= 1, f"{harness.limits} hold no packet")
    expect(harness.hook_event in tuple(HookEvent), f"{harness.hook_event!r} is no event")
    for version in harness.known_versions:
        expect(_VERSION.fullmatch(version) is not None, f"{version!r} is no version")
    was_seen = harness.facts.source.startswith("observed")
    expect(bool(harness.known_versions) or not was_seen, "it was observed, and knows no version")
    for name in (*harness.session_variables, *harness.store_variables):
        expect(_VARIABLE.fullmatch(name) is not None, f"{name!r} is no environment variable")
    both = set(harness.session_variables) & set(harness.store_variables)
    expect(not both, f"variables that move the store would be removed as a session's: {both}")


def check_facts(facts: Facts) -> None:
    """Short phrases, each where there is something to say; raises AssertionError."""
    for name in _NEEDED:
        expect(bool(getattr(facts, name).strip()), f"facts.{name} is empty")
    for name in ("takes", "leaves_out"):
        expect(bool(getattr(facts, name)), f"facts.{name} is empty")
    expect(bool(facts.injection or facts.cannot), "facts.injection is empty, and facts.cannot does not say so")
    phrases = [(name, getattr(facts, name)) for name in _PHRASES]
    phrases += [(name, phrase) for name in _LISTS for phrase in getattr(facts, name)]
    for name, phrase in phrases:
        expect(phrase == phrase.strip() and "\n" not in phrase, f"facts.{name}: {phrase!r} is not one line")
        expect(not phrase.endswith("."), f"facts.{name}: {phrase!r} is a phrase, not a sentence")
        expect(phrase.count("`") % 2 == 0, f"facts.{name}: {phrase!r} has an open backtick")
    for name in _LISTS:
        expect(all(getattr(facts, name)), f"facts.{name} has an empty phrase")


def check_answers(harness: Harness) -> None:
    """Help and version are the program's own business; raises AssertionError."""
    for args in (("--help",), ("--version",)):
        mode = harness.classify(args).mode
        expect(mode is Mode.PASSTHROUGH, f"{args} does not pass through")


def check_empty_store(harness: Harness) -> None:
    """Where nothing is, there are no sessions, and nothing is made; raises AssertionError.

    A blank variable that would move the store counts as unset.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = {"HOME": folder}
        store = harness.open_store(env)
        expect(not list(store.iter_sessions()) and not store.list_sessions(None, 10), "an empty home has sessions")
        expect(store.find_live("x") is None and not store.find_started(0, folder, None), "an empty home is at work")
        for blank in ("", " ", "\t"):
            blanked = harness.open_store({**env, **dict.fromkeys(harness.store_variables, blank)})
            expect(blanked.root == store.root, f"blank variables lead to {blanked.root}")
        for name in harness.store_variables:
            moved = harness.open_store({**env, name: os.path.join(folder, "elsewhere")})
            expect(not list(moved.iter_sessions()), f"{name} leads to sessions")
        expect(not os.listdir(folder), "looking for sessions made something")


CONTRACTS = (an_adapter_tells_who_it_is, an_empty_machine_has_no_sessions, help_and_version_pass_through)
