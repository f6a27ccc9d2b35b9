"""What runs have left: folders of interrupted ones, complaints of the start hook, our own crashes."""

from __future__ import annotations

import os

from rigline.doctor.check import Check, ok, warn
from rigline.launch.folder import list_folders
from rigline.leftovers import find_leftovers
from rigline.readable import clip, flatten, format_count

HOOK_LOG, CRASH_LOG = "hook.log", "crash.log"


def check_runs(home: str) -> list[Check]:
    """Runs at work, runs that could not be collected, and what the logs say."""
    left = find_leftovers(home)
    at_work = [folder.path for folder in list_folders(home) if folder.path not in left]
    checks = [ok("runs", f"{format_count(len(at_work), 'run')} at work, none left over", at_work=len(at_work))]
    if left:
        text = (
            f"{format_count(len(left), 'interrupted run')} not collected yet: their agent still runs, or they cannot be"
        )
        checks = [warn("runs", text, "rigline recover", folders=left)]
    return checks + _check_hooks(left + at_work) + _check_crashes(home)


def _check_hooks(folders: list[str]) -> list[Check]:
    complaints = [line for folder in folders for line in read_lines(os.path.join(folder, HOOK_LOG))]
    if not complaints:
        return []
    text = (
        f"the start hook complained {format_count(len(complaints), 'time')}, last: {clip(flatten(complaints[-1]), 200)}"
    )
    return [
        warn("start hook", text, "The history of that run is offered again by the next one.", complaints=complaints)
    ]


def _check_crashes(home: str) -> list[Check]:
    path = os.path.join(home, CRASH_LOG)
    crashes = sum(line.startswith("Traceback ") for line in read_lines(path))
    if not crashes:
        return []
    text = f"rigline failed by its own fault {format_count(crashes, 'time')}"
    return [warn("crashes", text, f"Report what {path} says, then delete it.", path=path)]


def read_lines(path: str) -> list[str]:
    """A small log's lines; none when it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20).splitlines()
    except OSError:
        return []
