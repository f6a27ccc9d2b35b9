"""Text as the store and its word index can hold it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

#: Hangul Jamo, Hiragana, Katakana, Bopomofo, Hangul, Han with its extensions, half-width kana
_CJK_CHARS = (
    "\u1100-\u11ff\u3040-\u30ff\u3105-\u312f\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_cjk: re.Pattern[str] | None = None


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate; a pair of halves becomes the character that it means."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def space_cjk(text: str) -> str:
    """The text with blanks around each CJK character, so that each is a word to the index.

    Those scripts put no blanks between words, and the index would take a whole sentence for one. Rows in an
    existing index were written by this very function: changing it takes a migration that writes them anew.
    """
    if text.isascii():
        return text
    return _get_cjk().sub(r" \g<0> ", text)


def has_cjk(text: str) -> bool:
    """Whether `space_cjk` would change the text."""
    return not text.isascii() and _get_cjk().search(text) is not None


def _get_cjk() -> re.Pattern[str]:
    global _cjk
    if _cjk is None:
        import re

        _cjk = re.compile(f"[{_CJK_CHARS}]")
    return _cjk
