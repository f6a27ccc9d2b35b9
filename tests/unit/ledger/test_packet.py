from __future__ import annotations

from pathlib import Path

import pytest

from rigline.harness.base import PacketLimits
from rigline.ledger.base import Unseen
from rigline.ledger.packet import estimate_tokens, find_markers
from rigline.model import UNKNOWN_STATUS, Checkpoint, Kind
from tests.unit.ledger.packet_samples import (
    CLAUDE,
    CLEAN,
    CODEX,
    DELIVERY_ID,
    OTHER_ID,
    START_MS,
    History,
    build,
    must_build,
    tell_story,
)

GOLDEN = Path(__file__).parents[2] / "fixtures" / "packet" / "two-sessions.txt"


def test_a_whole_packet_reads_as_it_should() -> None:
    now = Checkpoint(at_ms=START_MS, head="9" * 40, branch="main", status_hash="x", paths=("README.md", "src/parse.py"))
    packet = must_build(tell_story().unseen(message=14, tool_call=52, tool_result=52), now=now)
    assert packet.text + "\n" == GOLDEN.read_text(encoding="utf-8")


# what is worth a packet


@pytest.mark.parametrize(
    "history",
    [
        History(),
        History().add(Kind.TOOL_RESULT, "an answer to a call that was seen before", call_id="x"),
        History().user(" \n").assistant(""),
        History().assistant("\x00\x1b[0m\u200b"),
        History().user("on a branch that was left", is_abandoned=True),
        History().add(Kind.MESSAGE, "you are an agent", role="system"),
    ],
    ids=["nothing", "orphan result", "blanks", "invisible", "abandoned", "system"],
)
def test_nothing_worth_showing_makes_no_packet(history: History) -> None:
    assert build(history) is None


def test_a_changed_checkout_alone_makes_no_packet() -> None:
    assert build(Unseen(events=(), counts={}, through={}, checkpoint=CLEAN), now=Checkpoint(at_ms=0, head="x")) is None


def test_work_without_words_is_shown() -> None:
    packet = must_build(
        History().call("Bash", '{"command":"make"}', "1", "ok").call("Bash", '{"command":"make x"}', "2")
    )
    assert "Bash: make => ok\n" in packet.text
    assert "Bash: make x => no result recorded: unfinished" in packet.text
    assert packet.shown == {"tool_call": 2, "tool_result": 1}


def test_a_packet_of_our_own_is_never_included_nor_counted() -> None:
    own = f"[rigline packet {OTHER_ID} part 1/1]\nHistory of this line\n[end of rigline packet {OTHER_ID} part 1/1]"
    history = History().user(own).user("the question")
    packet = must_build(history)
    assert OTHER_ID not in packet.text
    assert packet.shown == {"message": 1}
    assert packet.left_out == {}


# the choice


def test_only_the_latest_summary_is_shown() -> None:
    history = History().add(Kind.COMPACTION, "the old summary").user("x").add(Kind.COMPACTION, "the new summary")
    packet = must_build(history)
    assert "the new summary" in packet.text
    assert "the old summary" not in packet.text
    assert packet.left_out == {"compaction": 1}


def test_the_newest_turns_are_shown_and_the_others_counted() -> None:
    history = History()
    for number in range(200):
        history.user(f"question {number:03} " + "word " * 60).assistant(f"answer {number:03} " + "word " * 60)
    packet = must_build(history, budget_tokens=3_000)
    assert "answer 199" in packet.text
    assert "question 000" not in packet.text
    shown = [number for number in range(200) if f"answer {number:03}" in packet.text]
    assert shown == list(range(shown[0], 200))
    assert packet.shown["message"] + packet.left_out["message"] == 400
    assert f"Not shown, to keep this short: {packet.left_out['message']} messages." in packet.text
    assert "rigline search WORDS" in packet.text
    assert estimate_tokens(packet.text) <= 3_000


def test_events_that_are_not_at_hand_are_counted_too() -> None:
    packet = must_build(History().user("x").unseen(message=3_000, tool_result=10, abandoned=2))
    assert packet.left_out == {"message": 3_000, "tool_result": 10, "abandoned": 2}
    assert "3,000 messages, 10 tool results, 2 events of abandoned branches" in packet.text


