"""`python -m tests.faults.killer STEP ARGS...`: the `rigline` command, killed with -9 right after one step of a run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from rigline.cli import main
from rigline.launch import child, collect, deliver, folder, run
from rigline.ledger import local

#: step -> (the object that has it, the name that is called there)
STEPS: dict[str, tuple[Any, str]] = {
    "lease granted": (local.LocalLedger, "prepare"),
    "session chosen": (run, "choose_session"),
    "folder made": (folder.RunFolder, "create"),
    "hook file written": (deliver, "write_hook_file"),
    "packet offered": (deliver, "record_offer"),
    "plan made": (child.ManagedRun, "prepare"),
    "child spawned": (collect.Collector, "set_child"),
    "child started": (child.ManagedRun, "_note_started"),
    "session bound": (local.LocalLedger, "bind"),
    "window imported": (local.LocalLedger, "append"),
    "session collected": (collect.Collector, "finish"),
    "run finished": (local.LocalLedger, "finish"),
}


def die_after(owner: Any, name: str) -> None:
    """Make a function the last thing that this process does."""
    original = getattr(owner, name)

    def last(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    wrapper: Callable[..., Any] = staticmethod(last) if name == "create" else last
    setattr(owner, name, wrapper)


if __name__ == "__main__":
    die_after(*STEPS[sys.argv[1]])
    sys.exit(main(sys.argv[2:]))
