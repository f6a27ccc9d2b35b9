"""How sessions are found: those of the very directory, without changing anything."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from rigline.errors import RiglineError
from rigline.harness.base import Store
from rigline.model import Presence
from rigline.testing.harness_contracts.case import (
    Copy,
    HarnessCase,
    expect,
    fingerprint,
    list_ids,
    open_copy,
    read_bytes,
    walk,
    write_bytes,
)


def a_store_is_only_read(case: HarnessCase) -> None:
    """Not a byte, not a file, not a time of change differs after every method was used; nothing is left beside it."""
    before = fingerprint(case.folder)
    store = case.open()
    for info in store.iter_sessions():
        for _ in store.read(info, None):
            pass
        store.find_in_file(info.path)
        store.look_up(info.native_id, case.cwd)
        store.find_live(info.native_id)
        store.find_usage_limit(info)
        store.related(info)
    store.look_up(case.unknown_id, case.cwd)
    store.list_sessions(case.cwd, 100)
    store.list_sessions(None, 100)
    store.find_started(0, case.cwd, os.getpid())
    after = fingerprint(case.folder)
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    expect(not changed, f"the store has changed: {', '.join(changed)}")


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
            expect({info.native_id for info in store.iter_sessions(same)} >= own, f"not all sessions in {same}")
    for other in list_others(case.cwd):
        expect(not list_ids(store, other), f"sessions of {case.cwd} in {other}")
        expect(not list(store.iter_sessions(other)), f"sessions of {case.cwd} in {other}")
        expect(not store.find_started(0, other, None), f"sessions of {case.cwd} were started in {other}")


def list_others(cwd: str) -> list[str]:
    """Directories that are not `cwd`, each such as a careless comparison takes for it."""
    parent, name = os.path.split(cwd)
    others = [cwd + "x", cwd[:-1], parent, os.path.join(cwd, "below"), os.sep, "", name]
    if not os.path.exists(os.path.join(parent, name.swapcase())):
        others.append(os.path.join(parent, name.swapcase()))
    # what harnesses make one folder's name of: /a-b/c and /a/b-c
    for place, character in enumerate(cwd[1:], 1):
        if character in "/-_. ":
            others += [cwd[:place] + each + cwd[place + 1 :] for each in "/-_" if each != character]
    return others


def a_renamed_checkout_has_no_sessions(case: HarnessCase) -> None:
    """Neither under its new name, nor has another folder under its old one's spelling; back again, it has them."""
    store = case.open()
    own = list_ids(store, case.cwd)
    with renamed(case.cwd) as renamed_to:
        expect(not list_ids(case.open(), renamed_to), f"sessions of {case.cwd}, which is gone, in {renamed_to}")
        for other in list_others(case.cwd):
            expect(not list_ids(case.open(), other), f"sessions of {case.cwd}, which is gone, in {other}")
    expect(list_ids(store, case.cwd) == own, "other sessions after the checkout was renamed and named back")


@contextmanager
def renamed(path: str) -> Iterator[str]:
    """A folder under another name, for a while."""
    other = f"{path}.renamed"
    os.rename(path, other)
    try:
        yield other
    finally:
        os.rename(other, path)


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
    """An absent store is empty, a spoilt session unreadable, and neither is taken for the other."""
    with open_copy(case) as copy:
        main = next(info for info in copy.sessions if not info.is_subagent and not info.is_archived)
        found = copy.store.look_up(main.native_id, case.cwd)
        expect(found.presence is Presence.EXISTS, f"an existing one is not found: {found}")
        expect(_find_presence(copy.store, case.unknown_id, case) is Presence.MISSING, "an unknown one is not missing")
        copy.spoil(main)
        spoilt = copy.store.look_up(main.native_id, case.cwd)
        expect(spoilt.presence is Presence.UNREADABLE, f"a spoilt one is {spoilt.presence}")
        expect(not spoilt.resumable and bool(spoilt.reason), "a spoilt one is resumable, or nobody is told why not")
        expect(main.native_id not in list_ids(copy.store, case.cwd), "a spoilt one is listed")
    with tempfile.TemporaryDirectory() as folder:
        nowhere = case.open(os.path.join(folder, "nowhere"))
        expect(_find_presence(nowhere, case.unknown_id, case) is Presence.MISSING, "in no store it is not missing")
        expect(not nowhere.list_sessions(None, 10) and not list(nowhere.iter_sessions()), "no store has sessions")
        expect(not os.listdir(folder), "looking for a store made one")


def _find_presence(store: Store, native_id: str, case: HarnessCase) -> Presence:
    return store.look_up(native_id, case.cwd).presence


def a_folder_that_was_moved_and_linked_is_the_same(case: HarnessCase) -> None:
    """Whichever folder of the store is a link to another place: each session is there, once, and would be resumed."""
    with open_copy(case) as copy, tempfile.TemporaryDirectory() as away:
        before = _describe_all(copy.store, case.cwd)
        for number, folder in enumerate([parent for parent, _, _ in os.walk(copy.folder)]):
            elsewhere = os.path.join(away, str(number))
            os.rename(folder, elsewhere)
            os.symlink(elsewhere, folder)
            after = _describe_all(case.open(copy.folder), case.cwd)
            expect(after == before, f"with {folder} as a link: {sorted(set(before) ^ set(after))}")
            os.unlink(folder)
            os.rename(elsewhere, folder)


