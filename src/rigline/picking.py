"""What the pickers and their `--json` show: lines of work, checkouts, and how far a checkout has gone on since.

Pure: facts in, texts and choices out. What has to be looked up is in `lines.py`, what a screen looks like in `tui/`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from rigline.model import UNKNOWN_STATUS, Checkpoint
from rigline.readable import flatten, format_count, format_iso, join_words

#: they make the character before them wider or narrower, and terminals do not agree on it
_SELECTORS = dict.fromkeys([0xFE0E, 0xFE0F, *range(0x1F3FB, 0x1F400)])


class Place(StrEnum):
    """What stands at the path of a line's checkout."""

    SAME = "same"
    GONE = "gone"
    NO_FOLDER = "no_folder"
    OTHER = "other"


class Line(Struct, frozen=True, kw_only=True):
    """A line of work. `harnesses` are those of its current sessions, the one used last first; `words` what was said
    last and `speaker` by whom; `holder` says in a clause who writes it now, "" when nobody does."""

    id: str
    name: str
    workspace: str
    project: str
    cwd: str
    worktree_fingerprint: str
    active_ms: int
    title: str = ""
    words: str = ""
    speaker: str = ""
    harnesses: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None
    holder: str = ""


class Standing(Struct, frozen=True, kw_only=True):
    """A line's checkout as it is now.

    `missing` counts the commits that the last run left and HEAD has not, `added` those of HEAD that it did not have;
    None when git cannot tell.
    """

    place: Place
    now: Checkpoint | None = None
    missing: int | None = None
    added: int | None = None


class Checkout(Struct, frozen=True, kw_only=True):
    """A folder in which lines of work are, or may begin. `fingerprint` is None when only git could tell it; `marker`
    names the file by which a scan found it."""

    path: str
    fingerprint: str | None = None
    lines: tuple[str, ...] = ()
    harnesses: tuple[str, ...] = ()
    active_ms: int | None = None
    marker: str = ""


def tidy(text: str) -> str:
    """A text on one line, of characters that every terminal gives the same width."""
    if text.isascii():
        return flatten(text)
    return flatten(unicodedata.normalize("NFC", text).translate(_SELECTORS))


def fold(*texts: str) -> str:
    """What typed letters are looked for in."""
    return "\n".join(texts).casefold()


def find_matches(folded: Sequence[str], typed: str) -> list[int]:
    """The places of the texts that contain what was typed. Each letter stands for itself, whatever its case."""
    wanted = typed.casefold()
    return [place for place, text in enumerate(folded) if wanted in text]


def fold_line(line: Line) -> str:
    """Name, title, last words and path."""
    return fold(line.name, line.title, line.words, line.cwd)


def search_lines(lines: Sequence[Line], typed: str) -> list[Line]:
    """The lines that contain a text."""
    return [lines[place] for place in find_matches([fold_line(line) for line in lines], typed)]


def choose_harness(line: Line, installed: Sequence[str]) -> str | None:
    """The harness that a line goes on with unless another is chosen: the one used last of those that are here."""
    return next((name for name in line.harnesses if name in installed), None)


def describe_place(place: Place) -> str:
    """What is wrong with the path of a checkout; empty when it is the same one."""
    return {
        Place.SAME: "",
        Place.GONE: "its folder is gone",
        Place.NO_FOLDER: "what is at its path is no folder",
        Place.OTHER: "another checkout is at its path now",
    }[place]


def describe_drift(then: Checkpoint | None, standing: Standing) -> str:
    """How far the checkout has gone on since the last run ended, in a sentence without a full stop."""
    now = standing.now
    if standing.place is not Place.SAME:
        return describe_place(standing.place)
    if now is None or (then is None and now.head is None):
        return "nothing is known of its git state"
    since = [] if then is None else [*_describe_commits(then, standing), *_describe_branch(then, now)]
    return join_words([*since, *_describe_files(then, now)]) or "as the last run left it"


