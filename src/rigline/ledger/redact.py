"""Secrets out of text, before anything is stored or cut.

One RE2 pattern finds every place where a secret may begin, in one pass over the bytes; what stands there is then
judged by hand-written rules over bounded pieces, so that time grows with the text and not with its square. Text
that spells characters as `\\u003d` or `\\/` is judged as it reads. Redaction is repeated until nothing more is found:
`redact(redact(text))` equals `redact(text)`.

What is not caught: a secret without a known shape and without a telling name (a bare high-entropy string, a password
in prose); a lower-case name with an unquoted value that reads like code (`password = hunter`); values on the lines
after their name (YAML block scalars); the rest of an environment value behind its first blank; tokens broken by hard
line wraps; URL passwords with an unescaped slash; signatures of presigned URLs; `.pgpass` lines and password hashes.
Names of secrets, user names, account numbers and paths of key files are no secrets and stay.
"""

from __future__ import annotations

from rigline.ledger.excerpt import cut
from rigline.ledger.redact_engine import get_engine
from rigline.ledger.redact_scan import find_secrets

__all__ = ["Redactor", "cut", "redact"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rigline.ledger.redact_scan import Span

MARK = b"[redacted:"
ROUNDS = 8


class Redactor:
    """The built-in families and a user's own patterns.

    `extra`: RE2 patterns whose whole match is a secret (family `custom`); `allow`: texts that mark a match which
    holds one of them as no secret. Raises `ConfigError` for a pattern that RE2 does not take or that matches nothing
    at all. One instance may be used by several threads.
    """

    def __init__(self, extra: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> None:
        self._allow = tuple(_encode(text) for text in allow if text)
        self._extra = [_compile_extra(pattern) for pattern in extra]

    def redact(self, text: str) -> tuple[str, dict[str, int]]:
        """The text with each secret as `[redacted:<family>]`, and how many of each family. Never raises.

        Lone surrogates become U+FFFD. A text without secrets is returned as it is.
        """
        data = _encode(text)
        counts: dict[str, int] = {}
        for _ in range(ROUNDS):
            spans = self._find(data)
            if not spans:
                break
            data = _replace(data, spans, counts)
        if not counts and text.isascii():
            return text, counts
        return data.decode("utf-8", "replace"), counts

    def _find(self, data: bytes) -> list[Span]:
        if b"\\u00" in data or b"\\/" in data:
            view, origins = _read_escapes(data)
            spans = [(_to_raw(origins, s), _to_raw(origins, e), family) for s, e, family in find_secrets(view)]
        else:
            spans = find_secrets(data)
        if self._extra:
            spans = _merge([*self._find_extra(data), *spans])
        if self._allow:
            spans = [span for span in spans if not any(text in data[span[0] : span[1]] for text in self._allow)]
        return spans

    def _find_extra(self, data: bytes) -> Iterable[Span]:
        """Matches of the user's patterns between the marks of what was redacted before."""
        gaps = [0, *(place for match in get_engine().mark.finditer(data) for place in match.span()), len(data)]
        for pattern in self._extra:
            for low, high in zip(gaps[::2], gaps[1::2], strict=True):
                for match in pattern.finditer(data, low, high):
                    yield (*match.span(), "custom")


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with the built-in families redacted, and counts per family; see `Redactor.redact`."""
    return _DEFAULT.redact(text)


_DEFAULT = Redactor()


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _replace(data: bytes, spans: list[Span], counts: dict[str, int]) -> bytes:
    pieces = []
    done = 0
    for start, end, family in spans:
        pieces += [data[done:start], MARK, family.encode(), b"]"]
        counts[family] = counts.get(family, 0) + 1
        done = end
    pieces.append(data[done:])
    return b"".join(pieces)


def _merge(spans: list[Span]) -> list[Span]:
    """Spans in order, overlapping ones as one under the family that begins first."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(span[1], merged[-1][1]), merged[-1][2])
        else:
            merged.append(span)
    return merged


def _read_escapes(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The bytes with `\\u00XX` (ASCII) and `\\/` read, and (place here, place there) behind each of them."""
    pieces = []
    origins = [(0, 0)]
    done = length = 0
    for match in get_engine().escape.finditer(data):
        start, end = match.span()
        char = bytes((int(data[end - 2 : end], 16),)) if data[end - 1] != 0x2F else b"/"
        pieces += [data[done:start], char]
        length += start - done + 1
        done = end
        origins.append((length, end))
    pieces.append(data[done:])
    return b"".join(pieces), origins


def _to_raw(origins: list[tuple[int, int]], at: int) -> int:
    from bisect import bisect_right

    here, there = origins[bisect_right(origins, (at, 1 << 62)) - 1]
    return there + at - here


def _compile_extra(pattern: str) -> Any:
    import re2

    from rigline.errors import ConfigError

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(_encode(pattern), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "not understood"
        raise ConfigError(
            f"The redaction pattern {pattern!r} cannot be used: {reason}. "
            "Patterns follow RE2, which has no look-around and no back-references.",
            pattern=pattern,
            reason=reason,
        ) from None
    if compiled.search(b"") is not None:
        raise ConfigError(
            f"The redaction pattern {pattern!r} matches the empty text, so it says nothing. "
            "Write one that needs at least one character.",
            pattern=pattern,
            reason="matches the empty text",
        )
    return compiled
