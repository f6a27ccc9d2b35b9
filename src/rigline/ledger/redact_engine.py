"""The patterns that find secrets, compiled once. All of them read bytes; RE2 answers in time linear in the text."""

from __future__ import annotations

from rigline.ledger import redact_patterns as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLOUR = r"\x1b\[[0-9;]*m"
#: where a token may begin: no letter before it, but the `n` of a written-out newline, or the end of a colour
EDGE = rf"(?:\b|\\[nrtbf]|{COLOUR})"
GAP = rf"(?:[ \t\"'`\]\\]|{COLOUR})*"
#: the rest of a written word: no blanks and quotes, no backslash that writes one
WORD_RUN = r"(?:[^\s\"'`\\\x1b]|\\[^nrtbfu\"'/\\\s])*"
LINE_RUN = r"(?:[^\s\\\x1b]|\\[^nrtbfu\"'/\\\s])*"
KEY_GAP = r"(?:\\+[nrt]|\s|[\"'+,|>#*:-]|[\x80-\xff]|[0-9]{1,6}[^A-Za-z0-9+/=])"
KEY_LINES = (
    rf"{KEY_GAP}*(?:[A-Za-z-]+: [^\n\\]{{0,200}}{KEY_GAP}+)*(?:[A-Za-z0-9+/=]{{24,}}{KEY_GAP}*)+"
    r"(?:[A-Za-z0-9+/]{1,23}={0,2}(?:\\|\s|[\"']|\z))?"
)
LINE_GAP = r"(?:\\+[nr]|[\s\"'+,])"
KEY_TAIL = (
    rf"(?:[A-Za-z0-9+/=]{{8,}}{LINE_GAP}+)?(?:[A-Za-z0-9+/=]{{40,}}{LINE_GAP}+)+[A-Za-z0-9+/=]{{0,63}}{LINE_GAP}*\z"
)


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
        self.mark = _compile(r"\[redacted:[a-z-]+\]")
        self.lead = _compile(rf"(?:[ \t]|{COLOUR})*\[?(?:([bBrRuUfF$@]{{0,2}})(\\*[\"'`]))?")
        self.word_run = _compile(WORD_RUN)
        self.line_run = _compile(LINE_RUN)
        self.segment = _compile(r"(?:[^\s\"'`\\\x1b,;&)}\]|<>]|\\[^nrtbfu\"'/\\\s])*")
        self.annotation = _compile(r"[A-Za-z_][\w.\[\], |<>]{0,60}=[ \t]*[^=>~ \t]")
        self.key_lines = _compile(KEY_LINES)
        self.key_tail = _compile(KEY_TAIL)
        self.key_run = _compile(r"[A-Za-z0-9+/]{24}")
        self.scheme = _compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t=]+(\S)")
        self.credential = _compile(r"[^\s,;)}\]\"'`\\\x1b]*")
        self.cookie = _compile(r"[\w.$-]+=[^\s;,\"']{4,}")
        self.header_run = _compile(r"(?:[^\r\n\"'`\\\x1b]|\\[^nrt\"'`\\])*")
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
