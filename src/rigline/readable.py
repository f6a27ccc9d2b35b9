"""Facts as people read them: ages, sizes, times, and text that can neither drive a terminal nor spill over its line.

Pure, and on the path of `search`: nothing but `time` is imported, `unicodedata` only for text beyond ASCII.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: every rendered line fits in so many columns
WIDTH = 80

_MINUTE_MS = 60_000
#: what fills two columns of a terminal, by Unicode's East Asian width
_WIDE = ("W", "F")
_COMBINING = ("Mn", "Me", "Cf")


def clean(text: str) -> str:
    """Without control characters, each a blank instead: stored text must not drive the terminal."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " for character in text)


def flatten(text: str) -> str:
    """The text on one line: clean, and with single blanks."""
    return " ".join(clean(text).split())


def clean_lines(text: str) -> list[str]:
    """The text's lines, each clean; tabs become blanks."""
    return [clean(line.expandtabs(4)) for line in text.splitlines()]


def measure(text: str) -> int:
    """How many columns of a terminal the text fills: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(_measure_character(character) for character in text)


def clip(text: str, width: int) -> str:
    """The text in at most `width` columns; what was cut off is told by an ellipsis."""
    if measure(text) <= width:
        return text
    kept, filled = [], 1
    for character in text:
        filled += _measure_character(character)
        if filled > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def clip_path(path: str, width: int) -> str:
    """A path in at most `width` columns; its end is what tells it from others, so the beginning is cut."""
    path = clean(path)
    if measure(path) <= width:
        return path
    start = len(path)
    filled = 1
    while start and filled + _measure_character(path[start - 1]) <= width:
        start -= 1
        filled += _measure_character(path[start])
    return "…" + path[start:]


def pad(text: str, width: int) -> str:
    """The text with blanks up to `width` columns."""
    return text + " " * max(0, width - measure(text))


def wrap(text: str, width: int) -> list[str]:
    """The text's lines in at most `width` columns each, broken at blanks, and within a word that is too long."""
    lines: list[str] = []
    for line in clean_lines(text):
        lines += _wrap_line(line, width)
    return lines


def fill(text: str, width: int) -> list[str]:
    """A sentence in lines of at most `width` columns, broken at blanks alone, and never inside `a command`."""
    lines = [""]
    for word in _split_sentence(text):
        if lines[-1] and measure(lines[-1]) + 1 + measure(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _split_sentence(text: str) -> list[str]:
    words: list[str] = []
    is_command = False
    for word in clean(text).split():
        if is_command:
            words[-1] += f" {word}"
        else:
            words.append(word)
        is_command ^= word.count("`") % 2 == 1
    return words


def _wrap_line(line: str, width: int) -> list[str]:
    if measure(line) <= width:
        return [line.rstrip()]
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    lines, current = [], indent
    for word in line.split():
        separator = " " if current.strip() else ""
        if measure(current) + len(separator) + measure(word) <= width:
            current += separator + word
            continue
        if current.strip():
            lines.append(current)
        *full, current = _break_word(indent + word, width)
        lines += full
    return [*lines, current]


def _break_word(word: str, width: int) -> list[str]:
    pieces, current, filled = [], "", 0
    for character in word:
        columns = _measure_character(character)
        if filled + columns > width:
            pieces.append(current)
            current, filled = "", 0
        current += character
        filled += columns
    return [*pieces, current]


def _measure_character(character: str) -> int:
    if character.isascii():
        return 1
    import unicodedata

    if unicodedata.category(character) in _COMBINING:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def format_age(age_ms: int) -> str:
    """A duration as people say it: `3 min`, `5 h`, `12 days`."""
    minutes = max(0, age_ms) // _MINUTE_MS
    if minutes < 1:
        return "just now"
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h" if hours < 48 else f"{hours // 24} days"


def format_duration(duration_ms: int) -> str:
    """How long something took: `4 s`, `12 min`, `3 h 20 min`, `5 days`."""
    seconds = max(0, duration_ms) // 1000
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} days"


def format_size(size_bytes: int) -> str:
    """Bytes as people say them: `12 kB`, `3.4 MB`."""
    if size_bytes < 1_000_000:
        return f"{max(1, size_bytes // 1000)} kB" if size_bytes else "0 kB"
    return f"{size_bytes / 1_000_000:.1f} MB"


def format_count(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 event`, `1,204 events`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_counts(counts: Mapping[str, int]) -> str:
    """Numbers by kind, the largest first: `12 messages, 1 tool call`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(format_count(count, clean(kind).replace("_", " ")) for kind, count in ordered)


def format_time(at_ms: int | None) -> str:
    """A moment in the local time zone, to the minute; blanks of the same width when it is not known."""
    if at_ms is None:
        return " " * 16
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_ms / 1000))


def format_clock(at_ms: int | None) -> str:
    """The time of day in the local time zone."""
    return " " * 5 if at_ms is None else time.strftime("%H:%M", time.localtime(at_ms / 1000))


def format_iso(at_ms: int | None) -> str | None:
    """A moment as ISO 8601 in UTC, to the millisecond."""
    if at_ms is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"


def join_words(words: Iterable[str], *, conjunction: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *firsts, last = list(words) or [""]
    return f"{', '.join(firsts)} {conjunction} {last}" if firsts else last
