"""Adapters of Example Agent with one fault each, by the contract of the kit that must find it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from example_harness import GRAMMAR, Example
from example_harness.store import ExampleStore, extract
from msgspec.structs import replace

from rigline.harness import grammar
from rigline.harness.base import Classification, LaunchRequest, Mode, NativePlan
from rigline.harness.windows import read_journal
from rigline.model import Event, Lookup, Presence, SessionInfo, Window

#: contract -> the adapters that break it, each with what is wrong
FAULTY: dict[str, dict[str, Example]] = {}
Alter = Callable[[SessionInfo, Window], Window]


def add(contract: str, fault: str, store: type[ExampleStore] = ExampleStore, **members: Any) -> None:
    """Keep an adapter with a fault: another store, or other members."""

    def open_store(_self: Example, env: Mapping[str, str]) -> ExampleStore:
        return store(Example().open_store(env).root)

    adapter = type("Faulty", (Example,), {"open_store": open_store, **members})()
    FAULTY.setdefault(contract, {})[fault] = adapter


def windows(alter: Alter) -> type[ExampleStore]:
    """A store whose windows are altered."""

    class Altered(ExampleStore):
        def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
            return (alter(info, window) for window in super().read(info, cursor))

    return Altered


def each_event(change: Callable[[Event], Event]) -> type[ExampleStore]:
    """A store whose events are changed."""

    def alter(_info: SessionInfo, window: Window) -> Window:
        window.events = [change(event) for event in window.events]
        return window

    return windows(alter)


def described(change: Callable[[SessionInfo], SessionInfo]) -> type[ExampleStore]:
    """A store whose sessions are described otherwise."""

    class Described(ExampleStore):
        def describe(self, path: str) -> SessionInfo | None:
            info = super().describe(path)
            return change(info) if info is not None else None

    return Described


def in_folder(is_same: Callable[[str, str], bool]) -> type[ExampleStore]:
    """A store that finds sessions by a careless comparison as well."""

    class Careless(ExampleStore):
        def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
            found = super().list_sessions(cwd, limit)
            more = [info for info in super().list_sessions(None, limit) if cwd and is_same(info.cwd or "", cwd)]
            return found or more

    return Careless


def planned(change: Callable[[LaunchRequest, NativePlan], NativePlan]) -> dict[str, Any]:
    """A `plan` that is changed afterwards."""

    def plan(_self: Example, request: LaunchRequest) -> NativePlan:
        return change(request, Example().plan(request))

    return {"plan": plan}


# --- what an adapter says of itself

add("an_adapter_tells_who_it_is", "no store in its facts", facts=replace(Example.facts, store=""))
add("an_adapter_tells_who_it_is", "a name with a blank", name="the example")
add("an_adapter_tells_who_it_is", "the store's variable is removed", session_variables=("EXAMPLE_HOME",))
add("an_adapter_tells_who_it_is", "a packet of no length", limits=replace(Example.limits, part_chars=0))


class MakesItsFolder(ExampleStore):
    """Makes the store that it looks for."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        os.makedirs(root, exist_ok=True)


def _open_blank(_self: Example, env: Mapping[str, str]) -> ExampleStore:
    return ExampleStore(env.get("EXAMPLE_HOME", os.path.join(env["HOME"], ".example")))


def _classify_all(_self: Example, args: tuple[str, ...]) -> Classification:
    return grammar.classify(replace(GRAMMAR, answers=()), args)


add("an_empty_machine_has_no_sessions", "the store is made", MakesItsFolder)
add("an_empty_machine_has_no_sessions", "a blank variable counts", open_store=_open_blank)
add("help_and_version_pass_through", "help starts a session", classify=_classify_all)

# --- how sessions are read


class Naive(ExampleStore):
    """Reads what is there and takes the file's length for how far it came."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        begin = int(cursor) if cursor and cursor.isdigit() else 0
        with open(info.path, "rb") as file:
            file.seek(begin)
            data = file.read()
        records = [record for line in data.splitlines() if (record := self._decode(line))]
        whole = next(iter(read_journal(info, None, lambda _record, _offset: [], self.label)))
        full = list(super().read(info, None))
        wanted = {record.get("id") for record in records}
        whole.events = [event for window in full for event in window.events if event.record in wanted]
        whole.cursor = str(begin + len(data))
        yield whole

    def _decode(self, line: bytes) -> dict[str, object]:
        try:
            value = json.loads(line)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class Repeats(ExampleStore):
    """Reads everything each time."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        return super().read(info, None)


