"""The line that tells a packet of rigline's apart from everything else that an agent is shown or writes.

Each part of a packet begins with the line `[rigline packet <delivery id> part <n>/<m>]`. The rule stands here for
the adapters, which read it; `rigline.ledger.fence`, which writes it, may not be imported from here.
"""

from __future__ import annotations

import re

_MARK = r"\[rigline packet ([a-z0-9]{20,40}) part ([1-9][0-9]{0,2})/([1-9][0-9]{0,2})\]"
_LINE = re.compile(rf"^{_MARK}\r*$", re.MULTILINE)
_MENTION = re.compile(_MARK)


def find_markers(text: str) -> list[tuple[str, int, int]]:
    """(delivery id, part, parts) of every line that begins a packet's part, in order."""
    found = [(match[1], int(match[2]), int(match[3])) for match in _LINE.finditer(text)]
    return [marker for marker in found if marker[1] <= marker[2]]


def repeats_packet(text: str) -> bool:
    """Whether a marker stands anywhere in the text, as when a saved packet is read back with line numbers."""
    return _MENTION.search(text) is not None
