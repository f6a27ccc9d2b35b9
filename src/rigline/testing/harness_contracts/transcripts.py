"""How sessions are read: whole, once, bounded, whatever befell their files."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable

from rigline.model import Kind
from rigline.testing.golden import compare_goldens
from rigline.testing.harness_contracts.case import (
    Copy,
    Form,
    HarnessCase,
    expect,
    open_copy,
    read_bytes,
    read_tree,
    walk,
    write_bytes,
)
from rigline.testing.harness_contracts.reading import Reading, expect_same, identify

MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a single line as long as the longest that was reported, and what reading it may take
BIG_LINE_BYTES = 12_000_000
BIG_LINE_MEMORY_BYTES = 110_000_000
#: a session that is long, and what reading it may take
LONG_SESSION = (4_000, 6_000)
LONG_SESSION_MEMORY_BYTES = 20_000_000


def a_session_read_in_two_goes_is_the_session_read_in_one(case: HarnessCase) -> None:
    """Whatever part of it is there the first time, a torn record at its end included."""
    with open_copy(case) as copy:
        for info in copy.sessions:
            expected = Reading(copy.store.read(info, None))
            *stages, whole = copy.list_stages(info)
            for number, stage in enumerate(stages, 1):
                stage()
                found = Reading(copy.store.read(info, None))
                whole()
                found.add(copy.store.read(info, found.cursor))
                expect_same(case, found, expected, f"{info.native_id} read up to stage {number}, then on")


def a_session_read_as_it_grows_is_the_session_read_in_one(case: HarnessCase) -> None:
    """Again and again, each time from where the last reading ended."""
    with open_copy(case) as copy:
        for info in copy.sessions:
            expected = Reading(copy.store.read(info, None))
            found = Reading(iter(()))
            for stage in copy.list_stages(info):
                stage()
                found.add(copy.store.read(info, found.cursor))
            expect_same(case, found, expected, f"{info.native_id} read as it grew")


def a_session_read_again_gives_nothing_new(case: HarnessCase) -> None:
    """From its end nothing, from its beginning the same, and from a cursor that was never its own everything."""
    store = case.open()
    for info in store.iter_sessions():
        once = Reading(store.read(info, None))
        again = Reading(store.read(info, once.cursor))
        expect(not again.events and not again.losses, f"{info.native_id}: read from its end, something came again")
        for cursor in (None, "", "no cursor", '{"offset":7}'):
            Reading(store.read(info, cursor)).expect(once, f"{info.native_id} read with the cursor {cursor!r}")


def a_shortened_session_is_read_from_its_beginning(case: HarnessCase) -> None:
    """One that lost its end, or another one under the same name. Identities stay, so nothing doubles."""
    with open_copy(case) as copy:
        for info in copy.sessions:
            shorten, restore = copy.list_shorter(info)
            before = Reading(copy.store.read(info, None))
            shorten()
            expected = Reading(copy.store.read(info, None))
            again = Reading(copy.store.read(info, before.cursor))
            restore()
            what = f"{info.native_id} without its end"
            if case.form is Form.APPENDED:
                again.expect(expected, what)
                continue
            told = {**before.final, **again.final}
            expect(all(event == told.get(key) for key, event in expected.final.items()), f"{what}: something is lost")
            expect(again.final.items() <= expected.final.items(), f"{what}: something was told that is not there")


def windows_are_bounded_and_end_with_a_cursor(case: HarnessCase) -> None:
    """At most 400 events and 1 MiB of text, but for an event that is larger by itself; only the last is at the end."""
    with open_copy(case) as copy:
        info = copy.sessions[0]
        copy.grow(info, ["x" * 200_000] * 20)
        copy.grow(info, ["y"] * (2 * MAX_EVENTS))
        windows = list(copy.store.read(info, None))
        expect(len(windows) > 3, "everything came in one window")
        for window in windows:
            size = sum(len(event.text.encode()) for event in window.events)
            expect(len(window.events) <= MAX_EVENTS, f"a window of {len(window.events)} events")
            expect(size <= MAX_TEXT_BYTES or len(window.events) == 1, f"a window of {size} bytes of text")
            expect(bool(window.cursor), "a window without a cursor")
        expect([w.at_end for w in windows] == [False] * (len(windows) - 1) + [True], "at_end is not the last one's")


def reading_goes_on_from_every_window(case: HarnessCase) -> None:
    """A crash after any window costs only what comes behind it."""
    with open_copy(case) as copy:
        info = copy.sessions[0]
        copy.grow(info, ["x" * 200_000] * 12)
        windows = list(copy.store.read(info, None))
        expected = Reading(iter(windows))
        for count in range(1, len(windows)):
            found = Reading(iter(windows[:count]))
            found.add(copy.store.read(info, found.cursor))
            expect_same(case, found, expected, f"{info.native_id} read on after {count} windows")


def a_line_of_12_mb_takes_little_memory(case: HarnessCase) -> None:
    """It is read, or counted as left out, within a bound."""
    with open_copy(case) as copy:
        info = copy.sessions[0]
        expected = Reading(copy.store.read(info, None))
        copy.grow(info, ["z" * BIG_LINE_BYTES])
        texts, peak = _measure(lambda: _sum_texts(copy, expected.cursor))
        expect(peak <= BIG_LINE_MEMORY_BYTES, f"it took {peak / 1e6:.0f} MB")
        losses = Reading(copy.store.read(info, expected.cursor)).losses
        expect(texts >= BIG_LINE_BYTES or bool(losses), "it was lost without a word")


def a_long_session_takes_little_memory(case: HarnessCase) -> None:
    """It is never held whole: 24 MB are read within 20."""
    count, size = LONG_SESSION
    with open_copy(case) as copy:
        copy.grow(copy.sessions[0], ["w" * size] * count)
        texts, peak = _measure(lambda: _sum_texts(copy, None))
        expect(texts >= count * size, f"only {texts} characters of {count * size} were read")
        expect(peak <= LONG_SESSION_MEMORY_BYTES, f"it took {peak / 1e6:.0f} MB")


def _sum_texts(copy: Copy, cursor: str | None) -> int:
    windows = copy.store.read(copy.sessions[0], cursor)
    return sum(len(event.text) for window in windows for event in window.events)


def _measure(work: Callable[[], int]) -> tuple[int, int]:
    """What some work gives, and the most memory that it held."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def damage_costs_only_what_is_damaged(case: HarnessCase) -> None:
    """Rubbish between the records is counted, and every record is still read."""
    with open_copy(case) as copy:
        for info in copy.sessions:
            *_, whole = copy.list_stages(info)
            expected = Reading(copy.store.read(info, None))
            copy.damage(info)
            found = Reading(copy.store.read(info, None))
            whole()
            expect(found.words == expected.words, f"{info.native_id}: records were lost beside the damage")
            expect(sum(found.losses.values()) > sum(expected.losses.values()), f"{info.native_id}: uncounted damage")


