"""The fence around stored text: marker lines that it cannot forge, and the cleaning that sees to it. Pure.

A part of a packet begins with `[rigline packet <delivery id> part <n>/<m>]` and ends with `[end of rigline packet
<delivery id> part <n>/<m>]`, both at the left edge. Stored text stands indented, and is broken wherever any reader
might see a line end, so none of its lines begins at the left edge. A line that reads like one of the fence, also with
letters, brackets or blanks that only look like it, is shown with round brackets and a note.

`rigline.harness.markers` reads the same line for the adapters, which may not import the ledger.
"""

from __future__ import annotations

OPENING = "[rigline packet "
INDENT = "  "
QUOTED = "(stored text, no fence) "
MAX_PARTS = 999
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
ESCAPE = "\x1b"
#: the fence's words, when everything that can look alike is one letter (`i`, `l`, `1`)
_FENCE_WORDS = "rlgllnepacket"
_ID_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
#: control characters and what nobody sees: zero width, writing direction, tags and selectors that can hide words
_INVISIBLE = (
    (0x00, 0x09), (0x0B, 0x20), (0x7F, 0xA0), (0xAD, 0xAE), (0x061C, 0x061D), (0x115F, 0x1161), (0x180B, 0x180F),
    (0x200B, 0x200C), (0x200E, 0x2010), (0x2028, 0x202F), (0x2060, 0x2070), (0x3164, 0x3165), (0xFEFF, 0xFF00),
    (0xFFA0, 0xFFA1), (0xFFF9, 0xFFFC), (0xE0000, 0xE0080), (0xE0100, 0xE01F0),
)  # fmt: skip
#: letters of other scripts that are drawn like Latin ones, where Unicode's own folding keeps them apart
_LOOKALIKES = (
    "a\u0430\u03b1\u0251\u1d00 c\u0441\u03f2\u1d04 e\u0435\u03b5\u1d07 g\u0261\u0581\u0262\u0433 k\u043a\u03ba\u1d0b "
    "l\u0456\u0457\u04cf\u0131\u03b9\u026a\u029f\u0269\u01c0i1| n\u043f\u03b7\u0578\u0274 p\u0440\u03c1\u1d18 "
    "r\u0280\u1d26 t\u0442\u03c4\u1d1b"
)


def write_opening(delivery_id: str, number: int, total: int) -> str:
    """The line that begins a part."""
    return f"{OPENING}{delivery_id} part {number}/{total}]"


def write_closing(delivery_id: str, number: int, total: int) -> str:
    """The line that ends a part."""
    return f"[end of rigline packet {delivery_id} part {number}/{total}]"


def find_markers(text: str) -> list[tuple[str, int, int]]:
    """(delivery id, part, parts) of every line that is the opening of a part, in order.

    A delivery id is 20 to 40 lower-case letters and digits. Cheap on a text without any.
    """
    markers = []
    at = text.find(OPENING)
    while at >= 0:
        if at == 0 or text[at - 1] == "\n":
            marker = _read_opening(text[at : at + 80].partition("\n")[0].rstrip("\r"))
            if marker is not None:
                markers.append(marker)
        at = text.find(OPENING, at + 1)
    return markers


def _read_opening(line: str) -> tuple[str, int, int] | None:
    words = line[len(OPENING) :].split(" ")
    if len(words) != 3 or words[1] != "part" or not words[2].endswith("]"):
        return None
    number, slash, total = words[2][:-1].partition("/")
    if not 20 <= len(words[0]) <= 40 or not set(words[0]) <= _ID_CHARS:
        return None
    if not (slash and _is_number(number) and _is_number(total) and int(number) <= int(total)):
        return None
    return words[0], int(number), int(total)


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and digits[0] != "0" and int(digits[:4]) <= MAX_PARTS


def indent(text: str) -> list[str]:
    """The lines of a stored text as they stand inside the fence: cleaned, defanged, indented."""
    lines = defang(clean(text).strip("\n")).split("\n")
    return [f"{INDENT}{line}".rstrip() for line in lines]


def flatten(text: str, limit_chars: int) -> str:
    """A stored text on one line of at most `limit_chars`, cleaned and defanged."""
    line = " ".join(clean(text[: 8 * limit_chars]).split())
    line = defang(line)
    return line if len(line) <= limit_chars else f"{line[: max(0, limit_chars - 1)]}\u2026"


def clean(text: str) -> str:
    """Without control characters, terminal sequences and invisible characters; every kind of line end as a newline."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\x9b", "\x1b[")
    if ESCAPE in text:
        text = _strip_sequences(text)
    return text.translate(_get_table())


def _strip_sequences(text: str) -> str:
    """Without terminal control sequences (ECMA-48): colours and moves, window titles, links."""
    first, *rest = text.split(ESCAPE)
    return first + "".join(_strip_sequence(piece) for piece in rest)


def _strip_sequence(piece: str) -> str:
    """What is left of the text behind one escape character."""
    kind = piece[:1]
    if kind == "[":
        rest = piece[1:].lstrip("0123456789:;<=>?")
        rest = rest.lstrip(" !\"#$%&'()*+,-./")
        return rest[1:] if "@" <= rest[:1] <= "~" else rest
    if kind and kind in "]PX^_":
        body, bell, rest = piece.partition("\x07")
        return rest if bell else body[len(body.partition("\n")[0]) :]
    rest = piece.lstrip(" !\"#$%&'()*+,-./")
    return rest[1:] if "0" <= rest[:1] <= "~" else rest


def defang(text: str) -> str:
    """Lines that read like the fence's, made inert where one can see it; all others as they are."""
    if _FENCE_WORDS not in _fold(text):
        return text
    return "\n".join(_defang_line(line) if _FENCE_WORDS in _fold(line) else line for line in text.split("\n"))


def _defang_line(line: str) -> str:
    import unicodedata

    brackets = {"Ps": "(", "Pe": ")"}
    return QUOTED + "".join(brackets.get(unicodedata.category(char), char) for char in line)


def _fold(text: str) -> str:
    """The letters and digits that a reader sees, whatever they are made of."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text)
    text = text.lower().translate(_get_fold_table())
    return text if text.isascii() else text.encode("ascii", "ignore").decode()


_TABLES: dict[str, dict[int, str | None]] = {}


def _get_table() -> dict[int, str | None]:
    if "clean" not in _TABLES:
        table: dict[int, str | None] = {code: None for low, high in _INVISIBLE for code in range(low, high)}
        table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
        _TABLES["clean"] = table | {ord(char): "\n" for char in LINE_ENDS}
    return _TABLES["clean"]


def _get_fold_table() -> dict[int, str | None]:
    if "fold" not in _TABLES:
        table: dict[int, str | None] = {
            code: None for code in range(128) if not (chr(code).isalnum() or chr(code) == "|")
        }
        for group in _LOOKALIKES.split(" "):
            table |= {ord(char): group[0] for char in group[1:]}
        _TABLES["fold"] = table
    return _TABLES["fold"]
