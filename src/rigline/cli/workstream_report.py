"""`rigline workstreams show`: all that the ledger knows of one line of work."""

from __future__ import annotations

import os
import time

from msgspec import Struct

from rigline import liveness
from rigline.cli.output import print_json, print_lines, render_columns, render_facts, tell_time
from rigline.host import host_name
from rigline.ids import shorten
from rigline.ledger.base import CheckpointRecord, DeliveryRecord, Ledger, MoveRecord, RunRecord, SessionRecord
from rigline.losses import add_up, describe_losses
from rigline.model import UNKNOWN_STATUS, Binding, Checkpoint, Workstream
from rigline.readable import WIDTH, clean, clip_path, flatten, format_count, format_counts, format_duration, format_time

#: runs and checkpoints that the text shows; `history` and `--json` have all
SHOWN_RUNS = 5
SHOWN_CHECKPOINTS = 4


class Report(Struct, frozen=True, kw_only=True):
    """What is told of a line. `sessions` holds its bound sessions by (harness, native id), `short` every short id."""

    line: Workstream
    events: dict[str, int]
    sessions: dict[tuple[str, str], SessionRecord]
    runs: list[RunRecord]
    checkpoints: list[CheckpointRecord]
    deliveries: list[DeliveryRecord]
    moves: list[MoveRecord]
    short: dict[str, str]

    @property
    def holder(self) -> RunRecord | None:
        """The run that has the lease, if any."""
        return next((run for run in self.runs if run.state == "active"), None)

    @property
    def losses(self) -> dict[str, int]:
        """What is missing from the line's sessions, by kind."""
        return add_up(session.losses for session in self.sessions.values())


def show(ledger: Ledger, line: Workstream, *, as_json: bool) -> int:
    """Print the report; returns the exit status."""
    report = collect_report(ledger, line)
    if as_json:
        print_json(describe_report(report))
    else:
        print_lines(render_report(report, now_ms=int(time.time() * 1000)))
    return 0


def collect_report(ledger: Ledger, line: Workstream) -> Report:
    """Ask the ledger for everything about a line."""
    every = ledger.list_sessions(None)
    bound = {(binding.harness, binding.native_id) for binding in line.bindings}
    return Report(
        line=line,
        events=ledger.count_events(line.id),
        sessions={key: each for each in every if (key := (each.harness, each.native_id)) in bound},
        runs=ledger.list_runs(line.id),
        checkpoints=ledger.list_checkpoints(line.id),
        deliveries=[each for each in ledger.list_deliveries(line.id) if each.state == "offered"],
        moves=ledger.list_moves(line.id),
        short=shorten(session.native_id for session in every),
    )


def render_report(report: Report, *, now_ms: int) -> list[str]:
    """The report as text."""
    line = report.line
    holder = report.holder
    facts = {
        "checkout": clip_path(line.cwd, WIDTH - 13),
        "scope": f"workspace {clean(line.workspace)}, project {clean(line.project)}",
        "created": format_time(line.created_ms),
        "last active": format_time(line.active_ms),
        "written by": describe_holder(holder, now_ms) if holder else "nobody now",
        "events": f"{sum(report.events.values()):,} ({format_counts(report.events)})" if report.events else "none yet",
        "lost": describe_losses(report.losses) or ["nothing"],
    }
    lines = [f"{clean(line.name)}  {line.id}", *render_facts(facts)]
    current = [binding for binding in line.bindings if binding.is_current]
    former = [binding for binding in line.bindings if not binding.is_current]
    lines += _render_section("Sessions", [row for each in current for row in _render_binding(report, each)])
    lines += _render_section("Former sessions", [row for each in former for row in _render_binding(report, each)])
    lines += _render_section("Runs", _render_runs(report, now_ms))
    lines += _render_section("Checkpoints", _render_checkpoints(report))
    lines += _render_section("Moved here", [row for each in report.moves for row in _render_move(each)])
    return lines + _render_section("History offered, not yet seen in the session", _render_deliveries(report))


def _render_section(title: str, rows: list[str]) -> list[str]:
    return ["", title, *rows] if rows else []


def describe_holder(run: RunRecord, now_ms: int) -> str:
    """Who has the lease, and whether that process still lives where that can be known."""
    left_ms = run.expires_ms - now_ms
    until = f"lease until {format_time(run.expires_ms)}" if left_ms > 0 else "its lease has lapsed"
    gone = ""
    if run.host == host_name() and not liveness.is_alive(run.pid, run.pid_started):
        gone = ", but that process is gone"
    return f"{run.harness} (pid {run.pid} on {clean(run.host)}) since {format_time(run.started_ms)}, {until}{gone}"


def _render_binding(report: Report, binding: Binding) -> list[str]:
    session = report.sessions.get((binding.harness, binding.native_id))
    events = format_count(session.events, "event") if session else "not imported yet"
    short = report.short.get(binding.native_id, binding.native_id)
    head = [(binding.harness, short, events, f"bound {format_time(binding.bound_ms)}")]
    facts = {
        "title": flatten(binding.title) if binding.title else "",
        "proved": f"{clean(binding.evidence)} ({clean(binding.created_via)})",
        "file": _describe_file(binding),
    }
    shown = {name: value for name, value in facts.items() if value}
    return render_columns(head, indent=2) + render_facts(shown, indent=4)


def _describe_file(binding: Binding) -> str:
    if not binding.path:
        return ""
    gone = "" if os.path.exists(binding.path) else " (gone)"
    return clip_path(binding.path, WIDTH - 12 - len(gone)) + gone


