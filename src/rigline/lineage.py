"""Where native sessions came from and what came from them, as trees. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from rigline.ledger.base import SessionRecord
from rigline.model import SessionLink

#: (harness, native id)
SessionKey = tuple[str, str]


class Node(Struct, frozen=True, kw_only=True):
    """A session in its family. `link` leads to the parent above it; `record` is None for one only known by name."""

    key: SessionKey
    record: SessionRecord | None
    link: SessionLink | None
    is_asked_for: bool
    children: tuple[Node, ...] = ()


class Families:
    """All links of a ledger, to walk in both directions."""

    def __init__(self, records: Sequence[SessionRecord]) -> None:
        self._records = {(record.harness, record.native_id): record for record in records}
        self._parents: dict[SessionKey, list[SessionKey]] = {}
        self._children: dict[SessionKey, dict[SessionKey, SessionLink]] = {}
        for harness, link in _iterate_links(records):
            child, parent = (harness, link.child_id), (harness, link.parent_id)
            siblings = self._children.setdefault(parent, {})
            if child != parent and child not in siblings:
                siblings[child] = link
                self._parents.setdefault(child, []).append(parent)

    def build(self, asked_for: Collection[SessionKey]) -> list[Node]:
        """The trees that hold the sessions asked for, from their oldest ancestors down. Each session stands once."""
        seen: set[SessionKey] = set()
        roots = dict.fromkeys(root for key in asked_for for root in self._find_roots(key))
        return [self._build(root, None, frozenset(asked_for), seen) for root in roots if root not in seen]

    def _find_roots(self, key: SessionKey) -> list[SessionKey]:
        """The ancestors without parents; in a circle, the session itself."""
        seen, waiting, roots = {key}, [key], []
        while waiting:
            current = waiting.pop()
            parents = self._parents.get(current, [])
            if not parents:
                roots.append(current)
            waiting += [parent for parent in parents if parent not in seen]
            seen.update(parents)
        return roots or [key]

    def _build(
        self, key: SessionKey, link: SessionLink | None, asked_for: frozenset[SessionKey], seen: set[SessionKey]
    ) -> Node:
        seen.add(key)
        children = []
        for child, child_link in sorted(self._children.get(key, {}).items(), key=self._sort_child):
            if child not in seen:
                children.append(self._build(child, child_link, asked_for, seen))
        return Node(
            key=key,
            record=self._records.get(key),
            link=link,
            is_asked_for=key in asked_for,
            children=tuple(children),
        )

    def _sort_child(self, item: tuple[SessionKey, SessionLink]) -> tuple[int, SessionKey]:
        record = self._records.get(item[0])
        return (record.last_ms or 0 if record else 0), item[0]


def _iterate_links(records: Sequence[SessionRecord]) -> Iterator[tuple[str, SessionLink]]:
    for record in records:
        for link in record.links:
            yield record.harness, link


def count_nodes(nodes: Sequence[Node]) -> int:
    """How many sessions the trees hold."""
    return sum(1 + count_nodes(node.children) for node in nodes)


def describe_node(node: Node) -> dict[str, object]:
    """A tree as JSON."""
    record = node.record
    return {
        "harness": node.key[0],
        "native_id": node.key[1],
        "title": record.title if record else None,
        "events": record.events if record else 0,
        "copies": record.copies if record else 0,
        "is_imported": record is not None and record.cursor is not None,
        "is_asked_for": node.is_asked_for,
        "kind": str(node.link.kind) if node.link else None,
        "evidence": node.link.evidence if node.link else None,
        "children": [describe_node(child) for child in node.children],
    }


def shorten_keys(short: Mapping[str, str], key: SessionKey) -> str:
    """A session as people name it: harness and short id."""
    return f"{key[0]} {short.get(key[1], key[1])}"
