"""From a window as an adapter read it to events that may be stored: whole text, redacted, then cut."""

from __future__ import annotations

from hashlib import sha256

from msgspec.structs import replace

from rigline.ids import event_id
from rigline.model import Event
from rigline.store.events import Incoming
from rigline.store.text import replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Redactor = Callable[[str], tuple[str, dict[str, int]]]

#: the most that is kept of one event; what is longer is cut after redaction, and counted
TEXT_LIMIT_CHARS = 1024 * 1024
LOSS_TEXT_CUT = "text_cut"
LOSS_REDACTED = "redacted"

_NAMES = ("harness", "native_id", "record", "role", "tool", "call_id", "status", "copy_key", "turn", "parent_turn")


def prepare_events(events: list[Event], redactor: Redactor) -> list[Incoming]:
    """The events that say anything, in order, redacted and cut."""
    prepared = (prepare_event(event, redactor) for event in events)
    return [each for each in prepared if each is not None]


def prepare_event(event: Event, redactor: Redactor) -> Incoming | None:
    """One event ready to be stored, or None when there is nothing but blanks in it.

    Redaction sees the whole text: a cut before it could leave the half of a secret that no pattern knows.
    """
    text, found = redactor(replace_surrogates(event.text))
    if not text or text.isspace():
        return None
    losses = {f"{LOSS_REDACTED}:{family}": count for family, count in found.items()}
    if len(text) > TEXT_LIMIT_CHARS:
        from rigline.ledger.redact import cut

        text, _ = cut(text, TEXT_LIMIT_CHARS)
        losses[LOSS_TEXT_CUT] = 1
    return derive(_clean(event, text), losses)


def derive(event: Event, losses: dict[str, int]) -> Incoming:
    """An event with its identity, its identity across files, and its text's hash. The text is final."""
    return Incoming(
        event=event,
        id=event_id(event.harness, event.native_id, event.record, event.block, event.kind),
        copy_key=hash_copy_key(event),
        text_hash=sha256(event.text.encode()).digest()[:16],
        losses=losses,
    )


def hash_copy_key(event: Event) -> bytes | None:
    """12 bytes that all copies of the event have. One key may serve all blocks of a record: they are told apart."""
    if not event.copy_key:
        return None
    parts = f"{event.harness}\0{event.copy_key}\0{event.block}\0{event.kind}"
    return sha256(parts.encode()).digest()[:12]


def _clean(event: Event, text: str) -> Event:
    values = [getattr(event, name) for name in _NAMES]
    changes = {
        name: replace_surrogates(value)
        for name, value in zip(_NAMES, values, strict=True)
        if value is not None and not value.isascii()
    }
    if text is not event.text:
        changes["text"] = text
    return replace(event, **changes) if changes else event
