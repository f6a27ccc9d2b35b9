"""Whether a Claude Code session's last turn ended at a limit of the account, by the record that the program writes.

2.1.197 and 2.1.332 write such an end as an answer of their own: `isApiErrorMessage`, the vendor's words as its text,
and in `error` what it was. Both write `rate_limit` also where only the server was busy; 2.1.332 says that as
`apiErrorIsTransient`, 2.1.197 by nothing but the beginning of its own words.
"""

from __future__ import annotations

from rigline.harness.claude_fields import content_of
from rigline.harness.claude_records import extract
from rigline.harness.file_store import read_tail
from rigline.harness.windows import as_text

_LIMITS = frozenset({"rate_limit", "billing_error"})
_BUSY = "API Error: Server is temporarily limiting requests"


def find_limit(path: str) -> str | None:
    """The vendor's words, if the transcript's last turn ended there. Raises OSError when it cannot be read."""
    for record in reversed(read_tail(path)):
        if record.get("isSidechain") is True:
            continue
        if record.get("type") == "assistant":
            return _read_limit(record)
        if record.get("type") == "user" and extract(record).pieces:
            return None
    return None


def _read_limit(record: dict[str, object]) -> str | None:
    if record.get("isApiErrorMessage") is not True or as_text(record.get("error")) not in _LIMITS:
        return None
    content = content_of(record)
    blocks = content if isinstance(content, list) else []
    words = " ".join(as_text(block.get("text")) for block in blocks if isinstance(block, dict)).strip()
    is_busy = record.get("apiErrorIsTransient") is True or words.startswith(_BUSY)
    return None if is_busy else words or as_text(record.get("error"))
