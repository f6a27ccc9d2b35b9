"""Ids: made from time and the system's randomness, derived by hash, shortened for people.

Loads nothing but `os` and `time`, since the launcher and the hooks make ids before anything else.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Crockford's base 32 in lower case: no i, l, o, u to be misread
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARS = 7
_RANDOM_CHARS = 19
#: what people are shown at least; two ids made in different seconds differ within it
SHORT_CHARS = 8


def _encode(number: int, chars: int) -> str:
    digits = [""] * chars
    for place in range(chars - 1, -1, -1):
        digits[place] = _ALPHABET[number & 31]
        number >>= 5
    return "".join(digits)


def new_id() -> str:
    """26 lower-case characters: 7 of the second it was made in, then 95 random bits. Sorts by that second.

    The time takes few characters so that a short prefix tells ids apart.
    """
    seconds = int(time.time()) & ((1 << (5 * _TIME_CHARS)) - 1)
    return _encode(seconds, _TIME_CHARS) + _encode(int.from_bytes(os.urandom(12), "big"), _RANDOM_CHARS)


def new_uuid4() -> str:
    """A random UUID in its usual form (RFC 9562, version 4), for harnesses that take no other id."""
    raw = bytearray(os.urandom(16))
    raw[6] = (raw[6] & 0x0F) | 0x40
    raw[8] = (raw[8] & 0x3F) | 0x80
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def event_id(harness: str, native_id: str, record: str, block: int, kind: str) -> bytes:
    """An event's identity: the first 16 bytes of SHA-256 over its parts joined by NUL.

    The text is not part of it, so a record whose text changes stays one event.
    """
    from hashlib import sha256

    parts = f"{harness}\0{native_id}\0{record}\0{block}\0{kind}"
    return sha256(parts.encode("utf-8", "surrogatepass")).digest()[:16]


def shorten_one(full: str) -> str:
    """An id's beginning, where the others are not at hand: of a UUID that begins with its time (RFC 9562, version 7)
    all of that time, since those of one minute have the same 8 characters. A word before an underscore comes on top."""
    word = _measure_word(full)
    own = full[word:]
    is_timed = own[8:9] == own[13:14] == "-" and own[14:15] == "7"
    return full[: word + (13 if is_timed else SHORT_CHARS)]


def _measure_word(full: str) -> int:
    """How long the word is that all ids of one kind begin with: `session_` of Kimi Code, `ses_` of OpenCode."""
    word, underscore, own = full.partition("_")
    return len(word) + 1 if underscore and own and word.isalpha() and len(word) <= SHORT_CHARS else 0


def shorten(ids: Iterable[str], chars: int = SHORT_CHARS) -> dict[str, str]:
    """Each id with its shortest prefix of at least `chars` characters that no other one of them begins with.

    An id that another one begins with is kept whole. Of a subagent's id, `PARENT/OWN`, both sides are shortened.
    """
    given = set(ids)
    families: dict[str, list[str]] = {}
    for full in given:
        parent, own = _split(full)
        owns = families.setdefault(parent, [])
        if own:
            owns.append(own)
    parents = _shorten_plain(families, chars)
    owns_by_parent = {parent: _shorten_plain(owns, chars) for parent, owns in families.items()}
    short = {}
    for full in given:
        parent, own = _split(full)
        short[full] = f"{parents[parent]}/{owns_by_parent[parent][own]}" if own else parents[parent]
    return short


def _split(full: str) -> tuple[str, str]:
    """(the parent's id, a subagent's own name), the latter empty for all others; a path is no subagent."""
    parent, _, own = full.partition("/")
    return (parent, own) if parent and own else (full, "")


def _shorten_plain(ids: Iterable[str], chars: int) -> dict[str, str]:
    ordered = sorted(ids)
    short: dict[str, str] = {}
    for place, full in enumerate(ordered):
        neighbours = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        common = max((_count_common(full, other) for other in neighbours), default=0)
        short[full] = full[: max(_measure_word(full) + chars, common + 1)]
    return short


def _count_common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def find_by_prefix(word: str, ids: Iterable[str]) -> list[str]:
    """The ids that `word` may mean: the one that equals it, or else all that begin with it. Case is ignored.

    A session goes before its subagents; `PA/OW` means the subagents of the one side that begin with the other.
    """
    wanted, own = _split(word.lower())
    if not wanted:
        return []
    matches = sorted({full for full in ids if _begins(full.lower(), wanted, own)})
    exact = [full for full in matches if full.lower() == word.lower()]
    return exact or [full for full in matches if not _split(full)[1]] or matches


def _begins(full: str, wanted: str, own: str) -> bool:
    if not own:
        return full.startswith(wanted)
    parent, name = _split(full)
    return parent.startswith(wanted) and name.startswith(own)