def half_a_character_pair_costs_no_record(case: HarnessCase) -> None:
    """It becomes U+FFFD, wherever a program cut a text between the two halves; the rest of the record is read."""
    stand_in, half = b"HALF-P", rb"\ud83d"
    with open_copy(case) as copy:
        info = next(info for info in copy.sessions if not info.is_subagent)
        expected = len(Reading(copy.store.read(info, None)).words)
        copy.grow(info, ["before HALF-P after"])
        for path in walk(copy.folder):
            if stand_in in (content := read_bytes(path)):
                write_bytes(path, content.replace(stand_in, half))
        texts = [text for _, text in Reading(case.open(copy.folder).read(info, None)).words]
        expect(any("before \ufffd after" in text for text in texts), f"{info.native_id}: the record is not read whole")
        expect(len(texts) > expected, f"{info.native_id}: other records were lost beside it")


def events_have_identities(case: HarnessCase) -> None:
    """Unique within a session, with a key that tells copies, and named by the session that was asked for."""
    store = case.open()
    for info in store.iter_sessions():
        events = Reading(store.read(info, None)).events
        keys = Counter(identify(event) for event in events)
        is_once = case.form is Form.REVISED or all(count == 1 for count in keys.values())
        expect(is_once, f"{info.native_id}: one identity twice")
        for event in events:
            expect(event.harness == case.harness.name and event.native_id == info.native_id, f"misnamed: {event}")
            expect(bool(event.record and event.copy_key), f"without identity: {event}")


def tool_results_name_their_calls(case: HarnessCase) -> None:
    """By the id that the call has: where a session tells of both, some belong together."""
    store = case.open()
    for info in store.iter_sessions():
        ids: dict[str, set[str]] = {Kind.TOOL_CALL: set(), Kind.TOOL_RESULT: set()}
        for event in Reading(store.read(info, None)).events:
            if event.kind in ids and event.call_id:
                ids[event.kind].add(event.call_id)
        calls, results = ids.values()
        expect(not calls or not results or bool(calls & results), f"{info.native_id}: no result names its call")


def nothing_hidden_is_read(case: HarnessCase) -> None:
    """No canary in any text, title, prompt, link or packet, wherever a session is told of."""
    content = read_tree(case.folder)
    for canary in case.canaries:
        expect(canary.encode() in content, f"{canary} stands nowhere in the store")
    expect(bool(case.canaries), "the case has no canary")
    store = case.open()
    for info in store.iter_sessions():
        lookup = store.look_up(info.native_id, case.cwd)
        told = [repr(info), repr(lookup), repr(store.related(info)), repr(store.find_usage_limit(info))]
        told += [repr(window) for window in store.read(info, None)]
        for canary in case.canaries:
            expect(not any(canary in text for text in told), f"{info.native_id}: {canary} was read")


def what_is_read_is_what_a_person_checked(case: HarnessCase) -> None:
    """Each session's events and losses are those of its golden text."""
    if case.goldens:
        compare_goldens(case.open(), case.goldens, case.cwd)


CONTRACTS = (
    a_session_read_in_two_goes_is_the_session_read_in_one,
    a_session_read_as_it_grows_is_the_session_read_in_one,
    a_session_read_again_gives_nothing_new,
    a_shortened_session_is_read_from_its_beginning,
    windows_are_bounded_and_end_with_a_cursor,
    reading_goes_on_from_every_window,
    a_line_of_12_mb_takes_little_memory,
    a_long_session_takes_little_memory,
    damage_costs_only_what_is_damaged,
    half_a_character_pair_costs_no_record,
    events_have_identities,
    tool_results_name_their_calls,
    nothing_hidden_is_read,
    what_is_read_is_what_a_person_checked,
)