class GoesOnBlindly(ExampleStore):
    """Believes any cursor: where the file became shorter, nothing is new."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        if cursor and cursor.startswith("{") and json.loads(cursor).get("length", 0) > os.path.getsize(info.path):
            return iter(())
        return super().read(info, cursor)


class OneWindow(ExampleStore):
    """Puts everything into one window."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        *others, last = super().read(info, cursor)
        last.events = [event for window in (*others, last) for event in window.events]
        yield last


class LateCursors(ExampleStore):
    """Gives every window the cursor of the last one; the windows are bounded, and lost after a crash."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        found = list(super().read(info, cursor))
        for window in found:
            window.cursor = found[-1].cursor
        return iter(found)


class HoldsAll(ExampleStore):
    """Holds all windows before it gives the first."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        return iter(list(super().read(info, cursor)))


class StopsAtDamage(ExampleStore):
    """Ends at the first line that is no record."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        for window in super().read(info, cursor):
            if window.losses.get("nul_run"):
                window.events = window.events[:1]
            yield window


def _without_large_events(_info: SessionInfo, window: Window) -> Window:
    window.events = [event for event in window.events if len(event.text) < 5_000_000]
    return window


def _without_damages(_info: SessionInfo, window: Window) -> Window:
    window.losses = {kind: n for kind, n in window.losses.items() if kind in ("hidden_reasoning", "own_packet")}
    return window


def _without_cut_characters(_info: SessionInfo, window: Window) -> Window:
    window.events = [event for event in window.events if "\ufffd" not in event.text]
    return window


def _with_calls_of_their_own(event: Event) -> Event:
    return replace(event, call_id=f"{event.call_id}-{event.kind}") if event.call_id else event


class ReadsReasoning(ExampleStore):
    """Takes reasoning for an answer."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        def take(record: dict[str, object], offset: int) -> Any:
            kind = "assistant" if record.get("type") == "thinking" else record.get("type")
            return extract({**record, "type": kind}, offset)

        return read_journal(info, cursor, take, self.label)


add("a_session_read_in_two_goes_is_the_session_read_in_one", "a torn record is lost", Naive)
add("a_session_read_as_it_grows_is_the_session_read_in_one", "a torn record is lost", Naive)
add("a_session_read_again_gives_nothing_new", "everything comes again", Repeats)
add("a_shortened_session_is_read_from_its_beginning", "any cursor is believed", GoesOnBlindly)
add("windows_are_bounded_and_end_with_a_cursor", "one window for all", OneWindow)
add("reading_goes_on_from_every_window", "cursors point to the end", LateCursors)
add("a_line_of_12_mb_takes_little_memory", "it is lost in silence", windows(_without_large_events))
add("a_long_session_takes_little_memory", "it is held whole", HoldsAll)
add("damage_costs_only_what_is_damaged", "reading ends there", StopsAtDamage)
add("damage_costs_only_what_is_damaged", "it is not counted", windows(_without_damages))
add("half_a_character_pair_costs_no_record", "its record is lost", windows(_without_cut_characters))
add("events_have_identities", "one key for all", each_event(lambda event: replace(event, record="x")))
add("events_have_identities", "another session's name", each_event(lambda event: replace(event, native_id="x")))
add("tool_results_name_their_calls", "ids of their own", each_event(_with_calls_of_their_own))
add("nothing_hidden_is_read", "reasoning", ReadsReasoning)
add("nothing_hidden_is_read", "in a title", described(lambda info: replace(info, title="CANARY-packet")))
add(
    "what_is_read_is_what_a_person_checked",
    "a word is another",
    each_event(lambda event: replace(event, text=event.text.replace("marmalade", "jam"))),
)

# --- how sessions are found


class Touches(ExampleStore):
    """Sets a time of the file that it reads."""

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        os.utime(info.path)
        return super().read(info, cursor)


class LeavesAnIndex(ExampleStore):
    """Leaves a file beside the one that it reads, as SQLite does."""

    def find_in_file(self, path: str) -> SessionInfo | None:
        with open(f"{path}-shm", "w"):
            return super().find_in_file(path)


def _is_encoded_alike(recorded: str, cwd: str) -> bool:
    return recorded.replace("/", "-") == cwd.replace("/", "-")


class Answers(ExampleStore):
    """Gives another answer to a look-up."""

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        found = super().look_up(native_id, cwd)
        is_lost = found.presence is Presence.UNREADABLE
        return Lookup(presence=Presence.MISSING, resumable=False, reason="gone") if is_lost else found


