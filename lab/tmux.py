"""A tmux server on a private socket: real terminals for the agents, and what they show."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

# tmux 3.3a sometimes never learns a pane's exit status (about one in four here), so a shell beside the program writes
# it down, and the program's pid before it starts. Ctrl-C reaches both, and must end only the program.
PROGRAM = """
trap : INT QUIT
record=$1; shift
sh -c 'echo $$ >"$1.pid"; shift; exec "$@"' sh "$record" "$@"
echo $? >"$record.part" && mv "$record.part" "$record.exit"
"""


class Pane:
    """One pane, known by its id."""

    def __init__(self, server: Tmux, pane_id: str, record: str) -> None:
        self.server, self.id, self._record = server, pane_id, record

    def type(self, text: str) -> None:
        """Type text as it is."""
        self.server.call("send-keys", "-t", self.id, "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names, such as Enter or C-c."""
        self.server.call("send-keys", "-t", self.id, *keys)

    def enter(self, text: str) -> None:
        """Type text and press Enter, as two events: agents take one burst that ends in Enter for a paste."""
        self.type(text)
        time.sleep(0.2)
        self.press("Enter")

    def screen(self) -> str:
        """What the pane shows; empty when it is gone."""
        return self.server.call("capture-pane", "-p", "-t", self.id, check=False)

    def wait_for(self, shows: str | Callable[[str], bool], timeout_s: float = 30) -> str:
        """The screen as soon as it shows a text; raises TimeoutError with the last screen otherwise."""
        holds = shows if callable(shows) else lambda screen: shows in screen
        deadline = time.monotonic() + timeout_s
        while True:
            screen = self.screen()
            if holds(screen):
                return screen
            if time.monotonic() > deadline:
                raise TimeoutError(f"the pane does not show {shows!r} after {timeout_s} s, but:\n{screen}")
            time.sleep(0.1)

    @property
    def pid(self) -> int:
        """The program's process."""
        deadline = time.monotonic() + 10
        while not (text := read_text(self._record + ".pid").strip()):
            if time.monotonic() > deadline:
                raise TimeoutError("the pane's program was not started within 10 s")
            time.sleep(0.02)
        return int(text)

    @property
    def exit_code(self) -> int | None:
        """The program's exit status (128 + signal when killed), or None while it runs."""
        text = read_text(self._record + ".exit").strip()
        return int(text) if text else None

    def wait_for_exit(self, timeout_s: float = 30) -> int:
        """The exit status once the process ended."""
        deadline = time.monotonic() + timeout_s
        while (status := self.exit_code) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the pane's process still runs after {timeout_s} s; it shows:\n{self.screen()}")
            time.sleep(0.1)
        return status


class Tmux:
    """The server. It reads no configuration file, and keeps panes whose program has ended."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self._folder = tempfile.mkdtemp(prefix="rigline-tmux-")
        self._panes = 0

    def call(self, *words: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """One tmux command; what it prints."""
        base = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": os.devnull}
        done = subprocess.run(
            ["tmux", "-L", self.socket, "-f", os.devnull, *words],
            env={**base, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"tmux {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def open_pane(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str, size: tuple[int, int] = (120, 40)
    ) -> Pane:
        """A new session whose only pane runs `argv` with this environment and no other."""
        self._panes += 1
        record = os.path.join(self._folder, str(self._panes))
        cleared = ["env", "-i", *(f"{name}={value}" for name, value in env.items())]
        # set on the server before the first pane: a program that ends at once would take its screen with it
        options = ["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]
        options += ["set-option", "-g", "remain-on-exit-format", "", ";"]
        where = ["-d", "-P", "-F", "#{pane_id}", "-x", str(size[0]), "-y", str(size[1]), "-c", cwd]
        pane_id = self.call(*options, "new-session", *where, "--", *cleared, "sh", "-c", PROGRAM, "sh", record, *argv)
        return Pane(self, pane_id.strip(), record)

    def kill(self) -> None:
        """End the server and everything in it; its socket is removed."""
        path = self.call("display-message", "-p", "#{socket_path}", check=False).strip()
        self.call("kill-server", check=False)
        if path and os.path.exists(path):
            os.unlink(path)
        shutil.rmtree(self._folder, ignore_errors=True)


def read_text(path: str) -> str:
    """A file's text; nothing when it is not there yet."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


@contextmanager
def open_tmux(socket: str) -> Iterator[Tmux]:
    """A server that is killed when the context ends."""
    server = Tmux(socket)
    try:
        yield server
    finally:
        server.kill()
