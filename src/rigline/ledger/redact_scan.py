"""Where the secrets of a text are: one RE2 pass finds the places, a rule for each kind of place judges them.

Every rule looks at a bounded piece of the text, and no run of token characters is measured twice, so that the time
stays linear. Pure.
"""

from __future__ import annotations

from rigline.ledger import redact_assigned as assigned
from rigline.ledger import redact_named as named
from rigline.ledger.redact_engine import get_engine
from rigline.ledger.redact_named import points_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Span = tuple[int, int, str]

TOKEN_BYTES = 16_384
KEY_BLOCK_BYTES = 16_384
KEY_TAIL_BYTES = 8_192
URL_RULE = 4


def find_secrets(data: bytes) -> list[Span]:
    """(start, end, family) of each secret, in order and without overlap."""
    return Scan(data).run()


class Scan:
    """One pass over one text. `done` is the end of the last secret; nothing is read twice for what lies before it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.engine = get_engine()
        self.done = 0
        self.runs: dict[str, tuple[int, int]] = {}
        self.next_key_end = -1

    def run(self) -> list[Span]:
        rules: tuple[Callable[[int, int], Span | None], ...] = (
            self.find_token, self.find_token, self._named, self._url, self._private_key, self._telegram, self._discord,
            self._bearer, self._flag, self._netrc, self._curl_user,
        )  # fmt: skip
        search = self.engine.trigger.search
        spans: list[Span] = []
        at = 0
        while (match := search(self.data, at)) is not None:
            start, at = match.span()
            span = rules[match.lastindex - 1](start, at)
            if span is None:
                at = start + 3 if match.lastindex == URL_RULE else at - 1
                continue
            spans.append(span)
            self.done = span[1]
            at = max(at, self.done)
        return spans

    # -- tokens with a shape of their own

    def find_token(self, start: int, end: int) -> Span | None:
        word = self.data[start:end]
        if word[:1] in b"\\\x1b":
            word = word[2:] if word[:1] == b"\\" else word.partition(b"m")[2]
            start = end - len(word)
        family, _, charset, least, exact, check = self.engine.tokens[word]
        stop = self._end_of_run(charset, end)
        body = self.data[end : min(stop, end + TOKEN_BYTES)]
        if charset == "dots":
            body = body.rstrip(b".")
        stop = end + len(body) if len(body) < TOKEN_BYTES else stop
        if exact is not None and (len(body) != exact or self.data[stop : stop + 1] in _AFTER_EXACT):
            return None
        return (start, stop, family) if len(body) >= least and _passes(check, body) else None

    def _end_of_run(self, charset: str, at: int) -> int:
        known = self.runs.get(charset)
        if known is None or not known[0] <= at <= known[1]:
            known = (at, self.engine.charsets[charset].match(self.data, at).end())
            self.runs[charset] = known
        return known[1]

    def _telegram(self, start: int, end: int) -> Span | None:
        head = self.data[max(self.done, start - 12) : start + 1]
        digits = len(head) - len(head.rstrip(named.DIGITS))
        stop = self._end_of_run("dash", end)
        if 8 <= digits <= 10 and 34 <= stop - end + 2 <= 36:
            return start + 1 - digits, stop, "telegram"
        return None

    def _discord(self, start: int, end: int) -> Span | None:
        low = max(self.done, start - 40)
        head = self.data[low:start]
        first = self.data[assigned.skip_escape(self, low + len(head.rstrip(named.WORD + b"-")), start) : start]
        if 23 <= len(first) <= 28 and first[:1] in b"MNO" and _passes("digit", first):
            return start - len(first), self._end_of_run("dash", end), "discord"
        return None

    def _bearer(self, _start: int, end: int) -> Span | None:
        begin = end - 1
        stop = self._end_of_run("bearer", begin)
        text = self.data[begin : min(stop, begin + named.JUDGED_BYTES)]
        if points_elsewhere(text) or not named.has_chance(text, 16):
            return None
        return begin, stop, "bearer"

    # -- private keys

    def _private_key(self, start: int, end: int) -> Span | None:
        if self.data.startswith(b"-----END", start):
            return self._headless_key(start, end)
        stop = self._find_key_end(end) if self.data.startswith(b"-----", start) else None
        if stop is not None:
            return start, stop, "private-key"
        lines = self.engine.key_lines.match(self.data, end, min(len(self.data), end + KEY_BLOCK_BYTES))
        return (start, lines.end(), "private-key") if lines is not None else None

    def _find_key_end(self, begin: int) -> int | None:
        """The end of the block that begins here, when its END line is near and a key lies between."""
        data = self.data
        if self.next_key_end < begin:
            found = data.find(b"-----END ", begin)
            self.next_key_end = found if found >= 0 else len(data)
        end = self.next_key_end
        if end - begin > KEY_BLOCK_BYTES or end == len(data) or data.find(b"-----BEGIN ", begin, end) >= 0:
            return None
        close = data.find(b"-----", end + 9, end + 60)
        if close < 0 or self.engine.key_run.search(data, begin, end) is None:
            return None
        return close + 5

    def _headless_key(self, start: int, end: int) -> Span | None:
        """The last lines of a key whose beginning was cut off."""
        low = max(self.done, start - KEY_TAIL_BYTES)
        tail = self.engine.key_tail.search(self.data[low:start])
        return (low + tail.start(), end, "private-key") if tail is not None else None

    # -- URLs, netrc, curl

    def _url(self, start: int, end: int) -> Span | None:
        user = start + 3
        if self.data.startswith(b"[redacted:", user):
            user = self.data.find(b"]", user, end) + 1
        colon = self.data.find(b":", user, end)
        rest = self.engine.url_rest.match(self.data, end)
        stop = rest.end() - 1 if rest is not None else end - 1
        text = self.data[colon + 1 : stop]
        if colon >= 0:
            return None if points_elsewhere(text) else (colon + 1, stop, "url")
        text = self.data[user:stop]
        return (user, stop, "url") if named.has_chance(text, 20) and not points_elsewhere(text) else None

    def _netrc(self, start: int, end: int) -> Span | None:
        before = self.data[max(0, start - 200) : start]
        if b"machine" not in before.split()[-4:] and before.rpartition(b"\n")[2].strip() != b"default":
            return None
        return self._plain_word(end, "netrc")

    def _curl_user(self, start: int, end: int) -> Span | None:
        line = self.data[max(0, start - 400) : start].rpartition(b"\n")[2]
        if b"curl" not in line and b"wget" not in line:
            return None
        return self._plain_word(end - 1, "curl")

    def _plain_word(self, begin: int, family: str) -> Span | None:
        stop = self.engine.word_run.match(self.data, begin).end()
        text = self.data[begin : min(stop, begin + named.JUDGED_BYTES)]
        return None if points_elsewhere(text) else (begin, stop, family)

    def _named(self, start: int, end: int) -> Span | None:
        return assigned.find_named(self, start, end)

    def _flag(self, start: int, end: int) -> Span | None:
        return assigned.find_flag(self, start, end)


_AFTER_EXACT = frozenset(bytes((byte,)) for byte in named.WORD)


def _passes(check: str, body: bytes) -> bool:
    if check == "digit":
        return any(digit in body for digit in named.DIGITS)
    if check == "dot":
        return b"." in body
    if check == "jwt":
        parts = body.split(b".", 3)
        return len(parts) > 2 and len(parts[0]) >= 8 and len(parts[1]) >= 8 and len(parts[2]) >= 8
    return True
