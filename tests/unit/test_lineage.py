"""Families of sessions become trees in which each session stands once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rigline.ledger.base import SessionRecord
from rigline.lineage import Families, Node, count_nodes, describe_node
from rigline.model import LinkKind, SessionLink


def make_record(native_id: str, *parents: str, kind: LinkKind = LinkKind.FORK, last_ms: int = 0) -> SessionRecord:
    links = tuple(SessionLink(child_id=native_id, parent_id=each, kind=kind, evidence="shown") for each in parents)
    return SessionRecord(
        harness="codex",
        native_id=native_id,
        path=None,
        cwd=None,
        store=None,
        cursor="c",
        title=None,
        is_subagent=False,
        events=3,
        copies=1,
        first_ms=None,
        last_ms=last_ms,
        losses={},
        links=links,
    )


def draw(node: Node) -> object:
    name = ("*" if node.is_asked_for else "") + node.key[1]
    return [name, *map(draw, node.children)] if node.children else name


def build(records: list[SessionRecord], *asked_for: str) -> list[object]:
    return [draw(node) for node in Families(records).build([("codex", each) for each in asked_for])]


def test_a_session_is_shown_with_its_whole_family() -> None:
    records = [
        make_record("a"),
        make_record("b", "a", last_ms=2),
        make_record("c", "b"),
        make_record("d", "a", last_ms=1),
    ]
    assert build(records, "b") == [["a", "d", ["*b", "c"]]]


def test_a_parent_that_was_never_imported_is_named_all_the_same() -> None:
    (tree,) = Families([make_record("b", "gone")]).build([("codex", "b")])
    assert tree.record is None
    assert describe_node(tree)["is_imported"] is False
    assert tree.children[0].link is not None
    assert tree.children[0].link.evidence == "shown"


def test_unrelated_sessions_are_left_out() -> None:
    assert build([make_record("a"), make_record("b")], "a") == ["*a"]


def test_sessions_of_one_family_make_one_tree() -> None:
    records = [make_record("a"), make_record("b", "a"), make_record("c", "a")]
    assert build(records, "b", "c") == [["a", "*b", "*c"]]


def test_a_session_with_two_parents_stands_once() -> None:
    records = [make_record("a"), make_record("b"), make_record("c", "a", "b")]
    trees = build(records, "c")
    assert str(trees).count("*c") == 1
    assert {"a", "b"} <= {name for tree in trees for name in ([tree] if isinstance(tree, str) else [tree[0]])}  # type: ignore[index]


def test_a_circle_of_links_ends() -> None:
    assert count_nodes(Families([make_record("a", "b"), make_record("b", "a")]).build([("codex", "a")])) == 2
    assert build([make_record("a", "a")], "a") == ["*a"]


NAMES = st.sampled_from("abcdef")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=3), min_size=1), st.lists(NAMES, min_size=1, max_size=3))
def test_whatever_the_links_each_session_asked_for_stands_once(links: dict[str, list[str]], asked: list[str]) -> None:
    records = [make_record(child, *parents) for child, parents in links.items()]
    drawn = str([draw(node) for node in Families(records).build([("codex", each) for each in asked])])
    for name in set(asked):
        assert drawn.count(f"*{name}") == 1
