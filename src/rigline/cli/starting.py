"""What `resume`, `show` and `continue` share: a person is asked on the whole screen, then `rigline run` takes over."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from rigline import process
from rigline.config import Settings, load_settings
from rigline.errors import CheckoutGone, InternalError, NoTerminal
from rigline.harness import NAMES
from rigline.paths import user_home
from rigline.readable import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.tui.page import Choice, Page

#: terminals that cannot move their cursor
_POOR_TERMINALS = ("", "dumb", "unknown")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """The options of `rigline run` that these commands hand on."""
    parser.add_argument("--fresh", action="store_true", help="start a new native session, not the bound one")
    parser.add_argument("--yolo", action="store_true", help="the harness's own option for asking no permissions")


def read_settings() -> Settings:
    """The user's settings, as `rigline run` reads them."""
    return load_settings(os.environ, NAMES)


def check_terminal(command: str) -> None:
    """Raise `NoTerminal` where a picker cannot be shown."""
    streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
    name = next((name for name, stream in streams.items() if not _is_terminal(stream)), None)
    kind = os.environ.get("TERM", "")
    if name is None and kind not in _POOR_TERMINALS:
        return
    why = f"{name} is none" if name is not None else f"TERM={kind!r} names one that cannot show it"
    raise NoTerminal(
        f"`rigline {command}` lets a person choose, for which it needs a terminal; {why}. `rigline {command} --json` "
        "lists what there is to choose from, `rigline continue` goes on with the newest line, and "
        "`rigline run --workstream NAME` in a checkout with a certain one.",
        command=command,
    )


def _is_terminal(stream: object) -> bool:
    isatty: Callable[[], bool] | None = getattr(stream, "isatty", None)
    try:
        return isatty is not None and isatty()
    except ValueError:  # closed
        return False


def pick(page: Page) -> Choice | None:
    """Let a person choose; None when they left. Ctrl-C raises KeyboardInterrupt."""
    from rigline.tui.app import Picker

    picker = Picker(page)
    choice = picker.run(mouse=False)
    if picker.is_interrupted:
        raise KeyboardInterrupt
    if picker.return_code:
        raise InternalError("The picker failed by its own fault, as told above; nothing was started.")
    return choice


def become_run(cwd: str, words: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Become `rigline run` in a folder: nothing of a picker stays beside the agent."""
    try:
        os.chdir(cwd)
    except OSError as error:
        raise CheckoutGone(f"Nothing was started: {cwd} cannot be entered ({error.strerror}).", cwd=cwd) from error
    # -P: a checkout that has a folder of our name must not be taken for us
    process.become([sys.executable, "-P", "-m", "rigline", *words], {**env, "PWD": cwd})


def shorten_home(path: str) -> str:
    """A path as people write it, with `~` for their home."""
    home = user_home(os.environ)
    return clean("~" + path[len(home) :] if path == home or path.startswith(home + "/") else path)
