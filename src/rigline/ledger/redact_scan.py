"""Where the secrets of a text are: one RE2 pass finds the places, a rule for each kind of place judges them.

Every rule looks at a bounded piece of the text, and no run of token characters is measured twice, so that the time
stays linear. Pure.
"""

from __future__ import annotations

from rigline.ledger import redact_named as named
from rigline.ledger import redact_patterns as patterns
from rigline.ledger.redact_named import Name, Value, points_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Span = tuple[int, int, str]

TOKEN_BYTES = 16_384
QUOTED_BYTES = 4_096
KEY_BLOCK_BYTES = 16_384
KEY_TAIL_BYTES = 8_192
NAME_BYTES = 64
NAME_CHARS = named.WORD + b".-"
SIMPLE_SCHEMES = frozenset(b"bearer basic token apikey api-key bot key negotiate dpop genie-key sso-key".split())
LONG_SCHEMES = frozenset(
    b"digest oauth hawk signature sharedkey sharedkeylite aws aws4-hmac-sha256 splunk goog4-rsa-sha256".split()
)

COLOUR = r"\x1b\[[0-9;]*m"
#: where a token may begin: no letter before it, but the `n` of a written-out newline, or the end of a colour
EDGE = rf"(?:\b|\\[nrtbf]|{COLOUR})"
GAP = rf"(?:[ \t\"'`\]\\]|{COLOUR})*"
#: the rest of a written word: no blanks and quotes, no backslash that writes one
WORD_RUN = r"(?:[^\s\"'`\\]|\\[^nrtbfu\"'/\\\s])*"
LINE_RUN = r"(?:[^\s\\]|\\[^nrtbfu\"'/\\\s])*"
KEY_GAP = r"(?:\\+[nrt]|\s|[\"'+,|>#*:-]|[\x80-\xff]|[0-9]{1,6}[^A-Za-z0-9+/=])"
KEY_LINES = (
    rf"{KEY_GAP}*(?:[A-Za-z-]+: [^\n\\]{{0,200}}{KEY_GAP}+)*(?:[A-Za-z0-9+/=]{{24,}}{KEY_GAP}*)+"
    r"(?:[A-Za-z0-9+/]{1,23}={0,2}(?:\\|\s|[\"']|\z))?"
)
KEY_TAIL = r"(?:[A-Za-z0-9+/=]{40,}(?:\\+[nr]|[\s\"'+,])+)+[A-Za-z0-9+/=]{0,63}(?:\\+[nr]|[\s\"'+,])*\z"


def _write_trigger() -> str:
    """The pattern of every place worth a look; the number of its group says which rule looks."""
    prefixes = sorted((p for row in patterns.TOKENS for p in row[1]), key=len, reverse=True)
    escaped = {prefix: prefix.replace(".", r"\.") for prefix in prefixes}
    bound = "|".join(escaped[p] for p in prefixes if p not in patterns.UNMISTAKABLE)
    unmistakable = "|".join(escaped[p] for p in prefixes if p in patterns.UNMISTAKABLE)
    ends = rf"(?i:(?:{patterns.NAME_ENDS})(?:{patterns.NAME_TAILS})?)"
    return "|".join(
        f"({pattern})"
        for pattern in (
            rf"{EDGE}(?:{bound})",
            unmistakable,
            rf"{ends}{GAP}(?:=>|:=|[:=])|(?i:authorization|cookie|-key|-token)[\"']+[ \t]*,",
            r"://(?:[^\s/:@\"'`<>?#\\]*:[^\s/@\"'`<>?#\\]+|[\w.-]{20,})@",
            r"-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|Private-Lines: [0-9]+",
            r"[0-9]:AA",
            r"\.[\w-]{6}\.[\w-]{27}",
            r"(?i:bearer)[ \t]+[\w]",
            rf"--[a-z-]*(?i:{patterns.FLAG_ENDS})[ \t]+",
            r"\b(?:login|account)\s+\S+\s+password[ \t]+",
            r"[ \t](?:-u|--user|--proxy-user)[ =]*[\"']?[^\s:\"'`]+:[^\s\"'`]",
        )
    )


class Engine:
    """The compiled patterns, all over bytes."""

    def __init__(self) -> None:
        self.trigger = _compile(_write_trigger())
        self.escape = _compile(r"\\+(?:u00[2-7][0-9a-fA-F]|u001[bB]|/)")
        self.mark = _compile(r"\[redacted:[a-z]+\]")
        self.lead = _compile(rf"(?:[ \t]|{COLOUR})*\[?(?:([bBrRuUfF$@]{{0,2}})(\\*[\"'`]))?")
        self.word_run = _compile(WORD_RUN)
        self.line_run = _compile(LINE_RUN)
        self.segment = _compile(r"(?:[^\s\"'`\\,;&)}\]|<>]|\\[^nrtbfu\"'/\\\s])*")
        self.annotation = _compile(r"[A-Za-z_][\w.\[\], |<>]{0,60}=[ \t]*[^=>~ \t]")
        self.key_lines = _compile(KEY_LINES)
        self.key_tail = _compile(KEY_TAIL)
        self.key_run = _compile(r"[A-Za-z0-9+/]{24}")
        self.scheme = _compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t=]+(\S)")
        self.credential = _compile(r"[^\s,;)}\]\"'`\\]*")
        self.cookie = _compile(r"[\w.$-]+=[^\s;,\"']{4,}")
        self.header_run = _compile(r"(?:[^\r\n\"'`\\]|\\[^nrt\"'`\\])*")
        self.url_rest = _compile(r"[^\s/\"'`<>?#\\]*@")
        self.charsets = {name: _compile(f"[{inside}]*") for name, inside in patterns.CHARSETS.items()}
        self.tokens = {prefix.encode(): row for row in patterns.TOKENS for prefix in row[1]}


