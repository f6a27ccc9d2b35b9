"""What `run` says to the person, on stderr. Saying something never fails: the terminal may be gone."""

from __future__ import annotations

import sys

from rigline.notices import write_notice, write_stderr


class Console:
    """Notices, one line each. While the agent owns the terminal they are kept and said when it has ended."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._is_holding = False
        self._held: list[str] = []
        self._quiet = quiet
        self._troubles: set[str] = set()

    @property
    def is_interactive(self) -> bool:
        """Whether a person can be asked something."""
        return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)

    def say(self, message: str) -> None:
        """A notice. Held back while the agent draws on the same terminal."""
        if self._is_holding:
            self._held.append(message)
        elif not self._quiet:
            write_notice(message)

    def note_trouble(self, message: str) -> None:
        """A trouble of the work beside the child: said once, however often it comes."""
        if message not in self._troubles:
            self._troubles.add(message)
            self.say(message)

    def hold(self) -> None:
        """Keep notices from now on, if the agent may be drawing on the terminal they would go to."""
        self._is_holding = _is_terminal(sys.stderr)

    def release(self) -> None:
        """Say what was kept, and go on saying things at once."""
        self._is_holding = False
        held, self._held = self._held, []
        for message in held:
            self.say(message)

    def ask(self, question: str) -> str | None:
        """One line from the person; None at the end of input. Ctrl-C raises KeyboardInterrupt."""
        write_stderr(question)
        line = sys.stdin.readline()
        return line.strip() if line else None

    def write(self, text: str) -> None:
        """Text as it is, such as a list to choose from."""
        write_stderr(text)


def _is_terminal(stream: object) -> bool:
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False
