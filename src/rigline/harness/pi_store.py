"""Pi's session store, which OMP writes as well: where transcripts lie, and what one entry of them holds.

Observed with Pi 1.6.0 and OMP 18.2.3; types that were not seen as `docs/session-format.md` of Pi 1.6.0 tells them.
`<sessions>/<directory>/<time>_<id>.jsonl`, or flat in a folder of the user's choice: a header, and entries that form a
tree by `parentId`. A fork is a file of its own with all entries copied, ids and times included; its header names the
parent, in Pi by its path, in OMP by its id. In OMP the first line is a title that is rewritten in place.
Both find a session by its header, whatever its file is called.

What is left out is counted by kind:

    hidden_reasoning   thinking
    system_prompt      the prompt and the tools as the program gave them to the model
    meta               what an extension says to the model, and prompts that OMP writes itself
    withheld_command   a command that the person ran with `!!` or `$$`, which keep it from the model
    api_error          an answer in whose place stands an error of the model's service
    own_packet         a packet that rigline's extension has shown, or a tool's output that repeats one
    attachment_image   a picture
    attachment_file    a file that a prompt of OMP's names with `@`
    unknown:<type>     a type that is not known here
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from rigline.harness.file_store import FileStore, find_first_prompt, iter_folder, list_folders, read_head, read_tail
from rigline.harness.folders import is_recorded_in
from rigline.harness.markers import find_markers, repeats_packet
from rigline.harness.pieces import list_blocks, make_call, make_message, make_result, name_unknown
from rigline.harness.windows import Item, Piece, as_dict, as_text, parse_time_ms, read_journal
from rigline.model import Kind, LinkKind, SessionInfo, SessionLink, Window

FORMAT = 3
#: the type under which our extension's message is kept
OWN_TYPE = "rigline"
#: entries that hold neither words nor actions; `context_edit` changes what the model is sent, not what was said
_BOOKKEEPING_WORDS = (
    "context_edit credential_pin custom label mode_change model_change model_usage reset_boundary service_tier_change"
    " session thinking_level_change ttsr_injection usage"
)
_BOOKKEEPING = frozenset(_BOOKKEEPING_WORDS.split())
#: entry -> the field that names the session
_TITLES = {"session": "title", "session_info": "name", "title": "title", "title_change": "title"}
#: roles of a message that are no one's turn -> what they are counted as
_LEFT_OUT = {
    "system": "system_prompt",
    "developer": "meta",
    "custom": "meta",
    "hookMessage": "meta",
    "fileMention": "attachment_file",
}
#: role -> the sign with which the person runs such a command, and the field that holds it
_SHELLS = {"bashExecution": ("!", "command"), "pythonExecution": ("$", "code")}
#: a complete transcript or one that is being moved into place
_FILE = re.compile(r".+\.jsonl(?:\.[^./]+\.tmp)?")
#: as the programs call them; in OMP a folder of that name holds what belongs to the session
_NAME = re.compile(r"(?P<time>[0-9-]+T[0-9-]+Z)_(?P<id>.+?)(?:\.jsonl(?:\.[^./]+\.tmp)?)?")
#: "429: {"type":"usage_limit_reached", ...}" and its kin, as services name what is used up; a mere rate limit is none
_LIMIT = re.compile(r"usage_limit_reached|insufficient_quota|usage limit|credit balance", re.IGNORECASE)
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)+)"')


class PiStore(FileStore):
    """The transcripts below one folder of sessions, of Pi or of a harness that writes the same."""

    def __init__(self, harness: str, label: str, root: str, *, has_titles: bool = False) -> None:
        """`has_titles`: a transcript of the harness may begin with its title, as none of Pi's does."""
        super().__init__(root)
        self.label = label
        self._harness = harness
        self._has_titles = has_titles

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript, in the folders of directories and beside them: a chosen folder holds them flat."""
        for entry in iter_folder(self._root):
            if _FILE.fullmatch(entry.name):
                yield entry.path
            elif entry.is_dir() and not _NAME.fullmatch(entry.name):
                yield from (inner.path for inner in iter_folder(entry.path) if _FILE.fullmatch(inner.name))

    def find_candidates(self, native_id: str) -> Iterator[str]:
        """The files that have the id in their names; whole ones first, among them the newest. Then any other one."""
        list_folders(self._root)  # a closed store is not an empty one
        paths = sorted(self.find_files(None), key=_rank, reverse=True)
        yield from (path for path in paths if _read_name(path) == native_id)
        others = (path for path in paths if _read_name(path) != native_id)
        yield from (path for path in others if _names(path, native_id))

    def glance_at_cwd(self, path: str) -> str | None:
        """The header's directory."""
        return as_text(find_header(read_head(path, 2)).get("cwd")) or None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`."""
        head = read_head(path)
        header = find_header(head)
        native_id, cwd = as_text(header.get("id")), as_text(header.get("cwd"))
        if header.get("version") != FORMAT or not native_id:
            return None
        if head[0] is not header and not self._has_titles:
            return None
        status = os.stat(path)
        return SessionInfo(
            harness=self._harness,
            native_id=native_id,
            path=path,
            cwd=cwd if os.path.isabs(cwd) else None,
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(header.get("timestamp")),
            title=find_title([*head, *read_tail(path)]),
            first_prompt=find_first_prompt(item for record in head for item in extract(record, 0)),
            parent=find_parent(native_id, as_text(header.get("parentSession"))),
        )

    def find_obstacle(self, info: SessionInfo, cwd: str) -> str:
        """See `FileStore.find_obstacle`. Elsewhere Pi ends without a turn, and OMP goes on in its own one."""
        owner = info.cwd or "a directory that it does not name"
        return "" if is_recorded_in(info.cwd, cwd) else f"it belongs to {owner}, and goes on only there"

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        header = find_header(read_head(path, 2))
        version = header.get("version", 1)  # the first format did not say
        if version == FORMAT or not header:
            return super().explain_refusal(path)
        return f"{self.label} wrote it in format {version}, and only format {FORMAT} is known"

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, extract, self.label)

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`: the error that the last message of the session ended with."""
        try:
            messages = [as_dict(record.get("message")) for record in read_tail(info.path) if "message" in record]
        except OSError:
            return None
        return find_limit(messages[-1]) if messages else None


def _read_name(path: str) -> str:
    """The session's id in a transcript's name, or an empty string."""
    found = _NAME.fullmatch(os.path.basename(path))
    return found["id"] if found else ""


def _rank(path: str) -> tuple[bool, str]:
    return path.endswith(".jsonl"), os.path.basename(path)


def _names(path: str, native_id: str) -> bool:
    """Whether the header is that session's. A file that cannot be read names none."""
    try:
        return find_header(read_head(path, 2)).get("id") == native_id
    except OSError:
        return False


