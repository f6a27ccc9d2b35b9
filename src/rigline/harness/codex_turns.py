"""The order of a Codex thread's prompts, and the keys of its records.

A thread's user may go back and ask something else. 0.120.0 then notes a rollback in the same file; 0.171.0 begins
another file of the thread, whose first record names the file and the ordinal that it goes on from.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from msgspec import Struct

from rigline.harness.codex_files import Head, build_head
from rigline.harness.codex_records import Extract, extract
from rigline.harness.journal import iter_lines
from rigline.harness.windows import as_dict, as_text
from rigline.model import SESSION_START

#: how many prompts can be taken back by one rollback and still be told apart
_MAX_PROMPTS = 32
_TURN_RECORDS = frozenset({"compacted", "event_msg", "response_item", "turn_context"})
#: how many files a lineage is followed through
_MAX_LINEAGE = 64

#: file id -> the rollout's path, or None when it is gone
FindFile = Callable[[str], str | None]


class PromptsState(Struct, omit_defaults=True):
    """What the next window needs to know of those before it.

    `turn_id` and `count` are Codex's turn and how many items it has so far. `prompts` are the keys of the latest
    prompts, `root` that of the one before them (`SESSION_START`: there is none). `doubtful` is the key of a user's text
    that was left out, with the text's hash.
    """

    turn_id: str = ""
    count: int = 0
    prompts: list[str] = []
    root: str = ""
    doubtful: tuple[str, str] | None = None


class PromptOrder:
    """Gives each record its key, and its place in the order of prompts."""

    def __init__(self, state: PromptsState, file_id: str) -> None:
        self.state = state
        self._file_id = file_id

    def take(self, record: dict[str, object], found: Extract, offset: int) -> str:
        """The key of a record that may be an event; empty for all others.

        A key is made of the turn's id, which is unique, and the item's own id, its call's, or its number in the
        turn: a fork's copy has the same (0.120.0 writes neither ids nor ordinals). Ordinals have been seen twice.
        """
        kind = record.get("type")
        if kind not in _TURN_RECORDS:
            return ""
        payload = as_dict(record.get("payload"))
        if kind in ("event_msg", "turn_context"):
            self._take_event(payload, str(kind))
            return ""
        name = self._name(payload, str(kind))
        self.state.count += 1
        own_turn = as_text(as_dict(payload.get("internal_chat_message_metadata_passthrough")).get("turn_id"))
        turn = own_turn or self.state.turn_id
        if not turn and not as_text(payload.get("id")):
            key = f"{self._file_id}@{offset}"
        else:
            key = f"{turn}:{name}" if turn else name
        if found.is_prompt:
            self.add_prompt(key)
        return key

    def _name(self, payload: dict[str, object], kind: str) -> str:
        if kind == "compacted":
            return f"compacted-{self.state.count}"
        call_id = as_text(payload.get("call_id"))
        suffix = "-output" if as_text(payload.get("type")).endswith("_output") else ""
        return as_text(payload.get("id")) or (call_id + suffix if call_id else str(self.state.count))

    def _take_event(self, payload: dict[str, object], kind: str) -> None:
        if kind == "turn_context" or payload.get("type") == "task_started":
            turn_id = as_text(payload.get("turn_id"))
            if turn_id and turn_id != self.state.turn_id:
                self.state.turn_id, self.state.count = turn_id, 0
        elif payload.get("type") == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))

    def _roll_back(self, turns: object) -> None:
        """The user went back: the next prompt comes after an earlier one (0.120.0, the same file)."""
        prompts = self.state.prompts
        if not isinstance(turns, int) or turns <= 0:
            return
        if turns > len(prompts) and self.state.root != SESSION_START:
            self.state.root = ""
        del prompts[-turns:]

    def add_prompt(self, key: str) -> None:
        """A prompt was typed."""
        if key in self.state.prompts[-1:]:
            return
        self.state.prompts.append(key)
        while len(self.state.prompts) > _MAX_PROMPTS:
            self.state.root = self.state.prompts.pop(0)

    def doubt(self, key: str, text: str) -> bool:
        """A user's text looks like the program's own. Returns whether an earlier one is now given up."""
        is_given_up = self.state.doubtful is not None
        self.state.doubtful = (key, _hash(text))
        return is_given_up

    def settle_doubt(self, told: str) -> tuple[str, bool]:
        """What an event's text means for the one in doubt: its key when the user typed it, or that it is given up."""
        doubtful = self.state.doubtful
        if doubtful is None or not told:
            return "", False
        self.state.doubtful = None
        if _hash(told) != doubtful[1]:
            return "", True
        self.add_prompt(doubtful[0])
        return doubtful[0], False

    @property
    def turn(self) -> tuple[str, str]:
        """(key of the current prompt, key of the one before it)."""
        prompts = self.state.prompts
        if not prompts:
            return "" if self.state.root == SESSION_START else self.state.root, ""
        return prompts[-1], prompts[-2] if len(prompts) > 1 else self.state.root


def _hash(text: str) -> str:
    return blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def find_prompt_before(file_id: str, end: int | None, find_file: FindFile, depth: int = _MAX_LINEAGE) -> str:
    """The key of the last prompt before ordinal `end` in a rollout or in those it continues.

    `SESSION_START` when there is none, empty when that is not known.
    """
    path = find_file(file_id) if depth else None
    if path is None:
        return ""
    order = PromptOrder(PromptsState(), file_id)
    base: Head | None = None
    try:
        for line in iter_lines(path):
            record = line.record or {}
            ordinal = record.get("ordinal")
            if end is not None and isinstance(ordinal, int) and ordinal >= end:
                break
            base = base or build_head(record)
            order.take(record, extract(record), line.offset)
    except OSError:
        return ""
    if order.state.prompts:
        return order.state.prompts[-1]
    if base is None:
        return ""
    if base.base_id is None:
        return SESSION_START
    return find_prompt_before(base.base_id, base.base_end, find_file, depth - 1)
