"""`rigline workstreams`: lists, shows, renames, and tells what happened when."""

from __future__ import annotations

import subprocess

import pytest

from rigline.model import Checkpoint, Delivery
from rigline.readable import measure
from tests.integration.cli.conftest import MINUTE_MS, User


def test_a_checkout_without_lines_says_what_to_type(user: User) -> None:
    answer = user.call("workstreams")
    assert answer.status == 0
    assert "rigline run claude" in answer.out
    assert user.call("workstreams", "--json").value == {"workstreams": []}


def test_the_current_line_comes_first_with_its_harnesses_and_events(user: User) -> None:
    first = user.start()
    user.say(user.bind(first, "aaaa1111-0000"), "hello", "again")
    user.ledger.finish(first.run, 0, None)
    second = user.start("codex", new="parser")
    user.say(user.bind(second, "bbbb2222-0000"), "hi")
    lines = user.call("workstreams").lines
    assert "parser" in lines[1]
    assert lines[1].startswith("* ")
    assert "codex" in lines[1]
    assert "1 event " in lines[1]
    assert "main" in lines[2]
    assert not lines[2].startswith("*")
    assert "2 events" in lines[2]


def test_json_tells_times_with_their_zone(user: User) -> None:
    grant = user.start()
    (row,) = user.call("workstreams", "--json").value["workstreams"]
    assert row["id"] == grant.workstream.id
    assert row["is_current"] is True
    assert row["created"] == "2026-03-31T08:00:00.000Z"
    assert row["created_ms"] == user.clock.now_ms


