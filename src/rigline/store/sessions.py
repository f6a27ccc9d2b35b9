"""Native sessions, their links and losses. Every function runs inside a transaction that its caller opened."""

from __future__ import annotations

from rigline.ids import find_by_prefix
from rigline.model import LinkKind, SessionLink
from rigline.store.workstreams import scope_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rigline.model import Scope, SessionInfo
    from rigline.store.sqlite import Database, Row

#: links whose child begins with what its parent had
INHERITING = frozenset({LinkKind.FORK, LinkKind.BRANCH, LinkKind.COPY})


def find_key(db: Database, harness: str, native_id: str) -> int | None:
    """The row of a session, if the ledger has one."""
    key: int | None = db.value("find_session", harness=harness, native_id=native_id)
    return key


def get_key(db: Database, harness: str, native_id: str) -> int:
    """The row of a session, made when there is none."""
    key = find_key(db, harness, native_id)
    if key is None:
        db.run("insert_session", harness=harness, native_id=native_id)
        key = find_key(db, harness, native_id)
    assert key is not None
    return key


def get_cursor(db: Database, harness: str, native_id: str) -> str | None:
    """How far the session has been imported."""
    row = db.one("find_session", harness=harness, native_id=native_id)
    return row[1] if row else None


def describe(
    db: Database, key: int, info: SessionInfo, *, title: str | None, store: str | None, scope: Scope | None
) -> None:
    """Keep what is known of a session. Its directory and its checkout are where it began: they never change."""
    db.run(
        "describe_session",
        key=key,
        path=info.path or None,
        cwd=info.cwd,
        title=title,
        store=store,
        is_subagent=int(info.is_subagent),
    )
    if scope is not None:
        db.run("place_session", key=key, **scope_values(scope))


def add_link(db: Database, harness: str, link: SessionLink) -> bool:
    """Record a link; whether it is a new one."""
    added = db.run(
        "insert_link",
        harness=harness,
        child_id=link.child_id,
        parent_id=link.parent_id,
        kind=str(link.kind),
        evidence=link.evidence,
    )
    return added > 0


def inherit(db: Database, harness: str, link: SessionLink, born_ms: int) -> None:
    """Let a fork have been shown what its parent was shown by the time it was born."""
    parent_key = find_key(db, harness, link.parent_id)
    if link.kind not in INHERITING or parent_key is None:
        return
    child_key = get_key(db, harness, link.child_id)
    db.run("inherit_seen", child_key=child_key, parent_key=parent_key, born_ms=born_ms)


def inherit_history(db: Database, harness: str, link: SessionLink, born_ms: int | None, now_ms: int) -> None:
    """Let a fork have what its parent said by its birth (None: all), before its own file could show it."""
    parent_key = find_key(db, harness, link.parent_id)
    if link.kind not in INHERITING or parent_key is None or get_cursor(db, harness, link.child_id) is not None:
        return
    child_key = get_key(db, harness, link.child_id)
    through = db.value("find_last_position_of_session", session_key=parent_key, born_ms=born_ms)
    db.run("put_seen", receiver_key=child_key, source_key=parent_key, through=through, now_ms=now_ms)


def add_losses(db: Database, key: int, losses: Mapping[str, int]) -> None:
    """Add to what is known to be missing from a session, by kind."""
    db.run_many("add_loss", [(key, kind, count) for kind, count in sorted(losses.items()) if count > 0])


def widen(db: Database, key: int, times: Iterable[int]) -> None:
    """Let the session reach from the first to the last of these times, too."""
    known = sorted(times)
    if known:
        db.run("widen_session", key=key, first_ms=known[0], last_ms=known[-1])


def find_by_word(db: Database, word: str, harness: str | None) -> list[Row]:
    """(key, harness, native id) of what `word` may mean, see `ids.find_by_prefix`; here case counts."""
    rows = db.all("find_sessions_by_prefix", word=word.partition("/")[0] or word, harness=harness)
    meant = find_by_prefix(word, [row[2] for row in rows])
    return [row for row in rows if row[2] in meant]


def build_link(row: Row) -> SessionLink:
    """A row of links, without its harness, as a value."""
    return SessionLink(child_id=row[0], parent_id=row[1], kind=LinkKind(row[2]), evidence=row[3])