class TakesPaths(ExampleStore):
    """Finds a session by a path too."""

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        path = os.path.join(self.root, native_id)
        if native_id.endswith(".jsonl") and os.path.exists(path):
            return Lookup(presence=Presence.EXISTS, info=self.describe(path))
        return super().look_up(native_id, cwd)


class OldestFirst(ExampleStore):
    """Lists in the wrong order."""

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        return super().list_sessions(cwd, limit)[::-1]


class Unlimited(ExampleStore):
    """Lists more than it is asked for."""

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        return super().list_sessions(cwd, 1000)


class PassesOverLinks(ExampleStore):
    """Looks into no folder that is a link."""

    def find_files(self, cwd: str | None) -> Iterator[str]:
        return (path for path in super().find_files(cwd) if os.path.realpath(path) == path)


class WaitsForPipes(ExampleStore):
    """Opens whatever has the right name."""

    def describe(self, path: str) -> SessionInfo | None:
        with open(path, "rb") as file:
            file.read(1)
        return super().describe(path)


class RefusesBriefly(ExampleStore):
    """Does not say which format it met."""

    def explain_refusal(self, path: str) -> str:
        return "it cannot be read"


add("a_store_is_only_read", "a time is set", Touches)
add("a_store_is_only_read", "a file is left", LeavesAnIndex)
add("sessions_belong_to_the_very_directory", "a-b/c and a/b-c", in_folder(_is_encoded_alike))
add("sessions_belong_to_the_very_directory", "any case", in_folder(lambda one, two: one.lower() == two.lower()))
add("sessions_belong_to_the_very_directory", "all below", in_folder(lambda one, two: one.startswith(two)))
add("sessions_belong_to_the_very_directory", "by name", in_folder(lambda one, two: os.path.basename(one) == two))
add("a_renamed_checkout_has_no_sessions", "whose folder is gone", in_folder(lambda one, _: not os.path.isdir(one)))
add("lists_are_short_new_first_and_without_subagents", "the oldest first", OldestFirst)
add("lists_are_short_new_first_and_without_subagents", "no limit", Unlimited)
add("missing_unreadable_and_existing_are_three_answers", "spoilt is missing", Answers)
add("a_folder_that_was_moved_and_linked_is_the_same", "links are passed over", PassesOverLinks)
add("pipes_hold_nothing_up", "any file is opened", WaitsForPipes)
add("words_that_are_no_ids_are_missing", "a path is an id", TakesPaths)
add("an_unknown_format_is_refused_by_name", "no name", RefusesBriefly)
add("an_unknown_format_is_refused_by_name", "missing", Answers)
add(
    "subagents_are_linked_and_never_resumable",
    "no parent",
    described(lambda i: replace(i, is_subagent=True, parent=None)),
)
add("sessions_are_described", "seconds", described(lambda info: replace(info, updated_ms=info.updated_ms // 1000)))
add("sessions_are_described", "a relative path", described(lambda info: replace(info, path="x")))

# --- how a command line is planned

LOSSLESS = "every_command_line_is_planned_without_a_loss"


def _touch_all(request: LaunchRequest, plan: NativePlan) -> NativePlan:
    return replace(plan, args=("--auto", *request.args)) if request.classification.mode is Mode.PASSTHROUGH else plan


def _show_on_command_line(request: LaunchRequest, plan: NativePlan) -> NativePlan:
    return replace(plan, args=(*plan.args, "".join(request.packet))) if request.packet else plan


def _is_session(request: LaunchRequest) -> bool:
    return request.classification.mode is Mode.SESSION


add(LOSSLESS, "a word is lost", **planned(lambda _, plan: replace(plan, args=plan.args[:-1])))
add(LOSSLESS, "another order", **planned(lambda _, plan: replace(plan, args=tuple(sorted(plan.args)))))
add(LOSSLESS, "help is touched", **planned(_touch_all))
add(LOSSLESS, "the packet on the command line", **planned(_show_on_command_line))
add(LOSSLESS, "a file elsewhere", **planned(lambda _, plan: replace(plan, files={"../x": ""})))
add(LOSSLESS, "hooks that are not there", **planned(lambda r, plan: replace(plan, has_hooks=_is_session(r))))
add(LOSSLESS, "a prompt that is none", **planned(lambda _, plan: replace(plan, args=("-p", *plan.args))))
add(LOSSLESS, "another session expected", **planned(lambda _, plan: replace(plan, expected_id="x")))
add(LOSSLESS, "the packet is forgotten", **planned(lambda _, plan: replace(plan, files={})))