_ENGINE: list[Engine] = []


def get_engine() -> Engine:
    """The patterns, compiled at first use: that and the import of RE2 cost some 10 ms."""
    if not _ENGINE:
        _ENGINE.append(Engine())
    return _ENGINE[0]


def _compile(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    return re2.compile(pattern.encode("latin-1"), options)


def find_secrets(data: bytes) -> list[Span]:
    """(start, end, family) of each secret, in order and without overlap."""
    return _Scan(data).run()


class _Scan:
    """One pass over one text. `done` is the end of the last secret; nothing is read twice for what lies before it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.engine = get_engine()
        self.done = 0
        self.runs: dict[str, tuple[int, int]] = {}
        self.next_key_end = -1

    def run(self) -> list[Span]:
        rules: tuple[Callable[[int, int], Span | None], ...] = (
            self._token, self._token, self._named, self._url, self._private_key, self._telegram, self._discord,
            self._bearer, self._flag, self._netrc, self._curl_user,
        )  # fmt: skip
        search = self.engine.trigger.search
        spans: list[Span] = []
        at = 0
        while (match := search(self.data, at)) is not None:
            start, at = match.span()
            span = rules[match.lastindex - 1](start, at)
            if span is not None:
                spans.append(span)
                self.done = span[1]
                at = max(at, self.done)
        return spans

    # -- tokens with a shape of their own

    def _token(self, start: int, end: int) -> Span | None:
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
        head = self.data[max(self.done, start - 30) : start]
        first = head[len(head.rstrip(named.WORD + b"-")) :]
        if 23 <= len(first) <= 28 and first[:1] in b"MNO" and _passes("digit", first):
            return start - len(first), self._end_of_run("dash", end), "discord"
        return None

    def _bearer(self, start: int, end: int) -> Span | None:
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
        stop = self._find_key_end(end)
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
        colon = self.data.find(b":", start + 3, end)
        rest = self.engine.url_rest.match(self.data, end)
        stop = rest.end() - 1 if rest is not None else end - 1
        text = self.data[colon + 1 : stop]
        if colon >= 0:
            return None if points_elsewhere(text) else (colon + 1, stop, "url")
        text = self.data[start + 3 : stop]
        return (start + 3, stop, "url") if named.has_chance(text, 20) and not points_elsewhere(text) else None

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
        return None if not text or points_elsewhere(text) else (begin, stop, family)

    # -- names and what is assigned to them

    def _named(self, start: int, end: int) -> Span | None:
        if self.data[end : end + 20].lstrip(b" \"'`\\[").startswith(b"redacted:"):
            return None
        begin, name = self._read_name(start, end)
        operator = self.data[end - 1 : end]
        if not name.kind or self.data[end : end + 1] in _NO_ASSIGNMENT[operator]:
            return None
        if operator == b"," and self.engine.lead.match(self.data, end).group(2) is None:
            return None
        if name.kind == named.AUTHORIZATION:
            return self._authorization(end)
        if name.kind == named.COOKIE:
            return self._cookie(end)
        is_bare = operator == b"=" and self.data[end - 2 : end - 1] in _NAME_BYTES and b"." not in self.data[begin:end]
        return self._assigned(name, end, begin, is_tight=is_bare and self.data[end : end + 1] not in b" \t")

    def _flag(self, start: int, end: int) -> Span | None:
        name = named.read_name(self.data[start:end].strip())
        return self._assigned(name, end, start, is_tight=False) if name.kind else None

    def _read_name(self, start: int, end: int) -> tuple[int, Name]:
        """The name around the place where its ending was found, and where it begins."""
        data = self.data
        low = max(self.done, start - NAME_BYTES)
        head = data[low:start]
        begin = low + len(head.rstrip(NAME_CHARS))
        if data[begin : begin + 1] in b"nrtbf" and data[max(0, begin - 1) : begin] == b"\\":
            begin += 1
        if data[max(0, begin - 1) : begin] in (b"[", b";") and b"\x1b" in data[max(0, begin - 12) : begin]:
            begin = max(begin, data.find(b"m", begin, start) + 1)
        word = data[begin:end]
        length = len(word) - len(word.lstrip(NAME_CHARS))
        return begin, named.read_name(word[:length])

    def _assigned(self, name: Name, at: int, begin: int, *, is_tight: bool) -> Span | None:
        lead = self.engine.lead.match(self.data, at)
        prefix, quote = lead.groups(b"")
        if quote:
            return self._quoted(name, lead.end(), quote, prefix, is_tight=is_tight)
        start = lead.end()
        is_line = self._begins_line(begin)
        is_environment = is_tight and name.is_upper
        run = self.engine.line_run if is_environment and is_line else self.engine.word_run
        part = run if is_environment else self.engine.segment
        piece = part.match(self.data, start, min(len(self.data), start + named.JUDGED_BYTES)).group()
        if not is_line:
            piece = piece.rstrip(b",;)]}")
        if named.is_secret(name, Value(piece, is_quoted=False, is_tight=is_tight)):
            return self._with_family(start, self._end_of_word(start, piece, is_line=is_line, run=run), name.family)
        annotated = self.engine.annotation.match(self.data, start)
        if annotated is not None and self.data[at - 1 : at] == b":":
            return self._assigned(name, annotated.end() - 1, begin, is_tight=False)
        return None

    def _end_of_word(self, start: int, piece: bytes, *, is_line: bool, run: Any) -> int:
        """Where an unquoted secret ends: with its line's word, or with the judged piece when it stands among code."""
        if not is_line and len(piece) < named.JUDGED_BYTES - 8:
            return start + len(piece)
        stop: int = run.match(self.data, start).end()
        while stop > start + 1 and self.data[stop - 1] in b",;":
            stop -= 1
        return stop

    def _begins_line(self, begin: int) -> bool:
        before = self.data[max(0, begin - 40) : begin].rpartition(b"\n")[2].rpartition(b"\\n")[2]
        return before.strip() in _LINE_HEADS

    def _quoted(self, name: Name, start: int, quote: bytes, prefix: bytes, *, is_tight: bool) -> Span | None:
        stop = self._closing(start, quote)
        if stop < 0:
            stop = self.engine.word_run.match(self.data, start).end()
        text = self.data[start : min(stop, start + named.JUDGED_BYTES)]
        is_template = prefix.lower() in (b"f", b"rf", b"fr", b"$", b"$@", b"@$") and b"{" in text
        if named.is_secret(name, Value(text, is_quoted=True, is_tight=is_tight, is_template=is_template)):
            return self._with_family(start, stop, name.family)
        return None

    def _with_family(self, start: int, stop: int, family: str) -> Span:
        """The span of a named secret, under the family of its shape when it has one."""
        match = self.engine.trigger.match(self.data, start, stop)
        token = self._token(*match.span()) if match is not None and match.lastindex <= 2 else None
        return (start, max(stop, token[1]), token[2]) if token is not None else (start, stop, family)

    def _closing(self, start: int, quote: bytes) -> int:
        """Where the string ends that this quote (with its backslashes) began, or -1 when it does not on this line."""
        data, mark, depth = self.data, quote[-1:], len(quote) - 1
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

    def _header_value(self, at: int) -> tuple[int, int]:
        lead = self.engine.lead.match(self.data, at)
        quote = lead.group(2)
        stop = self._closing(lead.end(), quote) if quote else -1
        if stop < 0:
            stop = self.engine.header_run.match(self.data, lead.end()).end()
        return lead.end(), stop

    def _authorization(self, at: int) -> Span | None:
        start, stop = self._header_value(at)
        scheme = self.engine.scheme.match(self.data, start, stop)
        word = scheme.group(1).lower() if scheme is not None else b""
        if word in LONG_SCHEMES:
            begin = scheme.start(2)
            return None if points_elsewhere(self.data[begin:stop]) else (begin, stop, "authorization")
        begin = scheme.start(2) if word in SIMPLE_SCHEMES else start
        end = self.engine.credential.match(self.data, begin, stop).end()
        text = self.data[begin : min(end, begin + named.JUDGED_BYTES)]
        if not text or points_elsewhere(text):
            return None
        is_secret = named.is_credential(text) and (word in SIMPLE_SCHEMES or named.has_chance(text, 16))
        return self._with_family(begin, end, "authorization") if is_secret else None

    def _cookie(self, at: int) -> Span | None:
        start, stop = self._header_value(at)
        text = self.data[start:stop]
        if self.engine.cookie.match(self.data, start, stop) is None or points_elsewhere(text):
            return None
        if not named.is_cookie(text):
            return None
        return start, start + len(text.rstrip()), "cookie"


_AFTER_EXACT = frozenset(bytes((byte,)) for byte in named.WORD)
_NAME_BYTES = frozenset(bytes((byte,)) for byte in named.WORD)
_LINE_HEADS = frozenset({b"", b"export", b"-", b"+", b"set", b"declare -x", b"ENV", b"ARG", b"$", b"//", b"#"})
#: a sign behind the operator that makes it a comparison or a path: `==`, `=~`, `::`
_NO_ASSIGNMENT = {b"=": b"=~", b":": b":=", b">": b"=", b",": b","}


def _passes(check: str, body: bytes) -> bool:
    if check == "digit":
        return any(digit in body for digit in named.DIGITS)
    if check == "dot":
        return b"." in body
    if check == "jwt":
        parts = body.split(b".", 3)
        return len(parts) > 2 and len(parts[0]) >= 8 and len(parts[1]) >= 8 and len(parts[2]) >= 8
    return True
