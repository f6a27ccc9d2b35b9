"""`rigline log` tells a line as it happened."""

from __future__ import annotations

import pytest

from rigline.model import Checkpoint, Kind
from rigline.readable import measure
from tests.integration.cli.conftest import User


def test_a_line_is_told_with_its_sessions_turns_tools_and_marks(user: User) -> None:
    grant = user.start()
    claude = user.bind(grant, "aaaa1111-0000", title="The parser")
    checkpoint = Checkpoint(at_ms=user.clock.now_ms, head="a" * 40, branch="main")
    user.ledger.record_checkpoint(grant.run, "start", checkpoint)
    call = user.make_event(claude, '{"command": "pytest"}', kind=Kind.TOOL_CALL, tool="Bash", call_id="c1")
    result = user.make_event(claude, "1 failed\n", kind=Kind.TOOL_RESULT, tool="Bash", call_id="c1", status="error")
    said = user.make_event(claude, "It fails.", role="assistant")
    summary = user.make_event(claude, "What was done", kind=Kind.COMPACTION)
    user.keep(claude, call, result, said, summary, losses={"hidden_reasoning": 3})
    user.ledger.finish(grant.run, 0, None)
    codex = user.bind(user.start("codex"), "bbbb2222-0000")
    user.say(codex, "go on")
    answer = user.call("log")
    assert answer.status == 0
    assert answer.lines == [
        "2026-03-31",
        "08:00  ── start of a run of claude-code: aaaaaaaaaa on main, clean",
        "",
        "── claude-code aaaa1111  The parser",
        '08:01  [Bash]  {"command": "pytest"}  → error, 1 line',
        "08:03  assistant",
        "       It fails.",
        "08:04  ══ compaction: what came before was summarised ══",
        "       What was done",
        "",
        "── codex bbbb2222",
        "08:05  user",
        "       go on",
        "",
        "Not in this history:",
        "- 3 pieces of hidden reasoning left out",
    ]


def test_the_last_events_are_shown_and_what_is_left_out_is_said(user: User) -> None:
    info = user.bind(user.start(), "aaaa1111-0000")
    user.say(info, *[f"number {n}" for n in range(10)])
    answer = user.call("log", "--limit", "3")
    assert [line.strip() for line in answer.lines if "number" in line] == ["number 7", "number 8", "number 9"]
    assert "7 earlier events not shown" in answer.err
    told = user.call("log", "--limit", "3", "--json").value
    assert told["left_out"] == 7
    assert [event["text"] for event in told["events"]] == ["number 7", "number 8", "number 9"]
    assert told["events"][0]["at"].endswith("Z")


def test_since_leaves_out_what_was_said_before(user: User) -> None:
    info = user.bind(user.start(), "aaaa1111-0000")
    user.say(info, "early", "late")
    out = user.call("log", "--since", "2026-03-31T08:02:00Z").out
    assert "late" in out
    assert "early" not in out
    assert user.call("log", "--since", "2027-01-01").out == "Nothing was said since then.\n"


def test_an_abandoned_branch_is_named(user: User) -> None:
    info = user.bind(user.start(), "aaaa1111-0000")
    first = user.make_event(info, "first", record="t1", turn="t1")
    left = user.make_event(info, "left behind", record="t2", turn="t2", parent_turn="t1")
    kept = user.make_event(info, "taken instead", record="t3", turn="t3", parent_turn="t1")
    user.keep(info, first, left, kept)
    lines = user.call("log").lines
    assert lines[lines.index("       left behind") - 1] == "08:02  user (abandoned branch)"
    assert lines[lines.index("       taken instead") - 1] == "08:03  user"


def test_a_session_is_told_even_when_it_is_on_no_line(user: User) -> None:
    user.say(user.make_info("cccc3333-0000", "codex"), "alone")
    assert "alone" in user.call("log", "--session", "cccc").out
    told = user.call("log", "--session", "cccc", "--json").value
    assert told["workstream"] is None
    assert told["left_out"] == 0


def test_an_unknown_session_and_an_empty_checkout_are_usage_errors(user: User) -> None:
    assert user.call("log", "--session", "nope").status == 64
    answer = user.call("log")
    assert answer.status == 64
    assert "rigline run claude" in answer.err


def test_an_ambiguous_session_lists_its_candidates(user: User) -> None:
    for name in ("aaaa1111-0000", "aaaa1111-1111"):
        user.say(user.make_info(name), "x")
    answer = user.call("log", "--session", "aaaa", "--json")
    assert answer.status == 64
    assert answer.value["error"]["ids"] == ["claude-code aaaa1111-0000", "claude-code aaaa1111-1111"]


def test_a_line_without_events_says_so(user: User) -> None:
    user.start()
    assert user.call("log").out == "Nothing was said here yet.\n"


def test_whatever_was_said_fits_the_terminal_and_cannot_drive_it(user: User) -> None:
    info = user.bind(user.start(), "aaaa1111-0000", title="\x1b]0;title\x07" * 9)
    user.say(info, "\x1b[2J" + "x" * 500, "日本語 " * 100)
    for tools in ("full", "short", "none"):
        answer = user.call("log", "--tools", tools)
        assert all(line.isprintable() for line in answer.lines)
        assert max(map(measure, answer.lines)) <= 80


def test_inside_an_agent_its_own_line_is_told(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    own = user.start()
    user.say(user.bind(own, "aaaa1111-0000"), "said on the agent's own line")
    user.ledger.finish(own.run, 0, None)
    user.say(user.bind(user.start("codex", new="other"), "bbbb2222-0000"), "said on the current line")
    assert "on the current line" in user.call("log").out
    monkeypatch.setenv("RIGLINE_WORKSTREAM_ID", own.workstream.id)
    assert "on the agent's own line" in user.call("log").out
