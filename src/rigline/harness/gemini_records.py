"""What the records of a Gemini CLI session (`session-….jsonl`) say. Pure, but for what it remembers of one file.

From what 0.61.0 wrote. The file is a log of operations on a conversation: a header, again at each resume; messages,
which stand there again under the same id when tool calls are added; `$set`, which changes fields, and with `messages`
replaces the whole conversation, as at each resume, after a compaction and when a prompt failed; `$rewindTo`, which
takes back a message and all behind it. What is told again without a change is passed over. Left out, and counted by
kind:

    hidden_reasoning    thoughts
    meta                what the program says in the user's name: the session's context, other hooks' answers, notices
    own_packet          history that rigline had shown, and what repeats it
    synthetic           the model's answer to a summary, which the program makes up
    api_error           an error of the service
    attachment_<kind>   a picture, a file
    unknown:<type>      a type that is not known here
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from rigline.harness.content_parts import join_texts, list_parts, read_parts
from rigline.harness.markers import find_markers
from rigline.harness.pieces import make_call, make_message, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_list, as_text, parse_time_ms
from rigline.model import Kind

_CONTEXT = "<session_context>"
_HOOK = "<hook_context>"
#: what a hook on a session's start says stands before the prompt, in the same part
_LEADING_HOOK = re.compile(rf"{_HOOK}.*?</hook_context>\s*", re.DOTALL)
_SUMMARY = "<state_snapshot>"
#: what the program lets the model say to a summary
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_NOTICES = {"info": "meta", "warning": "meta", "error": "api_error"}


def is_header(record: dict[str, object]) -> bool:
    return bool(as_text(record.get("sessionId")) and as_text(record.get("projectHash")))


def list_messages(record: dict[str, object]) -> list[dict[str, object]] | None:
    """The whole conversation, where a record replaces it; None for any other record."""
    holder = as_dict(record.get("$set")) if "$set" in record else record if is_header(record) else {}
    return [as_dict(each) for each in as_list(holder["messages"])] if "messages" in holder else None


def is_said(message: dict[str, object]) -> bool:
    """Whether somebody said or did something in the message, so that the program would resume a session with it."""
    item = read_message(message, Item(key=""))
    return bool(item.pieces)


class Conversation:
    """One file's records in their order: which messages there are, and what was told of each."""

    def __init__(self) -> None:
        self._order: list[str] = []
        self._told: dict[str, tuple[set[int], Counter[str]]] = {}

    def take(self, record: dict[str, object]) -> list[Item]:
        """What a record adds or changes."""
        messages = list_messages(record)
        if messages is not None:
            items = self._replace(messages)
        elif "$rewindTo" in record:
            items = self._rewind(as_text(record["$rewindTo"]))
        elif "$set" in record or is_header(record):
            items = []
        elif as_text(record.get("id")):
            items = self._append(record)
        else:
            items = [Item(key="", parent="", losses=(name_unknown(record.get("type")),))]
        title = as_text(as_dict(record.get("$set")).get("summary"))
        return [*items, Item(key="", parent="", title=title)] if title else items

    def _append(self, message: dict[str, object]) -> list[Item]:
        """A message, or a later state of one, which is nearly always the last."""
        key = as_text(message["id"])
        place = len(self._order) - 1 if key in self._told else -1
        while place >= 0 and self._order[place] != key:
            place -= 1
        if place < 0:
            place = len(self._order)
            self._order.append(key)
        return self._tell(message, self._order[place - 1] if place else "")

    def _replace(self, messages: list[dict[str, object]]) -> list[Item]:
        """What is new in the list follows what was said before it, though a summary stands at its beginning."""
        last = self._order[-1] if self._order else ""
        self._order, items, before = [], [], ""
        for place, message in enumerate(messages):
            key = as_text(message.get("id"))
            if not key:
                continue
            is_new = key not in self._told
            following = as_dict(messages[place + 1]) if place + 1 < len(messages) else {}
            items += self._tell(message, before or (last if is_new else ""), following)
            self._order.append(key)
            before = before if _is_context(message) else key
        return items

    def _rewind(self, key: str) -> list[Item]:
        place = self._order.index(key) if key in self._order else 0
        del self._order[place:]
        return []

    def _tell(self, message: dict[str, object], parent: str, following: dict[str, object] | None = None) -> list[Item]:
        """What of the message was not told like this before. What was counted for it is not counted again."""
        key = as_text(message["id"])
        at_ms = parse_time_ms(message.get("timestamp"))
        item = read_message(message, Item(key=key, parent=parent, at_ms=at_ms))
        if following is not None:
            item = _find_summary(item, message, following)
        is_known = key in self._told
        told, counted = self._told.setdefault(key, (set(), Counter()))
        pieces = tuple(piece for piece in item.pieces if hash(piece) not in told)
        losses = Counter(item.losses) - counted
        told.update(hash(piece) for piece in pieces)
        counted.update(losses)
        if is_known and not pieces and not losses:
            return []
        packets = () if is_known else item.packets
        return [replace(item, pieces=pieces, losses=tuple(losses.elements()), packets=packets)]


