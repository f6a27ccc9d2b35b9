"""Claude Code's subagents: transcripts of their own, `<parent id>/subagents/agent-<hex>.jsonl` beside the parent's.

Their records carry the parent's `sessionId`. The program resumes none of them. Older versions put them beside
the main transcripts; what else lies in `subagents` (journals, `.meta.json`) is no transcript.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from rigline.harness.claude_paths import is_session_id
from rigline.harness.claude_summary import build_info, summarise
from rigline.model import LinkKind, SessionInfo, SessionLink

_SUFFIX = ".jsonl"
_AGENT = re.compile(r"agent-[A-Za-z0-9_-]{1,80}")
_FOLDER = "subagents"
#: subagents of workflows lie one or two folders deeper
_DEPTH = 3


def split_subagent_id(native_id: str) -> tuple[str, str] | None:
    """`<parent id>/agent-<hex>` as its two halves, or None for any other id."""
    parent, slash, agent = native_id.partition("/")
    return (parent, agent) if slash and is_session_id(parent) and _AGENT.fullmatch(agent) else None


def iter_subagents(folder: str) -> Iterator[SessionInfo]:
    """All subagents in a project folder, also of parents whose own transcript is gone."""
    for name in _list_names(folder):
        if is_session_id(name):
            yield from _describe_all(_find_files(os.path.join(folder, name, _FOLDER), _DEPTH))
    yield from _describe_all(_find_files(folder, 1))


def find_subagents_of(folder: str, parent: str) -> list[SessionInfo]:
    """The subagents of one session in its project folder."""
    paths = [*_find_files(os.path.join(folder, parent, _FOLDER), _DEPTH), *_find_files(folder, 1)]
    return [info for info in _describe_all(paths) if info.parent is not None and info.parent.parent_id == parent]


def find_subagent(folder: str, parent: str, agent: str) -> str | None:
    """The transcript of one subagent in a project folder, or None."""
    wanted = f"{parent}/{agent}"
    return next((info.path for info in find_subagents_of(folder, parent) if info.native_id == wanted), None)


def describe_subagent(path: str) -> SessionInfo | None:
    """A subagent as a session, `<parent id>/agent-<hex>`; None when it cannot be read or its parent be told."""
    try:
        summary = summarise(path)
    except OSError:
        return None
    parent = _find_parent(path) or summary.session_id
    if parent is None or not is_session_id(parent):
        return None
    name = os.path.basename(path)
    native_id = f"{parent}/{name.removesuffix(_SUFFIX)}"
    meta = name.removesuffix(_SUFFIX) + ".meta.json"
    has_meta = os.path.isfile(os.path.join(os.path.dirname(path), meta))
    evidence = f"{meta} in the parent's folder" if has_meta else f"`sessionId` in {name}"
    link = SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.SUBAGENT, evidence=evidence)
    return build_info(native_id, path, summary, parent=link, is_subagent=True)


def _find_parent(path: str) -> str | None:
    """The id that the nearest folder above `subagents` is named by."""
    before, marker, _ = path.partition(f"{os.sep}{_FOLDER}{os.sep}")
    return os.path.basename(before) if marker else None


def _describe_all(paths: Iterator[str] | list[str]) -> Iterator[SessionInfo]:
    for path in paths:
        info = describe_subagent(path)
        if info is not None:
            yield info


def _find_files(folder: str, depth: int) -> Iterator[str]:
    """Subagent transcripts in a folder and, to that depth, below it."""
    for name in _list_names(folder):
        path = os.path.join(folder, name)
        if name.endswith(_SUFFIX) and _AGENT.fullmatch(name.removesuffix(_SUFFIX)):
            yield path
        elif depth > 1 and os.path.isdir(path) and not os.path.islink(path):
            yield from _find_files(path, depth - 1)


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
