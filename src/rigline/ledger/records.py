"""What the ledger tells of native sessions: their rows with the losses, bindings and links that belong to them."""

from __future__ import annotations

from rigline.ledger.base import SessionRecord
from rigline.store.sessions import build_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rigline.model import SessionLink
    from rigline.store.sqlite import Database, Row


class SessionReader:
    """Reads session records within one transaction of the caller's."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read_all(self, worktree_fingerprint: str | None) -> list[SessionRecord]:
        """Every session (of a checkout), the last active first."""
        rows = self._db.all("list_sessions", worktree_fingerprint=worktree_fingerprint)
        losses = self._db.all("list_all_losses")
        bindings = self._db.all("list_all_bindings")
        links = self._db.all("list_all_links")
        return _join(rows, losses, bindings, links)

    def read_one(self, key: int) -> SessionRecord:
        """The session of a row that is there."""
        rows = self._db.all("get_session", key=key)
        losses = self._db.all("list_losses_of_session", key=key)
        bindings = self._db.all("list_bindings_of_session", key=key)
        links = self._db.all("list_links_of_session", harness=rows[0][0], native_id=rows[0][1])
        return _join(rows, losses, bindings, links)[0]


def _join(rows: list[Row], losses: list[Row], bindings: list[Row], links: list[Row]) -> list[SessionRecord]:
    losses_of: dict[int, dict[str, int]] = {}
    for key, kind, count in losses:
        losses_of.setdefault(key, {})[kind] = count
    workstreams_of: dict[int, list[str]] = {}
    for key, workstream_id in bindings:
        workstreams_of.setdefault(key, []).append(workstream_id)
    links_of: dict[tuple[str, str], list[SessionLink]] = {}
    for harness, *rest in links:
        for end in dict.fromkeys(rest[:2]):
            links_of.setdefault((harness, end), []).append(build_link(tuple(rest)))
    return [
        SessionRecord(
            harness=row[0],
            native_id=row[1],
            path=row[2],
            cwd=row[3],
            store=row[4],
            cursor=row[5],
            title=row[6],
            is_subagent=bool(row[7]),
            events=row[8],
            first_ms=row[9],
            last_ms=row[10],
            losses=losses_of.get(row[11], {}),
            copies=row[12],
            workstream_ids=tuple(workstreams_of.get(row[11], ())),
            links=tuple(links_of.get((row[0], row[1]), ())),
        )
        for row in rows
    ]
