"""JSON-lines files as agent CLIs leave them: still growing, half written, glued, or damaged.

`iter_lines` reads one line at a time, in bounded memory, and never raises for what is in the file. A physical
line that cannot be decoded is cut into pieces: complete records are recovered, the rest is named as damage.
`Cursor` remembers how far a reader came and proves, by content, that the file is still the one it knew.

The damages:

    truncated       a record that was cut off, with or without another one glued onto it
    glued           a whole record that the next one follows without a newline
    nul_run         NUL bytes, as a crash leaves them where nothing was flushed
    invalid_utf8    bytes that are no text; each became U+FFFD
    lone_surrogate  half of a surrogate pair, escaped; it became U+FFFD
    not_json        anything else that is no record
    not_an_object   JSON, but no object
    oversized       a line longer than the cap; skipped unread
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Struct

#: longer lines are skipped: a decoded line costs up to five times its length in memory
LINE_CAP_BYTES = 32 << 20
#: a line that needs salvage is held as bytes, as text, and as a record
SALVAGE_CAP_BYTES = 16 << 20
CHUNK_BYTES = 1 << 20
PROOF_BYTES = 4096
#: a failed try costs up to the whole line
MAX_FAILED_TRIES = 200
MAX_PIECES = 10_000

_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(r'\{"(?:[^"\\]|\\.)*"')
_NULS = bytes(65536)
_BOM = b"\xef\xbb\xbf"
_decoder = msgspec.json.Decoder()
_salvager = json.JSONDecoder(strict=False)


class Line(Struct, frozen=True, gc=False):
    """One record or one damaged stretch, at byte `offset`; reading may go on at `end`.

    Both `record` and `damage` are set when a record was recovered with some loss, or is followed by a glued one.
    """

    offset: int
    end: int
    record: dict[str, object] | None
    damage: str | None


def open_regular(path: str, buffering: int = CHUNK_BYTES) -> BinaryIO:
    """Open a regular file for reading; raises OSError for anything else, and never waits for a writer of a FIFO."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return open(fd, "rb", buffering=buffering)


def iter_lines(path: str, start: int = 0, *, cap_bytes: int = LINE_CAP_BYTES) -> Iterator[Line]:
    """Every record from byte `start` on, and every damage, in order; blank lines are passed over.

    `start` is 0 or the `end` of an earlier line. A last line without newline is yielded when it is a whole
    record; otherwise it is left for the next time. Raises OSError when the file cannot be opened or read.
    """
    with open_regular(path) as file:
        file.seek(start)
        offset = start
        while data := file.readline(cap_bytes):
            end, lines = _take(file, data, offset, cap_bytes)
            if end == offset:
                return
            yield from lines
            if end < offset + len(data):
                file.seek(end)
            offset = end
            # A line may be large: it must not outlive the next one's reading.
            del data, lines


def _take(file: BinaryIO, data: bytes, offset: int, cap_bytes: int) -> tuple[int, list[Line]]:
    """The lines in `data` and where reading goes on: at `offset` still, when all that is left is a tail."""
    end = offset + len(data)
    if not data[0]:
        return _take_nul_run(data, offset)
    if data[-1] == 0x0A:
        return end, _read_line(data, offset)
    if len(data) == cap_bytes:
        return _take_oversized(file, offset, end)
    # No whole object is the beginning of a longer one, so a whole last record need not wait for its newline.
    lines = _read_line(data, offset)
    is_whole = len(lines) == 1 and lines[0].record is not None
    return (end, lines) if is_whole else (offset, [])


def _take_nul_run(data: bytes, offset: int) -> tuple[int, list[Line]]:
    """A leading run of NULs is a line of its own, so that a run of any length needs no memory."""
    size = 0
    while data.startswith(_NULS, size):
        size += len(_NULS)
    size = len(data) - len(data[size:].lstrip(b"\0"))
    if size == len(data) and size < CHUNK_BYTES:
        return offset, []
    return offset + size, [Line(offset, offset + size, None, "nul_run")]


