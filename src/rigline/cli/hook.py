"""`rigline hook session-start --part N`: the start hook that a managed launch gives its harness.

`rigline hook first-prompt --part N` is for harnesses that ask at every prompt: only a session's first is answered.

It notes what the harness said about its session, and prints the part of the packet that was prepared for it. It is
called by the harness, never by a person; it always exits 0 and stays silent when something is wrong, because an
agent must not be disturbed. On the fastest path of all: json and os are what it loads.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: After these the harness shows the session its own history, or the user has just asked for an empty one.
SILENT_SOURCES = ("compact", "clear")


def main(argv: list[str]) -> int:
    """Answer the hook. `argv` is what follows `hook`."""
    folder = os.environ.get("RIGLINE_RUN_DIR", "")
    if not os.path.isabs(folder):
        return 0  # of no run: the directory that the agent works in is not ours to write to
    try:
        payload = json.loads(sys.stdin.buffer.read() or b"{}")
        part = int(argv[argv.index("--part") + 1]) if "--part" in argv else 1
        if argv[:1] == ["first-prompt"] and not is_first(folder, find_id(payload), part):
            return 0
        if part == 1:
            note(folder, payload)
        sys.stdout.write(find_answer(folder, payload, part))
        sys.stdout.flush()
    except Exception as error:  # nothing that goes wrong here may reach the agent
        complain(folder, error)
    return 0


def note(folder: str, payload: dict[str, Any]) -> None:
    """Keep the payload for the launcher: one line, in one write."""
    line = json.dumps(payload).encode() + b"\n"
    descriptor = os.open(os.path.join(folder, "observed.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def find_answer(folder: str, payload: dict[str, Any], part: int) -> str:
    """What to print: the prepared part, one made for another session than expected, or nothing."""
    if payload.get("source") in SILENT_SOURCES:
        return ""
    with open(os.path.join(folder, "hook.json"), encoding="utf-8") as file:
        hook = json.load(file)
    native_id = find_id(payload)
    if not is_receiver(folder, hook["receivers"], native_id):
        # A second start in a run was asked for to be empty; where nothing was prepared, it is the first.
        is_empty_by_wish = payload.get("source") == "startup" and hook["receivers"] != []
        is_told = "source" in payload or hook["receivers"] == []
        return "" if is_empty_by_wish else _answer_other(folder, native_id, part, is_told=is_told)
    return _read(os.path.join(folder, f"answer-{part}")) if part <= hook["parts"] else ""


def find_id(payload: dict[str, Any]) -> str:
    """The session's id; Copilot writes the field in its own way (1.0.102)."""
    return str(payload.get("session_id") or payload.get("sessionId") or "")


def is_first(folder: str, native_id: str, part: int) -> bool:
    """Whether this part was not asked for before by this session. A process that asks at the same time is second."""
    if not native_id or "/" in native_id:
        return False
    try:
        os.symlink("asked", os.path.join(folder, f"asked-{part}-{native_id}"))
    except FileExistsError:
        return False
    return True


def is_receiver(folder: str, receivers: list[str] | None, native_id: str) -> bool:
    """Whether the prepared packet is for this session. Where it is for whichever starts, the first one gets it:
    another that starts in the same run (Codex's `/new`) was asked for to be empty."""
    if receivers is not None:
        return native_id in receivers
    taken = os.path.join(folder, "taken-by")
    try:
        os.symlink(native_id, taken)  # made with its content in one step: parts are asked for at the same time
    except FileExistsError:
        return os.readlink(taken) == native_id
    return True


def _answer_other(folder: str, native_id: str, part: int, *, is_told: bool) -> str:
    """The person went to another session inside the harness: its packet has to be made now.

    Where the harness does not tell why a session begins (`is_told`), one that began after the launch is empty by wish.
    """
    from rigline.launch.deliver import answer_other_session

    return answer_other_session(folder, native_id, part, may_be_new=not is_told)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def complain(folder: str, error: Exception) -> None:
    """Leave a word for `rigline doctor`; where even that fails there is nobody to tell."""
    try:
        with open(os.path.join(folder, "hook.log"), "a", encoding="utf-8") as log:
            log.write(f"{type(error).__name__}: {error}\n")
    except OSError:
        return
