"""Existing native sessions into the history of the checkout they were in: found, ordered, read, without a binding.

Each window commits with its own cursor, so an import can be ended at any moment and goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from rigline import scope as scopes
from rigline.errors import LedgerError, RiglineError, UsageError
from rigline.harness.base import Harness, Store
from rigline.ledger.base import Appended, Ledger
from rigline.losses import add_up
from rigline.model import Scope, SessionInfo, Window


class Source(Struct, frozen=True, kw_only=True):
    """A native session and the store that reads it."""

    store: Store
    info: SessionInfo


class Failure(Struct, frozen=True, kw_only=True):
    """A session that could not be imported, and why."""

    harness: str
    native_id: str
    path: str
    reason: str


class Outcome(Struct, kw_only=True):
    """What an import brought so far. `sessions` counts those looked at, `changed` those that brought something."""

    sessions: int = 0
    changed: int = 0
    size_bytes: int = 0
    added: int = 0
    revised: int = 0
    copied: int = 0
    losses: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


class ScopeCache:
    """The scope of each directory that sessions name, asked for once."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._known: dict[str, Scope] = {}

    def find(self, cwd: str | None) -> Scope | None:
        """A directory's scope; one that is gone counts as a project of its own. None without a directory.

        Raises `ConfigError` when the directory's marker file cannot be used.
        """
        if not cwd or not os.path.isabs(cwd):
            return None
        if cwd not in self._known:
            self._known[cwd] = self._resolve(cwd)
        return self._known[cwd]

    def _resolve(self, cwd: str) -> Scope:
        if os.path.isdir(cwd):
            return scopes.resolve_scope(cwd, env=self._env)
        return scopes.build_gone_scope(cwd, env=self._env)


class Importer:
    """Imports sessions one after the other; one that fails is noted, and the rest goes on."""

    def __init__(self, ledger: Ledger, cache: ScopeCache, tell: Callable[[Outcome], None] = lambda _: None) -> None:
        self.outcome = Outcome()
        self._ledger = ledger
        self._cache = cache
        self._tell = tell

    def follow(self, tell: Callable[[Outcome], None]) -> None:
        """Tell the outcome to another listener from now on."""
        self._tell = tell

    def run(self, sources: Sequence[Source]) -> Outcome:
        """Import all of them; raises `LedgerError` when the ledger itself fails. Ctrl-C keeps what is committed."""
        for source in sources:
            self._import(source)
        return self.outcome

    def _import(self, source: Source) -> None:
        info, outcome = source.info, self.outcome
        before = (outcome.added, outcome.revised, outcome.copied)
        try:
            self._read(source)
        except LedgerError:
            raise
        except Exception as error:  # whatever one session does to its reader, the others are imported
            outcome.failures.append(
                Failure(harness=info.harness, native_id=info.native_id, path=info.path, reason=_explain(error))
            )
        outcome.sessions += 1
        outcome.size_bytes += info.size_bytes
        outcome.changed += (outcome.added, outcome.revised, outcome.copied) != before
        self._tell(outcome)

    def _read(self, source: Source) -> None:
        info = source.info
        scope = self._cache.find(info.cwd)
        cursor = self._ledger.get_cursor(info.harness, info.native_id)
        for window in source.store.read(info, cursor):
            if is_news(window, cursor):
                self._count(self._ledger.append(info, window, scope=scope, run=None))
                self._tell(self.outcome)

    def _count(self, appended: Appended) -> None:
        self.outcome.added += appended.added
        self.outcome.revised += appended.revised
        self.outcome.copied += appended.copied
        self.outcome.losses = add_up([self.outcome.losses, appended.losses])


def is_news(window: Window, cursor: str | None) -> bool:
    """Whether a window says more than that nothing has come since `cursor`."""
    return window.cursor != cursor or bool(window.events or window.losses or window.packets or window.links)


def find_sources(
    harnesses: Sequence[Harness], env: Mapping[str, str], scope: Scope | None, cache: ScopeCache
) -> Iterator[Source]:
    """The sessions of every harness's store that belong to a checkout (None: all of them)."""
    for harness in harnesses:
        store = harness.open_store(env)
        for info in store.iter_sessions():
            if scope is None or is_of_checkout(info, scope, cache):
                yield Source(store=store, info=info)


def find_named_sources(harnesses: Sequence[Harness], env: Mapping[str, str], paths: Sequence[str]) -> list[Source]:
    """The sessions in named files, with those that belong to them; the harness is told by the content.

    Raises `UsageError` that names every file which is missing or holds no session of these harnesses.
    """
    stores = [harness.open_store(env) for harness in harnesses]
    found: dict[tuple[str, str, str], Source] = {}
    problems = []
    for path in paths:
        source, problem = _find_named(stores, os.path.abspath(path))
        if source is None:
            problems.append(f"{path} {problem}")
            continue
        for info in (source.info, *source.store.related(source.info)):
            found[info.harness, info.native_id, info.path] = Source(store=source.store, info=info)
    if problems:
        known = ", ".join(harness.label for harness in harnesses)
        raise UsageError(f"Nothing was imported: {'; '.join(problems)}. Known harnesses: {known}.", problems=problems)
    return list(found.values())


def _find_named(stores: Sequence[Store], path: str) -> tuple[Source | None, str]:
    """The session in a file, or why there is none. Where several harnesses write alike, the one whose store it is in
    counts."""
    if not os.path.exists(path):
        return None, "is not there"
    if not os.path.isfile(path):
        return None, "is not a file"
    try:
        for store in sorted(stores, key=lambda store: not _is_below(path, store.root)):
            info = store.find_in_file(path)
            if info is not None:
                return Source(store=store, info=info), ""
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    return None, "holds no session"


def _is_below(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep)


def is_of_checkout(info: SessionInfo, scope: Scope, cache: ScopeCache) -> bool:
    """Whether a session's recorded directory lies in this very checkout, not in one nested in it.

    One of which that cannot be told counts as belonging here, so that its import fails and the reason is told.
    """
    if not info.cwd:
        return False
    root = scope.toplevel or scope.cwd
    real = os.path.realpath(info.cwd)
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        return False
    try:
        found = cache.find(info.cwd)
    except RiglineError:
        return True
    return found is not None and found.worktree_fingerprint == scope.worktree_fingerprint


def order_sources(sources: Sequence[Source]) -> list[Source]:
    """Parents before what came from them, so that a fork's copies are known as such; else the oldest first. Pure."""
    ordered = sorted(sources, key=_get_age)
    by_key: dict[tuple[str, str], list[Source]] = {}
    for source in ordered:
        by_key.setdefault((source.info.harness, source.info.native_id), []).append(source)
    placed: dict[int, Source] = {}
    for source in ordered:
        for ancestor in _climb(source, by_key, placed):
            placed[id(ancestor)] = ancestor
    return list(placed.values())


def _get_age(source: Source) -> tuple[int, int, str]:
    """By its beginning; a fork whose records begin as its parent's do was usually written to later."""
    info = source.info
    return info.started_ms or info.updated_ms, info.updated_ms, info.path


def _climb(
    source: Source, by_key: Mapping[tuple[str, str], list[Source]], placed: Mapping[int, Source]
) -> list[Source]:
    """The source with those of its ancestors that are not placed yet, the oldest ancestor first."""
    line: list[Source] = []
    generation = [source]
    while generation and id(generation[0]) not in placed and generation[0] not in line:
        line += generation
        parent = generation[0].info.parent
        generation = by_key.get((source.info.harness, parent.parent_id), []) if parent else []
    return line[::-1]


def _explain(error: Exception) -> str:
    if isinstance(error, RiglineError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"