def _take_oversized(file: BinaryIO, offset: int, end: int) -> tuple[int, list[Line]]:
    while chunk := file.readline(CHUNK_BYTES):
        end += len(chunk)
        if chunk[-1] == 0x0A:
            return end, [Line(offset, end, None, "oversized")]
    return offset, []


def _read_line(data: bytes, offset: int) -> list[Line]:
    end = offset + len(data)
    try:
        record = _decoder.decode(data)
    except (ValueError, RecursionError):
        return _salvage(data, offset)
    if type(record) is dict:
        return [Line(offset, end, record, None)]
    return [Line(offset, end, None, "not_an_object")]


def _salvage(data: bytes, offset: int) -> list[Line]:
    """Cut a line that is no single record into whole records and damage. Every piece's place stays true."""
    if data.isspace():
        return []
    if len(data) > SALVAGE_CAP_BYTES:
        return [Line(offset, offset + len(data), None, "oversized")]
    text, found = _decode_text(data)
    lines: list[Line] = []
    end = offset + len(data)
    at = 0
    for value, stop, fault in _cut(text):
        stop_offset = end if stop == len(text) else offset + len(text[at:stop].encode("utf-8", "surrogateescape"))
        record, has_surrogate = _replace_surrogates(value) if isinstance(value, dict) else (None, False)
        damage = found or fault or ("lone_surrogate" if has_surrogate else None)
        if record is None and isinstance(value, dict):
            damage = "not_json"
        if record is not None or damage is not None:
            lines.append(Line(offset, stop_offset, record, damage))
        offset, at = stop_offset, stop
    return lines


def _decode_text(data: bytes) -> tuple[str, str | None]:
    """The line as text of which every character can be traced back to its bytes, and what was wrong with them."""
    has_nul = b"\0" in data
    if data.startswith(_BOM):
        data = b"   " + data[3:]
    text = data.replace(b"\0", b" ").decode("utf-8", "surrogateescape")
    if has_nul:
        return text, "nul_run"
    return text, "invalid_utf8" if _SURROGATES.search(text) else None


def _cut(text: str) -> Iterator[tuple[object, int, str | None]]:
    """(value or None, where it stops, its fault) for each stretch of a line, covering all of it."""
    at = 0
    tries = iter(range(MAX_FAILED_TRIES))
    for _ in range(MAX_PIECES):
        begin = _skip_blanks(text, at)
        if begin == len(text):
            yield None, begin, None
            return
        value, stop, fault = _decode_at(text, begin)
        if fault is None:
            stop = _skip_blanks(text, stop)
            is_last = stop == len(text)
            if not isinstance(value, dict):
                yield None, stop, "not_an_object" if is_last else "not_json"
            else:
                yield value, stop, None if is_last else "glued"
        else:
            stop = _find_next_record(text, begin, stop, tries)
            is_cut = fault == "truncated" or stop < len(text)
            yield None, stop, "truncated" if is_cut and text[begin] == "{" else "not_json"
        if stop == len(text):
            return
        at = stop
    yield None, len(text), "not_json"


def _decode_at(text: str, begin: int) -> tuple[object, int, str | None]:
    """The value that begins there and its end, or where decoding failed and the name of the fault."""
    try:
        value, stop = _salvager.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        return None, error.pos, "truncated" if is_cut else "not_json"
    except (ValueError, RecursionError):
        return None, len(text), "not_json"
    return value, stop, None


def _find_next_record(text: str, begin: int, failed: int, tries: Iterator[int]) -> int:
    """Where the next whole record begins after a stretch that failed to decode at `failed`, or the end of the text.

    A half record that another one was glued onto fails right behind the glue: inside the second one's first
    key, when the first broke off within a string. So the search begins at the last brace before the failure,
    and does not look into what was decoded before it, where nested objects would pass for records.
    """
    if failed >= len(text.rstrip()):
        return _find_same_opening(text, begin, tries)
    candidate = max(text.rfind("{", begin + 1, failed + 1), begin)
    for _ in tries:
        if candidate > begin:
            value, stop, fault = _decode_at(text, candidate)
            stop = _skip_blanks(text, stop)
            if fault is None and value and isinstance(value, dict) and text[stop : stop + 1] in ("", "{"):
                return candidate
            failed = stop if fault else candidate
        begin = candidate
        candidate = max(text.rfind("{", begin + 1, failed + 1), text.find("{", begin + 1))
        if candidate < 0:
            break
    return len(text)