def _describe_commits(then: Checkpoint, standing: Standing) -> list[str]:
    assert standing.now is not None
    if then.head == standing.now.head or then.head is None:
        return []
    if standing.added is None or standing.missing is None:
        return ["its last commit is not in the repository any more"]
    added = [f"{format_count(standing.added, 'commit')} since"] if standing.added else []
    return added + ([f"{format_count(standing.missing, 'commit')} missing"] if standing.missing else [])


def _describe_branch(then: Checkpoint, now: Checkpoint) -> list[str]:
    if then.branch == now.branch or then.head is None:
        return []
    return [f"branch {tidy(now.branch or '') or '(none)'} instead of {tidy(then.branch or '') or '(none)'}"]


def _describe_files(then: Checkpoint | None, now: Checkpoint) -> list[str]:
    if now.status_hash == UNKNOWN_STATUS:
        return ["the state of its files is unknown"]
    if now.status_hash is None:
        return []
    changed = format_count(len(now.paths) + now.paths_left_out, "file")
    is_as_left = then is not None and then.status_hash == now.status_hash
    return [f"{changed} {'still ' if is_as_left else ''}changed"]


def abbreviate_drift(then: Checkpoint | None, standing: Standing) -> str:
    """The same for a narrow column: `+3 -1 *` is three commits since, one not in HEAD, and files not committed."""
    now = standing.now
    if standing.place is not Place.SAME:
        return "gone" if standing.place is Place.GONE else "other"
    if now is None:
        return ""
    counts = [f"{sign}{count}" for sign, count in (("+", standing.added), ("-", standing.missing)) if count]
    if then is not None and then.head and then.head != now.head and standing.added is None:
        counts.append("?")
    if now.status_hash not in (None, UNKNOWN_STATUS):
        counts.append("*")
    return " ".join(counts)


def build_words(line: Line, harness: str | None, *, yolo: bool = False, fresh: bool = False) -> list[str]:
    """The words after `rigline` that go on with a line, also where its names look like options or a marker changed."""
    where = [f"--workspace={line.workspace}", f"--project={line.project}", f"--workstream={line.name}"]
    return ["run", *where, *build_flags(yolo=yolo, fresh=fresh), *([harness] if harness else [])]


def build_flags(*, yolo: bool, fresh: bool) -> list[str]:
    """`--yolo` and `--fresh` as `rigline run` takes them."""
    return [*(["--yolo"] if yolo else []), *(["--fresh"] if fresh else [])]


def describe_line(line: Line, standing: Standing | None, installed: Sequence[str]) -> dict[str, object]:
    """A line as JSON. `drift` is None where nobody looked."""
    return {
        "id": line.id,
        "name": line.name,
        "workspace": line.workspace,
        "project": line.project,
        "cwd": line.cwd,
        "title": line.title or None,
        "last_words": {"speaker": line.speaker, "text": line.words} if line.words else None,
        "active": format_iso(line.active_ms),
        "active_ms": line.active_ms,
        "harnesses": list(line.harnesses),
        "harness": choose_harness(line, installed),
        "held_by": line.holder or None,
        "branch": line.checkpoint.branch if line.checkpoint else None,
        "head": line.checkpoint.head if line.checkpoint else None,
        "drift": _describe_standing(line, standing) if standing is not None else None,
    }


def _describe_standing(line: Line, standing: Standing) -> dict[str, object]:
    now = standing.now
    return {
        "place": str(standing.place),
        "told": describe_drift(line.checkpoint, standing),
        "branch": now.branch if now else None,
        "head": now.head if now else None,
        "commits_since": standing.added,
        "commits_missing": standing.missing,
        "files_changed": len(now.paths) + now.paths_left_out if now and now.status_hash != UNKNOWN_STATUS else None,
    }


def describe_checkout(checkout: Checkout) -> dict[str, object]:
    """A checkout as JSON."""
    return {
        "path": checkout.path,
        "lines": list(checkout.lines),
        "harnesses": list(checkout.harnesses),
        "active": format_iso(checkout.active_ms),
        "active_ms": checkout.active_ms,
        "found_by": checkout.marker or None,
    }
