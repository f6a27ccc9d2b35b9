"""The sessions of Gemini CLI: `tmp/<project>/chats/session-<minute>-<8 of the id>.jsonl`, from what 0.61.0 wrote.

Which directory a project is, its folder's `.project_root` says, or in older stores `projects.json` alone; the program
itself goes by the same. A resume leaves a second file of the session without a word in it, a stub, and several sessions
may share the eight characters. Subagents lie in `chats/<session>/<id>.jsonl`. The records are described in
`gemini_records`; there is no format version in them, but older versions wrote one JSON document (`session-….json`),
which is named and not read.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator

from rigline.harness.file_store import (
    FileStore,
    iter_folder,
    list_folders,
    list_present,
    read_head,
    read_object,
    read_tail,
)
from rigline.harness.gemini_records import Conversation, is_header, iter_said, read_message
from rigline.harness.journal import iter_lines, open_regular
from rigline.harness.windows import Item, as_dict, as_text, parse_time_ms, read_journal
from rigline.model import LinkKind, SessionInfo, SessionLink, Window

NAME, LABEL = "gemini-cli", "Gemini CLI"
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CHAT = re.compile(r"session-[0-9T-]+-([A-Za-z0-9_-]{1,8})\.jsonl?")
_OLD = ".json"
#: how many characters of an id stand in a file's name
_SHORT = 8
#: how the program and the service say that nothing is left to go on with; a busy service is none
_LIMIT = re.compile(
    r"exhausted your (?:daily |capacity )?|exceeded your current quota|usage limit reached", re.IGNORECASE
)


class GeminiStore(FileStore):
    """The store below `.gemini`."""

    label = LABEL

    def find_files(self, cwd: str | None) -> Iterator[str]:  # noqa: ARG002
        """Every transcript, of each session the one with what was said, and the subagents'."""
        for project in self._find_projects():
            for folder in (entry.path for entry in iter_folder(os.path.join(project, "chats")) if entry.is_dir()):
                yield from (entry.path for entry in iter_folder(folder) if entry.name.endswith(".jsonl"))
            yield from _find_chats(os.path.join(project, "chats"))

    def find_candidates(self, native_id: str) -> Iterable[str]:
        """See `FileStore.find_candidates`. A subagent's id is its session's and its own, with a slash between.

        A stub alone is a session in which nothing was said: there is none to go on with.
        """
        session_id, _, agent = native_id.partition("/")
        if not _ID.fullmatch(session_id) or (agent and not _ID.fullmatch(agent)):
            return []
        folders = [os.path.join(project, "chats") for project in list_folders(os.path.join(self._root, "tmp"))]
        if agent:
            return list_present(os.path.join(folder, session_id, f"{agent}.jsonl") for folder in folders)
        found = [path for folder in folders for path in _find_named(folder, session_id[:_SHORT])]
        return sorted((path for path in found if _may_hold(path, session_id)), key=_rank)

    def _find_projects(self) -> list[str]:
        return [entry.path for entry in iter_folder(os.path.join(self._root, "tmp")) if entry.is_dir()]

    def glance_at_cwd(self, path: str) -> str | None:
        """What the project's folder says, or the list of projects."""
        chats = os.path.dirname(path)
        folder = os.path.dirname(chats if os.path.basename(chats) == "chats" else os.path.dirname(chats))
        try:
            with open_regular(os.path.join(folder, ".project_root")) as file:
                marked = file.read(1 << 16).decode("utf-8", "surrogateescape").strip()
        except FileNotFoundError:
            marked = _find_listed(self._root, os.path.basename(folder))
        return marked if os.path.isabs(marked) else None

    def describe(self, path: str) -> SessionInfo | None:
        """See `FileStore.describe`. The header has to name the session that the file is called after."""
        folder = os.path.basename(os.path.dirname(path))
        head = read_head(path) if path.endswith(".jsonl") else []
        header = head[0] if head and is_header(head[0]) else {}
        own = as_text(header.get("sessionId"))
        is_subagent = header.get("kind") == "subagent"
        if not own or not _is_named(path, own, is_subagent=is_subagent) or not (is_subagent or _has_words(path)):
            return None
        status = os.stat(path)
        native_id = f"{folder}/{own}" if is_subagent else own
        return SessionInfo(
            harness=NAME,
            native_id=native_id,
            path=path,
            cwd=self.glance_at_cwd(path),
            updated_ms=status.st_mtime_ns // 1_000_000,
            size_bytes=status.st_size,
            started_ms=parse_time_ms(header.get("startTime")),
            first_prompt=_find_first_prompt(head),
            is_subagent=is_subagent,
            parent=_link(native_id, folder) if is_subagent else None,
        )

    def explain_refusal(self, path: str) -> str:
        """See `FileStore.explain_refusal`."""
        if path.endswith(_OLD):
            return f"an older version of {LABEL} wrote it as one JSON document, and rigline knows the log of 0.61.0"
        return super().explain_refusal(path)

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """See `Store.related`: the subagents of a main session."""
        if info.is_subagent:
            return []
        folder = os.path.join(os.path.dirname(info.path), info.native_id)
        paths = [entry.path for entry in iter_folder(folder) if entry.name.endswith(".jsonl")]
        return [found for path in paths if (found := self._describe_if_in(path, None)) is not None]

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """See `Store.find_usage_limit`: the last message, where a terminal kept an error. `-p` keeps none (0.61.0)."""
        try:
            tail = read_tail(info.path)
        except OSError:
            return None
        for record in reversed(tail):
            if not as_text(record.get("id")) or record.get("type") in ("info", "warning"):
                continue
            text = as_text(record.get("content"))
            return text if record.get("type") == "error" and _LIMIT.search(text) else None
        return None

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """See `Store.read`."""
        return read_journal(info, cursor, _Extractor(info.path).extract, LABEL)


