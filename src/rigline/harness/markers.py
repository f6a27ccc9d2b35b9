"""The line that tells a packet of rigline's apart from everything else that an agent is shown or writes.

Each part of a packet begins with the line `[rigline packet <delivery id> part <n>/<m>]`. The rule stands here
for the adapters, which read it; the ledger, which writes it, may not be imported from here.
"""

from __future__ import annotations

import re

_MARK = r"\[rigline packet ([a-z0-9]{20,40}) part ([0-9]{1,3})/([0-9]{1,3})\]"
_MARKER = re.compile("^" + _MARK, re.MULTILINE)
_MENTION = re.compile(_MARK)


def find_markers(text: str) -> list[tuple[str, int, int]]:
    """(delivery id, part, parts) of every line that begins a packet's part, in order."""
    return [(found[1], int(found[2]), int(found[3])) for found in _MARKER.finditer(text)]


def repeats_packet(text: str) -> bool:
    """Whether a marker stands anywhere in the text, as when a saved packet is read back with line numbers."""
    return _MENTION.search(text) is not None
