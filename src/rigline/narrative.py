"""A workstream's events as a readable story: sessions and turns in order, tools in a line, marks between. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from rigline.ledger.base import HistoryEvent
from rigline.model import Kind
from rigline.readable import WIDTH, clean, clip, flatten, format_clock, format_count, format_time, wrap

#: what stands before a text: the time of day and two blanks
_INDENT = " " * 7
_ABANDONED = "abandoned branch"


class Tools(StrEnum):
    """How much of the tools is told: calls and results in full, one line a call, or nothing."""

    FULL = "full"
    SHORT = "short"
    NONE = "none"


class Mark(Struct, frozen=True, kw_only=True):
    """Something between the events, such as a checkpoint, at its time."""

    at_ms: int
    text: str


def sort_by_time(events: Sequence[HistoryEvent]) -> list[HistoryEvent]:
    """Sessions that were worked on in turns, in the order of time; within a session its own order is kept.

    An event without a time, or with an earlier one than the event before it, stays behind that one.
    """
    latest: dict[tuple[str, str], int] = {}
    keyed = []
    for event in events:
        session = (event.harness, event.native_id)
        latest[session] = max(event.at_ms or 0, latest.get(session, 0))
        keyed.append((latest[session], event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]


def tell_story(
    events: Sequence[HistoryEvent],
    marks: Sequence[Mark],
    *,
    tools: Tools,
    short: Mapping[str, str],
    titles: Mapping[str, str],
) -> list[str]:
    """The lines of the story. `short` and `titles` are by native id; where one is missing the id itself is told."""
    story = _Story(tools, short, titles)
    story.pair_results(events)
    waiting = sorted(marks, key=lambda mark: mark.at_ms)
    for event in sort_by_time(events):
        while waiting and event.at_ms is not None and waiting[0].at_ms <= event.at_ms:
            story.add_mark(waiting.pop(0))
        story.add_event(event)
    for mark in waiting:
        story.add_mark(mark)
    return story.lines


class _Story:
    """The lines so far, and where in which session they are."""

    def __init__(self, tools: Tools, short: Mapping[str, str], titles: Mapping[str, str]) -> None:
        self.lines: list[str] = []
        self._tools = tools
        self._short = short
        self._titles = titles
        self._session: tuple[str, str] | None = None
        self._day = ""
        self._speaker = ""
        self._results: dict[tuple[str, str, str], HistoryEvent] = {}
        self._told: set[int] = set()

    def pair_results(self, events: Sequence[HistoryEvent]) -> None:
        """Let each call find its result, which then needs no line of its own."""
        if self._tools is not Tools.SHORT:
            return
        called = {(e.harness, e.native_id, e.call_id) for e in events if e.kind is Kind.TOOL_CALL and e.call_id}
        for event in events:
            key = (event.harness, event.native_id, event.call_id or "")
            if event.kind is Kind.TOOL_RESULT and key in called:
                self._results.setdefault(key, event)
                self._told.add(event.seq)

    def add_mark(self, mark: Mark) -> None:
        self._start_day(mark.at_ms)
        self._speaker = ""
        self.lines.append(clip(f"{format_clock(mark.at_ms)}  ── {clean(mark.text)}", WIDTH))

    def add_event(self, event: HistoryEvent) -> None:
        if event.seq in self._told or (self._tools is Tools.NONE and event.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT)):
            return
        self._start_session(event)
        self._start_day(event.at_ms)
        if event.kind is Kind.MESSAGE:
            self._add_message(event)
        elif event.kind is Kind.COMPACTION:
            self._add_block(event, "══ compaction: what came before was summarised ══")
        elif self._tools is Tools.FULL:
            self._add_block(event, _name_tool(event))
        else:
            self._add_tool_line(event)

    def _add_message(self, event: HistoryEvent) -> None:
        speaker = f"{event.role or 'message'}{_tell_abandoned(event)}"
        if speaker != self._speaker:
            self.lines.append(f"{format_clock(event.at_ms)}  {speaker}")
        self._add_text(event.text)
        self._speaker = speaker

    def _add_block(self, event: HistoryEvent, head: str) -> None:
        self._speaker = ""
        self.lines.append(clip(f"{format_clock(event.at_ms)}  {clean(head)}{_tell_abandoned(event)}", WIDTH))
        self._add_text(event.text)

    def _add_text(self, text: str) -> None:
        self.lines += [(_INDENT + line).rstrip() for line in wrap(text.strip("\n"), WIDTH - len(_INDENT))]

    def _add_tool_line(self, event: HistoryEvent) -> None:
        self._speaker = ""
        result = self._results.get((event.harness, event.native_id, event.call_id or ""))
        end = f"  → {_tell_result(result)}" if result is not None and event.kind is Kind.TOOL_CALL else ""
        head = f"{format_clock(event.at_ms)}  {_name_tool(event)}{_tell_abandoned(event)}"
        said = flatten(event.text).removeprefix(event.tool or "").strip()
        self.lines.append(clip(f"{head}  {said}", WIDTH - len(end)) + end)

    def _start_session(self, event: HistoryEvent) -> None:
        session = (event.harness, event.native_id)
        if session == self._session:
            return
        self._session, self._speaker = session, ""
        name = self._short.get(event.native_id, event.native_id)
        title = flatten(self._titles.get(event.native_id, ""))
        head = f"── {event.harness} {name}{f'  {title}' if title else ''}"
        self.lines += ["", clip(head, WIDTH)] if self.lines else [clip(head, WIDTH)]

    def _start_day(self, at_ms: int | None) -> None:
        day = format_time(at_ms)[:10].strip()
        if day and day != self._day:
            self._day = day
            self.lines.append(day)


def _name_tool(event: HistoryEvent) -> str:
    what = "result" if event.kind is Kind.TOOL_RESULT else "call"
    return f"[{clean(event.tool)}]" if event.tool and what == "call" else f"[{clean(event.tool or 'tool')} {what}]"


def _tell_abandoned(event: HistoryEvent) -> str:
    return f" ({_ABANDONED})" if event.is_abandoned else ""


def _tell_result(result: HistoryEvent) -> str:
    lines = [line for line in result.text.splitlines() if line.strip()]
    failed = (
        f"{clean(result.status)}, " if result.status and result.status not in ("ok", "success", "completed") else ""
    )
    return failed + (format_count(len(lines), "line") if lines else "no output")
