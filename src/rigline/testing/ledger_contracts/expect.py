"""Checks that say what was found, without a test framework and whether or not Python drops asserts."""

from __future__ import annotations

from rigline.errors import RiglineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rigline.ledger.base import Ledger
    from rigline.model import Grant


def expect(condition: object, what: str) -> None:
    """Raise AssertionError unless the condition holds."""
    if not condition:
        raise AssertionError(what)


def expect_equal(found: object, wanted: object, what: str) -> None:
    """Raise AssertionError with both values unless they are equal."""
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r}, not {wanted!r}")


def expect_refusal(kind: type[RiglineError], call: Callable[[], object], what: str) -> RiglineError:
    """The error that the call must raise."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{what}: not refused")


def list_texts(ledger: Ledger, grant: Grant) -> list[str]:
    """What the history of a workstream says, in order."""
    return [event.text for event in ledger.get_history(grant.workstream.id)]


def list_unseen(ledger: Ledger, grant: Grant, native_id: str | None, harness: str = "claude-code") -> list[str]:
    """What a session has not been shown, in order."""
    return [event.text for event in ledger.get_unseen(grant.workstream.id, harness, native_id).events]
