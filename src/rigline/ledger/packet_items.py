"""What of a history is worth showing to another agent, one item a message or tool call. Pure.

Tool calls stand with the short of their results in one line; a result without its call is no item.
"""

from __future__ import annotations

from msgspec import Struct

from rigline.ledger.excerpt import cut_to_tokens, estimate_tokens
from rigline.ledger.fence import INDENT, defang, find_markers, flatten, indent
from rigline.model import Kind
from rigline.readable import format_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rigline.ledger.base import HistoryEvent

SUMMARY, TURN, TOOL = "summary", "turn", "tool"
ROLES = ("user", "assistant")
GIST_CHARS = 160
OUTCOME_CHARS = 120
#: what the line above a text costs
TITLE_TOKENS = 8

#: the arguments that say most about a call, the best first, and those that say where
TELLING = ("command", "cmd", "pattern", "query", "file_path", "path", "notebook_path", "url", "prompt", "description")
WHERE = ("path", "file_path", "glob", "cwd", "workdir")
PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


class Entry(Struct, frozen=True, kw_only=True):
    """One thing as it is shown: its title, and its lines as they stand inside the fence, `order` its place in time."""

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
        return estimate_tokens(self.text) + (0 if self.value == TOOL else TITLE_TOKENS)


class Item:
    """One thing that may be shown. Its text is written when it is asked for: of a long history most is never shown."""

    __slots__ = ("_event", "_result", "_text", "order", "title", "value")

    def __init__(self, order: int, event: HistoryEvent, result: HistoryEvent | None, value: str, title: str) -> None:
        self._event = event
        self._result = result
        self._text: str | None = None
        self.order = order
        self.title = title
        self.value = value

    @property
    def session(self) -> tuple[str, str]:
        """Which session it comes from."""
        return self._event.harness, self._event.native_id

    def show(self, limit_tokens: int) -> Entry:
        """The item with head and tail of its text in at most so many tokens; a tool call is never cut."""
        if self._text is None:
            is_call = self.value == TOOL
            self._text = write_call(self._event, self._result) if is_call else "\n".join(indent(self._event.text))
        text = self._text if self.value == TOOL else _cut(self._text, limit_tokens - TITLE_TOKENS)
        return Entry(
            order=self.order,
            at_ms=self._event.at_ms,
            harness=self._event.harness,
            native_id=self._event.native_id,
            value=self.value,
            title=self.title,
            text=text,
            counts={str(self._event.kind): 1} | ({str(self._result.kind): 1} if self._result is not None else {}),
        )


def _cut(text: str, limit_tokens: int) -> str:
    """Head and tail of indented lines; the note and the rest of a broken line are indented again."""
    if estimate_tokens(text) <= limit_tokens:
        return text
    lines = cut_to_tokens(text, limit_tokens).split("\n")
    return "\n".join(line if line.startswith(INDENT) or not line.strip() else INDENT + line.lstrip() for line in lines)


def collect_items(events: Iterable[HistoryEvent]) -> list[Item]:
    """What a history has to show, oldest first: of its summaries the latest; no packets, no abandoned branches."""
    kept = [event for event in _sort(events) if not event.is_abandoned and not is_packet(event) and event.text.strip()]
    results = {_call_key(event): event for event in kept if event.kind == Kind.TOOL_RESULT and event.call_id}
    latest = next((event.seq for event in reversed(kept) if event.kind == Kind.COMPACTION), None)
    items = []
    for order, event in enumerate(kept):
        if event.kind == Kind.TOOL_CALL:
            items.append(Item(order, event, results.get(_call_key(event)), TOOL, "tools"))
        elif event.kind == Kind.COMPACTION and event.seq == latest:
            items.append(Item(order, event, None, SUMMARY, "summary of everything before (compaction)"))
        elif event.kind == Kind.MESSAGE and event.role in ROLES:
            title = f"{event.role} (interrupted)" if event.status == "interrupted" else str(event.role)
            items.append(Item(order, event, None, TURN, title))
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


def write_call(call: HistoryEvent, result: HistoryEvent | None) -> str:
    """One line: the tool, the gist of its arguments, and what came of it."""
    tool = flatten(call.tool or "tool", 60)
    gist = summarize_arguments(call.text.removeprefix(call.tool or "").strip())
    outcome = "no result recorded: unfinished, it may or may not have happened" if result is None else _sum_up(result)
    # together they may read like a fence, although none of them does alone
    return INDENT + defang(f"{tool}: {gist} => {outcome}" if gist else f"{tool} => {outcome}")


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
    text = result.text.strip()
    if not text:
        return status or "done, no output"
    first, _, rest = text.partition("\n")
    middle, newline, last = rest.rpartition("\n")
    outcome = flatten(first, OUTCOME_CHARS)
    if rest:
        between = f"({format_count(middle.count(newline) + 1, 'line')}) / " if newline else ""
        outcome = f"{outcome} / {between}{flatten(last, OUTCOME_CHARS)}"
    return f"{status}: {outcome}" if status else outcome