def test_lines_of_another_checkout_are_shown_with_all_only(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.start(new="first")
    elsewhere = user.checkout.parent / "other"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    user.start(new="there")
    assert "first" not in user.call("workstreams").out
    told = user.call("workstreams", "--all")
    assert told.out.count("* ") == 2
    assert str(user.checkout) in told.out
    assert str(elsewhere) in told.out


def test_a_line_is_renamed_by_name_and_the_former_name_is_gone(user: User) -> None:
    user.start()
    assert user.call("workstreams", "rename", "main", "parser").out == "main is now parser.\n"
    assert user.call("workstreams", "rename", "parser", "parser").out == "Its name is parser already.\n"
    refused = user.call("workstreams", "show", "main")
    assert refused.status == 64
    assert "This checkout has: parser" in refused.err


def test_a_taken_name_is_refused(user: User) -> None:
    grant = user.start()
    user.ledger.finish(grant.run, 0, None)
    user.start(new="parser")
    refused = user.call("workstreams", "rename", "parser", "main", "--json")
    assert refused.status == 64
    assert refused.value["error"]["code"] == "workstream_exists"


def test_an_unknown_line_gets_the_nearest_name(user: User) -> None:
    user.start(new="parser-rewrite")
    refused = user.call("workstreams", "show", "parser-rewrit")
    assert refused.status == 64
    assert "did you mean 'parser-rewrite'" in refused.err


def test_a_line_is_found_by_the_beginning_of_its_id_from_any_checkout(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = user.start()
    monkeypatch.chdir(user.checkout.parent)
    assert user.call("workstreams", "show", grant.workstream.id[:12]).out.startswith("main  ")


def test_an_ambiguous_beginning_lists_the_candidates(user: User) -> None:
    ids = []
    for name in ("one", "two"):
        grant = user.start(new=name)
        user.ledger.finish(grant.run, 0, None)
        ids.append(grant.workstream.id)
    refused = user.call("workstreams", "show", ids[0][:3], "--json")
    assert refused.status == 64
    assert sorted(refused.value["error"]["ids"]) == sorted(ids)


def test_show_tells_all_that_is_known(user: User) -> None:
    grant = user.start()
    first = user.bind(grant, "aaaa1111-0000", title="A tricky parser\x1b[31m")
    user.keep(first, user.make_event(first, "hello"), losses={"hidden_reasoning": 2, "redacted:github_token": 1})
    second = user.bind(grant, "aaaa2222-0000", created_via="clear")
    user.say(second, "more")
    user.ledger.record_checkpoint(grant.run, "start", Checkpoint(at_ms=user.clock.now_ms, head="f" * 40, branch="main"))
    user.ledger.offer(grant.run, Delivery(id="d1", native_id=second.native_id, parts=2, through={}))
    answer = user.call("workstreams", "show")
    assert answer.status == 0
    for fact in (
        "claude-code (pid 100 on host-1)",
        "1 secret replaced (github token 1)",
        "2 pieces of hidden reasoning left out",
        "A tricky parser",
        "chosen at the launch (clear)",
        "Former sessions",
        "aaaa1111",
        "running",
        "ffffffffff on main, clean",
        "2 parts",
    ):
        assert fact in answer.out
    assert "\x1b" not in answer.out
    assert max(measure(line) for line in answer.lines) <= 80


def test_show_as_json_has_every_part(user: User) -> None:
    grant = user.start()
    user.say(user.bind(grant, "aaaa1111-0000"), "hello")
    told = user.call("workstreams", "show", "main", "--json").value
    assert told["holder"]["pid"] == 100
    assert told["events_by_kind"] == {"message": 1}
    assert [each["native_id"] for each in told["sessions"]] == ["aaaa1111-0000"]
    assert told["former_sessions"] == told["checkpoints"] == told["unconfirmed_deliveries"] == []
    assert told["runs"][0]["state"] == "active"
    assert told["runs"][0]["started"].endswith("Z")


def test_json_may_stand_before_the_verb_as_well(user: User) -> None:
    user.start()
    assert user.call("workstreams", "--json", "show").value["name"] == "main"


def test_history_tells_runs_and_sessions_in_time(user: User) -> None:
    grant = user.start()
    info = user.bind(grant, "aaaa1111-0000")
    user.say(info, "one", "two")
    user.ledger.finish(grant.run, 3, None)
    user.clock.advance(MINUTE_MS)
    user.start("codex")
    lines = user.call("workstreams", "history").lines
    assert [line.split()[2] for line in lines] == ["claude-code", "claude-code", "codex"]
    assert "exit 3, 2 min" in lines[0]
    assert "2 events" in lines[0]
    assert "session aaaa1111" in lines[1]
    assert "running" in lines[2]


def test_history_is_limited_to_the_newest_and_says_what_is_left(user: User) -> None:
    for _ in range(4):
        user.ledger.finish(user.start().run, 0, None)
        user.clock.advance(MINUTE_MS)
    answer = user.call("workstreams", "history", "--limit", "3")
    assert answer.lines[0].startswith("1 earlier row not shown")
    assert len(answer.lines) == 4
    assert user.call("workstreams", "history", "--limit", "1", "--json").value["left_out"] == 3


@pytest.mark.parametrize(
    "words",
    [
        ("workstreams", "--lal"),
        ("workstreams", "shwo"),
        ("workstreams", "history", "--limit", "0"),
        ("workstreams", "rename", "main"),
        ("workstreams", "--all", "show"),
    ],
)
def test_what_is_not_understood_is_a_usage_error(user: User, words: tuple[str, ...]) -> None:
    answer = user.call(*words)
    assert answer.status == 64
    assert answer.out == ""
    assert answer.err.startswith("rigline: ")


def test_help_fits_the_terminal_and_has_examples(user: User) -> None:
    answer = user.call("workstreams", "--help")
    assert answer.status == 0
    assert "examples:" in answer.out
    assert max(map(len, answer.lines)) <= 80


def test_a_corrupt_ledger_is_named_with_what_repairs_it(user: User) -> None:
    user.start()
    user.close()
    database = user.home / "ledger.db"
    for path in (database, database.with_suffix(".db-wal")):
        if path.exists():
            path.write_bytes(b"this is no database at all, it only has the name of one" * 100)
    answer = user.call("workstreams")
    assert answer.status == 69
    assert str(database) in answer.err
    assert "rigline recover --from-segments" in answer.err


def test_a_subdirectory_is_in_the_same_checkout(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.start()
    (user.checkout / "src").mkdir()
    monkeypatch.chdir(user.checkout / "src")
    assert "main" in user.call("workstreams").out


def test_a_clone_is_another_checkout(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.start()
    clone = user.checkout.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(user.checkout), str(clone)], check=True, capture_output=True)
    monkeypatch.chdir(clone)
    assert "No line of work" in user.call("workstreams").out
