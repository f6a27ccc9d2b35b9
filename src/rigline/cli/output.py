"""What commands print: text for people on stdout, or exactly one JSON value; notices on stderr."""

from __future__ import annotations

import sys

from rigline.notices import write_notice
from rigline.readable import WIDTH, clip, format_iso, measure, pad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def print_text(text: str) -> None:
    """Text on stdout, flushed, so that a closed pipe is noticed here. Characters that it cannot hold are escaped."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = getattr(sys.stdout, "encoding", None) or "ascii"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Lines on stdout."""
    print_text("".join(f"{line}\n" for line in lines))


def print_json(value: object) -> None:
    """One JSON value on one line of stdout, in ASCII, whatever the locale."""
    import json

    print_text(json.dumps(value) + "\n")


def say(message: str) -> None:
    """A notice on stderr; a terminal that is gone is none of the command's business."""
    write_notice(message)


def tell_time(name: str, at_ms: int | None) -> dict[str, object]:
    """A moment as every JSON answer gives it: `NAME_ms` in UTC milliseconds, and `NAME` as ISO 8601."""
    return {name: format_iso(at_ms), f"{name}_ms": at_ms}


def render_columns(rows: Sequence[Sequence[str]], *, indent: int = 0, gap: int = 2, width: int = WIDTH) -> list[str]:
    """Rows as aligned columns within `width`; where they are too wide the widest column is cut."""
    if not rows:
        return []
    widths = [max(measure(row[column]) for row in rows) for column in range(len(rows[0]))]
    available = width - indent - gap * (len(widths) - 1)
    while sum(widths) > available and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return [(" " * indent + _render_row(row, widths, gap)).rstrip() for row in rows]


def _render_row(row: Sequence[str], widths: Sequence[int], gap: int) -> str:
    return (" " * gap).join(pad(clip(cell, width), width) for cell, width in zip(row, widths, strict=True))


def render_facts(facts: Mapping[str, str | Sequence[str]], *, indent: int = 0) -> list[str]:
    """Names and values, one a line, aligned; several values of one name stand below each other."""
    from rigline.readable import wrap

    start = max((len(name) for name in facts), default=0) + 2
    lines = []
    for name, values in facts.items():
        texts = [values] if isinstance(values, str) else list(values)
        wrapped = [line for text in texts for line in wrap(text, WIDTH - indent - start)]
        for place, line in enumerate(wrapped):
            lines.append((" " * indent + pad(name if place == 0 else "", start) + line).rstrip())
    return lines
