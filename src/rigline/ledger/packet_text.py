"""Stored text made fit for a packet: measured, cut, cleaned, and unable to pass for a packet's own lines. Pure."""

from __future__ import annotations

import time

from rigline.ledger.base import HistoryEvent

#: English and code take about four characters a token; other scripts about one.
CHARS_PER_TOKEN = 4
#: One line of a tool's arguments or output.
GIST_CHARS = 160

_MARK_WORDS = "rigline packet"


def count_tokens(text: str) -> int:
    """A fair estimate, rounded up: ASCII characters by four, every other one by itself."""
    others = 0 if text.isascii() else sum(1 for char in text if ord(char) > 0x7F)
    return (len(text) - others + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN + others


def cut_middle(text: str, tokens: int) -> str:
    """The text if it takes no more than `tokens`, else its head and tail with the number of characters between."""
    cleaned = clean(text)
    total = count_tokens(cleaned)
    if total <= tokens:
        return cleaned
    keep = max(40, len(cleaned) * tokens // total)
    head, tail = keep * 2 // 3, keep // 3
    return f"{cleaned[:head]}\n… {len(cleaned) - head - tail} characters left out …\n{cleaned[-tail:]}"


def indent(text: str) -> str:
    """Every line two characters in, by any separator that some reader may take for a line's end."""
    return "\n".join(f"  {defang(line)}" for line in text.splitlines())


def defang(line: str) -> str:
    """A line that reads like a packet's marker, also with look-alike or invisible characters, made plainly another."""
    return f"(quoted, no marker:) {line.replace('[', '(')}" if _MARK_WORDS in _fold(line) else line


def _fold(line: str) -> str:
    if line.isascii():
        folded = line
    else:
        import unicodedata

        compatible = unicodedata.normalize("NFKC", line)
        folded = "".join(char for char in compatible if unicodedata.category(char) != "Cf").translate(_LOOK_ALIKES)
    return " ".join(folded.casefold().split())


#: Cyrillic and Greek letters that look like those of the marker's words.
_LOOK_ALIKES = str.maketrans("асекгіірѕтοερικτΙ", "acekriirstoepiktl")


def clean(text: str) -> str:
    """Without terminal sequences and control characters; line ends and tabs stay."""
    if "\x1b" in text:
        import re

        text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?", "", text)
    if text.isprintable():
        return text
    return "".join(char for char in text if char in "\n\t" or not _is_control(char)).strip("\n")


def _is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0


def describe_tool(call: HistoryEvent, result: HistoryEvent | None) -> str:
    """A call and what came of it, in one line: `Bash {"command":…} -> error: first line … last line`."""
    gist = defang(gist_of(call.text))
    if result is None:
        return f"{gist} -> (no result: it was interrupted)"
    return f"{gist} -> {result.status or 'done'}: {defang(gist_of(result.text))}"


def gist_of(text: str) -> str:
    """The first and last line that say something, cut to one line."""
    lines = [stripped for line in clean(text).splitlines() if (stripped := line.strip())]
    if not lines:
        return "(nothing)"
    first = _clip(lines[0])
    return first if len(lines) == 1 else f"{first} … {_clip(lines[-1])}"


def _clip(line: str) -> str:
    return line if len(line) <= GIST_CHARS else f"{line[: GIST_CHARS - 1]}…"


def format_time(at_ms: int) -> str:
    """UTC, to the minute, with its zone."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at_ms / 1000))