def find_header(head: list[dict[str, object]]) -> dict[str, object]:
    """The header among the first records, or an empty one. OMP has its title before it."""
    return next((record for record in head[:2] if record.get("type") == "session"), {})


def find_title(records: list[dict[str, object]]) -> str | None:
    """The name that the session was given last, None after one that was taken back.

    In OMP the first line holds it, whatever entries say of older ones.
    """
    told = [record for record in records if record.get("type") in _TITLES and _TITLES[str(record["type"])] in record]
    current = records[:1] if told and told[0].get("type") == "title" else told[-1:]
    return _read_title(current[0]) or None if current else None


def _read_title(record: dict[str, object]) -> str:
    field = _TITLES.get(as_text(record.get("type")))
    return as_text(record.get(field)).strip() if field else ""


def find_parent(native_id: str, named: str) -> SessionLink | None:
    """The session that this one was forked from: named by its path in Pi, by its id in OMP."""
    parent_id = _read_name(named) if "/" in named or named.endswith(".jsonl") else named
    if not parent_id or parent_id == native_id:
        return None
    evidence = "`parentSession` in its header"
    return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.FORK, evidence=evidence)


def find_limit(message: dict[str, object]) -> str | None:
    """The service's words when a message is an error by which the account's allowance is used up."""
    error = as_text(message.get("errorMessage"))
    if message.get("stopReason") != "error" or not _LIMIT.search(error):
        return None
    said = _MESSAGE.search(error)
    return said[1] if said else error.partition("\n")[0]


