"""How a command line is read and planned, whatever it says.

    check_command_line(harness, args)

is the whole of it for one native command line, and needs no store: property tests call it with any words.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from rigline.harness.base import Classification, Harness, HookDefinition, LaunchRequest, Mode, NativePlan
from rigline.testing.harness_contracts.case import HarnessCase, expect

PRIVATE_DIR = "/private/run"
HOOKS = HookDefinition(commands=("hook-command-1", "hook-command-2"))
PACKET = ("[rigline packet 0123456789abcdefghijklmnop part 1/1]\nWORDS-OF-THE-PACKET\n",)
PACKET_WORD = "WORDS-OF-THE-PACKET"
SESSION_CWD = "/where/the session/was"
SOME_ID = "ffffffff-ffff-4fff-8fff-fffffffffff0"


def every_command_line_is_planned_without_a_loss(case: HarnessCase) -> None:
    """All words of the user, in order, whatever is added; and what passes through is not touched at all."""
    for args in case.command_lines:
        check_command_line(case.harness, args, resume_id=case.unknown_id, settings=case.settings)


def check_command_line(
    harness: Harness,
    args: tuple[str, ...],
    *,
    resume_id: str = SOME_ID,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Check every launch of a native command line: with and without hooks, packet, session, `--yolo` and settings.

    `resume_id` is an id as the harness's sessions have them, `settings` such as `read_settings` finds. Raises
    AssertionError.
    """
    classification = harness.classify(args)
    expect(classification == harness.classify(args), f"{args} is classified in two ways")
    _check_options(harness, args)
    _check_selector(args, classification)
    for request in build_requests(harness, args, classification, resume_id, dict(settings or {})):
        plan = harness.plan(request)
        expect(plan == harness.plan(request), f"{args} is planned in two ways")
        check_plan(request, plan)
        if classification.mode is Mode.SESSION:
            _check_still_the_same(harness, request, plan)


def build_requests(
    harness: Harness,
    args: tuple[str, ...],
    classification: Classification,
    resume_id: str,
    settings: dict[str, str],
) -> Iterator[LaunchRequest]:
    """The launches of a command line, as `rigline run` asks for them."""
    plain = LaunchRequest(args=args, classification=classification, private_dir=PRIVATE_DIR)
    sessions = _list_sessions(classification, harness.new_native_id(), resume_id)
    hooks, packets = (None, HOOKS), ((), PACKET)
    found = [settings] if not settings else [{}, settings]
    for session, hook, packet, yolo, each in itertools.product(sessions, hooks, packets, (False, True), found):
        yield structs.replace(plain, hooks=hook, packet=packet, yolo=yolo, settings=each, **session)


def _list_sessions(classification: Classification, fresh_id: str | None, resume_id: str) -> list[dict[str, str | None]]:
    """The sessions that a launch may be about: none that is known, a fresh one, an older one, a fork of it."""
    selector = classification.selector
    if classification.mode is Mode.PASSTHROUGH:
        return [{}]
    if selector is None:
        fork_id = fresh_id if classification.forks else None
        older = {"resume_id": resume_id, "fresh_id": fork_id}
        return [{}, {"fresh_id": fresh_id}, older, {**older, "session_cwd": SESSION_CWD}]
    fork_id = fresh_id if selector.forks and selector.chosen_id is None else None
    return [{}, {"fresh_id": fork_id}, {"fresh_id": fork_id, "session_cwd": SESSION_CWD}]


def check_plan(request: LaunchRequest, plan: NativePlan) -> None:
    """What holds of every plan, by itself."""
    what = f"{request.args} became {plan.args}"
    expect(_is_kept(request.args, plan.args), f"the user's words are changed: {what}")
    if request.classification.mode is Mode.PASSTHROUGH:
        expect(plan.args == request.args, f"what passes through is changed: {what}")
        expect(not plan.files and not plan.variables and not plan.has_hooks and not plan.shows_packet, what)
        return
    for name in plan.files:
        is_below = bool(name) and not os.path.isabs(name) and os.path.normpath(name) == name and name[:2] != ".."
        expect(is_below, f"{name!r} is no file below the private folder")
    for word in (*plan.args, *plan.variables, *plan.variables.values(), *plan.files):
        expect("\0" not in word, f"a NUL in {word!r}")
    _check_secrecy(request, plan)
    _check_delivery(request, plan)
    _check_expected(request, plan)


