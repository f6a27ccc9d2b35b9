"""Hits as `rigline search` prints them: text that fits a terminal, or JSON. On the fast path."""

from __future__ import annotations

from rigline.cli.output import tell_time
from rigline.ids import shorten
from rigline.readable import WIDTH, clean, clip, flatten, format_count, format_time, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rigline.cli.search import Place
    from rigline.ledger.search import SearchQuery

    Hit = dict[str, Any]

_SNIPPET_INDENT = "  "
_CONTEXT_INDENT = "    "


class Found:
    """A search's answer: a page of hits, whether there are more, and where and how was searched."""

    def __init__(self, text: str, place: Place, hits: list[Hit], has_more: bool, query: SearchQuery) -> None:
        self.text = text
        self.place = place
        self.hits = hits
        self.has_more = has_more
        self.query = query


def describe(found: Found) -> dict[str, object]:
    """The answer as JSON."""
    place = found.place
    scope = {"what": place.what, "workstream_id": place.workstream_id, "name": place.name or None}
    return {
        "query": found.text,
        "scope": scope,
        "offset": found.query.offset,
        "has_more": found.has_more,
        "hits": [_describe_hit(hit) for hit in found.hits],
    }


def _describe_hit(hit: Hit) -> Hit:
    described = {**hit, **tell_time("at", hit["at_ms"])}
    for side in ("before", "after"):
        described[side] = [{**each, **tell_time("at", each["at_ms"])} for each in hit[side]]
    return described


def tell_place(found: Found) -> str:
    """One line: how many hits of where, and how to see more."""
    first = found.query.offset + 1
    count = format_count(len(found.hits), "hit")
    if found.has_more or first > 1:
        count = f"hits {first} to {first + len(found.hits) - 1}"
    more = f"; more with --offset {found.query.offset + len(found.hits)}" if found.has_more else ""
    return f"{count} in {clean(found.place.told)}{more}."


def tell_how_to_widen(found: Found, *, is_known: bool) -> str:
    """What to try when nothing was found."""
    if not is_known:
        return (
            "the ledger has nothing of this checkout. `rigline import` reads the sessions that agents left here; "
            "`--all` searches everything."
        )
    query = found.query
    if query.offset:
        return f"no further hit in {clean(found.place.told)}."
    filters = (query.harness, query.kind, query.role, query.since_ms, query.session)
    ways = ["fewer words, or the beginning of one with an asterisk (pars*)"]
    if any(each is not None for each in filters):
        ways.append("fewer filters")
    if found.place.what != "all":
        ways.append("--all for everything in the ledger")
    return f"nothing was found in {clean(found.place.told)}. Try {', '.join(ways)}."


def render(hits: list[Hit], session_ids: list[str]) -> list[str]:
    """The hits as text. `session_ids` are all that the ledger has, to shorten theirs."""
    short = shorten(session_ids)
    lines: list[str] = []
    for hit in hits:
        lines += [*([""] if lines else []), *_render_hit(hit, short)]
    return lines


def _render_hit(hit: Hit, short: dict[str, str]) -> list[str]:
    names = ", ".join(clean(each["name"]) for each in hit["workstreams"])
    who = hit["tool"] or hit["role"] or ""
    parts = [
        format_time(hit["at_ms"]),
        hit["harness"],
        short.get(hit["native_id"], hit["native_id"]),
        f"{hit['kind'].replace('_', ' ')} {clean(who)}".rstrip(),
        names,
    ]
    head = clip("  ".join(part for part in parts if part.strip()), WIDTH)
    before = [_render_context(each) for each in hit["before"]]
    after = [_render_context(each) for each in hit["after"]]
    snippet = [_SNIPPET_INDENT + line for line in wrap(flatten(hit["snippet"]), WIDTH - len(_SNIPPET_INDENT))]
    return [head, *before, *snippet, *after]


def _render_context(event: Hit) -> str:
    who = event["tool"] or event["role"] or event["kind"]
    return clip(f"{_CONTEXT_INDENT}{clean(who)}: {flatten(event['snippet'])}", WIDTH)
