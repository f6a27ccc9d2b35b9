"""What is read from a session, as text that a person can check once and a test compares from then on.

write_goldens(store, folder, cwd)      # write the texts anew, then read the difference
compare_goldens(store, folder, cwd)    # raises AssertionError with the difference
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable

from rigline.harness.base import Store
from rigline.model import Event, SessionInfo, Window

#: of a longer text the beginning is shown
SHOWN_CHARS = 300
PLACE = "<cwd>"


def describe_session(info: SessionInfo, windows: Iterable[Window], cwd: str = "") -> str:
    """What was read, as text: title, links, packets, losses, then each event. Keys that tell copies are left out.

    `cwd`, where the session was begun, becomes `<cwd>`, so that the text is the same wherever the test runs.
    """
    told = list(windows)
    losses = Counter[str]()
    for window in told:
        losses.update(window.losses)
    links = sorted({f"link: {link.kind} of {link.parent_id}: {link.evidence}" for w in told for link in w.links})
    lines = [
        f"title: {next((window.title for window in reversed(told) if window.title), info.title)}",
        f"first prompt: {info.first_prompt}",
        f"version: {info.version}",
        *links,
        *(f"packet: {marker}" for window in told for marker in window.packets),
        *(f"left out: {losses[kind]} {kind}" for kind in sorted(losses)),
    ]
    for window in told:
        for event in window.events:
            lines += ["", *_describe_event(event)]
    text = "\n".join(lines) + "\n"
    return text.replace(cwd, PLACE) if cwd else text


def _describe_event(event: Event) -> list[str]:
    turn = f"turn {event.turn or '-'}" + (f" after {event.parent_turn}" if event.parent_turn else "")
    words = [event.kind, event.role or "", event.tool or "", event.status or "", event.call_id or ""]
    text = event.text
    if len(text) > SHOWN_CHARS + 100:
        text = f"{text[:SHOWN_CHARS]} ... {len(text)} characters"
    head = f"{' '.join(word for word in words if word)}, {event.record}/{event.block}, {turn}"
    return [head, *(f"    {line}".rstrip() for line in text.splitlines())]


def write_goldens(store: Store, folder: str, cwd: str = "") -> None:
    """Write `<id>.txt` for each session of a store."""
    os.makedirs(folder, exist_ok=True)
    for info in store.iter_sessions():
        with open(_find_golden(folder, info), "w", encoding="utf-8") as file:
            file.write(describe_session(info, store.read(info, None), cwd))


def compare_goldens(store: Store, folder: str, cwd: str = "") -> None:
    """Compare what is read from each session with its text; raises AssertionError, also for a text of no session."""
    expected = {name for name in os.listdir(folder) if name.endswith(".txt")}
    for info in store.iter_sessions():
        path = _find_golden(folder, info)
        compare_golden(describe_session(info, store.read(info, None), cwd), path)
        expected.discard(os.path.basename(path))
    if expected:
        raise AssertionError(f"no session is read for {', '.join(sorted(expected))} in {folder}")


def compare_golden(text: str, path: str) -> None:
    """Compare a text with the one in a file; raises AssertionError with the difference."""
    if not os.path.exists(path):
        raise AssertionError(f"{path} is missing. Write it with `rigline.testing.golden.write_goldens`, then read it.")
    with open(path, encoding="utf-8") as file:
        expected = file.read()
    if text != expected:
        difference = difflib.unified_diff(expected.splitlines(), text.splitlines(), path, "read now", lineterm="")
        raise AssertionError("\n".join(["what is read has changed:", *list(difference)[:60]]))


def _find_golden(folder: str, info: SessionInfo) -> str:
    return os.path.join(folder, f"{info.native_id.replace(os.sep, '_')}.txt")
