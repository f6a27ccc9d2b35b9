"""Keys for records that have no ids of their own: what they say, and the how-manieth of its like each one is.

A file that is rewritten in place gives what stayed the same keys again, wherever it stands now, so nothing doubles;
two equal records are still two.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec

from rigline.harness.journal import iter_lines


class ContentKeys:
    """The keys of one file's records, in their order. What was read in earlier goes is counted first."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: Counter[str] | None = None

    def make(self, record: dict[str, object], offset: int) -> str:
        """The key of the record at a byte offset. Each record is asked for once, in order; raises OSError."""
        if self._seen is None:
            self._seen = self._count_before(offset)
        digest = hash_record(record)
        self._seen[digest] += 1
        count = self._seen[digest]
        return digest if count == 1 else f"{digest}-{count}"

    def _count_before(self, offset: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        if offset:
            for line in iter_lines(self._path):
                if line.offset >= offset:
                    break
                if line.record is not None:
                    seen[hash_record(line.record)] += 1
        return seen


def hash_record(record: dict[str, object]) -> str:
    """A hash of all that a record holds, however it is written."""
    return blake2b(msgspec.json.encode(record, order="deterministic"), digest_size=12).hexdigest()
