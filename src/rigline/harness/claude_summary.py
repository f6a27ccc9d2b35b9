"""What a Claude Code transcript is, told by its beginning and its end: lists are made without reading whole files."""

from __future__ import annotations

import os
import re

import msgspec
from msgspec import Struct

from rigline.harness.claude_fields import content_of, find_title, is_clear_command
from rigline.harness.claude_records import extract
from rigline.harness.claude_transcript import HARNESS
from rigline.harness.journal import iter_lines, open_regular
from rigline.harness.windows import as_text, parse_time_ms
from rigline.model import SessionInfo, SessionLink

WINDOW_BYTES = 64 << 10
#: where to find the directory in nearly every transcript
_GLANCE_BYTES = 16 << 10
#: a first line may be longer than a window: how far the beginning is read until it holds a whole record
_WIDEST_BYTES = 16 << 20
#: how much of a transcript's end is looked through for lone surrogates
_SURROGATE_BYTES = 4 << 20
_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_decoder = msgspec.json.Decoder()


class Summary(Struct, kw_only=True):
    """A transcript by its beginning and its end. `launched` is (session, record) of the first `session_id`."""

    size_bytes: int
    updated_ms: int
    session_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    started_ms: int | None = None
    title: str | None = None
    first_prompt: str | None = None
    branched_from: tuple[str, str] | None = None
    launched: tuple[str, str] | None = None
    is_sidechain: bool = False
    began_with_clear: bool = False
    has_records: bool = False
    has_conversation: bool = False


def summarise(path: str) -> Summary:
    """Read the summary; raises OSError when the file cannot be read or is no regular file."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        head = _read_head(file.fileno(), status.st_size)
        tail = _read_tail(file.fileno(), status.st_size)
    summary = Summary(size_bytes=status.st_size, updated_ms=status.st_mtime_ns // 1_000_000)
    summary.has_records = bool(head or tail)
    for record in head:
        _take_first(summary, record)
    for record in (*head, *tail):
        _take_last(summary, record)
    _take_title(summary, [*head, *tail])
    return summary


def build_info(
    native_id: str, path: str, summary: Summary, *, parent: SessionLink | None, is_subagent: bool = False
) -> SessionInfo:
    """The session that a summary tells of."""
    return SessionInfo(
        harness=HARNESS,
        native_id=native_id,
        path=path,
        cwd=summary.cwd,
        updated_ms=summary.updated_ms,
        size_bytes=summary.size_bytes,
        started_ms=summary.started_ms,
        title=summary.title,
        first_prompt=summary.first_prompt,
        version=summary.version,
        is_subagent=is_subagent or summary.is_sidechain,
        parent=parent,
    )


def glance_at_cwd(path: str) -> str | None:
    """The directory that a transcript was begun in, when its first lines tell; raises OSError."""
    with open_regular(path) as file:
        data = os.pread(file.fileno(), _GLANCE_BYTES, 0)
    for line in data.split(b"\n")[:-1]:
        record = _decode(line)
        cwd = record.get("cwd") if record else None
        if isinstance(cwd, str) and cwd:
            return cwd
    return None


def has_lone_surrogate(path: str) -> bool:
    """Whether a record near the end holds half of a surrogate pair, which the API refuses; raises OSError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        begin = max(0, size - _SURROGATE_BYTES)
        data = os.pread(file.fileno(), _SURROGATE_BYTES, begin)
    for hit in _HALF_PAIR.finditer(data):
        line_begin = begin + data.rfind(b"\n", 0, hit.start()) + 1
        # An escaped backslash before a `u` looks the same: decoding tells.
        line = next(iter_lines(path, line_begin), None)
        if line is not None and line.damage == "lone_surrogate":
            return True
    return False


def _decode(line: bytes) -> dict[str, object] | None:
    try:
        record = _decoder.decode(line)
    except (ValueError, RecursionError):
        whole = _HALF_PAIR.sub(rb"\\ufffd", line)
        return _decode(whole) if whole != line else None
    return record if isinstance(record, dict) else None


def _decode_lines(lines: list[bytes]) -> list[dict[str, object]]:
    return [record for line in lines if line and (record := _decode(line)) is not None]


def _read_head(fd: int, size: int) -> list[dict[str, object]]:
    """The records that the first window holds whole, of a wider one if there is none or none names a directory."""
    width = WINDOW_BYTES
    while True:
        data = os.pread(fd, width, 0)
        is_all = len(data) >= size
        records = _decode_lines(data.split(b"\n") if is_all else data.split(b"\n")[:-1])
        if is_all or width >= _WIDEST_BYTES or any("cwd" in record for record in records):
            return records
        width *= 16


def _read_tail(fd: int, size: int) -> list[dict[str, object]]:
    """The records that the last window holds whole, unless the first one held them already."""
    if size <= WINDOW_BYTES:
        return []
    data = os.pread(fd, WINDOW_BYTES, max(WINDOW_BYTES, size - WINDOW_BYTES))
    return _decode_lines(data.split(b"\n")[1:])


def _take_first(summary: Summary, record: dict[str, object]) -> None:
    """What the first record that has it tells."""
    summary.cwd = summary.cwd or as_text(record.get("cwd")) or None
    summary.session_id = summary.session_id or as_text(record.get("sessionId")) or None
    if summary.started_ms is None:
        summary.started_ms = parse_time_ms(record.get("timestamp"))
    launched, own = as_text(record.get("session_id")), as_text(record.get("uuid"))
    if summary.launched is None and launched and own:
        summary.launched = (launched, own)
    if not _is_message(record):
        return
    summary.began_with_clear |= summary.first_prompt is None and is_clear_command(record)
    if not summary.has_conversation:
        summary.is_sidechain = record.get("isSidechain") is True
    summary.has_conversation = True
    if summary.first_prompt is None:
        found = extract(record, is_subagent=True)
        summary.first_prompt = found.pieces[0].text if found.is_prompt else None


def _take_last(summary: Summary, record: dict[str, object]) -> None:
    """What the last record that has it tells. A branch was born after the last record that it copied."""
    summary.cwd = summary.cwd or as_text(record.get("cwd")) or None
    summary.version = as_text(record.get("version")) or summary.version
    summary.has_conversation |= _is_message(record)
    source = record.get("forkedFrom")
    if isinstance(source, dict) and isinstance(source.get("sessionId"), str):
        summary.branched_from = (source["sessionId"], as_text(record.get("uuid")))
        summary.started_ms = parse_time_ms(record.get("timestamp")) or summary.started_ms


def _is_message(record: dict[str, object]) -> bool:
    """Whether it is a message of Claude Code's: other programs write the same types, with no `content` in them."""
    return record.get("type") in ("user", "assistant") and content_of(record) is not None


def _take_title(summary: Summary, records: list[dict[str, object]]) -> None:
    """The last title that a person chose, else the last one that was made up, else the first prompt."""
    titles = [title for record in records if (title := find_title(record)) is not None]
    chosen = [text for text, is_chosen in titles if is_chosen] or [text for text, _ in titles]
    summary.title = chosen[-1] if chosen else summary.first_prompt