def _is_context(message: dict[str, object]) -> bool:
    return join_texts(message.get("content")).lstrip().startswith(_CONTEXT)


def _find_summary(item: Item, message: dict[str, object], following: dict[str, object]) -> Item:
    """A compaction replaces the conversation by a summary in the user's name, and an answer to it."""
    text = join_texts(message.get("content")).strip()
    is_answered = as_text(following.get("type")) == "gemini" and join_texts(following.get("content")) == _ACKNOWLEDGED
    if message.get("type") == "user" and (is_answered or text.startswith(_SUMMARY)) and item.pieces:
        return replace(item, pieces=(Piece(kind=Kind.COMPACTION, text=text),), is_prompt=False, losses=())
    if message.get("type") == "gemini" and text == _ACKNOWLEDGED:
        return replace(item, pieces=(), losses=("synthetic",))
    return item


def read_message(message: dict[str, object], item: Item) -> Item:
    """What a message says by itself."""
    kind = as_text(message.get("type"))
    if kind == "user":
        return _read_user(message, item)
    if kind == "gemini":
        return _read_answer(message, item)
    losses = (_NOTICES.get(kind) or name_unknown(kind),) if join_texts(message.get("content")).strip() else ()
    return replace(item, losses=losses)


def _read_user(message: dict[str, object], item: Item) -> Item:
    """A prompt. A tool's answer in the user's name is told with its call already."""
    if _is_context(message):
        return replace(item, losses=("meta",))
    said: list[dict[str, object]] = []
    hooks: list[str] = []
    for part in list_parts(message.get("content")):
        text, hook = _split_hook(as_text(part.get("text")))
        hooks += [hook] if hook else []
        if "functionResponse" not in part:
            said.append({**part, "text": text} if "text" in part else part)
    packets = tuple(marker for hook in hooks for marker in find_markers(hook))
    pieces, losses = read_parts(said, "user")
    losses += tuple("own_packet" if find_markers(hook) else "meta" for hook in hooks)
    typed = join_texts(message.get("displayContent"))
    if typed and len(pieces) > 1 and pieces[0].text == typed:
        pieces, losses = pieces[:1], (*losses, "attachment_file")
    return replace(item, pieces=pieces, losses=losses, packets=packets, is_prompt=bool(pieces))


def _split_hook(text: str) -> tuple[str, str]:
    """(what is left of a text, what a hook said at its beginning, each line as it was)."""
    found = _LEADING_HOOK.match(text)
    return (text[found.end() :], found[0].removeprefix(_HOOK)) if found else (text, "")


def _read_answer(message: dict[str, object], item: Item) -> Item:
    """The text is block 0, and each tool call a block with its result, however the content is written this time."""
    parts = list_parts(message.get("content"))
    text = join_texts(parts)
    pieces = [make_message("assistant", text)] if text.strip() else []
    has_thoughts = bool(as_list(message.get("thoughts"))) or any(part.get("thought") is True for part in parts)
    losses = ["hidden_reasoning"] if has_thoughts else []
    calls = [as_dict(each) for each in as_list(message.get("toolCalls"))]
    calls = calls or [as_dict(part["functionCall"]) for part in parts if "functionCall" in part]
    for block, call in enumerate(calls, 1):
        name, call_id = as_text(call.get("name")), as_text(call.get("id"))
        pieces.append(make_call(name, call.get("args"), call_id=call_id, block=block))
        found, left_out = _read_results(call, call_id)
        pieces += [replace(piece, block=block) for piece in found]
        losses += left_out
    return replace(item, pieces=tuple(pieces), losses=tuple(losses))


def _read_results(call: dict[str, object], call_id: str) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """What the tool gave back: one piece at most, for the list may hold the answers of other calls as well."""
    own = [part for part in list_parts(call.get("result")) if _answers(part, call_id)]
    failed = call.get("status") != "success" if isinstance(call.get("status"), str) else None
    pieces, losses = read_parts(own, "assistant", failed=failed)
    return tuple(piece for piece in pieces if piece.kind is Kind.TOOL_RESULT)[:1], losses


def _answers(part: dict[str, object], call_id: str) -> bool:
    return "functionResponse" not in part or as_dict(part["functionResponse"]).get("id") in (call_id, None)


def iter_said(records: Iterator[dict[str, object]]) -> Iterator[dict[str, object]]:
    """The messages with words or deeds in records, as they come."""
    for record in records:
        messages = list_messages(record)
        for message in messages if messages is not None else [record] if record.get("id") else []:
            if is_said(message):
                yield message