def extract(record: dict[str, object], offset: int) -> list[Item]:
    """What one entry says. A copy in a fork has the same id and time; the short ids alone occur in strangers' files."""
    kind, at = as_text(record.get("type")), as_text(record.get("timestamp"))
    if kind in ("session", "title"):
        title = _read_title(record) if kind == "title" else ""  # the header's is an older one
        return [Item(key="title", title=title)] if title else []
    key = as_text(record.get("id")) or f"byte-{offset}"
    item = Item(key=key, copy_key=f"{key}@{at}", parent=as_text(record.get("parentId")), at_ms=parse_time_ms(at))
    if kind == "message":
        return [_read_message(as_dict(record.get("message")), item)]
    if kind in ("compaction", "branch_summary"):
        return [_read_summary(kind, as_text(record.get("summary")), item)]
    if kind == "custom_message":
        return [_read_custom(record, item)]
    if kind in _TITLES:
        return [replace(item, title=_read_title(record) or None)]
    if kind == "session_init":
        return [replace(item, losses=("system_prompt",))]
    return [item if kind in _BOOKKEEPING else replace(item, losses=(name_unknown(kind),))]


def _read_summary(kind: str, text: str, item: Item) -> Item:
    """A compaction's summary, or that of a branch that was left, which the model is told as what was said."""
    piece = Piece(kind=Kind.COMPACTION, text=text) if kind == "compaction" else make_message("assistant", text)
    return replace(item, pieces=(piece,)) if text.strip() else item


def _read_custom(record: dict[str, object], item: Item) -> Item:
    """What an extension told the model: ours is the packet."""
    texts = [as_text(block.get("text")) for block in list_blocks(record.get("content"))]
    packets = tuple(marker for text in texts for marker in find_markers(text))
    if record.get("customType") == OWN_TYPE and packets:
        return replace(item, packets=packets, losses=("own_packet",))
    return replace(item, losses=("meta",))


def _read_message(message: dict[str, object], item: Item) -> Item:
    role = as_text(message.get("role"))
    if role == "toolResult":
        return _read_result(message, item)
    if role in _SHELLS:
        return _read_shell(message, *_SHELLS[role], item)
    if role not in ("user", "assistant"):
        return replace(item, losses=(_LEFT_OUT.get(role) or "unknown:role",))
    if role == "user" and (message.get("synthetic") is True or message.get("attribution") == "agent"):
        return replace(item, losses=("meta",))
    pieces: list[Piece] = []
    losses = ["api_error"] if message.get("stopReason") == "error" else []
    for place, block in enumerate(list_blocks(message.get("content"))):
        _read_block(block, role, place, pieces, losses)
    is_prompt = role == "user" and bool(pieces)
    return replace(item, pieces=tuple(pieces), losses=tuple(losses), is_prompt=is_prompt)


def _read_block(block: dict[str, object], role: str, place: int, pieces: list[Piece], losses: list[str]) -> None:
    kind = as_text(block.get("type"))
    if kind == "text":
        if as_text(block.get("text")).strip():
            pieces.append(make_message(role, as_text(block.get("text")), block=place))
    elif kind == "toolCall":
        call_id = as_text(block.get("id"))
        pieces.append(make_call(as_text(block.get("name")), block.get("arguments"), call_id=call_id, block=place))
    else:
        losses.append(_name_loss(kind))


def _read_result(message: dict[str, object], item: Item) -> Item:
    blocks = list_blocks(message.get("content"))
    text = "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
    losses = [_name_loss(as_text(block.get("type"))) for block in blocks if block.get("type") != "text"]
    if repeats_packet(text):
        return replace(item, losses=(*losses, "own_packet"))
    call_id, failed = as_text(message.get("toolCallId")), message.get("isError") is True
    piece = make_result(text, call_id=call_id, failed=failed, tool=as_text(message.get("toolName")))
    return replace(item, pieces=(piece,), losses=tuple(losses))


def _read_shell(message: dict[str, object], sign: str, field: str, item: Item) -> Item:
    """A command that the person ran with this sign: it belongs to no tool call of the model's."""
    if message.get("excludeFromContext") is True:
        return replace(item, losses=("withheld_command",))
    command, output = as_text(message.get(field)), as_text(message.get("output"))
    if repeats_packet(output):
        return replace(item, losses=("own_packet",))
    failed = message.get("exitCode") not in (0, None) or message.get("cancelled") is True
    call = replace(make_call(sign, command, call_id=""), role="user")
    return replace(item, pieces=(call, make_result(output, call_id="", failed=failed, block=1, tool=sign)))


def _name_loss(kind: str) -> str:
    return {"thinking": "hidden_reasoning", "image": "attachment_image"}.get(kind) or name_unknown(kind)
