"""Lines of work and checkouts of this machine as the pickers need them: from the ledger, the folders, and git.

Every path comes from the ledger or from a scan and may mean something else by now. So each is looked at again before
anything is started there.
"""

from __future__ import annotations

import os
import time

from rigline import liveness
from rigline.checkout import find_worktree_fingerprint
from rigline.errors import CheckoutGone, RiglineError
from rigline.harness import get_executable, list_names
from rigline.host import host_name
from rigline.model import Checkpoint
from rigline.picking import Checkout, Line, Place, Standing, describe_place, tidy
from rigline.process import find_executable
from rigline.readable import format_time
from rigline.scope import count_commits, resolve_scope, take_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rigline.config import Settings
    from rigline.ledger.base import Ledger, LineRecord
    from rigline.model import Holder

#: what makes a folder worth offering, the surest first
MARKERS = (
    *(".git", ".rigline.toml", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "requirements.txt"),
    *("Gemfile", "composer.json", "pom.xml", "build.gradle", "CMakeLists.txt", "Makefile", "compose.yaml"),
)
#: folders that hold what others made
_PASSED_OVER = frozenset({"node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__"})
MAX_SCANNED = 4096
#: the next step where a checkout is not at its path any more
RELOCATE = "If it was moved or cloned anew, `rigline relocate` in it gives its lines back."
_SPEAKERS = {"user": "you", "assistant": "agent"}


def list_lines(ledger: Ledger, worktree_fingerprint: str | None) -> list[Line]:
    """The lines of a checkout (None: of every one), most recently selected first."""
    host, now_ms = host_name(), int(time.time() * 1000)
    return [_build_line(record, host, now_ms) for record in ledger.list_lines(worktree_fingerprint)]


def find_line(ledger: Ledger, line: Line) -> Line | None:
    """A line as the ledger has it now."""
    return next((each for each in list_lines(ledger, line.worktree_fingerprint) if each.id == line.id), None)


def _build_line(record: LineRecord, host: str, now_ms: int) -> Line:
    stream, words = record.workstream, record.last_words
    current = [binding for binding in stream.bindings if binding.is_current]
    return Line(
        id=stream.id,
        name=stream.name,
        workspace=stream.workspace,
        project=stream.project,
        cwd=stream.cwd,
        worktree_fingerprint=stream.worktree_fingerprint,
        active_ms=stream.active_ms,
        title=tidy(next((binding.title for binding in current if binding.title), "")),
        words=tidy(words.text) if words else "",
        speaker=_SPEAKERS.get(words.role or "", words.role or "") if words else "",
        harnesses=tuple(binding.harness for binding in current),
        checkpoint=record.checkpoint,
        holder=_describe_holder(record.holder, host, now_ms),
    )


def _describe_holder(holder: Holder | None, host: str, now_ms: int) -> str:
    """Who writes a line; empty when nobody does: no run, a lapsed one elsewhere, or one whose process here is gone."""
    if holder is None:
        return ""
    is_here = holder.host == host
    if is_here and not liveness.is_alive(holder.pid, holder.pid_started):
        return ""
    if not is_here and holder.expires_ms <= now_ms:
        return ""
    where = "" if is_here else f" on {tidy(holder.host)}"
    return f"{holder.harness} (pid {holder.pid}{where}) since {format_time(holder.since_ms)}"


def find_installed(env: Mapping[str, str], settings: Settings) -> tuple[str, ...]:
    """The harnesses whose program is here, third parties' too. No built-in adapter is loaded for it."""
    return tuple(name for name in list_names() if _is_installed(name, env, settings))


def _is_installed(name: str, env: Mapping[str, str], settings: Settings) -> bool:
    configured = settings.executables.get(name)
    try:
        find_executable(configured.value if configured else get_executable(name), env)
    except RiglineError:
        return False
    return True


def find_checkout_here(cwd: str, env: Mapping[str, str]) -> str:
    """The worktree fingerprint of a directory: from its files, and where they do not tell it, from git."""
    return find_worktree_fingerprint(cwd, env) or resolve_scope(cwd, env=env).worktree_fingerprint


def find_place(path: str, fingerprint: str, env: Mapping[str, str]) -> Place:
    """What stands at a recorded path now."""
    if not os.path.isdir(path):
        return Place.NO_FOLDER if os.path.lexists(path) else Place.GONE
    try:
        return Place.SAME if find_checkout_here(path, env) == fingerprint else Place.OTHER
    except RiglineError:
        return Place.GONE


def check_place(line: Line, env: Mapping[str, str]) -> None:
    """Raise `CheckoutGone` unless a line's path is still the checkout that the line belongs to."""
    place = find_place(line.cwd, line.worktree_fingerprint, env)
    if place is not Place.SAME:
        raise CheckoutGone(
            f"Line {line.name!r} was not started: {describe_place(place)} ({line.cwd}). {RELOCATE}",
            workstream=line.name,
            workstream_id=line.id,
            cwd=line.cwd,
            place=str(place),
        )


class Looker:
    """Looks at checkouts, at each folder once."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._now: dict[str, Checkpoint] = {}

    def look(self, line: Line) -> Standing:
        """How a line's checkout stands; asks git and may take as long as git does."""
        place = find_place(line.cwd, line.worktree_fingerprint, self._env)
        if place is not Place.SAME:
            return Standing(place=place)
        if line.cwd not in self._now:
            self._now[line.cwd] = take_checkpoint(line.cwd, int(time.time() * 1000), env=self._env)
        now, then = self._now[line.cwd], line.checkpoint
        if then is None or then.head is None or now.head is None or then.head == now.head:
            return Standing(place=place, now=now, missing=0, added=0)
        missing, added = count_commits(line.cwd, then.head, env=self._env) or (None, None)
        return Standing(place=place, now=now, missing=missing, added=added)


def list_checkouts(lines: Sequence[Line]) -> list[Checkout]:
    """The checkouts of lines, in the lines' order; each where its first line was last worked on."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.worktree_fingerprint, []).append(line)
    return [
        Checkout(
            path=own[0].cwd,
            fingerprint=fingerprint,
            lines=tuple(line.name for line in own),
            harnesses=tuple(dict.fromkeys(name for line in own for name in line.harnesses)),
            active_ms=max(line.active_ms for line in own),
        )
        for fingerprint, own in found.items()
    ]


def scan_checkouts(folder: str, known: Sequence[Checkout], env: Mapping[str, str]) -> list[Checkout]:
    """Checkouts that a folder is or holds, one level deep, and that are not `known`, by name.

    Links are not followed; hidden folders and those of build tools are passed over.
    """
    taken = {checkout.fingerprint for checkout in known}
    found = []
    for path in (folder, *_iter_folders(folder)):
        marker = next((name for name in MARKERS if os.path.lexists(os.path.join(path, name))), None)
        fingerprint = find_worktree_fingerprint(path, env) if marker else None
        if marker and (fingerprint is None or fingerprint not in taken):
            taken.add(fingerprint)
            found.append(Checkout(path=path, fingerprint=fingerprint, marker=marker))
    return found


def _iter_folders(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for _, entry in zip(range(MAX_SCANNED), entries, strict=False)
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in sorted(names) if name not in _PASSED_OVER)
