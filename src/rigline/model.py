"""The nouns, frozen. Times are UTC milliseconds since 1970 (`_ms`), sizes bytes (`_bytes`).

Words are those of `docs/glossary.md`. Nothing here does I/O.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What an event is."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    COMPACTION = "compaction"


class Presence(StrEnum):
    """The three answers of a harness's store about one session."""

    EXISTS = "exists"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class LinkKind(StrEnum):
    """How one native session came from another."""

    FORK = "fork"
    BRANCH = "branch"
    CLEAR = "clear"
    SUBAGENT = "subagent"
    COPY = "copy"


class Scope(Struct, frozen=True, kw_only=True):
    """Where work happens: names of the line, and fingerprints that prove the checkout.

    `repo_fingerprint` is shared by all clones and linked worktrees of a repository, `worktree_fingerprint`
    by nothing but this checkout on this host. `repo_source` says what the first was made from. `inode_fingerprint` is
    this checkout's own as well, and stays when it is renamed; None where that cannot be told.
    """

    workspace: str
    project: str
    repo_fingerprint: str
    worktree_fingerprint: str
    cwd: str
    host: str
    repo_source: str
    inode_fingerprint: str | None = None
    toplevel: str | None = None
    marker: str | None = None


#: the `status_hash` of a checkpoint for which git could not be asked: neither clean nor equal to any other
UNKNOWN_STATUS = "unknown"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """Git state at one moment; `paths` holds at most 256.

    `status_hash` is None for a clean tree and outside a work tree, and `UNKNOWN_STATUS` when git did not tell.
    """

    at_ms: int
    head: str | None = None
    branch: str | None = None
    status_hash: str | None = None
    paths: tuple[str, ...] = ()
    paths_left_out: int = 0


#: the `parent_turn` of a prompt that is known to be a session's first, so that another first one took its place
SESSION_START = "start"


class Event(Struct, frozen=True, kw_only=True):
    """One thing that was said or done, as an adapter read it.

    `record` is the native record's own key within its session and, with `block` and `kind`, the event's
    identity. `copy_key` is its identity across files: a fork's copy of a parent's record has the same one.
    `turn` is the `record` of the user prompt that it answers (for a prompt: its own), `parent_turn` the turn
    before it (`SESSION_START`: known to be none), so that abandoned branches can be told from the living one.
    """

    harness: str
    native_id: str
    record: str
    kind: Kind
    text: str
    block: int = 0
    role: str | None = None
    at_ms: int | None = None
    tool: str | None = None
    call_id: str | None = None
    status: str | None = None
    copy_key: str = ""
    turn: str = ""
    parent_turn: str = ""


class SessionLink(Struct, frozen=True, kw_only=True):
    """A native session came from another, and what shows it."""

    child_id: str
    parent_id: str
    kind: LinkKind
    evidence: str


class SessionInfo(Struct, frozen=True, kw_only=True):
    """A native session as its harness's store describes it."""

    harness: str
    native_id: str
    path: str
    cwd: str | None
    updated_ms: int
    size_bytes: int
    started_ms: int | None = None
    title: str | None = None
    first_prompt: str | None = None
    version: str | None = None
    is_subagent: bool = False
    is_archived: bool = False
    parent: SessionLink | None = None


class Lookup(Struct, frozen=True, kw_only=True):
    """A store's answer about one session id.

    `resumable` is False when the session exists but the harness would not resume it from this directory;
    `reason` then, and for an unreadable one, says why in a sentence. One in which nothing was said has no `info`.
    """

    presence: Presence
    info: SessionInfo | None = None
    resumable: bool = True
    reason: str = ""


class LiveSession(Struct, frozen=True, kw_only=True):
    """A native session that a running process has open."""

    native_id: str
    pid: int | None
    status: str = ""
    cwd: str | None = None


class Window(Struct, kw_only=True):
    """A bounded step through one native session: what was read, and where the next step begins.

    `cursor` is opaque to everyone but the adapter. `losses` counts by kind what was skipped or damaged;
    `packets` are the (delivery id, part, parts) markers seen in places where only a harness puts hook output.
    """

    native_id: str
    cursor: str
    events: list[Event]
    losses: dict[str, int]
    packets: list[tuple[str, int, int]]
    links: list[SessionLink]
    title: str | None = None
    at_end: bool = False


class Holder(Struct, frozen=True, kw_only=True):
    """Who has a workstream's lease."""

    run_id: str
    harness: str
    host: str
    pid: int
    pid_started: str
    since_ms: int
    expires_ms: int
    generation: int


class Binding(Struct, frozen=True, kw_only=True):
    """A native session belongs to a workstream, and how that was proved."""

    harness: str
    native_id: str
    evidence: str
    created_via: str
    bound_ms: int
    is_current: bool
    store: str | None = None
    path: str | None = None
    title: str | None = None


class Workstream(Struct, frozen=True, kw_only=True):
    """One logical line of work in one checkout."""

    id: str
    name: str
    workspace: str
    project: str
    repo_fingerprint: str
    worktree_fingerprint: str
    cwd: str
    created_ms: int
    active_ms: int
    generation: int
    is_established: bool
    inode_fingerprint: str | None = None
    bindings: tuple[Binding, ...] = ()


class RunRef(Struct, frozen=True, kw_only=True):
    """What fences every write of a run."""

    run_id: str
    workstream_id: str
    harness: str
    generation: int


class Grant(Struct, frozen=True, kw_only=True):
    """The lease that a run was given, and what it needs to choose its session."""

    run: RunRef
    workstream: Workstream
    expires_ms: int
    is_new_workstream: bool
    taken_over: Holder | None = None


class Delivery(Struct, frozen=True, kw_only=True):
    """One packet's way to one native session. `through` maps each source session's key to the last event shown."""

    id: str
    native_id: str | None
    parts: int
    through: dict[str, int]
