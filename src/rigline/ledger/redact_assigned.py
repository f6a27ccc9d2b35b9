"""Secrets that their names give away: environment values, settings, JSON members, flags, headers. Pure.

Here is found where a value begins and ends, quoted or not, on a line of its own or among code; whether it is a secret
is decided in `redact_named`. An end is looked for within bounds; only a secret is followed to wherever it ends.
"""

from __future__ import annotations

from rigline.ledger import redact_named as named
from rigline.ledger.redact_named import Name, Value, points_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rigline.ledger.redact_scan import Scan, Span

QUOTED_BYTES = 4_096
HEADER_BYTES = 1_024
NAME_BYTES = 64
NAME_CHARS = named.WORD + b".-"
SIMPLE_SCHEMES = frozenset(b"bearer basic token apikey api-key bot key negotiate dpop genie-key sso-key".split())
LONG_SCHEMES = frozenset(
    b"digest oauth hawk signature sharedkey sharedkeylite aws aws4-hmac-sha256 splunk goog4-rsa-sha256".split()
)
_NAME_BYTES = frozenset(bytes((byte,)) for byte in named.WORD)
_ESCAPE_LETTERS = frozenset({b"n", b"r", b"t", b"b", b"f"})
_LINE_HEADS = frozenset({b"", b"export", b"-", b"+", b"set", b"declare -x", b"ENV", b"ARG", b"$", b"//", b"#"})
#: a sign behind the operator that makes it a comparison or a path: `==`, `=~`, `::`
_NO_ASSIGNMENT = {b"=": b"=~", b":": b":=", b">": b"=", b",": b","}


def find_named(scan: Scan, start: int, end: int) -> Span | None:
    if scan.data[end : end + 20].lstrip(b" \"'`\\[").startswith(b"redacted:"):
        return None
    begin, name = _read_name(scan, start, end)
    operator = scan.data[end - 1 : end]
    if not name.kind or scan.data[end : end + 1] in _NO_ASSIGNMENT[operator]:
        return None
    if operator == b"," and scan.engine.lead.match(scan.data, end).group(2) is None:
        return None
    if name.kind == named.AUTHORIZATION:
        return _authorization(scan, end)
    if name.kind == named.COOKIE:
        return _cookie(scan, end)
    is_bare = operator == b"=" and scan.data[end - 2 : end - 1] in _NAME_BYTES and b"." not in scan.data[begin:end]
    return _assigned(scan, name, end, begin, is_tight=is_bare and scan.data[end : end + 1] not in b" \t")


def find_flag(scan: Scan, start: int, end: int) -> Span | None:
    name = named.read_name(scan.data[start:end].strip())
    return _assigned(scan, name, end, start, is_tight=False) if name.kind else None


def _read_name(scan: Scan, start: int, end: int) -> tuple[int, Name]:
    """The name around the place where its ending was found, and where it begins."""
    data = scan.data
    low = max(scan.done, start - NAME_BYTES)
    head = data[low:start]
    begin = skip_escape(scan, low + len(head.rstrip(NAME_CHARS)), start)
    word = data[begin:end]
    length = len(word) - len(word.lstrip(NAME_CHARS))
    return begin, named.read_name(word[:length])


def skip_escape(scan: Scan, begin: int, stop: int) -> int:
    """Behind the `n` of a written-out newline, or the `32m` of a colour, which look like the start of a word."""
    before = scan.data[max(0, begin - 12) : begin]
    if before.endswith(b"\\") and scan.data[begin : begin + 1] in _ESCAPE_LETTERS:
        return begin + 1
    if before.endswith((b"[", b";")) and b"\x1b[" in before:
        return max(begin, scan.data.find(b"m", begin, stop) + 1)
    return begin


def _assigned(scan: Scan, name: Name, at: int, begin: int, *, is_tight: bool) -> Span | None:
    lead = scan.engine.lead.match(scan.data, at)
    prefix, quote = lead.groups(b"")
    if quote:
        return _quoted(scan, name, lead.end(), quote, prefix, is_tight=is_tight)
    start = lead.end()
    is_line = _begins_line(scan, begin)
    is_environment = is_tight and name.is_upper
    run = scan.engine.line_run if is_environment and is_line else scan.engine.word_run
    piece = _cut_out(scan, start, run if is_environment or is_line else scan.engine.segment)
    if not (is_environment and is_line):
        piece = piece.rstrip(b",;" if is_line else b",;)]}")
    if is_line and not is_environment:
        segment = _cut_out(scan, start, scan.engine.segment)
        piece = segment if named.is_identifier(segment) else piece
    if named.is_secret(name, Value(piece, is_quoted=False, is_tight=is_tight)):
        return _with_family(scan, start, _end_of_word(scan, start, piece, is_line=is_line, run=run), name.family)
    annotated = scan.engine.annotation.match(scan.data, start)
    if annotated is not None and scan.data[at - 1 : at] == b":":
        return _assigned(scan, name, annotated.end() - 1, begin, is_tight=False)
    return None


