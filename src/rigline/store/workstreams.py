"""Workstreams and their bindings. Every function runs inside a transaction that its caller opened."""

from __future__ import annotations

from rigline.errors import UnknownWorkstream, UsageError, WorkstreamExists
from rigline.ids import find_by_prefix, new_id
from rigline.model import Binding, Scope, Workstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.store.sqlite import Database, Row

FIRST_NAME = "main"
_NAME_CHARS = 128


def check_name(name: str) -> str:
    """A workstream's name, or `UsageError`: 1 to 128 printable characters without slash or backslash."""
    if not name.strip() or len(name) > _NAME_CHARS or not name.isprintable() or "/" in name or "\\" in name:
        raise UsageError(
            f"A workstream cannot be named {name[:_NAME_CHARS]!r}: take 1 to {_NAME_CHARS} printable characters "
            "without slash or backslash.",
            name=name,
        )
    return name


def find_by_name(db: Database, scope: Scope, name: str) -> Workstream | None:
    """The workstream of a scope that has this name."""
    return _load(db, db.one("find_workstream_by_name", name=name, **scope_values(scope)))


def find_by_id(db: Database, workstream_id: str) -> Workstream | None:
    """The workstream with this very id."""
    return _load(db, db.one("find_workstream_by_id", id=workstream_id))


def find_selected(db: Database, scope: Scope) -> Workstream | None:
    """The scope's most recently selected workstream."""
    return _load(db, db.one("find_selected_workstream", **scope_values(scope)))


def list_workstreams(db: Database, scope: Scope | None) -> list[Workstream]:
    """Workstreams of a scope (None: all), most recently selected first."""
    rows = db.all("list_workstreams_of_scope", **scope_values(scope)) if scope else db.all("list_workstreams")
    return [_build(db, row) for row in rows]


def list_of_checkout(db: Database, worktree_fingerprint: str | None) -> list[Workstream]:
    """Workstreams of a checkout in every workspace and project (None: all), most recently selected first."""
    if worktree_fingerprint is None:
        return list_workstreams(db, None)
    rows = db.all("list_workstreams_of_checkout", worktree_fingerprint=worktree_fingerprint)
    return [_build(db, row) for row in rows]


def find_by_word(db: Database, word: str, scope: Scope | None) -> list[Workstream]:
    """What `word` may mean: the workstream of that name in the scope, or else those whose id begins with it."""
    named = find_by_name(db, scope, word) if scope else None
    if named:
        return [named]
    everything = {row[0]: row for row in db.all("list_workstreams")}
    return [_build(db, everything[found]) for found in find_by_prefix(word, everything)]


def choose(db: Database, scope: Scope, name: str | None, new_name: str | None, now_ms: int) -> tuple[Workstream, bool]:
    """The workstream that a launch asks for, and whether it was made for it."""
    if new_name is not None:
        if find_by_name(db, scope, check_name(new_name)):
            raise WorkstreamExists(
                f"This checkout has a workstream {new_name!r} already. Use it with --workstream, or take another name.",
                workstream=new_name,
            )
        return _create(db, scope, new_name, now_ms), True
    if name is not None:
        return get_by_name(db, scope, name), False
    selected = find_selected(db, scope)
    return (selected, False) if selected else (_create(db, scope, FIRST_NAME, now_ms), True)


def get_by_name(db: Database, scope: Scope, name: str) -> Workstream:
    """The workstream of a scope that has this name; raises `UnknownWorkstream`, which lists those that are there."""
    found = find_by_name(db, scope, name)
    if found:
        return found
    known = [each.name for each in list_workstreams(db, scope)]
    there = f"It has: {', '.join(known)}." if known else "It has none yet."
    raise UnknownWorkstream(
        f"This checkout has no workstream {name!r}. {there} `--new {name}` makes it.", workstream=name, known=known
    )


def rename(db: Database, workstream: Workstream, name: str) -> None:
    """Give it another name; raises `WorkstreamExists` when its scope has that name already."""
    if check_name(name) == workstream.name:
        return
    place = {
        "workspace": workstream.workspace,
        "project": workstream.project,
        "repo_fingerprint": workstream.repo_fingerprint,
        "worktree_fingerprint": workstream.worktree_fingerprint,
    }
    if db.one("find_workstream_by_name", name=name, **place):
        raise WorkstreamExists(f"That checkout has a workstream {name!r} already. Take another name.", workstream=name)
    db.run("rename_workstream", id=workstream.id, name=name)


def bind(
    db: Database,
    workstream_id: str,
    session_key: int,
    *,
    harness: str,
    evidence: str,
    created_via: str,
    run_id: str | None,
    now_ms: int,
) -> Binding:
    """Make a session the workstream's current one of its harness, unless it is already."""
    row = db.one("find_binding", workstream_id=workstream_id, session_key=session_key)
    if not row or not row[5]:
        db.run("unset_current", workstream_id=workstream_id, harness=harness)
        db.run(
            "put_binding",
            workstream_id=workstream_id,
            session_key=session_key,
            harness=harness,
            is_current=1,
            evidence=evidence,
            created_via=created_via,
            run_id=run_id,
            now_ms=now_ms,
        )
        row = db.one("find_binding", workstream_id=workstream_id, session_key=session_key)
    assert row
    return _build_binding(row)


def scope_values(scope: Scope) -> dict[str, str]:
    """What of a scope makes a workstream's identity, as statement values."""
    return {
        "workspace": scope.workspace,
        "project": scope.project,
        "repo_fingerprint": scope.repo_fingerprint,
        "worktree_fingerprint": scope.worktree_fingerprint,
    }


def _create(db: Database, scope: Scope, name: str, now_ms: int) -> Workstream:
    workstream_id = new_id()
    db.run(
        "insert_workstream",
        id=workstream_id,
        name=name,
        cwd=scope.cwd,
        inode_fingerprint=scope.inode_fingerprint,
        now_ms=now_ms,
        **scope_values(scope),
    )
    created = find_by_id(db, workstream_id)
    assert created
    return created


def _load(db: Database, row: Row | None) -> Workstream | None:
    return _build(db, row) if row else None


def _build(db: Database, row: Row) -> Workstream:
    return Workstream(
        id=row[0],
        name=row[1],
        workspace=row[2],
        project=row[3],
        repo_fingerprint=row[4],
        worktree_fingerprint=row[5],
        cwd=row[6],
        created_ms=row[7],
        active_ms=row[8],
        generation=row[9],
        is_established=bool(row[10]),
        inode_fingerprint=row[11],
        bindings=tuple(_build_binding(found) for found in db.all("list_bindings", workstream_id=row[0])),
    )


def _build_binding(row: Row) -> Binding:
    return Binding(
        harness=row[0],
        native_id=row[1],
        evidence=row[2],
        created_via=row[3],
        bound_ms=row[4],
        is_current=bool(row[5]),
        store=row[6],
        path=row[7],
        title=row[8],
    )
