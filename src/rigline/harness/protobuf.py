"""One length-delimited field of a protobuf message, found strictly (protobuf.dev, "Encoding"). Pure."""

from __future__ import annotations

_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5
_VARINT_BYTES = 10


def find_field(message: bytes, number: int) -> bytes | None:
    """The bytes of the first length-delimited field with that number.

    None where there is none, or where the bytes are no message from beginning to end: a part of one is not trusted.
    """
    found = None
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        begin, at = _skip(message, at, tag & 7)
        if at < 0 or tag >> 3 == 0:
            return None
        if found is None and tag == number << 3 | _LEN:
            found = message[begin:at]
    return found


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    """(value, the place behind it); the place is -1 where it is none."""
    value = 0
    for shift, byte in enumerate(message[at : at + _VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    return 0, -1


def _skip(message: bytes, at: int, wire_type: int) -> tuple[int, int]:
    """(where a field's content begins, where it ends); the end is -1 where the message ends within it."""
    if at < 0:
        return at, -1
    if wire_type == _VARINT:
        return at, _read_varint(message, at)[1]
    if wire_type == _LEN:
        length, at = _read_varint(message, at)
    else:
        length = {_I64: 8, _I32: 4}.get(wire_type, -1)
    end = at + length if at >= 0 and length >= 0 else -1
    return at, end if end <= len(message) else -1
