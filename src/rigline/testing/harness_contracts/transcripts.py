"""How sessions are read: whole, once, bounded, whatever befell their files."""

from __future__ import annotations

import tracemalloc
from collections import Counter

from rigline.testing.harness_contracts.case import (
    HarnessCase,
    Reading,
    append_bytes,
    choose_cuts,
    expect,
    open_copy,
    read_bytes,
    read_tree,
    write_bytes,
)

MAX_EVENTS = 400
MAX_TEXT_BYTES = 1 << 20
#: a single line as long as the longest that was reported, and what reading it may take
BIG_LINE_BYTES = 12_000_000
BIG_LINE_MEMORY_BYTES = 110_000_000
NOISE = (b"\n\x00\x00\x00\n", b'{"type":"user","message":{"ro\n', b"\xff\xfe not text\n", b"[1, 2]\n", b"\r\n", b"}{\n")


def a_session_read_in_two_goes_is_the_session_read_in_one(case: HarnessCase) -> None:
    """Whatever part of the file is there the first time, a torn record at its end included."""
    with open_copy(case) as (store, sessions):
        for info in sessions:
            whole = read_bytes(info.path)
            expected = Reading(store.read(info, None))
            for length in choose_cuts(whole):
                write_bytes(info.path, whole[:length])
                first = Reading(store.read(info, None))
                write_bytes(info.path, whole)
                first.add(store.read(info, first.cursor))
                first.expect(expected, f"{info.native_id} read up to byte {length}, then on")


def a_session_read_again_gives_nothing_new(case: HarnessCase) -> None:
    """From its end nothing, from its beginning the same, and from a cursor that was never its own everything."""
    store = case.open()
    for info in store.iter_sessions():
        once = Reading(store.read(info, None))
        again = Reading(store.read(info, once.cursor))
        expect(not again.events and not again.losses, f"{info.native_id}: read from its end, something came again")
        for cursor in (None, "", "no cursor", '{"offset":7}'):
            Reading(store.read(info, cursor)).expect(once, f"{info.native_id} read with the cursor {cursor!r}")


def a_rewritten_file_is_read_from_its_beginning(case: HarnessCase) -> None:
    """One that became shorter, or another one under the same name. Identities stay, so nothing doubles."""
    with open_copy(case) as (store, sessions):
        for info in sessions:
            whole = read_bytes(info.path)
            cursor = Reading(store.read(info, None)).cursor
            lines = whole.splitlines(keepends=True)
            write_bytes(info.path, b"".join(lines[:-1]))
            shorter = Reading(store.read(info, None))
            Reading(store.read(info, cursor)).expect(shorter, f"{info.native_id} without its last line")


def windows_are_bounded_and_end_with_a_cursor(case: HarnessCase) -> None:
    """At most 400 events and 1 MiB of text, but for an event that is larger by itself; only the last is at the end."""
    with open_copy(case) as (store, sessions):
        info = sessions[0]
        line = case.make_tool_output("x" * 200_000)
        append_bytes(info.path, b"".join(line for _ in range(20)))
        append_bytes(info.path, case.make_tool_output("y") * (2 * MAX_EVENTS))
        windows = list(store.read(info, None))
        expect(len(windows) > 3, "everything came in one window")
        for window in windows:
            size = sum(len(event.text.encode()) for event in window.events)
            expect(len(window.events) <= MAX_EVENTS, f"a window of {len(window.events)} events")
            expect(size <= MAX_TEXT_BYTES or len(window.events) == 1, f"a window of {size} bytes of text")
            expect(bool(window.cursor), "a window without a cursor")
        expect([w.at_end for w in windows] == [False] * (len(windows) - 1) + [True], "at_end is not the last one's")


def a_line_of_12_mb_takes_little_memory(case: HarnessCase) -> None:
    """It is read, or counted as left out, within a bound."""
    with open_copy(case) as (store, sessions):
        info = sessions[0]
        expected = Reading(store.read(info, None))
        append_bytes(info.path, case.make_tool_output("z" * BIG_LINE_BYTES))
        tracemalloc.start()
        try:
            texts = sum(len(event.text) for window in store.read(info, expected.cursor) for event in window.events)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        expect(peak <= BIG_LINE_MEMORY_BYTES, f"it took {peak / 1e6:.0f} MB")
        losses = Reading(store.read(info, expected.cursor)).losses
        expect(texts >= BIG_LINE_BYTES or bool(losses), "it was lost without a word")


def damage_costs_only_what_is_damaged(case: HarnessCase) -> None:
    """Rubbish between the records is counted, and every record is still read."""
    with open_copy(case) as (store, sessions):
        for info in sessions:
            whole = read_bytes(info.path)
            expected = Reading(store.read(info, None))
            lines = whole.splitlines(keepends=True)
            noisy = [line + NOISE[place % len(NOISE)] for place, line in enumerate(lines)]
            write_bytes(info.path, b"".join(noisy))
            found = Reading(store.read(info, None))
            write_bytes(info.path, whole)
            expect(found.words == expected.words, f"{info.native_id}: records were lost beside the damage")
            expect(sum(found.losses.values()) > sum(expected.losses.values()), f"{info.native_id}: uncounted damage")


def events_have_identities(case: HarnessCase) -> None:
    """Unique within a session, with a key that tells copies, and named by the session that was asked for."""
    store = case.open()
    for info in store.iter_sessions():
        events = Reading(store.read(info, None)).events
        keys = Counter((event.record, event.block, event.kind) for event in events)
        expect(all(count == 1 for count in keys.values()), f"{info.native_id}: one identity twice")
        for event in events:
            expect(event.harness == case.harness.name and event.native_id == info.native_id, f"misnamed: {event}")
            expect(bool(event.record and event.copy_key), f"without identity: {event}")


def nothing_hidden_is_read(case: HarnessCase) -> None:
    """No canary in any text, title, prompt, link or packet."""
    expect(any(canary.encode() in read_tree(case.folder) for canary in case.canaries), "no canary in the store")
    store = case.open()
    for info in store.iter_sessions():
        told = [repr(info), *(repr(window) for window in store.read(info, None))]
        for canary in case.canaries:
            expect(not any(canary in text for text in told), f"{info.native_id}: {canary} was read")


CONTRACTS = (
    a_session_read_in_two_goes_is_the_session_read_in_one,
    a_session_read_again_gives_nothing_new,
    a_rewritten_file_is_read_from_its_beginning,
    windows_are_bounded_and_end_with_a_cursor,
    a_line_of_12_mb_takes_little_memory,
    damage_costs_only_what_is_damaged,
    events_have_identities,
    nothing_hidden_is_read,
)