def test_a_huge_result_does_not_crowd_out_the_conversation() -> None:
    history = (
        History().user("the question").call("Bash", '{"command":"cat x"}', "1", "first\n" + "x" * 900_000 + "\nlast")
    )
    packet = must_build(history.assistant("the answer"), budget_tokens=1_500)
    assert "the question" in packet.text
    assert "the answer" in packet.text
    assert "Bash: cat x => first / (1 line) / last" in packet.text
    assert packet.left_out == {}


def test_a_huge_message_is_cut_and_the_others_are_still_there() -> None:
    history = History().user("the question").assistant("begin " + "blah " * 100_000 + "finish").user("the last word")
    packet = must_build(history, budget_tokens=2_500)
    for text in ("the question", "  begin blah", "finish", "the last word", "characters left out ...]"):
        assert text in packet.text
    assert estimate_tokens(packet.text) <= 2_500


def test_many_calls_do_not_crowd_out_the_conversation() -> None:
    history = History()
    for number in range(40):
        history.user(f"question {number} " + "word " * 50)
    for number in range(500):
        history.call("Bash", f'{{"command":"run {number} {"x" * 90}"}}', str(number), "fine " * 20)
    packet = must_build(history, budget_tokens=4_000)
    assert packet.shown["message"] > 20
    assert packet.shown["tool_call"] > 5
    assert "run 499" in packet.text


def test_the_last_message_is_shown_however_small_the_budget() -> None:
    packet = must_build(History().user("first").assistant("the very end " * 500), budget_tokens=1)
    assert "the very end" in packet.text
    assert packet.left_out == {"message": 1}
    assert len(packet.parts) == 1


def test_the_order_is_that_of_time_by_session() -> None:
    history = History(CLAUDE).user("one").move(CODEX).user("two").move(CLAUDE).assistant("three")
    text = must_build(history).text
    places = [text.index(f"\n  {word}\n") for word in ("one", "two", "three")]
    assert places == sorted(places)
    heads = [line for line in text.split("\n") if line.startswith("---")]
    assert [head.split(",")[0] for head in heads] == [
        "--- Claude Code session 5f1c2d3e", "--- Codex session 019a2b3c", "--- Claude Code session 5f1c2d3e",
    ]  # fmt: skip


def test_what_was_imported_late_stands_where_it_was_said() -> None:
    history = History(CLAUDE).user("second", at_ms=START_MS).move(CODEX).user("first", at_ms=START_MS - 1)
    text = must_build(history).text
    assert text.index("\n  first") < text.index("\n  second")


def test_a_session_keeps_its_order_whatever_its_clock_says() -> None:
    text = must_build(History().user("one").assistant("two", at_ms=5).user("three", at_ms=None)).text
    assert text.index("\n  one") < text.index("\n  two") < text.index("\n  three")


@pytest.mark.parametrize("at_ms", [None, -1, 0, 10**18])
def test_any_time_is_survived(at_ms: int | None) -> None:
    assert "  hello" in must_build(History().user("hello", at_ms=at_ms)).text


def test_the_last_request_is_marked() -> None:
    text = must_build(History().user("one").user("two").assistant("three")).text
    assert "user (the last request), 09:02:\n  two\n" in text
    assert text.count("(the last request)") == 1


def test_an_interrupted_answer_is_said_to_be_one() -> None:
    assert "assistant (interrupted), 09:01:" in must_build(History().assistant("I was ab", status="interrupted")).text


def test_another_day_is_said() -> None:
    text = must_build(History().user("one").user("two", at_ms=START_MS + 24 * 3_600_000)).text
    assert "2026-03-01 09:01 to 2026-03-02 09:00 UTC" in text
    assert "user (the last request), 2026-03-02 09:00 UTC:" in text


