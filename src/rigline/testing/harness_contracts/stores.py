"""How sessions are found: those of the very directory, without changing anything."""

from __future__ import annotations

import os
import tempfile

from rigline.model import Presence
from rigline.testing.harness_contracts.case import (
    HarnessCase,
    expect,
    fingerprint,
    list_ids,
    open_copy,
    write_bytes,
)


def a_store_is_only_read(case: HarnessCase) -> None:
    """Not a byte, not a file, not a time of change differs after every method was used."""
    before = fingerprint(case.folder)
    store = case.open()
    for info in store.iter_sessions():
        for _ in store.read(info, None):
            pass
        store.look_up(info.native_id, case.cwd)
        store.find_live(info.native_id)
        store.related(info)
    store.list_sessions(case.cwd, 100)
    store.find_started(0, case.cwd, os.getpid())
    expect(fingerprint(case.folder) == before, "the store has changed")


def sessions_belong_to_the_very_directory(case: HarnessCase) -> None:
    """However it is written, but to no other: not to a neighbour, a parent, a child, or one spelt alike."""
    store = case.open()
    own = list_ids(store, case.cwd)
    expect(bool(own), f"no session in {case.cwd}")
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "link")
        os.symlink(case.cwd, link)
        for same in (case.cwd + os.sep, link, os.path.join(case.cwd, os.curdir)):
            expect(list_ids(store, same) == own, f"other sessions in {same}")
    others = [case.cwd + "x", case.cwd[:-1], os.path.dirname(case.cwd), os.path.join(case.cwd, "below"), os.sep]
    swapped = os.path.join(os.path.dirname(case.cwd), os.path.basename(case.cwd).swapcase())
    if not os.path.exists(swapped):
        others.append(swapped)
    for other in others:
        expect(not list_ids(store, other), f"sessions of {case.cwd} in {other}")


def lists_are_short_new_first_and_without_subagents(case: HarnessCase) -> None:
    """Main sessions only, each once, and no more than asked for."""
    store = case.open()
    listed = store.list_sessions(case.cwd, 100)
    times = [info.updated_ms for info in listed]
    expect(times == sorted(times, reverse=True), "not the newest first")
    expect(len({info.native_id for info in listed}) == len(listed), "one session twice")
    expect(not any(info.is_subagent for info in listed), "a subagent among the main sessions")
    expect(store.list_sessions(case.cwd, 1) == listed[:1] and not store.list_sessions(case.cwd, 0), "the limit")


def missing_unreadable_and_existing_are_three_answers(case: HarnessCase) -> None:
    """An absent store is empty, an emptied transcript unreadable, and neither is taken for the other."""
    with open_copy(case) as (store, sessions):
        main = next(info for info in sessions if not info.is_subagent and not info.is_archived)
        expect(store.look_up(main.native_id, case.cwd).presence is Presence.EXISTS, "an existing one is not found")
        expect(store.look_up(case.unknown_id, case.cwd).presence is Presence.MISSING, "an unknown one is not missing")
        write_bytes(main.path, b"")
        expect(store.look_up(main.native_id, case.cwd).presence is Presence.UNREADABLE, "an emptied one is readable")
    with tempfile.TemporaryDirectory() as folder:
        nowhere = case.open(os.path.join(folder, "nowhere"))
        expect(nowhere.look_up(case.unknown_id, case.cwd).presence is Presence.MISSING, "in no store it is not missing")
        expect(not nowhere.list_sessions(None, 10) and not list(nowhere.iter_sessions()), "no store has sessions")


def subagents_are_linked_and_never_resumable(case: HarnessCase) -> None:
    """Each names its parent, and is told from a session that one may go on with."""
    store = case.open()
    for info in store.iter_sessions():
        if info.is_subagent:
            expect(info.parent is not None and info.parent.child_id == info.native_id, f"no parent: {info}")
            expect(not store.look_up(info.native_id, case.cwd).resumable, f"{info.native_id} would be resumed")


CONTRACTS = (
    a_store_is_only_read,
    sessions_belong_to_the_very_directory,
    lists_are_short_new_first_and_without_subagents,
    missing_unreadable_and_existing_are_three_answers,
    subagents_are_linked_and_never_resumable,
)