class _Extractor:
    """The items of one file. What was read in earlier goes is gone through first, to know what was told already."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._conversation: Conversation | None = None

    def extract(self, record: dict[str, object], offset: int) -> list[Item]:
        if self._conversation is None:
            self._conversation = Conversation()
            for line in iter_lines(self._path) if offset else ():
                if line.offset >= offset:
                    break
                if line.record is not None:
                    self._conversation.take(line.record)
        return self._conversation.take(record)


def _find_chats(folder: str) -> list[str]:
    """Of each session's files the one to read; a file whose header cannot be read stands for itself."""
    names: dict[str, list[str]] = {}
    for entry in iter_folder(folder):
        found = _CHAT.fullmatch(entry.name)
        if found and entry.name.endswith(".jsonl"):
            names.setdefault(found[1], []).append(entry.path)
    chosen: list[str] = []
    for paths in names.values():
        chosen += paths if len(paths) == 1 else _choose(paths)
    return chosen


def _choose(paths: list[str]) -> list[str]:
    found: dict[str, str] = {}
    for path in sorted(paths, key=_rank):
        found.setdefault(_read_id(path) or path, path)
    return list(found.values())


def _find_named(folder: str, short: str) -> list[str]:
    """The files of a folder that are called after the beginning of an id. Raises OSError when the folder is closed."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    named = ((name, _CHAT.fullmatch(name)) for name in names)
    return [os.path.join(folder, name) for name, found in named if found is not None and found[1] == short]


def _may_hold(path: str, session_id: str) -> bool:
    """Whether a file named so may be the session's: not another's, and no stub."""
    found = _read_id(path)
    return found is None or (found == session_id and _has_words(path))


def _rank(path: str) -> tuple[bool, bool, int]:
    """Sorts the files of a session: those of a known form with words first, the newest before others."""
    try:
        return path.endswith(_OLD), not _has_words(path), -os.stat(path).st_mtime_ns
    except OSError:
        return True, True, 0


def _read_id(path: str) -> str | None:
    """The id in a file's header; None where there is none to be read."""
    if path.endswith(_OLD):
        return as_text(read_object(path).get("sessionId")) or None
    try:
        head = read_head(path, 1)
    except OSError:
        return None
    return as_text(head[0].get("sessionId")) or None if head and is_header(head[0]) else None


def _has_words(path: str) -> bool:
    """Whether anything was said in a session, so that the program would resume it. Raises OSError."""
    if path.endswith(_OLD):
        return True
    records = (line.record for line in iter_lines(path) if line.record is not None)
    return next(iter_said(records), None) is not None


def _is_named(path: str, own: str, *, is_subagent: bool) -> bool:
    name = os.path.basename(path)
    if is_subagent:
        return name == f"{own}.jsonl"
    found = _CHAT.fullmatch(name)
    return found is not None and found[1] == own[:_SHORT]


def _find_first_prompt(head: list[dict[str, object]]) -> str | None:
    prompts = (read_message(message, Item(key="")) for message in iter_said(iter(head)))
    return next((item.pieces[0].text for item in prompts if item.is_prompt), None)


def _link(native_id: str, parent_id: str) -> SessionLink:
    evidence = "its transcript lies in the session's folder"
    return SessionLink(child_id=native_id, parent_id=parent_id, kind=LinkKind.SUBAGENT, evidence=evidence)


def _find_listed(root: str, slug: str) -> str:
    """The directory that the list of projects gives a folder, which older versions called by the path's hash."""
    for path, name in as_dict(read_object(os.path.join(root, "projects.json")).get("projects")).items():
        if slug in (name, hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()):
            return path
    return ""