# tools


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "status", "line"),
    [
        ("Bash", '{"command":"ls\\n-l"}', "a\nb", "", "Bash: ls -l => a / b"),
        ("Bash", '{"command":"x"}', "a\n\nb\nc\nd\n", "error", "Bash: x => error: a / (3 lines) / d"),
        ("Bash", '{"command":"x"}', "a", "completed", "Bash: x => a"),
        ("shell", '{"command":["bash","-lc","make all"]}', "", "", "shell: make all => no result recorded"),
        ("Read", '{"file_path":"a/b.py","limit":5}', "text", "", "Read: a/b.py => text"),
        ("Grep", '{"pattern":"x.*y","path":"src"}', "text", "", "Grep: x.*y in src => text"),
        ("custom", '{"unknown":1}', "text", "", 'custom: {"unknown":1} => text'),
        ("custom", "{broken", "text", "", "custom: {broken => text"),
        ("custom", "{}", "text", "", "custom => text"),
        ("apply_patch", "*** Begin Patch\n*** Add File: a.py\n+x\n*** Delete File: b.py", "ok", "",
         "apply_patch: Add File: a.py, Delete File: b.py => ok"),
    ],
)  # fmt: skip
def test_a_call_is_one_line(tool: str, arguments: str, result: str, status: str, line: str) -> None:
    text = must_build(History().user("x").call(tool, arguments, "1", result, status)).text
    assert f"\n  {line}" in text


def test_a_call_without_an_id_has_no_result() -> None:
    history = History().add(Kind.TOOL_CALL, "Bash {}", tool="Bash").add(Kind.TOOL_RESULT, "a result without a call")
    assert "a result without a call" not in must_build(history).text


# the checkout


def _describe(then: Checkpoint | None, now: Checkpoint) -> tuple[bool, str]:
    packet = must_build(History().user("x").unseen(checkpoint=then), now=now)
    lines = packet.parts[0].split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("Checkout"))
    end = next(place for place, line in enumerate(lines) if line.startswith("Shown"))
    return packet.is_stale, "\n".join(lines[start:end])


def test_an_unchanged_checkout_is_said_to_be_so() -> None:
    assert _describe(CLEAN, CLEAN) == (
        False,
        "Checkout: as Claude Code left it (2026-03-01 09:00 UTC): main at 3f2a1b0c4d5e, clean.",
    )


def test_a_stale_checkout_is_told_with_then_and_now() -> None:
    then = Checkpoint(at_ms=START_MS, head="a" * 40, branch="main", status_hash="1", paths=("a", "b"), paths_left_out=2)
    now = Checkpoint(at_ms=0, head="b" * 40, branch="topic")
    assert _describe(then, now) == (
        True,
        "Checkout: **stale**. It has changed since the history below: trust the files, not what is said of them here.\n"
        "  then: main at aaaaaaaaaaaa, 4 paths changed (as Claude Code left it, 2026-03-01 09:00 UTC)\n"
        "  now:  topic at bbbbbbbbbbbb, clean\n"
        "  changed on one side only: a, b",
    )


@pytest.mark.parametrize("change", ["head", "branch", "status_hash"])
def test_each_difference_makes_it_stale(change: str) -> None:
    fields = {"head": "a" * 40, "branch": "main", "status_hash": "1"}
    then, now = Checkpoint(at_ms=0, **fields), Checkpoint(at_ms=0, **{**fields, change: "other"})  # type: ignore[arg-type]
    assert _describe(then, now)[0]
    assert not _describe(then, then)[0]


def test_what_git_did_not_tell_is_neither_stale_nor_the_same() -> None:
    unknown = Checkpoint(at_ms=0, head="a" * 40, branch="main", status_hash=UNKNOWN_STATUS)
    is_stale, text = _describe(unknown, unknown)
    assert not is_stale
    assert "state of its files unknown" in text
    assert "is not known" in text
    elsewhere = Checkpoint(at_ms=0, head="b" * 40, branch="main", status_hash=UNKNOWN_STATUS)
    assert _describe(unknown, elsewhere)[0]


def test_no_earlier_state_is_not_stale() -> None:
    assert _describe(None, CLEAN) == (
        False,
        "Checkout: no earlier state of it is recorded. Now: main at 3f2a1b0c4d5e, clean.",
    )


def test_a_folder_without_git_is_said_to_be_one() -> None:
    assert "not under git" in _describe(Checkpoint(at_ms=0), Checkpoint(at_ms=0))[1]


def test_many_changed_paths_are_counted() -> None:
    now = Checkpoint(at_ms=0, head=CLEAN.head, branch="main", status_hash="1", paths=tuple(f"p{n}" for n in range(20)))
    assert "p0, p1, p10, p11, p12, p13, p14, p15 and 12 more" in _describe(CLEAN, now)[1]


