"""Sessions are imported in an order that keeps copies with their originals, and one bad one stops nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.errors import LedgerUnreachable, UsageError
from rigline.importing import (
    Importer,
    ScopeCache,
    Source,
    find_named_sources,
    is_news,
    is_of_checkout,
    order_sources,
)
from rigline.ledger.base import Appended
from rigline.model import Event, Kind, LinkKind, SessionInfo, SessionLink, Window
from rigline.scope import resolve_scope


def make_info(native_id: str, *, parent: str | None = None, began: int = 0, **fields: Any) -> SessionInfo:
    link = SessionLink(child_id=native_id, parent_id=parent, kind=LinkKind.FORK, evidence="") if parent else None
    defaults = {"harness": "codex", "path": f"/{native_id}", "cwd": None, "updated_ms": began, "size_bytes": 10}
    return SessionInfo(native_id=native_id, started_ms=began or None, parent=link, **{**defaults, **fields})


def make_window(native_id: str, cursor: str, *texts: str) -> Window:
    events = [Event(harness="codex", native_id=native_id, record=text, kind=Kind.MESSAGE, text=text) for text in texts]
    return Window(native_id=native_id, cursor=cursor, events=events, losses={}, packets=[], links=[])


class ScriptedStore:
    """A store of made-up sessions: windows by native id, or the error that reading raises."""

    root = "/store"

    def __init__(self, sessions: dict[str, list[Window] | Exception] | None = None) -> None:
        self.sessions = sessions or {}
        self.files: dict[str, SessionInfo] = {}

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        found = self.sessions[info.native_id]
        if isinstance(found, Exception):
            raise found
        yield from found

    def find_in_file(self, path: str) -> SessionInfo | None:
        return self.files.get(os.path.basename(path))

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        return [make_info(f"{info.native_id}-child", parent=info.native_id)]


class ScriptedHarness:
    name = "codex"
    label = "Codex"

    def __init__(self, store: ScriptedStore) -> None:
        self.store = store

    def open_store(self, env: object) -> ScriptedStore:
        return self.store


class ScriptedLedger:
    """Remembers what was appended; every event is new."""

    def __init__(self) -> None:
        self.cursors: dict[str, str] = {}
        self.appended: list[tuple[str, str]] = []
        self.failure: Exception | None = None

    def get_cursor(self, harness: str, native_id: str) -> str | None:
        return self.cursors.get(native_id)

    def append(self, info: SessionInfo, window: Window, *, scope: object, run: object) -> Appended:
        if self.failure:
            raise self.failure
        assert run is None
        self.cursors[info.native_id] = window.cursor
        self.appended.append((info.native_id, window.cursor))
        return Appended(added=len(window.events), losses={"reasoning": 1})


def run(ledger: ScriptedLedger, store: ScriptedStore, *infos: SessionInfo) -> Importer:
    importer = Importer(ledger, ScopeCache({}))  # type: ignore[arg-type]
    importer.run([Source(store=store, info=info) for info in infos])  # type: ignore[arg-type]
    return importer


def test_every_window_is_appended_and_counted() -> None:
    ledger = ScriptedLedger()
    windows = {"a": [make_window("a", "1", "x", "y"), make_window("a", "2", "z")], "b": [make_window("b", "1")]}
    outcome = run(ledger, ScriptedStore(windows), make_info("a"), make_info("b")).outcome  # type: ignore[arg-type]
    assert ledger.appended == [("a", "1"), ("a", "2"), ("b", "1")]
    assert (outcome.sessions, outcome.changed, outcome.added, outcome.size_bytes) == (2, 1, 3, 20)
    assert outcome.losses == {"reasoning": 3}


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), KeyError("x"), ValueError("odd")])
def test_one_bad_session_does_not_stop_the_rest(error: Exception) -> None:
    ledger = ScriptedLedger()
    store = ScriptedStore({"bad": error, "good": [make_window("good", "1", "x")]})
    outcome = run(ledger, store, make_info("bad"), make_info("good")).outcome
    assert ledger.appended == [("good", "1")]
    (failure,) = outcome.failures
    assert (failure.native_id, failure.path) == ("bad", "/bad")
    assert failure.reason
    assert outcome.sessions == 2


def test_a_ledger_that_fails_ends_the_import() -> None:
    ledger = ScriptedLedger()
    ledger.failure = LedgerUnreachable("the disk is full")
    store = ScriptedStore({"a": [make_window("a", "1", "x")]})
    with pytest.raises(LedgerUnreachable):
        run(ledger, store, make_info("a"))


def test_a_session_without_news_is_not_written() -> None:
    ledger = ScriptedLedger()
    ledger.cursors["a"] = "1"
    run(ledger, ScriptedStore({"a": [make_window("a", "1")]}), make_info("a"))
    assert ledger.appended == []


def test_a_window_is_news_when_it_says_anything() -> None:
    assert not is_news(make_window("a", "1"), "1")
    assert is_news(make_window("a", "2"), "1")
    assert is_news(make_window("a", "1"), None)
    assert is_news(make_window("a", "1", "x"), "1")


def order(*infos: SessionInfo) -> list[str]:
    sources = [Source(store=ScriptedStore(), info=info) for info in infos]  # type: ignore[arg-type]
    return [source.info.native_id for source in order_sources(sources)]


def test_parents_come_before_their_forks_whatever_their_age() -> None:
    assert order(make_info("c", parent="b", began=1), make_info("b", parent="a", began=2), make_info("a", began=3)) == [
        "a",
        "b",
        "c",
    ]


def test_without_links_the_oldest_comes_first_and_of_two_with_one_beginning_the_one_that_was_left_first() -> None:
    younger = make_info("a", began=5, updated_ms=9)
    assert order(make_info("new", began=7), younger, make_info("z", began=5, updated_ms=8)) == ["z", "a", "new"]


def test_a_parent_that_is_not_among_them_and_a_circle_harm_nothing() -> None:
    assert order(make_info("b", parent="gone")) == ["b"]
    assert sorted(order(make_info("a", parent="b"), make_info("b", parent="a"))) == ["a", "b"]
    assert order(make_info("a", parent="a")) == ["a"]


NAMES = st.sampled_from("abcdefgh")


@given(st.dictionaries(NAMES, st.one_of(st.none(), NAMES), min_size=1), st.randoms())
def test_whatever_the_links_every_session_is_imported_once_and_after_its_parent(
    parents: dict[str, str | None], random: Any
) -> None:
    infos = [make_info(child, parent=parent, began=random.randrange(5)) for child, parent in parents.items()]
    ordered = order(*infos)
    assert sorted(ordered) == sorted(parents)
    for child, parent in parents.items():
        if parent in parents and not is_circular(child, parents):
            assert ordered.index(parent) < ordered.index(child)


def is_circular(name: str, parents: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    current: str | None = name
    while current is not None and current not in seen:
        seen.add(current)
        current = parents.get(current)
    return current is not None


def test_named_files_bring_what_belongs_to_them(tmp_path: Path) -> None:
    store = ScriptedStore()
    store.files["one.jsonl"] = make_info("one")
    (tmp_path / "one.jsonl").touch()
    sources = find_named_sources([ScriptedHarness(store)], {}, [str(tmp_path / "one.jsonl")])  # type: ignore[list-item]
    assert [source.info.native_id for source in sources] == ["one", "one-child"]


def test_every_file_that_is_no_session_is_named_before_anything_is_imported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    paths = [str(tmp_path / name) for name in ("gone.jsonl", "notes.txt", ".")]
    with pytest.raises(UsageError) as refused:
        find_named_sources([ScriptedHarness(ScriptedStore())], {}, paths)  # type: ignore[list-item]
    for words in ("gone.jsonl is not there", "notes.txt holds no session", "is not a file", "Codex"):
        assert words in str(refused.value)


def test_a_session_belongs_to_the_checkout_that_its_directory_lies_in(tmp_path: Path) -> None:
    app, env = tmp_path.resolve() / "app", dict(os.environ)
    (app / "src").mkdir(parents=True)
    (app.parent / "app-two").mkdir()
    scope, cache = resolve_scope(str(app), env=env), ScopeCache(env)
    assert is_of_checkout(make_info("a", cwd=str(app)), scope, cache)
    for other in (None, str(app.parent), str(app.parent / "app-two"), str(app / "src"), "/gone", "relative"):
        assert not is_of_checkout(make_info("a", cwd=other), scope, cache)


def test_a_directory_that_is_gone_is_a_project_of_its_own(tmp_path: Path) -> None:
    gone = str(tmp_path.resolve() / "Gone App")
    os.mkdir(gone)
    before = resolve_scope(gone, env=os.environ)
    os.rmdir(gone)
    after = ScopeCache(dict(os.environ)).find(gone)
    assert after == before
    assert after is not None
    assert after.project == "gone-app"
