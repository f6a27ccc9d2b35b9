"""`rigline workstreams history`: the runs and sessions of one line of work, in time."""

from __future__ import annotations

import time

from msgspec import Struct
from msgspec.structs import replace

from rigline.cli.output import print_json, print_lines, render_columns, tell_time
from rigline.cli.workstream_report import describe_end, describe_run
from rigline.ids import shorten
from rigline.ledger.base import Ledger, RunRecord
from rigline.model import Binding, Workstream
from rigline.readable import clean, format_count, format_duration, format_time


class Happening(Struct, frozen=True, kw_only=True):
    """A run or the binding of a session. `events`: what the run wrote, or what the session holds."""

    at_ms: int
    events: int = 0
    run: RunRecord | None = None
    binding: Binding | None = None


def show(ledger: Ledger, line: Workstream, *, limit: int, as_json: bool) -> int:
    """Print the last `limit` runs and sessions, oldest first; returns the exit status."""
    happenings = collect_happenings(ledger, line)
    left_out = max(0, len(happenings) - limit)
    shown = count_events(ledger, happenings[-limit:])
    if as_json:
        described = [describe_happening(each) for each in shown]
        print_json({"workstream": line.name, "id": line.id, "history": described, "left_out": left_out})
        return 0
    short = shorten(session.native_id for session in ledger.list_sessions(None))
    print_lines(render_history(line, shown, left_out, short, now_ms=int(time.time() * 1000)))
    return 0


def collect_happenings(ledger: Ledger, line: Workstream) -> list[Happening]:
    """Runs and bindings of a line by time; a session bound at the moment of its run comes after it."""
    happenings = [Happening(at_ms=run.started_ms, run=run) for run in ledger.list_runs(line.id)]
    happenings += [Happening(at_ms=each.bound_ms, binding=each) for each in line.bindings]
    return sorted(happenings, key=lambda each: (each.at_ms, each.binding is not None))


def count_events(ledger: Ledger, happenings: list[Happening]) -> list[Happening]:
    """The same ones with their events."""
    written = ledger.count_run_events([each.run.id for each in happenings if each.run])
    held = {(each.harness, each.native_id): each.events for each in ledger.list_sessions(None)}

    def count(each: Happening) -> int:
        if each.run is not None:
            return written.get(each.run.id, 0)
        return held.get((each.binding.harness, each.binding.native_id), 0) if each.binding else 0

    return [replace(each, events=count(each)) for each in happenings]


def render_history(
    line: Workstream, happenings: list[Happening], left_out: int, short: dict[str, str], *, now_ms: int
) -> list[str]:
    """The history as text."""
    if not happenings:
        return [f"Nothing has happened on {clean(line.name)} yet."]
    rows = [_render_happening(each, short, now_ms) for each in happenings]
    more = [f"{format_count(left_out, 'earlier row')} not shown: --limit shows more."] if left_out else []
    return [*more, *render_columns(rows)]


def _render_happening(each: Happening, short: dict[str, str], now_ms: int) -> tuple[str, ...]:
    events = format_count(each.events, "event")
    if each.run is not None:
        run = each.run
        took = format_duration((run.ended_ms or now_ms) - run.started_ms)
        return format_time(each.at_ms), run.harness, "run", f"{describe_end(run)}, {took}", events
    binding = each.binding
    assert binding is not None
    which = f"session {short.get(binding.native_id, binding.native_id)}"
    state = "" if binding.is_current else ", former"
    return format_time(each.at_ms), binding.harness, which, f"{clean(binding.created_via)}{state}", events


def describe_happening(each: Happening) -> dict[str, object]:
    """A happening as JSON; `what` is run or session."""
    if each.run is not None:
        return {"what": "run", "events": each.events, **describe_run(each.run)}
    binding = each.binding
    assert binding is not None
    return {
        "what": "session",
        "events": each.events,
        "harness": binding.harness,
        "native_id": binding.native_id,
        "is_current": binding.is_current,
        "evidence": binding.evidence,
        "created_via": binding.created_via,
        **tell_time("bound", binding.bound_ms),
    }
