"""What of a history is worth showing to another agent, one item a message or tool call. Pure.

Tool calls stand with the short of their results in one line; a result without its call is no item.
"""

from __future__ import annotations

from msgspec import Struct

from rigline.ledger.excerpt import cut_to_tokens, estimate_tokens
from rigline.ledger.fence import INDENT, find_markers, flatten, indent
from rigline.model import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rigline.ledger.base import HistoryEvent

SUMMARY, TURN, TOOL = "summary", "turn", "tool"
ROLES = ("user", "assistant")
GIST_CHARS = 160
OUTCOME_CHARS = 120
#: more than this much of a text is never looked at: its ends are far longer than what is shown
CLEANED_CHARS = 60_000

#: the arguments that say most about a call, the best first, and those that say where
TELLING = ("command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url", "prompt", "description")
WHERE = ("path", "file_path", "glob", "cwd", "workdir")
PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


class Item(Struct, frozen=True, kw_only=True):
    """One thing to be shown: its title, its lines inside the fence, and what it counts as (events by kind)."""

    order: int
    at_ms: int | None
    harness: str
    native_id: str
    value: str
    title: str
    text: str
    counts: dict[str, int]

    @property
    def tokens(self) -> int:
        """About how much of a budget it takes."""
        return estimate_tokens(self.text) + (0 if self.value == TOOL else 8)

    def shorten(self, limit_tokens: int) -> Item:
        """The item with at most so many tokens of text, head and tail of it."""
        if self.tokens <= limit_tokens or self.value == TOOL:
            return self
        return Item(**{name: getattr(self, name) for name in _COPIED}, text=cut_to_tokens(self.text, limit_tokens - 8))


_COPIED = ("order", "at_ms", "harness", "native_id", "value", "title", "counts")


def collect_items(events: Iterable[HistoryEvent]) -> list[Item]:
    """The items of a history, oldest first. Packets, empty texts, abandoned branches and older summaries are none."""
    kept = [event for event in _sort(events) if not event.is_abandoned and not is_packet(event)]
    results = {_call_key(event): event for event in kept if event.kind == Kind.TOOL_RESULT and event.call_id}
    latest = next((event.seq for event in reversed(kept) if event.kind == Kind.COMPACTION and event.text.strip()), None)
    items = []
    for order, event in enumerate(kept):
        item = _make_item(order, event, results.get(_call_key(event)), is_latest=event.seq == latest)
        if item is not None:
            items.append(item)
    return items


def is_packet(event: HistoryEvent) -> bool:
    """Whether a message is one of our own packets, shown to an agent and read back as if somebody had said it."""
    return event.kind == Kind.MESSAGE and bool(find_markers(event.text.lstrip()[:200].partition("\n")[0]))


def _sort(events: Iterable[HistoryEvent]) -> list[HistoryEvent]:
    """By time, where each session keeps its own order whatever its clock says."""
    reached: dict[tuple[str, str], int] = {}
    keyed = []
    for event in events:
        session = (event.harness, event.native_id)
        reached[session] = max(reached.get(session, 0), event.at_ms or 0)
        keyed.append((reached[session], event.seq, event))
    return [event for _, _, event in sorted(keyed, key=lambda entry: entry[:2])]


def _call_key(event: HistoryEvent) -> tuple[str, str, str | None]:
    return event.harness, event.native_id, event.call_id


def _make_item(order: int, event: HistoryEvent, result: HistoryEvent | None, *, is_latest: bool) -> Item | None:
    counts = {str(event.kind): 1}
    if event.kind == Kind.TOOL_CALL:
        value, title, text = TOOL, "tools", write_call(event, result)
        counts |= {str(Kind.TOOL_RESULT): 1} if result is not None else {}
    elif event.kind == Kind.COMPACTION and is_latest:
        value, title, text = SUMMARY, "summary of everything before (compaction)", _write_text(event.text)
    elif event.kind == Kind.MESSAGE and event.role in ROLES:
        title = f"{event.role} (interrupted)" if event.status == "interrupted" else str(event.role)
        value, text = TURN, _write_text(event.text)
    else:
        return None
    if not text.strip():
        return None
    return Item(
        order=order,
        at_ms=event.at_ms,
        harness=event.harness,
        native_id=event.native_id,
        value=value,
        title=title,
        text=text,
        counts=counts,
    )


def _write_text(text: str) -> str:
    if len(text) > 2 * CLEANED_CHARS:
        left_out = len(text) - 2 * CLEANED_CHARS
        middle = f"\n[... {left_out:,} characters left out ...]\n"
        text = text[:CLEANED_CHARS] + middle + text[-CLEANED_CHARS:]
    return "\n".join(indent(text))


def write_call(call: HistoryEvent, result: HistoryEvent | None) -> str:
    """One line: the tool, the gist of its arguments, and what came of it."""
    tool = flatten(call.tool or "tool", 60)
    gist = summarize_arguments(call.text.removeprefix(call.tool or "").strip())
    outcome = "no result recorded: unfinished, it may or may not have happened" if result is None else _sum_up(result)
    return f"{INDENT}{tool}: {gist} => {outcome}" if gist else f"{INDENT}{tool} => {outcome}"


def summarize_arguments(text: str) -> str:
    """The telling part of a call's arguments on one line: the command, the file, the query."""
    from msgspec import DecodeError, json

    arguments: object = None
    if text.startswith("{"):
        try:
            arguments = json.decode(text)
        except (DecodeError, UnicodeEncodeError):
            arguments = None
    if isinstance(arguments, dict):
        text = _pick(arguments) or ("" if not arguments else text)
    touched = [line[4:] for line in text.splitlines() if line.startswith(PATCH_LINES)]
    return flatten(", ".join(touched) or text, GIST_CHARS)


def _pick(arguments: dict[object, object]) -> str:
    name = next((name for name in TELLING if arguments.get(name)), None)
    if name is None:
        return ""
    value = arguments[name]
    if isinstance(value, list):
        words = [str(word) for word in value]
        value = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    place = next((arguments[where] for where in WHERE if where != name and isinstance(arguments.get(where), str)), None)
    return f"{value} in {place}" if place and name in ("pattern", "query") else str(value)


def _sum_up(result: HistoryEvent) -> str:
    status = "" if result.status in (None, "", "ok", "success", "completed") else flatten(str(result.status), 30)
    head, tail = result.text[:CLEANED_CHARS], result.text[CLEANED_CHARS:][-CLEANED_CHARS:]
    lines = [line for line in f"{head}\n{tail}".splitlines() if line.strip()]
    if not lines:
        return status or "done, no output"
    first, last = flatten(lines[0], OUTCOME_CHARS), flatten(lines[-1], OUTCOME_CHARS)
    middle = {1: first, 2: f"{first} / {last}"}.get(len(lines), f"{first} / ({len(lines) - 2:,} lines) / {last}")
    return f"{status}: {middle}" if status else middle
