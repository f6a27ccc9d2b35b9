"""Is what is assigned to a name a secret? Decided from the name, the value and how it is written. Pure.

`API_KEY=9f8e7d6c` in an environment file is one; `api_key = settings.api_key`, `password: str`, `max_tokens = 100`
and `TOKEN=${TOKEN}` are code or point elsewhere. The doubtful middle is decided by the writing: an upper-case name
with `=` and no blanks is an environment variable, whose value counts; a lower-case name with an unquoted value may be
code, so the value has to look made by chance (or, for a password, to hold more than letters).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from rigline.ledger import redact_patterns as patterns

PASSWORD, SECRET, TOKEN, KEY, BASIC, HEADER, AUTHORIZATION, COOKIE = (
    "password", "secret", "token", "key", "basic", "header", "authorization", "cookie",
)  # fmt: skip

LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = b"0123456789"
WORD = LETTERS + DIGITS + b"_"
JUDGED_BYTES = 256


class Name:
    """What a name says of its value. `kind` is empty when it says nothing."""

    __slots__ = ("family", "is_upper", "kind", "text")

    def __init__(self, text: str, kind: str, family: str) -> None:
        self.text = text
        self.kind = kind
        self.family = family
        self.is_upper = text == text.upper()


class Value:
    """The beginning of an assigned value (at most `JUDGED_BYTES`) and how it is written.

    `is_quoted`: it stands in quotes; `is_tight`: an unquoted name, `=`, no blanks; `is_template`: a format string.
    """

    __slots__ = ("is_quoted", "is_template", "is_tight", "text")

    def __init__(self, text: bytes, *, is_quoted: bool, is_tight: bool, is_template: bool = False) -> None:
        self.text = text
        self.is_quoted = is_quoted
        self.is_tight = is_tight
        self.is_template = is_template


@lru_cache(1024)
def read_name(raw: bytes) -> Name:
    """Classify a name as it stands before `=` or `:` (dotted, dashed, snake, camel or upper case)."""
    text = raw.decode("ascii", "replace")
    if text.lower() in patterns.HEADERS:
        return _read_header(text.lower())
    text = text.rstrip(".").rpartition(".")[2].strip("-")
    words = _split_words(text)
    kind = _find_kind(words, is_upper=text == text.upper())
    if kind in (KEY, TOKEN, SECRET) and text[:2] in ("x-", "X-"):
        return Name(text, HEADER, "header")
    if kind == KEY and text != text.upper() and not _is_key_of_secret(words):
        kind = ""
    return Name(text, kind, "aws" if kind and "aws" in words else kind)


def _read_header(name: str) -> Name:
    if name.endswith("cookie"):
        return Name(name, COOKIE, "cookie")
    if name.endswith("authorization"):
        return Name(name, AUTHORIZATION, "authorization")
    return Name(name, HEADER, "header")


def _split_words(text: str) -> list[str]:
    """The lower-case words of a name, without a trailing number or environment (`_2`, `_PROD`, `_BASE`)."""
    spaced = []
    previous = ""
    for char in text:
        if char.isupper() and (previous.islower() or previous.isdigit()):
            spaced.append(" ")
        spaced.append(" " if char in "_-" else char)
        previous = char
    words = "".join(spaced).lower().split()
    tails = patterns.NAME_TAILS.replace("_", "").split("|")[1:]
    while words and (words[-1] in tails or words[-1].isdigit()):
        words.pop()
    if words:
        words[-1] = words[-1].rstrip("0123456789")
    return words


def _find_kind(words: list[str], *, is_upper: bool) -> str:
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(("password", "passwd", "passphrase", "pwd")):
        return "" if words in (["pwd"], ["oldpwd"]) else PASSWORD
    if last == "pass" and before:
        return PASSWORD if before in patterns.PASS_KINDS or is_upper else ""
    if last.endswith(("secret", "credential", "credentials")):
        return SECRET
    if last == "auth":
        return BASIC if is_upper or not before else ""
    if before in patterns.HARMLESS_KINDS:
        return ""
    if last.endswith("token"):
        return TOKEN
    return KEY if (last == "key" and before) or last in patterns.JOINED_NAMES else ""


def _is_key_of_secret(words: list[str]) -> bool:
    return words[-1] in patterns.JOINED_NAMES or words[-2] in patterns.KEY_KINDS


def is_secret(name: Name, value: Value) -> bool:
    """Whether the value of that name is a secret, and no code, reference, placeholder or word."""
    text = value.text
    if points_elsewhere(text) or value.is_template:
        return False
    if name.kind == HEADER:
        return len(text) >= 8 and b" " not in text and not _is_words(text)
    if name.kind == BASIC:
        return has_chance(text, 8) and (value.is_quoted or not _is_code(text))
    if name.kind == PASSWORD:
        return _is_password(name, value)
    if name.is_upper and value.is_tight:
        return _is_environment_value(name, value)
    return b" " not in text and has_chance(text, 12) and (value.is_quoted or not _is_code(text))


def _is_environment_value(name: Name, value: Value) -> bool:
    text = value.text
    if len(text) < 8 or text.isdigit() or text.decode("latin-1").lower() == name.text.lower():
        return False
    return value.is_quoted or not (_is_call(text) or _is_attribute(text))


def _is_password(name: Name, value: Value) -> bool:
    text = value.text
    lowered = text.decode("latin-1").lower()
    is_environment = name.is_upper and value.is_tight
    if len(text) < 4 or (text.isdigit() and len(text) < 6):
        return False
    if is_environment:
        return value.is_quoted or not _is_call(text)
    if b" " in text or lowered.partition("|")[0] in patterns.TYPE_WORDS or _is_name_of_secret(lowered):
        return False
    if value.is_quoted:
        return len(text) >= 6 and not (text.isalpha() and text[:1].isupper() and text[1:].islower())
    return len(text) >= 6 and not is_identifier(text) and not _is_code(text)


def _is_name_of_secret(lowered: str) -> bool:
    """`new_password`, `auth/wrong-password`, `token2`: what is named so names a secret, and is none."""
    named = ("password", "passwd", "token", "secret", "pwd")
    has_many_digits = sum(char.isdigit() for char in lowered) > 2
    is_plain = all(char.isalnum() or char in "_-./:|" for char in lowered)
    return not has_many_digits and is_plain and any(word in lowered for word in named)


def is_credential(text: bytes, scheme: bytes) -> bool:
    """Whether what follows an authorization scheme is a credential, and no word or name of one."""
    if scheme == b"basic" and _is_base64_pair(text):
        return True
    if len(text) < 6 or _is_code(text):
        return False
    if not text.translate(None, LETTERS + b"_-"):
        return text != text.upper() and not (text.isalpha() and _has_word_case(text))
    return True


def _is_base64_pair(text: bytes) -> bool:
    """`user:password` as HTTP Basic writes it."""
    from binascii import Error, a2b_base64

    try:
        return b":" in a2b_base64(text, strict_mode=True)
    except Error:
        return False


def is_cookie(text: bytes) -> bool:
    """Whether one of the values of a cookie header is more than a word: `session=8f2e...`, not `theme=dark`."""
    values = [part.partition(b"=")[2].strip() for part in text[:JUDGED_BYTES].split(b";")]
    return any(len(value) >= 4 and not _is_words(value) for value in values if not value.startswith(b"/"))


def points_elsewhere(text: bytes) -> bool:
    """References, placeholders, nothing at all, and what was redacted before."""
    if not text:
        return True
    head = text.decode("utf-8", "replace")
    if head.startswith(patterns.REFERENCE_STARTS) or any(part in head for part in patterns.REFERENCE_PARTS):
        return True
    if any(part in head for part in patterns.PLACEHOLDER_PARTS):
        return True
    if head[0] == "$" and head[1:].partition("/")[0].strip("{}").replace(":", "_").isidentifier():
        return True
    if head[0] in "<{" or (head[0], head[-1]) in {("[", "]"), ("%", "%"), ("*", "*")}:
        return True
    lowered = head.lower()
    has_digit = any(char.isdigit() for char in head)
    return _is_path(text) or (not has_digit and any(word in lowered for word in patterns.PLACEHOLDER_WORDS))


def _is_path(text: bytes) -> bool:
    if not text.startswith((b"/", b"./", b"~/", b"../")) or b"/" not in text[1:]:
        return False
    return all(_is_plain_word(part) for part in text.strip(b"/").replace(b".", b"/").replace(b"~", b"").split(b"/"))


def _is_plain_word(part: bytes) -> bool:
    """Letters (and dashes) with at most a number behind them: `id_rsa`, `config2`, `2024`."""
    stem = part.rstrip(DIGITS)
    return len(part) - len(stem) <= 6 and not stem.translate(None, LETTERS + b"_-")


def _is_words(text: bytes) -> bool:
    """Words joined by marks, `users/list-2024`, or one word: nothing that chance made."""
    for mark in b"-./: ":
        text = text.replace(bytes((mark,)), b"_")
    parts = text.split(b"_")
    return all(_is_plain_word(part) and _has_word_case(part) for part in parts) and (
        len(parts) > 1 or not text.translate(None, LETTERS)
    )


def _has_word_case(part: bytes) -> bool:
    """Not `dXNlcjpwYXNz`: in words, capitals begin something."""
    rises = sum(1 for a, b in pairwise(part) if chr(a).islower() and chr(b).isupper())
    return rises <= max(1, len(part) // 6)


def has_chance(text: bytes, least: int) -> bool:
    """Whether a value looks made by chance: long enough, letters and digits mixed, or letters in a wild case."""
    if len(text) < least or _is_words(text):
        return False
    has_digit = bool(text.translate(None, bytes(set(range(256)) - set(DIGITS))))
    has_letter = bool(text.translate(None, bytes(set(range(256)) - set(LETTERS))))
    return has_letter and (has_digit or not _has_word_case(text))


def is_identifier(text: bytes) -> bool:
    """Whether it is a name or dotted path of code, which has no digits but as in `token2` or `hash_v2`."""
    parts = text.split(b".")
    if not all(part and not part.translate(None, WORD) and part[0] not in DIGITS for part in parts):
        return False
    return len(parts) > 1 or not text.translate(None, LETTERS + b"_") or (b"_" in text and _is_words(text))


def _is_code(text: bytes) -> bool:
    """What cannot stand unquoted but in code: `get_token(`, `config[`, `settings.KEY`, `a?b.c:d`, `list[str]`."""
    rest = text.lstrip(WORD + b".:#")
    path = text[: len(text) - len(rest)]
    if text[:1] in b"([{:,;)." or _is_attribute(text):
        return True
    if not path or path[0] in DIGITS or len(rest) < 2:
        return rest[:1] in (b"(", b"[") and bool(path) and path[0] not in DIGITS
    return rest[:1] in b"([<{?" or (rest[:2] == b"==" and len(rest) > 2) or (b"." in path and rest[:1] in b"=!+,;|&")


def _is_call(text: bytes) -> bool:
    """`os.getenv(`, `get_key()`, `config["`: surer than `_is_code`, for values that may hold any sign."""
    rest = text.lstrip(WORD + b".:")
    path = text[: len(text) - len(rest)]
    has_bracket = bool(path) and path[0] not in DIGITS and rest[:1] in (b"(", b"[")
    return has_bracket and (b"." in path or text[-1:] in b"()[]")


def _is_attribute(text: bytes) -> bool:
    return b"." in text and is_identifier(text) and all(len(part) < 24 for part in text.split(b"."))