def _find_same_opening(text: str, begin: int, tries: Iterator[int]) -> int:
    """The same for a stretch that broke off where a value may stand, so that the glued record passes for one in it.

    Only an object that opens with the same key is then a record; any other is a part of the broken one.
    """
    opening = _OPENING.match(text, begin)
    if opening is None:
        return len(text)
    candidate = begin
    for _ in tries:
        candidate = text.find(opening[0], candidate + 1)
        if candidate < 0:
            break
        _, stop, fault = _decode_at(text, candidate)
        stop = _skip_blanks(text, stop)
        if fault is None and text[stop : stop + 1] in ("", "{"):
            return candidate
    return len(text)


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _replace_surrogates(record: dict[str, object]) -> tuple[dict[str, object] | None, bool]:
    """The record with U+FFFD for every lone surrogate in it, since no database or file takes those."""
    try:
        cleaned = _replace_in(record)
    except RecursionError:
        return None, False
    assert isinstance(cleaned, dict)
    return cleaned, cleaned != record


def _replace_in(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_replace_in(item) for item in value]
    if isinstance(value, dict):
        return {_replace_in(key): _replace_in(item) for key, item in value.items()}
    return value


def decode_json(data: str | bytes) -> object:
    """A JSON value with U+FFFD for half of a surrogate pair, as programs write that cut texts between its halves.

    Raises ValueError or RecursionError for what is no JSON.
    """
    try:
        return _decoder.decode(data)
    except ValueError:
        text = data if isinstance(data, str) else data.decode("utf-8")
        if "\\ud" not in text and "\\uD" not in text:
            raise
        return _replace_in(json.loads(text))


class Cursor(Struct, frozen=True, kw_only=True):
    """How far a reader came in a file, and what proves that it is still that file.

    `proof` is the hash of the up to 4,096 bytes before `offset`; `length` the file's size at that time. Neither
    device, inode, nor path counts: a file that was moved or copied is still the same. `state` is the reader's own.
    """

    path: str
    offset: int
    length: int
    proof: str
    state: dict[str, str] = {}

    def encode(self) -> str:
        """The cursor as an opaque string."""
        return msgspec.json.encode(self).decode()


class Start(Struct, frozen=True):
    """Where reading begins, with the reader's state; `is_restart` when a cursor was given and no longer fits."""

    offset: int
    state: dict[str, str]
    is_restart: bool


def make_cursor(path: str, offset: int, state: dict[str, str]) -> Cursor:
    """A cursor at byte `offset` of the file as it is now; raises OSError when it cannot be read."""
    with open_regular(path) as file:
        length = os.fstat(file.fileno()).st_size
        return Cursor(path=path, offset=offset, length=length, proof=_prove(file, offset), state=state)


def decode_cursor(text: str | None) -> Cursor | None:
    """The cursor that `encode` made, or None for anything else."""
    try:
        return msgspec.json.decode(text or "", type=Cursor)
    except (msgspec.DecodeError, UnicodeError):
        return None


def open_at(text: str | None, path: str) -> Start:
    """Where to go on in the file at `path`: after the cursor, or at 0 when the file was rewritten or is shorter.

    Raises OSError when the file cannot be read.
    """
    cursor = decode_cursor(text)
    if cursor is not None:
        with open_regular(path) as file:
            length = os.fstat(file.fileno()).st_size
            fits = 0 <= cursor.offset <= cursor.length <= length and _prove(file, cursor.offset) == cursor.proof
        if fits:
            return Start(cursor.offset, dict(cursor.state), False)
    return Start(0, {}, bool(text))


def _prove(file: BinaryIO, offset: int) -> str:
    begin = max(0, offset - PROOF_BYTES)
    file.seek(begin)
    return "blake2b:" + hashlib.blake2b(file.read(offset - begin), digest_size=16).hexdigest()
