"""The sessions of Example Agent: `sessions/<id>.jsonl` below its folder, as 1.0 writes them.

The first line is the session's: `{"type": "session", "format": 1, "id", "cwd", "version", "at"}`. Each further one has
an `id`, a `type` and the time `at`. Left out, and counted: `hidden_reasoning`, `own_packet`, `unknown:<type>`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from rigline.harness.file_store import FileStore, iter_folder, read_head
from rigline.harness.grammar import is_uuid
from rigline.harness.markers import find_markers
from rigline.harness.pieces import make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_text, parse_time_ms, read_journal
from rigline.model import LinkKind, SessionInfo, SessionLink, Window

NAME, LABEL = "example", "Example Agent"
FORMATS = (1,)


class ExampleStore(FileStore):
    """The store below one folder."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002  (no name tells a directory)
        """See `FileStore.find_files`."""
        for entry in iter_folder(os.path.join(self._root, "sessions")):
            if entry.name.endswith(".jsonl"):
                yield entry.path

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """See `FileStore.find_candidates`. What is no id is no part of a path either."""
        path = os.path.join(self._root, "sessions", f"{native_id}.jsonl")
        return (path,) if is_uuid(native_id) and os.path.lexists(path) else ()

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`."""
        records = read_head(path)
        first = records[0] if records else {}
        if first.get("type") != "session" or first.get("format") not in FORMATS:
            return None
        native_id, parent = as_text(first.get("id")), as_text(first.get("forked_from"))
        status = os.stat(path)
        prompts = (as_text(record.get("text")) for record in records if record.get("type") == "user")
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=as_text(first.get("cwd")) or None,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(first.get("at")),
            first_prompt=next(prompts, None),
            version=as_text(first.get("version")) or None,
            parent=SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.FORK, evidence="`forked_from`")
            if parent
            else None,
        )

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`. A format of the future is named."""
        seen = next((record.get("format") for record in read_head(path, 1)), None)
        if seen is None or seen in FORMATS:
            return "its transcript holds no session any more"
        return f"{LABEL} wrote format {seen}, and known is {', '.join(map(str, FORMATS))}"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, LABEL)


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What one record says."""
    kind, key, text = record.get("type"), as_text(record.get("id")) or f"byte-{offset}", as_text(record.get("text"))
    at_ms = parse_time_ms(record.get("at"))
    markers = tuple(find_markers(text)) if kind == "context" else ()
    if kind == "session":
        return []
    if markers:
        return [Item(key=key, packets=markers, losses=("own_packet",))]
    pieces = _read_pieces(record, as_text(kind), text)
    if not pieces:
        return [Item(key=key, losses=("hidden_reasoning" if kind == "thinking" else name_unknown(kind),))]
    return [Item(key=key, pieces=pieces, is_prompt=kind == "user", at_ms=at_ms)]


def _read_pieces(record: dict[str, object], kind: str, text: str) -> tuple[Piece, ...]:
    call_id = as_text(record.get("call"))
    if kind in ("user", "assistant"):
        return (make_message(kind, text),)
    if kind == "tool_call":
        return (make_call(as_text(record.get("name")), record.get("input"), call_id=call_id),)
    if kind == "tool_result":
        return (make_result(text, call_id=call_id, failed=record.get("ok") is False),)
    return ()