def _check_expected(request: LaunchRequest, plan: NativePlan) -> None:
    """The session that is asked for, or, for a fork whose id the program chooses, one that has to be observed."""
    forks = request.classification.forks or _forks_chosen(request)
    if request.fresh_id is not None:
        allowed = (None, request.fresh_id) if forks else (request.fresh_id,)
        expect(plan.expected_id in allowed, f"{request.fresh_id} is to begin, expected is {plan.expected_id}")
    elif request.resume_id is not None and not forks:
        expect(plan.expected_id in (None, request.resume_id), f"expected is {plan.expected_id}")


def _forks_chosen(request: LaunchRequest) -> bool:
    return request.classification.selector is not None and request.classification.selector.forks


def _is_kept(args: Sequence[str], planned: Sequence[str]) -> bool:
    """Whether all words are there, in order."""
    left = iter(planned)
    return all(word in left for word in args)


def _check_secrecy(request: LaunchRequest, plan: NativePlan) -> None:
    """Other users of the machine can read a command line: nothing of a packet or of the user's settings is on it."""
    added = " ".join(_find_added(request.args, plan.args))
    expect(PACKET_WORD not in added, f"the packet is on the command line: {added}")
    for name, value in request.settings.items():
        expect(len(value) < 8 or value not in added, f"the user's setting {name} is on the command line: {added}")


def _find_added(args: Sequence[str], planned: Sequence[str]) -> list[str]:
    """The words that are not the user's."""
    left = list(args)
    added = []
    for word in planned:
        if left and word == left[0]:
            left.pop(0)
        else:
            added.append(word)
    return added


def _check_delivery(request: LaunchRequest, plan: NativePlan) -> None:
    """A plan that says that it has the hooks, or shows the packet that there is, has all of it in it."""
    expect(not plan.has_hooks or request.hooks is not None, f"{request.args}: hooks that were not given")
    content = "\n".join((*plan.args, *plan.variables.values(), *plan.files.values()))
    for command in request.hooks.commands if request.hooks is not None and plan.has_hooks else ():
        expect(command in content, f"{request.args}: has hooks, but not {command}")
    is_shown = not plan.shows_packet or not request.packet or PACKET_WORD in content
    expect(is_shown, f"{request.args}: the packet is nowhere in the plan")
    is_without = request.classification.skips_hooks and plan.has_hooks
    expect(not is_without, f"{request.args} skips hooks, and the plan counts on them")


def _check_options(harness: Harness, args: tuple[str, ...]) -> None:
    """Options are elements of the command line that begin with a dash."""
    for place in harness.find_options(args):
        expect(0 <= place < len(args) and args[place].startswith("-"), f"{args}: {place} is taken for an option")


def _check_selector(args: tuple[str, ...], classification: Classification) -> None:
    selector = classification.selector
    if selector is not None:
        expect(classification.mode is Mode.SESSION, f"{args} passes through and chooses a session")
        expect(bool(selector.words) and _is_kept(selector.words, args), f"{args}: chosen by {selector.words}")
        expect(selector.chosen_id is None or selector.forks, f"{args}: a chosen id without a fork")


def _check_still_the_same(harness: Harness, request: LaunchRequest, plan: NativePlan) -> None:
    """The program, which reads the planned words as one command line, takes them for what the user meant."""
    before, after = request.classification, harness.classify(plan.args)
    what = f"{request.args} became {plan.args}, which is"
    expect(after.mode is before.mode and after.interactive is before.interactive, f"{what} {after.mode}")
    expect(after.skips_persistence is before.skips_persistence, f"{what} kept otherwise")
    if before.selector is not None:
        chosen = after.selector
        expect(chosen is not None and _is_kept(before.selector.words, chosen.words), f"{what} chosen by {chosen}")
        expect(chosen is not None and chosen.native_id == before.selector.native_id, f"{what} {chosen}")


CONTRACTS = (every_command_line_is_planned_without_a_loss,)
