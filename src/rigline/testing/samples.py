"""Small values for tests of ledgers: a checkout, launches, sessions and what was said in them."""

from __future__ import annotations

from rigline.ledger.base import PrepareRequest
from rigline.model import Event, Kind, Scope, SessionInfo, SessionLink, Window


def make_scope(worktree: str = "tree-1", *, project: str = "project") -> Scope:
    """A checkout; two with the same `worktree` and `project` are the same one."""
    return Scope(
        workspace="default",
        project=project,
        repo_fingerprint="repo-1",
        worktree_fingerprint=worktree,
        cwd=f"/src/{worktree}",
        host="host-1",
        repo_source="remote",
        inode_fingerprint=f"inode of {worktree}",
    )


def make_request(
    *,
    scope: Scope | None = None,
    harness: str = "claude-code",
    pid: int = 100,
    name: str | None = None,
    new_name: str | None = None,
    dead_holder: str | None = None,
    host: str = "host-1",
) -> PrepareRequest:
    """A launcher's request for a lease."""
    return PrepareRequest(
        scope=scope or make_scope(),
        harness=harness,
        host=host,
        pid=pid,
        pid_started=f"started-{pid}",
        name=name,
        new_name=new_name,
        dead_holder=dead_holder,
    )


def make_session(
    native_id: str, harness: str = "claude-code", *, started_ms: int | None = None, is_subagent: bool = False
) -> SessionInfo:
    """A native session as a store would describe it."""
    return SessionInfo(
        harness=harness,
        native_id=native_id,
        path=f"/store/{native_id}.jsonl",
        cwd="/src/tree-1",
        updated_ms=0,
        size_bytes=0,
        started_ms=started_ms,
        is_subagent=is_subagent,
    )


def make_event(
    native_id: str,
    record: str,
    text: str | None = None,
    *,
    harness: str = "claude-code",
    kind: Kind = Kind.MESSAGE,
    role: str | None = "user",
    copy_key: str = "",
    turn: str = "",
    parent_turn: str = "",
    at_ms: int | None = None,
    block: int = 0,
) -> Event:
    """One event; its text names its record unless another one is given."""
    return Event(
        harness=harness,
        native_id=native_id,
        record=record,
        kind=kind,
        text=f"text of {record}" if text is None else text,
        role=role,
        copy_key=copy_key,
        turn=turn,
        parent_turn=parent_turn,
        at_ms=at_ms,
        block=block,
    )


def make_window(
    native_id: str,
    cursor: str,
    events: list[Event],
    *,
    losses: dict[str, int] | None = None,
    packets: list[tuple[str, int, int]] | None = None,
    links: list[SessionLink] | None = None,
    title: str | None = None,
) -> Window:
    """A window that brings these events and ends at `cursor`."""
    return Window(
        native_id=native_id,
        cursor=cursor,
        events=events,
        losses=losses or {},
        packets=packets or [],
        links=links or [],
        title=title,
    )
