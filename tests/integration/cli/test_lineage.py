"""`rigline lineage` draws where a session came from, and shows what proves it."""

from __future__ import annotations

from rigline.model import LinkKind
from tests.integration.cli.conftest import User, link


def test_forks_subagents_and_copies_are_drawn_with_their_evidence(user: User) -> None:
    parent = user.bind(user.start(), "aaaa1111-0000", title="The parent")
    user.say(parent, "one", "two", copy_key="k")
    child = user.make_info("bbbb2222-0000")
    user.keep(
        child,
        user.make_event(child, "one", copy_key="kone"),
        user.make_event(child, "three"),
        links=[link(child, parent, LinkKind.FORK, "it repeats the parent's records")],
    )
    subagent = user.make_info("cccc3333-0000", is_subagent=True)
    user.keep(
        subagent, user.make_event(subagent, "work"), links=[link(subagent, parent, LinkKind.SUBAGENT, "its folder")]
    )
    assert user.call("lineage", "bbbb").lines == [
        "claude-code aaaa1111  2 events  The parent",
        "├─ * fork: claude-code bbbb2222  2 events, 1 of them copied",
        "│     it repeats the parent's records",
        "└─ subagent: claude-code cccc3333  1 event",
        "      its folder",
    ]


def test_a_line_is_asked_for_by_name_by_id_or_not_at_all(user: User) -> None:
    grant = user.start()
    user.say(user.bind(grant, "aaaa1111-0000"), "one")
    expected = ["* claude-code aaaa1111  1 event"]
    for words in ([], ["main"], [grant.workstream.id[:10]]):
        assert user.call("lineage", *words).lines == expected


def test_json_tells_the_tree(user: User) -> None:
    parent = user.make_info("aaaa1111-0000", "codex")
    child = user.make_info("bbbb2222-0000", "codex")
    user.keep(child, user.make_event(child, "x"), links=[link(child, parent, LinkKind.FORK)])
    told = user.call("lineage", "bbbb", "--json").value
    assert told["sessions"] == 2
    (root,) = told["trees"]
    assert (root["native_id"], root["is_imported"]) == ("aaaa1111-0000", False)
    assert (root["children"][0]["kind"], root["children"][0]["evidence"]) == ("fork", "its file says so")


def test_what_is_neither_session_nor_line_is_a_usage_error(user: User) -> None:
    answer = user.call("lineage", "nope")
    assert answer.status == 64
    assert "neither a session" in answer.err
    assert user.call("lineage").status == 64


def test_a_line_without_sessions_says_so(user: User) -> None:
    user.start()
    assert user.call("lineage").out == "This line has no session yet.\n"
