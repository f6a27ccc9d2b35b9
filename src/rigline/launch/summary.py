"""The two lines that a run says of itself: at its start, and at its end."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigline.ids import shorten_one
from rigline.launch.choose import SessionChoice, Start
from rigline.launch.console import Console
from rigline.launch.deliver import Offer
from rigline.launch.target import Target
from rigline.model import Grant
from rigline.readable import format_count


class Summary(Struct, frozen=True, kw_only=True):
    """What a run brought. `confirmed` lists the packets that were seen in a session's own record.

    `is_traceable` says that the session would have been known, by its hook or by its id; `expects_packet` that the
    session's own record would hold the packet.
    """

    harness: str
    label: str
    workstream: str
    native_ids: tuple[str, ...]
    added: int
    offered: str | None
    confirmed: tuple[str, ...]
    exit_code: int
    expects_transcript: bool
    is_traceable: bool = True
    expects_packet: bool = True


def describe_start(target: Target, grant: Grant, choice: SessionChoice, offer: Offer, expected_id: str | None) -> str:
    """What is being started, on which line, with how much history."""
    label = target.harness.label
    if choice.start is Start.RESUME:
        doing = "forking" if target.classification.forks else "resuming"
        what = f"{doing} {label} session {shorten_one(choice.native_id or '')}"
    elif choice.start is Start.EXPLICIT:
        what = f"{label} with the session of your choice"
    else:
        what = f"a fresh {label} session" + (f" {shorten_one(expected_id)}" if expected_id else "")
    line = f"{'new ' if grant.is_new_workstream else ''}line {grant.workstream.name!r}"
    return f"{what} on {line}{_describe_history(offer)}."


def _describe_history(offer: Offer) -> str:
    if offer.packet is None:
        return ""
    shown, left_out = sum(offer.packet.shown.values()), sum(offer.packet.left_out.values())
    part = f"{shown:,} of " if left_out else ""
    return f", with {part}{format_count(shown + left_out, 'earlier event')} of it as history"


def report(summary: Summary, console: Console, *, as_json: bool) -> None:
    """Say what was saved and what was not. As JSON it is one line on stderr: stdout belongs to the agent."""
    if as_json:
        console.write(msgspec.json.encode(summary).decode() + "\n")
        return
    for message in describe_end(summary):
        console.say(message)


def describe_end(summary: Summary) -> list[str]:
    """The end of a run in sentences; empty when there is nothing to say."""
    messages = []
    if summary.native_ids:
        events = format_count(summary.added, "new event")
        count = len(summary.native_ids)
        last = shorten_one(summary.native_ids[-1])
        which = f"session {last}" if count == 1 else f"in {count} sessions, the last one {last},"
        if not summary.added:
            return [f"nothing new was said in {summary.label} {which.removesuffix(',')}."]
        messages.append(f"saved {events} of {summary.label} {which} on line {summary.workstream!r}.")
        if summary.expects_packet and summary.offered is not None and summary.offered not in summary.confirmed:
            messages.append("the history was not seen in the session's own record; it will be offered again.")
    elif summary.expects_transcript and summary.exit_code == 0 and not summary.is_traceable:
        messages.append(
            f"which session {summary.label} wrote cannot be told here, so nothing was saved; `rigline import` keeps "
            "what was said."
        )
    elif summary.expects_transcript and summary.exit_code == 0:
        messages.append(f"{summary.label} left no session in its store; nothing was said, or nothing was kept.")
    return messages
