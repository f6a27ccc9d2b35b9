"""Search finds what was said in a real ledger, and where."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigline.errors import LedgerCorrupt
from rigline.ledger import search as search_module
from rigline.ledger.local import LocalLedger
from rigline.ledger.search import SearchQuery, search
from rigline.model import Event, Kind, LinkKind, SessionLink
from rigline.store.sqlite import open_reader
from rigline.testing.clock import FakeClock
from rigline.testing.samples import make_event, make_request, make_scope, make_session, make_window


@pytest.fixture
def reader(ledger: LocalLedger, home: str) -> Iterator[sqlite3.Connection]:
    connection = open_reader(os.path.join(home, "ledger.db"))
    yield connection
    connection.close()


def _append(
    ledger: LocalLedger, native_id: str, *events: Event, harness: str = "claude-code", cursor: str = "c"
) -> None:
    ledger.append(
        make_session(native_id, harness), make_window(native_id, cursor, list(events)), scope=make_scope(), run=None
    )


def _find(reader: sqlite3.Connection, text: str, **filters: object) -> list[str]:
    return [hit["snippet"] for hit in search(reader, SearchQuery(text, **filters))]  # type: ignore[arg-type]


def test_a_hit_says_where_it_stands(ledger: LocalLedger, reader: sqlite3.Connection) -> None:
    grant = ledger.prepare(make_request(new_name="two words"))
    ledger.bind(grant.run, make_session("s1"), evidence="hook", created_via="run", store="/store")
    _append(ledger, "s1", make_event("s1", "r1", "a needle in it", at_ms=7))
    assert search(reader, SearchQuery("needle")) == [
        {
            "seq": 1,
            "harness": "claude-code",
            "native_id": "s1",
            "title": None,
            "kind": "message",
            "role": "user",
            "at_ms": 7,
            "tool": None,
            "call_id": None,
            "status": None,
            "workstreams": [{"id": grant.workstream.id, "name": "two words"}],
            "snippet": "a needle in it",
            "highlight": (2, 8),
            "text_chars": 14,
            "before": [],
            "after": [],
        }
    ]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"c-user", "c-tool", "x-user"}),
        ({"harness": "codex"}, {"x-user"}),
        ({"kind": "tool_result"}, {"c-tool"}),
        ({"role": "user"}, {"c-user", "x-user"}),
        ({"since_ms": 20}, {"c-tool", "x-user"}),
        ({"session": "claude-1"}, {"c-user", "c-tool"}),
        ({"session": "cl"}, {"c-user", "c-tool"}),
        ({"session": "nobody"}, set()),
        ({"workstream_id": "nothing"}, set()),
        ({"harness": "codex", "kind": "tool_result"}, set()),
        ({"limit": 0}, set()),
    ],
)
@pytest.mark.parametrize("text", ["needle", ""])
def test_filters_narrow_words_and_newest_alike(
    ledger: LocalLedger, reader: sqlite3.Connection, filters: dict[str, object], found: set[str], text: str
) -> None:
    _append(
        ledger,
        "claude-1",
        make_event("claude-1", "r1", "needle c-user", at_ms=10),
        make_event("claude-1", "r2", "needle c-tool", kind=Kind.TOOL_RESULT, role=None, at_ms=20),
    )
    _append(ledger, "codex-1", make_event("codex-1", "r1", "needle x-user", harness="codex", at_ms=30), harness="codex")
    assert {snippet.split()[1] for snippet in _find(reader, text, **filters)} == found


def test_a_workstream_is_its_sessions_their_copies_and_subagents(
    ledger: LocalLedger, reader: sqlite3.Connection
) -> None:
    _append(ledger, "parent", make_event("parent", "p1", "needle copied", copy_key="k"))
    _append(ledger, "stranger", make_event("stranger", "x1", "needle elsewhere"))
    grant = ledger.prepare(make_request())
    ledger.bind(grant.run, make_session("fork"), evidence="hook", created_via="run", store="/store")
    copied = make_event("fork", "f1", "needle copied", copy_key="k")
    _append(ledger, "fork", copied, make_event("fork", "f2", "needle own"))
    link = SessionLink(child_id="sub", parent_id="fork", kind=LinkKind.SUBAGENT, evidence="its file")
    window = make_window("sub", "c", [make_event("sub", "r1", "needle of the subagent")], links=[link])
    ledger.append(make_session("sub", is_subagent=True), window, scope=make_scope(), run=None)
    found = _find(reader, "needle", workstream_id=grant.workstream.id)
    assert sorted(found) == ["needle copied", "needle of the subagent", "needle own"]


def test_context_is_of_the_same_session_and_in_order(ledger: LocalLedger, reader: sqlite3.Connection) -> None:
    texts = ["one", "two", "needle", "four", "five"]
    for n, text in enumerate(texts):
        _append(ledger, "s1", make_event("s1", f"r{n}", text), cursor=f"c{n}")
        _append(ledger, "other", make_event("other", f"r{n}", "between"), cursor=f"c{n}")
    (hit,) = search(reader, SearchQuery("needle", context=3))
    assert [each["snippet"] for each in hit["before"]] == ["one", "two"]
    assert [each["snippet"] for each in hit["after"]] == ["four", "five"]


@pytest.mark.parametrize("block", [3, 1000])
@pytest.mark.parametrize("text", ["needle", "need*", ""])
def test_pages_hold_each_hit_once(
    ledger: LocalLedger, reader: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, block: int, text: str
) -> None:
    monkeypatch.setattr(search_module, "RANKED_MATCHES", block)
    _append(ledger, "s1", *[make_event("s1", f"r{n}", "needle " * (n % 4 + 1) + f"in{n}") for n in range(10)])
    whole = [hit["seq"] for hit in search(reader, SearchQuery(text, limit=100))]
    pages = [
        [hit["seq"] for hit in search(reader, SearchQuery(text, limit=4, offset=offset))] for offset in (0, 4, 8, 12)
    ]
    assert sorted(whole) == list(range(1, 11))
    assert [len(page) for page in pages] == [4, 4, 2, 0]
    assert [seq for page in pages for seq in page] == whole


def test_the_best_comes_first_and_the_newest_of_equals(ledger: LocalLedger, reader: sqlite3.Connection) -> None:
    filler = " ".join(f"w{n}" for n in range(200))
    texts = ["needle same", f"needle {filler}", "needle needle", "needle same", "nothing", "other", "words"]
    _append(ledger, "s1", *[make_event("s1", f"r{n}", text) for n, text in enumerate(texts)])
    assert [hit["seq"] for hit in search(reader, SearchQuery("needle"))] == [3, 4, 1, 2]
    assert [hit["seq"] for hit in search(reader, SearchQuery("needl*"))] == [4, 3, 2, 1]


def test_a_query_of_signs_finds_nothing_and_an_empty_one_the_newest(
    ledger: LocalLedger, reader: sqlite3.Connection
) -> None:
    _append(ledger, "s1", *[make_event("s1", f"r{n}", f"text {n}") for n in range(3)])
    assert _find(reader, "!!! ***") == []
    assert _find(reader, "  ") == ["text 2", "text 1", "text 0"]


@pytest.mark.parametrize(
    ("text", "query", "finds"),
    [
        ("这个函数打开数据库连接", "数据库", True),
        ("这个函数打开数据库连接", "库数", False),
        ("これはテストです", "テスト", True),
        ("これはテストです", "スト", True),
        ("데이터베이스를 연다", "베이스", True),
        ("Version2数据", "version2数据", True),
        ("grüße aus köln", "GRUSSE", False),
        ("grüße aus köln", "koln", True),
        ("naïve café", "naive cafe", True),
        ("snake_case_name here", "snake_case_name", True),
        ("src/rigline/store/sqlite.py", "store/sqlite", True),
    ],
)
def test_words_are_found_in_every_script(
    ledger: LocalLedger, reader: sqlite3.Connection, text: str, query: str, finds: bool
) -> None:
    _append(ledger, "s1", make_event("s1", "r1", text))
    hits = search(reader, SearchQuery(query))
    assert bool(hits) is finds
    assert all(hit["highlight"] for hit in hits)


def test_a_revised_event_is_found_by_its_new_words_only(ledger: LocalLedger, reader: sqlite3.Connection) -> None:
    _append(ledger, "s1", make_event("s1", "r1", "halb 数据"), cursor="c1")
    _append(ledger, "s1", make_event("s1", "r1", "whole 连接"), cursor="c2")
    assert [bool(_find(reader, word)) for word in ("halb", "数据", "whole", "连接")] == [False, False, True, True]


def test_the_words_agree_with_the_texts(ledger: LocalLedger, home: str) -> None:
    for n in range(20):
        _append(ledger, "s1", make_event("s1", f"r{n % 7}", f"text {n} 数据 {n}"), cursor=f"c{n}")
    connection = sqlite3.connect(os.path.join(home, "ledger.db"))
    connection.execute("INSERT INTO events_fts (events_fts) VALUES ('integrity-check')")
    connection.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    text=st.text(alphabet=st.characters(exclude_categories=())),
    session=st.none() | st.text(alphabet=st.characters(exclude_categories=()), max_size=5),
    limit=st.integers(min_value=-1, max_value=5),
    context=st.integers(min_value=-1, max_value=2),
)
def test_no_query_raises(
    ledger: LocalLedger, reader: sqlite3.Connection, text: str, session: str | None, limit: int, context: int
) -> None:
    _append(ledger, "s1", make_event("s1", "r1", "some text"))
    search(reader, SearchQuery(text, session=session, limit=limit, context=context))


def test_every_planted_needle_is_found(ledger: LocalLedger, reader: sqlite3.Connection, clock: FakeClock) -> None:
    for session in range(20):
        events = [
            make_event(f"s{session}", f"r{n}", f"common words needle{session}x{n} common", kind=list(Kind)[n % 4])
            for n in range(50)
        ]
        _append(ledger, f"s{session}", *events)
    for session in range(20):
        for n in range(50):
            (hit,) = search(reader, SearchQuery(f"needle{session}x{n}"))
            assert hit["native_id"] == f"s{session}"


def test_a_damaged_index_is_told(ledger: LocalLedger, home: str) -> None:
    _append(ledger, "s1", *[make_event("s1", f"r{n}", f"word{n} needle") for n in range(50)])
    ledger.close()
    path = os.path.join(home, "ledger.db")
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM events_fts_data WHERE id > 10")
    connection.commit()
    connection.close()
    reader = open_reader(path)
    with pytest.raises(LedgerCorrupt, match="recover"):
        search(reader, SearchQuery("needle"))
    reader.close()
