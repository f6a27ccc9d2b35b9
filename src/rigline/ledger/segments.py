"""Segments: immutable JSONL files with what each import batch brought, on disk before its rows.

The first line describes the session and the batch, each further line is an event or names one that is stored
under another session. From all segments together the database can be built anew (`rigline.ledger.rebuild`).
The callers hold the database's write lock, so that one segment at a time is written.
"""

from __future__ import annotations

import os
from hashlib import sha256

import msgspec
from msgspec import Struct

from rigline.errors import LedgerUnreachable
from rigline.model import Event, SessionLink
from rigline.store.text import replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rigline.store.events import Batch, Step

FORMAT = 1
_SAFE = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-")
_NAME_CHARS = 100
_UNFINISHED = ".next.tmp"


class SegmentBinding(Struct, omit_defaults=True):
    """A workstream that the session was bound to, and how that was proved."""

    id: str
    name: str
    workspace: str
    project: str
    repo_fingerprint: str
    worktree_fingerprint: str
    cwd: str
    created_ms: int
    is_current: bool
    evidence: str
    created_via: str
    bound_ms: int
    inode_fingerprint: str | None = None


class SegmentMove(Struct, omit_defaults=True):
    """A workstream of the session was re-attached to the checkout that its binding names, and these sessions with it.

    `sessions` holds pairs of harness and native id.
    """

    workstream_id: str
    from_cwd: str
    to_cwd: str
    evidence: str
    at_ms: int
    sessions: list[tuple[str, str]]


class Header(Struct, omit_defaults=True):
    """A segment's first line. `shown` maps sources to the last position that the session was proved to be shown.

    A segment with a `move` holds no events, and its `cursor_after` says nothing.
    """

    harness: str
    native_id: str
    first_position: int
    cursor_before: str | None
    cursor_after: str
    format: int = FORMAT
    path: str = ""
    cwd: str | None = None
    store: str | None = None
    title: str | None = None
    is_subagent: bool = False
    scope: dict[str, str] | None = None
    bindings: list[SegmentBinding] = []
    links: list[SessionLink] = []
    losses: dict[str, int] = {}
    shown: dict[str, int] = {}
    move: SegmentMove | None = None


class Line(Struct, omit_defaults=True):
    """An event of a segment; with `copy_of` (an event's id in hex) a copy of one that is stored elsewhere.

    `native_id` is given where it is not the header's.
    """

    kind: str = ""
    text: str = ""
    record: str = ""
    block: int = 0
    role: str | None = None
    at_ms: int | None = None
    tool: str | None = None
    call_id: str | None = None
    status: str | None = None
    copy_key: str = ""
    turn: str = ""
    parent_turn: str = ""
    native_id: str = ""
    copy_of: str = ""


class Segment(Struct, frozen=True):
    """A segment on disk. `name` is its path below the segments' folder."""

    name: str
    events: int
    bytes: int
    sha256: str


def build_lines(batch: Batch, native_id: str) -> list[Line]:
    """A batch's lines: its steps in order, then the events that were revised."""
    lines = [_build_line(step, native_id) for step in batch.steps]
    return lines + [_build_event_line(row.event, native_id) for _, row in batch.revised]


def _build_line(step: Step, native_id: str) -> Line:
    event = step.incoming.event
    if step.copied_id is not None:
        return Line(copy_of=step.copied_id.hex(), at_ms=event.at_ms, turn=event.turn, parent_turn=event.parent_turn)
    return _build_event_line(event, native_id)


def _build_event_line(event: Event, native_id: str) -> Line:
    return Line(
        kind=str(event.kind),
        text=event.text,
        record=event.record,
        block=event.block,
        role=event.role,
        at_ms=event.at_ms,
        tool=event.tool,
        call_id=event.call_id,
        status=event.status,
        copy_key=event.copy_key,
        turn=event.turn,
        parent_turn=event.parent_turn,
        native_id=event.native_id if event.native_id != native_id else "",
    )


def write_segment(folder: str, header: Header, lines: list[Line]) -> Segment:
    """Put a segment on disk, durably and privately; one with the same content is there already.

    Raises `LedgerUnreachable` when the disk does not take it; nothing half-written has the segment's name.
    """
    encoder = msgspec.json.Encoder()
    content = b"".join(encoder.encode(each) + b"\n" for each in [header, *lines])
    digest = sha256(content).hexdigest()
    place = os.path.join(header.harness, name_folder(header.native_id))
    name = os.path.join(place, f"{header.first_position:012d}-{digest[:16]}.jsonl")
    try:
        _make_folders(folder, place)
        if not os.path.exists(os.path.join(folder, name)):
            _write_durably(os.path.join(folder, name), content)
    except OSError as error:
        raise LedgerUnreachable(
            f"The segment {os.path.join(folder, name)} cannot be written: {error.strerror}. Nothing of this batch was "
            "stored; it is imported again next time.",
            path=os.path.join(folder, name),
            cause=error.strerror,
        ) from error
    return Segment(name=name, events=len(lines), bytes=len(content), sha256=digest)


def name_folder(native_id: str) -> str:
    """The name of a session's folder: its id, or a hash of it where the id is no plain file name."""
    is_plain = 0 < len(native_id) <= _NAME_CHARS and _SAFE.issuperset(native_id) and not native_id.startswith(".")
    if is_plain:
        return native_id
    return "h-" + sha256(native_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def find_segments(folder: str) -> list[str]:
    """The names of all segments below a folder, in no order."""
    found = []
    for place, _, files in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, file), folder) for file in files if file.endswith(".jsonl")]
    return found


def read_header(path: str) -> Header | None:
    """A segment's first line, or None when it cannot be understood."""
    with open(path, "rb") as file:
        try:
            return msgspec.json.decode(file.readline(), type=Header)
        except msgspec.MsgspecError:
            return None


def read_lines(path: str) -> Iterator[Line | None]:
    """A segment's lines after the first; None for each that is damaged."""
    decoder = msgspec.json.Decoder(Line)
    with open(path, "rb") as file:
        file.readline()
        for raw in file:
            try:
                yield decoder.decode(raw)
            except msgspec.MsgspecError:
                yield None


def hash_segment(path: str) -> tuple[int, str]:
    """A segment's size in bytes and its SHA-256 in hex."""
    digest, size = sha256(), 0
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def clean_header(header: Header) -> Header:
    """The header with text that JSON can hold: paths may have bytes that are no UTF-8."""
    header.path = replace_surrogates(header.path)
    header.cwd = replace_surrogates(header.cwd) if header.cwd else None
    header.title = replace_surrogates(header.title) if header.title else None
    return header


def _make_folders(folder: str, place: str) -> None:
    """Make the folders of `place` below `folder`, each private and each durable in the one above it."""
    current = folder
    for part in ["", *place.split(os.sep)]:
        current = os.path.join(current, part) if part else current
        if not os.path.isdir(current):
            os.mkdir(current, 0o700)
            os.chmod(current, 0o700)
            _sync_folder(os.path.dirname(current))


def _write_durably(path: str, content: bytes) -> None:
    folder = os.path.dirname(path)
    unfinished = os.path.join(folder, _UNFINISHED)
    handle = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(handle, 0o600)
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(unfinished, path)
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
