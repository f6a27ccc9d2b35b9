"""One thing that was looked at, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """How a check came out. `warn` is worth knowing; `fail` keeps rigline from its work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(Struct, frozen=True, kw_only=True):
    """`name` says what was looked at, `text` what was found, `next_step` what to do about it."""

    name: str
    level: Level
    text: str
    next_step: str = ""
    details: dict[str, object] = {}


def ok(name: str, text: str, **details: object) -> Check:
    """All is well."""
    return Check(name=name, level=Level.OK, text=text, details=details)


def warn(name: str, text: str, next_step: str, **details: object) -> Check:
    """Worth knowing."""
    return Check(name=name, level=Level.WARN, text=text, next_step=next_step, details=details)


def fail(name: str, text: str, next_step: str, **details: object) -> Check:
    """Nothing works, or not as promised, until this is put right."""
    return Check(name=name, level=Level.FAIL, text=text, next_step=next_step, details=details)


def find_worst(checks: Sequence[Check]) -> Level:
    """The gravest level among some checks."""
    order = list(Level)
    return max((check.level for check in checks), key=order.index, default=Level.OK)