def _render_runs(report: Report, now_ms: int) -> list[str]:
    rows = [
        (
            format_time(run.started_ms),
            run.harness,
            report.short.get(run.native_id or "", "-"),
            describe_end(run),
            format_duration((run.ended_ms or now_ms) - run.started_ms),
        )
        for run in report.runs[:SHOWN_RUNS]
    ]
    left = len(report.runs) - len(rows)
    more = [f"  and {left} earlier: `rigline workstreams history`"] if left else []
    return render_columns(rows, indent=2) + more


def describe_end(run: RunRecord) -> str:
    """How a run ended, in a few words."""
    if run.state == "active":
        return "running"
    code = f"exit {run.exit_code}" if run.exit_code is not None else "exit unknown"
    words = {"cancelled": "never started", "expired": "launcher lost", "superseded": f"taken over, {code}"}
    return words.get(run.state, code)


def _render_checkpoints(report: Report) -> list[str]:
    rows = [
        (format_time(each.checkpoint.at_ms), f"{each.moment} of {each.harness}", describe_checkpoint(each.checkpoint))
        for each in report.checkpoints[:SHOWN_CHECKPOINTS]
    ]
    return render_columns(rows, indent=2)


def describe_checkpoint(checkpoint: Checkpoint) -> str:
    """Git state in a few words."""
    if checkpoint.head is None and checkpoint.status_hash is None:
        return "no commit" if checkpoint.branch else "not in git"
    head = checkpoint.head[:10] if checkpoint.head else "no commit"
    branch = f" on {clean(checkpoint.branch)}" if checkpoint.branch else ""
    if checkpoint.status_hash == UNKNOWN_STATUS:
        return f"{head}{branch}, state of files unknown"
    changed = len(checkpoint.paths) + checkpoint.paths_left_out
    return f"{head}{branch}, {f'{changed} changed' if checkpoint.status_hash else 'clean'}"


def _render_move(move: MoveRecord) -> list[str]:
    """Where a line was before, and what showed that it belongs here."""
    facts = {"from": clip_path(move.from_cwd, WIDTH - 12), "proved": clean(move.evidence)}
    return [f"  {format_time(move.at_ms)}", *render_facts(facts, indent=4)]


def _render_deliveries(report: Report) -> list[str]:
    rows = [
        (
            format_time(each.offered_ms),
            each.harness,
            report.short.get(each.native_id, each.native_id) if each.native_id else "a fresh session",
            f"{each.parts} part{'s' if each.parts != 1 else ''}",
        )
        for each in report.deliveries
    ]
    return render_columns(rows, indent=2)


def describe_report(report: Report) -> dict[str, object]:
    """The report as JSON."""
    line, holder = report.line, report.holder
    return {
        "id": line.id,
        "name": line.name,
        "workspace": line.workspace,
        "project": line.project,
        "repo_fingerprint": line.repo_fingerprint,
        "worktree_fingerprint": line.worktree_fingerprint,
        "cwd": line.cwd,
        "generation": line.generation,
        **tell_time("created", line.created_ms),
        **tell_time("active", line.active_ms),
        "holder": describe_run(holder) if holder else None,
        "events": sum(report.events.values()),
        "events_by_kind": report.events,
        "losses": report.losses,
        "sessions": [_describe_binding(report, each) for each in line.bindings if each.is_current],
        "former_sessions": [_describe_binding(report, each) for each in line.bindings if not each.is_current],
        "runs": [describe_run(run) for run in report.runs],
        "checkpoints": [_describe_checkpoint(each) for each in report.checkpoints],
        "moves": [_describe_move(move) for move in report.moves],
        "unconfirmed_deliveries": [_describe_delivery(each) for each in report.deliveries],
    }


def _describe_binding(report: Report, binding: Binding) -> dict[str, object]:
    session = report.sessions.get((binding.harness, binding.native_id))
    return {
        "harness": binding.harness,
        "native_id": binding.native_id,
        "title": binding.title,
        "evidence": binding.evidence,
        "created_via": binding.created_via,
        **tell_time("bound", binding.bound_ms),
        "path": binding.path,
        "store": binding.store,
        "events": session.events if session else 0,
        "copies": session.copies if session else 0,
        "losses": session.losses if session else {},
    }


def describe_run(run: RunRecord) -> dict[str, object]:
    """A run as JSON."""
    return {
        "id": run.id,
        "harness": run.harness,
        "native_id": run.native_id,
        "state": run.state,
        "exit_code": run.exit_code,
        "generation": run.generation,
        "host": run.host,
        "pid": run.pid,
        "cwd": run.cwd,
        **tell_time("started", run.started_ms),
        **tell_time("ended", run.ended_ms),
        **tell_time("expires", run.expires_ms),
    }


def _describe_checkpoint(record: CheckpointRecord) -> dict[str, object]:
    checkpoint = record.checkpoint
    return {
        "run_id": record.run_id,
        "harness": record.harness,
        "moment": record.moment,
        **tell_time("at", checkpoint.at_ms),
        "head": checkpoint.head,
        "branch": checkpoint.branch,
        "status_hash": checkpoint.status_hash,
        "paths": list(checkpoint.paths),
        "paths_left_out": checkpoint.paths_left_out,
    }


def _describe_move(move: MoveRecord) -> dict[str, object]:
    return {
        "from_cwd": move.from_cwd,
        "to_cwd": move.to_cwd,
        "evidence": move.evidence,
        **tell_time("at", move.at_ms),
    }


def _describe_delivery(record: DeliveryRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "run_id": record.run_id,
        "harness": record.harness,
        "native_id": record.native_id,
        "parts": record.parts,
        "state": record.state,
        **tell_time("offered", record.offered_ms),
    }