def _describe_all(store: Store, cwd: str) -> list[tuple[str, bool]]:
    """The sessions, each with whether it would be resumed, and those that are listed."""
    found = [info.native_id for info in store.iter_sessions()]
    listed = [info.native_id for info in store.list_sessions(cwd, 100)]
    return sorted((native_id, store.look_up(native_id, cwd).resumable) for native_id in (*found, *listed))


def pipes_hold_nothing_up(case: HarnessCase) -> None:
    """A pipe in the place of any file of the store: nobody waits for what never comes."""
    with open_copy(case) as copy:
        wanted = [info.native_id for info in copy.sessions]
        for path in [path for path in walk(copy.folder) if os.path.isfile(path)]:
            content = read_bytes(path)
            os.unlink(path)
            os.mkfifo(path)
            with _open_late(path) as waited:
                _ask(case.open(copy.folder), copy, wanted, case.cwd)
            expect(not waited.is_set(), f"a pipe in the place of {path} was waited for")
            os.unlink(path)
            write_bytes(path, content)


def _ask(store: Store, copy: Copy, native_ids: Sequence[str], cwd: str) -> None:
    """Everything that is done with a store."""
    for info in [*store.iter_sessions(), *copy.sessions]:
        store.related(info)
        store.find_usage_limit(info)
        with suppress(RiglineError):
            for _ in store.read(info, None):
                pass
    store.list_sessions(cwd, 100)
    store.find_started(0, cwd, None)
    for native_id in native_ids:
        store.look_up(native_id, cwd)
        store.find_live(native_id)


@contextmanager
def _open_late(path: str) -> Iterator[threading.Event]:
    """After two seconds the pipe gives its end to whoever waits for it; whether that was necessary."""
    waited = threading.Event()

    def release() -> None:
        waited.set()
        while not is_over.wait(0.05):
            with suppress(OSError):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))

    is_over = threading.Event()
    timer = threading.Timer(2.0, release)
    timer.start()
    try:
        yield waited
    finally:
        is_over.set()
        timer.cancel()
        timer.join()


def words_that_are_no_ids_are_missing(case: HarnessCase) -> None:
    """A path, a pattern, or nothing at all leads to no session, and out of no store."""
    store = case.open()
    some = next(iter(store.iter_sessions()))
    relative = os.path.relpath(some.path, store.root)
    for word in ("", ".", "..", "*", "?", "%", "/", "../" * 8 + "etc/passwd", relative, "\0", "a\nb", "x" * 5000):
        found = store.look_up(word, case.cwd)
        expect(found.presence is not Presence.EXISTS or found.info is None, f"{word!r} is {found}")


def an_unknown_format_is_refused_by_name(case: HarnessCase) -> None:
    """With the version seen, those that are known, and the harness; listed nowhere, and nothing of it half."""
    if case.plant_unknown is None:
        return
    with open_copy(case) as copy:
        planted = case.plant_unknown(copy.folder)
        found = copy.store.look_up(planted.native_id, case.cwd)
        expect(found.presence is Presence.UNREADABLE and not found.resumable, f"an unknown format is {found}")
        for word in (case.harness.label, planted.seen, *planted.known):
            expect(word in found.reason, f"{word!r} is not in the refusal: {found.reason}")
        listed = {*list_ids(copy.store, case.cwd), *(info.native_id for info in copy.store.iter_sessions())}
        expect(planted.native_id not in listed, "a session of an unknown format is listed")


def subagents_are_linked_and_never_resumable(case: HarnessCase) -> None:
    """Each names its parent, and is told from a session that one may go on with."""
    store = case.open()
    for info in store.iter_sessions():
        if info.is_subagent:
            expect(info.parent is not None and info.parent.child_id == info.native_id, f"no parent: {info}")
            expect(not store.look_up(info.native_id, case.cwd).resumable, f"{info.native_id} would be resumed")


def sessions_are_described(case: HarnessCase) -> None:
    """By the harness's name, where they lie, and in UTC milliseconds."""
    store = case.open()
    for info in store.iter_sessions():
        expect(info.harness == case.harness.name and bool(info.native_id), f"misnamed: {info}")
        expect(os.path.isabs(info.path) and os.path.exists(info.path), f"it does not lie there: {info}")
        expect(_is_time_ms(info.updated_ms), f"its time of change is no time in milliseconds: {info}")
        expect(info.started_ms is None or _is_time_ms(info.started_ms), f"its beginning is in no milliseconds: {info}")
        expect(info.parent is None or info.parent.parent_id != info.native_id, f"its own parent: {info}")


def _is_time_ms(value: int) -> bool:
    """Between 2001 and 2286, which seconds and microseconds of this time are not."""
    return 10**12 <= value < 10**13


CONTRACTS = (
    a_store_is_only_read,
    sessions_belong_to_the_very_directory,
    a_renamed_checkout_has_no_sessions,
    lists_are_short_new_first_and_without_subagents,
    missing_unreadable_and_existing_are_three_answers,
    a_folder_that_was_moved_and_linked_is_the_same,
    pipes_hold_nothing_up,
    words_that_are_no_ids_are_missing,
    an_unknown_format_is_refused_by_name,
    subagents_are_linked_and_never_resumable,
    sessions_are_described,
)
