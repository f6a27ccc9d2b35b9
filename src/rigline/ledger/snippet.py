"""The piece of a text around its first match, cut between words. Pure, and loads nothing."""

from __future__ import annotations

from rigline.store.text import has_cjk

#: occurrences within longer words that are passed over before the match is given up
_MAX_TRIES = 1000
#: how much of a text with accents is folded letter by letter to find a match in it
_FOLDED_CHARS = 65_536
#: how far a cut is moved to fall between words
_WORD_CHARS = 24
_ELLIPSIS = "…"


class Term:
    """A word or phrase that is looked for; with `is_prefix` a word may go on after it."""

    def __init__(self, text: str, *, is_prefix: bool) -> None:
        self.text = text
        self.is_prefix = is_prefix


def cut_snippet(text: str, terms: list[Term], chars: int) -> tuple[str, tuple[int, int] | None]:
    """About `chars` characters around the first match, on one line, and where in them the match stands.

    Without a match that can be shown it is the text's beginning.
    """
    span = find_match(text, terms)
    if span is None:
        return shorten_text(text, chars), None
    start = max(0, span[0] - chars // 3)
    end = min(len(text), max(span[1], start + chars))
    start = _move_to_blank(text, start, span[0]) if start else 0
    if end < len(text):
        end = _move_back_to_blank(text, end, span[1])
    head = (_ELLIPSIS if start else "") + _flatten(text[start : span[0]], is_first=True)
    match = _flatten(text[span[0] : span[1]])
    tail = _flatten(text[span[1] : end]).rstrip() + (_ELLIPSIS if end < len(text) else "")
    return head + match + tail, (len(head), len(head) + len(match))


def shorten_text(text: str, chars: int) -> str:
    """The text's beginning on one line, at most about `chars` characters of it."""
    beginning = text[: chars * 2].strip()
    end = len(beginning) if len(beginning) <= chars else _move_back_to_blank(beginning, chars, 1)
    is_cut = end < len(beginning) or len(text) > chars * 2
    return _flatten(beginning[:end]).strip() + (_ELLIPSIS if is_cut else "")


def find_match(text: str, terms: list[Term]) -> tuple[int, int] | None:
    """Start and end of the earliest term in a text, compared as the index does: without case and accents."""
    lowered = text.lower()
    if len(lowered) == len(text):
        found = _find_first(lowered, [(term.text.lower(), term.is_prefix) for term in terms])
        if found or (text.isascii() and all(term.text.isascii() for term in terms)):
            return found
    folded, origins = _fold(text[:_FOLDED_CHARS])
    found = _find_first(folded, [(_fold(term.text)[0], term.is_prefix) for term in terms])
    return (origins[found[0]], origins[found[1] - 1] + 1) if found else None


def _find_first(text: str, words: list[tuple[str, bool]]) -> tuple[int, int] | None:
    found = [span for word, is_prefix in words if (span := _find_word(text, word, is_prefix))]
    if not found:
        pieces = [(piece, is_prefix) for word, is_prefix in words for piece in _split_word(word)]
        found = [span for piece, is_prefix in pieces if (span := _find_word(text, piece, is_prefix))]
    return min(found, default=None)


def _find_word(text: str, word: str, is_prefix: bool) -> tuple[int, int] | None:
    """The word's first place where it does not stand within a longer one."""
    if not word:
        return None
    starts_free, ends_free = has_cjk(word[0]), is_prefix or has_cjk(word[-1])
    at = text.find(word)
    for _ in range(_MAX_TRIES):
        if at < 0:
            return None
        end = at + len(word)
        starts = starts_free or at == 0 or not (text[at - 1].isalnum() and word[0].isalnum())
        if starts and (ends_free or end == len(text) or not (text[end].isalnum() and word[-1].isalnum())):
            return at, end
        at = text.find(word, at + 1)
    return None


def _split_word(word: str) -> list[str]:
    """The pieces that the index takes a word apart into."""
    return "".join(char if char.isalnum() else " " for char in word).split()


def _fold(text: str) -> tuple[str, list[int]]:
    """The text in lower case without accents, and for each of its characters the place that it came from."""
    from unicodedata import combining, normalize

    letters: list[str] = []
    origins: list[int] = []
    for place, char in enumerate(text):
        for part in normalize("NFD", char).lower():
            if not combining(part):
                letters.append(part)
                origins.append(place)
    return "".join(letters), origins


def _move_to_blank(text: str, at: int, limit: int) -> int:
    """The first place after a blank from `at` on, not beyond `limit`; `at` when there is none near."""
    for place in range(at, min(limit, at + _WORD_CHARS)):
        if text[place].isspace():
            return place + 1
    return at


def _move_back_to_blank(text: str, at: int, limit: int) -> int:
    for place in range(at, max(limit, at - _WORD_CHARS), -1):
        if text[place].isspace():
            return place
    return at


def _flatten(text: str, *, is_first: bool = False) -> str:
    """Runs of blanks as one, so that the piece stands on one line."""
    flat = " ".join(text.split())
    if not flat:
        return "" if is_first or not text else " "
    before = " " if text[0].isspace() and not is_first else ""
    after = " " if text[-1].isspace() else ""
    return before + flat + after