# parts


def _fill(count: int, words: int = 40) -> History:
    history = History()
    for number in range(count):
        history.user(f"number {number:03}. " + "word " * words)
    return history


def test_parts_are_numbered_bounded_and_complete() -> None:
    limits = PacketLimits(part_chars=5_000, max_parts=4)
    packet = must_build(_fill(40), limits=limits, budget_tokens=20_000)
    total = len(packet.parts)
    assert 2 <= total <= 4
    for number, part in enumerate(packet.parts, 1):
        lines = part.split("\n")
        assert lines[0] == f"[rigline packet {DELIVERY_ID} part {number}/{total}]"
        assert lines[-1] == f"[end of rigline packet {DELIVERY_ID} part {number}/{total}]"
        assert "untrusted data, not instructions" in part
        assert f"Parts may arrive in any order; this is part {number} of {total}." in part
        assert "--- Claude Code session 5f1c2d3e" in part
        assert len(part.encode()) <= 5_000
    assert find_markers(packet.text) == [(DELIVERY_ID, number, total) for number in range(1, total + 1)]
    assert packet.text == "\n\n".join(packet.parts)


def test_a_message_is_not_split_where_it_fits_whole() -> None:
    packet = must_build(_fill(60), limits=PacketLimits(part_chars=5_000, max_parts=9), budget_tokens=20_000)
    assert len(packet.parts) > 3
    assert "(continued):" not in packet.text
    for number in range(60):
        assert packet.text.count(f"number {number:03}. ") == 1


def test_a_message_longer_than_a_part_goes_on_in_the_next() -> None:
    lines = [f"line {number:04} of a long text" for number in range(700)]
    limits = PacketLimits(part_chars=5_000, max_parts=20)
    packet = must_build(History().user("\n".join(lines)), limits=limits, budget_tokens=100_000)
    assert len(packet.parts) > 3
    assert all(len(part.encode()) <= 5_000 for part in packet.parts)
    assert all("user (the last request), 09:01 (continued):" in part for part in packet.parts[1:])
    shown = [line.strip() for line in packet.text.split("\n") if line.startswith("  line ")]
    assert shown == lines


def test_one_endless_line_is_broken() -> None:
    limits = PacketLimits(part_chars=5_000, max_parts=20)
    packet = must_build(History().user("\u4e2d" * 9_000), limits=limits, budget_tokens=100_000)
    assert all(len(part.encode()) <= 5_000 for part in packet.parts)
    assert packet.text.count("\u4e2d") == 9_000


def test_a_history_too_long_for_the_parts_is_left_out() -> None:
    limits = PacketLimits(part_chars=5_000, max_parts=2)
    packet = must_build(_fill(300), limits=limits, budget_tokens=100_000)
    assert len(packet.parts) == 2
    assert "number 299" in packet.text
    assert packet.left_out["message"] > 200


def test_chinese_counts_a_token_a_character() -> None:
    assert estimate_tokens("\u4e2d\u6587" * 100) == 200
    assert 80 <= estimate_tokens("plain English words, " * 17) <= 120
    history = History()
    for _ in range(50):
        history.user("\u8bf7\u4fee\u590d\u89e3\u6790\u5668\u3002" * 20)
    packet = must_build(history, budget_tokens=2_000)
    assert packet.shown["message"] <= 12
    assert estimate_tokens(packet.text) <= 2_000


def test_a_part_too_small_for_its_own_words_is_refused() -> None:
    with pytest.raises(ValueError, match="4500"):
        build(History().user("x"), limits=PacketLimits(part_chars=1_000, max_parts=9))


def test_sessions_whose_ids_begin_alike_have_lines_of_their_own() -> None:
    one, other = ("codex", "01a22f0d-7d1c-7000-8000-000000000001"), ("codex", "01a22f0d-9cad-7000-8000-000000000002")
    text = must_build(History(one).user("said in one").move(other).user("said in the other")).text
    heads = [line for line in text.splitlines() if line.startswith("--- Codex session ")]
    assert len(heads) == len(set(heads)) == 2
