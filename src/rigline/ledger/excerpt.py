"""How long a text is for a model, and the beginning and the end of one that is too long. Pure."""

from __future__ import annotations

#: characters of ASCII, and of other alphabets, that make about a token
ASCII_PER_TOKEN = 3.5
LETTERS_PER_TOKEN = 2.0


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of a text; rather too many than too few.

    3.5 ASCII characters a token (English prose has about 4, code 3), 2 characters of other alphabets up to U+07FF
    (accented Latin, Greek, Cyrillic, Hebrew, Arabic), and one token for each character above: CJK, emoji, signs.
    """
    if text.isascii():
        return -int(-len(text) // ASCII_PER_TOKEN)
    ascii_ = len(text.encode("ascii", "ignore"))
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    middle = len(text) - ascii_ - astral
    # in UTF-8 what is left has 2 or 3 bytes a character
    high = len(text.encode("utf-8", "surrogatepass")) - ascii_ - 4 * astral - 2 * middle
    return -int(-(ascii_ / ASCII_PER_TOKEN + (middle - high) / LETTERS_PER_TOKEN + high + astral) // 1)


def cut_to_tokens(text: str, limit_tokens: int) -> str:
    """The text, or its head and tail (see `cut`), in about so many tokens."""
    size = estimate_tokens(text)
    if size <= limit_tokens:
        return text
    return cut(text, len(text) * limit_tokens // size)[0]


def cut(text: str, limit_chars: int) -> tuple[str, bool]:
    """Head and tail of a text within `limit_chars`, with a line between that says how many characters were left out.

    The flag says whether anything was. To be called after `redact`: a cut first could leave half a secret. Characters
    that belong together (surrogates, combining marks, joined emoji) stay together, within reason.
    """
    if len(text) <= limit_chars:
        return text, False
    note = f"\n[... {len(text):,} characters left out ...]\n"
    room = limit_chars - len(note)
    if room < 2:
        return text[: max(0, limit_chars)], True
    head = _step_back(text, room - room // 3)
    tail = _step_on(text, len(text) - room // 3)
    return f"{text[:head]}\n[... {tail - head:,} characters left out ...]\n{text[tail:]}", True


def _step_back(text: str, at: int) -> int:
    for place in range(at, max(0, at - 16), -1):
        if not _continues(text, place):
            return place
    return at


def _step_on(text: str, at: int) -> int:
    for place in range(at, min(len(text), at + 16)):
        if not _continues(text, place):
            return place
    return at


def _continues(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it."""
    char, before = text[at], text[at - 1]
    if char.isascii():
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= char <= "\udfff":
        return True
    if (
        char in "\u200d\u20e3"
        or before == "\u200d"
        or "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    ):
        return True
    import unicodedata

    return unicodedata.combining(char) != 0