def _cut_out(scan: Scan, start: int, run: Any) -> bytes:
    piece: bytes = run.match(scan.data, start, min(len(scan.data), start + named.JUDGED_BYTES)).group()
    return piece


def _end_of_word(scan: Scan, start: int, piece: bytes, *, is_line: bool, run: Any) -> int:
    """Where an unquoted secret ends: with its line's word, or with the judged piece when it stands among code."""
    if not is_line and len(piece) < named.JUDGED_BYTES - 8:
        return start + len(piece)
    stop: int = run.match(scan.data, start).end()
    while stop > start + 1 and scan.data[stop - 1] in b",;":
        stop -= 1
    return stop


def _begins_line(scan: Scan, begin: int) -> bool:
    before = scan.data[max(0, begin - 40) : begin].rpartition(b"\n")[2].rpartition(b"\\n")[2]
    return before.strip() in _LINE_HEADS


def _quoted(scan: Scan, name: Name, start: int, quote: bytes, prefix: bytes, *, is_tight: bool) -> Span | None:
    stop = _closing(scan, start, quote)
    if stop < 0:
        stop = scan.engine.word_run.match(scan.data, start).end()
    text = scan.data[start : min(stop, start + named.JUDGED_BYTES)]
    is_template = prefix.lower() in (b"f", b"rf", b"fr", b"$", b"$@", b"@$") and b"{" in text
    if named.is_secret(name, Value(text, is_quoted=True, is_tight=is_tight, is_template=is_template)):
        return _with_family(scan, start, stop, name.family)
    return None


def _with_family(scan: Scan, start: int, stop: int, family: str) -> Span:
    """The span of a named secret, under the family of its shape when it has one."""
    match = scan.engine.trigger.match(scan.data, start, stop)
    token = scan.find_token(*match.span()) if match is not None and match.lastindex <= 2 else None
    return (start, max(stop, token[1]), token[2]) if token is not None else (start, stop, family)


def _closing(scan: Scan, start: int, quote: bytes) -> int:
    """Where the string ends that this quote (with its backslashes) began, or -1 when it does not on this line."""
    data, mark, depth = scan.data, quote[-1:], len(quote) - 1
    limit = start + QUOTED_BYTES
    at = start
    for _ in range(16):
        at = data.find(mark, at, limit)
        if at < 0:
            break
        slashes = at - start - len(data[start:at].rstrip(b"\\"))
        if slashes <= depth if depth else slashes % 2 == 0:
            return -1 if data.find(b"\n", start, at) >= 0 else at - slashes
        at += 1
    return -1


def _header_value(scan: Scan, at: int) -> tuple[int, int]:
    """Where a header's value begins and ends; an end at `HEADER_BYTES` is none yet, see `_end_of_header`."""
    lead = scan.engine.lead.match(scan.data, at)
    start, quote = lead.end(), lead.group(2)
    stop = _closing(scan, start, quote) if quote else -1
    if stop < 0:
        limit = min(len(scan.data), start + HEADER_BYTES)
        stop = scan.engine.header_run.match(scan.data, start, limit).end()
    return start, stop


def _end_of_header(scan: Scan, start: int, stop: int) -> int:
    if stop - start < HEADER_BYTES - 1:
        return stop
    end: int = scan.engine.header_run.match(scan.data, start).end()
    return end


def _authorization(scan: Scan, at: int) -> Span | None:
    start, stop = _header_value(scan, at)
    scheme = scan.engine.scheme.match(scan.data, start, stop)
    word = scheme.group(1).lower() if scheme is not None else b""
    if word in LONG_SCHEMES:
        begin = scheme.start(2)
        if points_elsewhere(scan.data[begin : min(stop, begin + named.JUDGED_BYTES)]):
            return None
        return begin, _end_of_header(scan, start, stop), "authorization"
    begin = scheme.start(2) if word in SIMPLE_SCHEMES else start
    end = scan.engine.credential.match(scan.data, begin, stop).end()
    if end == stop:
        end = _end_of_header(scan, start, stop)
    text = scan.data[begin : min(end, begin + named.JUDGED_BYTES)]
    if points_elsewhere(text):
        return None
    is_secret = named.is_credential(text, word) and (word in SIMPLE_SCHEMES or named.has_chance(text, 16))
    return _with_family(scan, begin, end, "authorization") if is_secret else None


def _cookie(scan: Scan, at: int) -> Span | None:
    start, stop = _header_value(scan, at)
    text = scan.data[start : min(stop, start + named.JUDGED_BYTES)]
    if scan.engine.cookie.match(scan.data, start, stop) is None or points_elsewhere(text):
        return None
    if not named.is_cookie(text):
        return None
    end = _end_of_header(scan, start, stop)
    return start, start + len(scan.data[start:end].rstrip()), "cookie"
