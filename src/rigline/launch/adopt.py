"""The first run on an empty workstream: offer the sessions that this checkout already has."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rigline.launch.console import Console
from rigline.model import SessionInfo
from rigline.readable import clip, flatten, format_age, format_size, pad

#: How many local sessions are offered.
OFFERED = 8


def offer_sessions(sessions: Sequence[SessionInfo], console: Console, *, label: str, now_ms: int) -> SessionInfo | None:
    """Ask which earlier session to continue: Enter the newest, a number, 0 a fresh one. None means fresh.

    The end of input means fresh too; Ctrl-C raises KeyboardInterrupt.
    """
    console.write(render_list(sessions, label=label, now_ms=now_ms))
    while True:
        answer = console.ask(f"Continue which? [Enter = 1, 0 = fresh, 1-{len(sessions)}] ")
        if answer is None:
            return None
        chosen = read_answer(answer, len(sessions))
        if chosen is not None:
            return sessions[chosen - 1] if chosen else None
        console.write(f"Type a number from 0 to {len(sessions)}.\n")


def read_answer(answer: str, count: int) -> int | None:
    """What was typed as a row number (0 is fresh); None when it is neither."""
    word = answer.strip().lower()
    if word == "":
        return 1
    if word in {"0", "n", "new", "fresh"}:
        return 0
    return int(word) if word.isascii() and word.isdigit() and 1 <= int(word) <= count else None


def render_list(sessions: Sequence[SessionInfo], *, label: str, now_ms: int) -> str:
    """The offer as text: row, title or first prompt, age, size."""
    rows = [f"This checkout has {label} sessions that are on no line of work yet:\n"]
    for number, info in enumerate(sessions, 1):
        rows.append(
            f"  {number}  {pad(clip(describe(info), 56), 56)}  {format_age(now_ms - info.updated_ms):>8}  "
            f"{format_size(info.size_bytes):>7}\n"
        )
    rows.append("  0  start fresh\n")
    return "".join(rows)


def describe(info: SessionInfo) -> str:
    """A session by what a person remembers of it: its title, else its first prompt, else its id."""
    text = info.title or info.first_prompt or info.native_id
    return flatten(text)


def leave_out(sessions: Sequence[SessionInfo], taken: Collection[str]) -> list[SessionInfo]:
    """Sessions that no workstream has yet."""
    return [info for info in sessions if info.native_id not in taken]
