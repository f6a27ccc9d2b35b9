"""What of a Claude Code record is history, and what is left out."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.claude_store import (
    CANARIES,
    DELIVERY,
    assistant,
    attachment,
    canary_records,
    record,
    result,
    text,
    user,
)

from rigline.harness.claude_fields import find_title, is_clear_command
from rigline.harness.claude_records import Extract, extract
from rigline.harness.claude_typed import Typed, drop_last_reminders, drop_reminders, read_typed
from rigline.harness.markers import find_markers
from rigline.harness.windows import parse_time_ms
from rigline.model import Kind

ID = "0b7e3a52-5b0c-4c36-9a55-3f0d9a1f6c11"
CALL = "toolu_01abcdefghij0123456789"
MARKER = f"[rigline packet {DELIVERY} part 2/3]"


def typed(content: Any, **more: Any) -> Extract:
    return extract(user(ID, "u", None, content, **more))


def words(found: Extract) -> list[tuple[str, str | None, str]]:
    return [(piece.kind, piece.role, piece.text) for piece in found.pieces]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("fix the bug", Typed("fix the bug")),
        ("  leading and trailing \n", Typed("  leading and trailing \n")),
        (" \n ", Typed("")),
        ("<command-name>/exit</command-name>\n<command-message>exit</command-message>", Typed("", True)),
        ("<local-command-stdout>See ya!</local-command-stdout>", Typed("", True)),
        ("<local-command-caveat>Caveat: ...</local-command-caveat>", Typed("", True)),
        ("<system-reminder>x</system-reminder>", Typed("", True)),
        ("<system-reminder>x</system-reminder>\n<system-reminder>y</system-reminder>\n", Typed("", True)),
        ("<system-reminder>x</system-reminder>\nand then a question", Typed("and then a question", True)),
        ("<system-reminder>never closed, and a question", Typed("", True)),
        ("[Request interrupted by user]", Typed("", True)),
        ("[Request interrupted by user for tool use]", Typed("", True)),
        ("[Request interrupted by user] is what I saw", Typed("[Request interrupted by user] is what I saw")),
        ("<ide_opened_file>x.py</ide_opened_file>", Typed("", True)),
        ("<task-notification>done</task-notification>", Typed("", True)),
        (
            "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n"
            "<command-args>the bug</command-args>",
            Typed("/fix the bug"),
        ),
        ("<command-message>fix</command-message>\n<command-name>/fix</command-name>", Typed("/fix")),
        ("<bash-input>make test</bash-input>", Typed("! make test")),
        (
            "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>",
            Typed("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", False, True),
        ),
        ("a <system-reminder> in the middle", Typed("a <system-reminder> in the middle")),
    ],
)
def test_what_a_person_typed(written: str, expected: Typed) -> None:
    assert read_typed(written) == expected


def test_reminders_are_taken_out_of_summaries_and_from_behind_outputs() -> None:
    summary = typed("Summary.\n<system-reminder>\nx\n</system-reminder>\nGo on.", isCompactSummary=True)
    assert words(summary) == [(Kind.COMPACTION, None, "Summary.\n\nGo on.")]
    assert summary.losses == ["meta"]
    output = "line\n\n<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n"
    found = typed([result(CALL, output)])
    assert (words(found), found.losses) == ([(Kind.TOOL_RESULT, "tool", "line")], ["meta"])
    quoted = "a <system-reminder>in a file</system-reminder> that was read\n"
    assert words(typed([result(CALL, quoted)])) == [(Kind.TOOL_RESULT, "tool", quoted)]
    for broken in ("x</system-reminder>", "<system-reminder>x", "</system-reminder><system-reminder>"):
        assert drop_last_reminders(broken) == broken
        assert drop_reminders(broken) == broken


@pytest.mark.parametrize(
    "text",
    [
        " " * 300_000,
        "<system-reminder>" * 30_000,
        "<system-reminder></system-reminder> " * 30_000 + "x",
        "<command-message>" + "</command-message><command-name></command-name>" * 10_000,
        "<bash-input>" + "</bash-input> " * 20_000 + "x",
    ],
    ids=["blanks", "openings", "reminders", "commands", "shell"],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    for read in (read_typed, drop_reminders, drop_last_reminders, find_markers):
        read(text)
    assert time.process_time() - began < 1


def test_typed_words_begin_a_turn_and_results_do_not() -> None:
    assert typed("hello").is_prompt
    assert typed([text("hello")]).is_prompt
    assert not typed([result(CALL, "out")]).is_prompt
    assert not typed("hello", isMeta=True).is_prompt
    assert not typed("<command-name>/clear</command-name>").is_prompt


def test_text_of_a_user_comes_as_a_string_or_in_blocks() -> None:
    assert words(typed("one")) == [(Kind.MESSAGE, "user", "one")]
    found = typed([text("one"), text(" "), text("two")])
    assert [(piece.block, piece.text) for piece in found.pieces] == [(0, "one"), (2, "two")]


def test_an_answer_gives_text_and_calls_and_hides_thinking() -> None:
    thinking = {"type": "thinking", "thinking": "secret", "signature": "s"}
    call = {"type": "tool_use", "id": CALL, "name": "Bash", "input": {"command": "echo ü", "n": 1}}
    found = extract(assistant(ID, "a", None, thinking, text("Running it."), call, {"type": "redacted_thinking"}))
    assert words(found) == [
        (Kind.MESSAGE, "assistant", "Running it."),
        (Kind.TOOL_CALL, "assistant", 'Bash {"command":"echo ü","n":1}'),
    ]
    assert found.losses == ["hidden_reasoning", "hidden_reasoning"]
    assert (found.pieces[1].tool, found.pieces[1].call_id, found.pieces[1].status) == ("Bash", CALL, None)


def test_results_carry_their_call_and_their_failure() -> None:
    found = typed([result(CALL, "no such file", is_error=True), result("call_1", [text("a"), text("b")])])
    failed, fine = found.pieces
    assert (failed.kind, failed.call_id, failed.status, failed.role) == (Kind.TOOL_RESULT, CALL, "error", "tool")
    assert (fine.text, fine.status, fine.block) == ("a\nb", None, 1)


def test_an_empty_result_still_tells_that_the_tool_ended() -> None:
    assert words(typed([result(CALL, None)])) == [(Kind.TOOL_RESULT, "tool", "")]


def test_a_large_output_is_kept_as_the_model_saw_it() -> None:
    shown = "<persisted-output>\nOutput too large (340.7KB). Full output saved to: /x\n</persisted-output>"
    assert words(typed([result(CALL, shown)])) == [(Kind.TOOL_RESULT, "tool", shown)]


@pytest.mark.parametrize("content", [MARKER, f"  1\t{MARKER}\n", f"<persisted-output>\nPreview: {MARKER}"])
def test_a_result_that_repeats_our_packet_is_not_history(content: str) -> None:
    found = typed([result(CALL, content)])
    assert found.pieces == []
    assert found.losses == ["own_packet"]
    assert found.packets == []


def test_pictures_are_counted() -> None:
    found = typed([{"type": "image", "source": {}}, text("look"), result(CALL, [{"type": "image"}, text("ok")])])
    assert [piece.text for piece in found.pieces] == ["look", "ok"]
    assert found.losses == ["attachment_image", "attachment_image"]


def test_compactions_are_the_flagged_summary_and_the_older_record() -> None:
    flagged = typed("This session is being continued ...", isCompactSummary=True)
    assert words(flagged) == [(Kind.COMPACTION, None, "This session is being continued ...")]
    assert not flagged.is_prompt
    older = extract({"type": "summary", "summary": "Parser moved", "leafUuid": "x"})
    assert words(older) == [(Kind.COMPACTION, None, "Parser moved")]
    assert extract(
        record("system", ID, "s", None, subtype="compact_boundary", content="Conversation compacted")
    ) == Extract([], [], [])


@pytest.mark.parametrize(
    "summary",
    ["API Error: 500", "This session is being continued from a previous one.\n\nSummary:\nAPI Error: 413 too long"],
)
def test_an_error_is_no_summary(summary: str) -> None:
    found = typed(summary, isCompactSummary=True)
    assert (found.pieces, found.losses) == ([], ["api_error"])
    about_one = typed(f"Summary:\nThe user saw this: {summary}", isCompactSummary=True)
    assert [piece.kind for piece in about_one.pieces] == [Kind.COMPACTION]


def test_a_repeated_summary_s_notice_is_no_compaction() -> None:
    found = typed("<local-command-stdout>Compacted</local-command-stdout>", repeatsCompactSummary=True)
    assert (found.pieces, found.losses) == ([], ["meta"])


def test_placeholders_errors_and_broken_off_answers_are_told_apart() -> None:
    def answer(words: str, **more: Any) -> Extract:
        return extract(
            assistant(ID, "a", None, text(words), message={"model": "<synthetic>", "id": "9afcb2ef"}, **more)
        )

    assert answer("No response requested.").losses == ["synthetic"]
    assert answer("API Error: 400", isApiErrorMessage=True).losses == ["api_error"]
    (piece,) = answer("this reply never e").pieces
    assert (piece.text, piece.status) == ("this reply never e", "interrupted")


def test_a_message_typed_while_a_tool_ran_is_a_prompt() -> None:
    found = extract(attachment(ID, "q", "p", type="queued_command", prompt="also this", commandMode="prompt"))
    assert words(found) == [(Kind.MESSAGE, "user", "also this")]
    assert found.is_prompt
    blocks = extract(attachment(ID, "q", "p", type="queued_command", prompt=[text("with"), {"type": "image"}]))
    assert words(blocks) == [(Kind.MESSAGE, "user", "with")]
    assert blocks.losses == ["attachment_image"]
    note = extract(attachment(ID, "q", "p", type="queued_command", prompt="x", commandMode="task-notification"))
    assert (note.pieces, note.losses) == ([], ["meta"])


def test_another_session_s_message_is_words_although_marked_meta() -> None:
    found = typed("Another Claude session sent a message:\nhello", isMeta=True, origin={"kind": "peer", "from": "a"})
    assert found.is_prompt
    assert typed("x", isMeta=True, origin={"kind": "human"}).losses == ["meta"]


def test_packets_are_seen_where_the_program_puts_hook_output() -> None:
    shown = extract(attachment(ID, "h", None, type="hook_additional_context", content=[f"{MARKER}\nhistory", "other"]))
    assert shown.packets == [(DELIVERY, 2, 3)]
    assert (shown.pieces, shown.losses) == ([], [])
    plain = extract(attachment(ID, "h", None, type="hook_success", content=MARKER, stdout="x"))
    assert plain.packets == [(DELIVERY, 2, 3)]


def test_a_packet_that_was_saved_to_a_file_was_not_shown() -> None:
    saved = f"<persisted-output>\nOutput too large (30KB). Full output saved to: /x\n\nPreview:\n{MARKER}\n"
    found = extract(attachment(ID, "h", None, type="hook_additional_context", content=[saved]))
    assert found.packets == []


def test_nobody_else_can_say_that_a_packet_was_shown() -> None:
    assert typed(MARKER).packets == []
    assert extract(assistant(ID, "a", None, text(MARKER))).packets == []


@pytest.mark.parametrize(
    ("given", "loss"),
    [
        ({"type": "api-request-shape"}, "system_prompt"),
        ({"type": "api-request"}, "system_prompt"),
        (attachment(ID, "x", None, type="prompt_snapshot"), "system_prompt"),
        (attachment(ID, "x", None, type="skill_listing", content="x"), "meta"),
        (attachment(ID, "x", None, type="something_new"), "unknown:something_new"),
        (attachment(ID, "x", None, type="file", content="x"), "attachment_file"),
        (record("system", ID, "x", None, subtype="local_command", content="x"), "meta"),
        (record("system", ID, "x", None, subtype="api_error"), "api_error"),
        (record("system", ID, "x", None, subtype="brand_new"), "unknown:brand_new"),
        ({"type": "brand-new"}, "unknown:brand-new"),
        ({"type": "x" * 99}, "unknown:other"),
        ({"type": ["x"]}, "unknown:other"),
        ({"type": None}, "unknown:other"),
        ({}, "unknown:other"),
        (user(ID, "x", None, [{"type": "novel"}]), "unknown:novel"),
        (user(ID, "x", None, "hi", isSidechain=True), "sidechain"),
    ],
)
def test_what_is_left_out_is_counted(given: dict[str, Any], loss: str) -> None:
    found = extract(given)
    assert found.pieces == []
    assert found.losses == [loss]


@pytest.mark.parametrize(
    "kind", ["queue-operation", "file-history-snapshot", "progress", "mode", "last-prompt", "cost-state"]
)
def test_bookkeeping_is_no_loss(kind: str) -> None:
    assert extract({"type": kind, "content": "x"}) == Extract([], [], [])


def test_a_subagent_s_own_transcript_is_read() -> None:
    given = user(ID, "x", None, "search the code", isSidechain=True)
    assert words(extract(given, is_subagent=True)) == [(Kind.MESSAGE, "user", "search the code")]


def test_copies_are_told_by_what_the_vendor_s_server_gave_out() -> None:
    message_id = "msg_0123456789abcdefghij"
    call = {"type": "tool_use", "id": CALL, "name": "Bash", "input": {}}
    one, used = extract(assistant(ID, "a", None, text("same"), call, message={"id": message_id})).pieces
    two, _ = extract(assistant("other", "b", None, text("same"), call, message={"id": message_id})).pieces
    assert one.copy_key == two.copy_key
    assert one.copy_key.startswith(f"{message_id}:")
    assert used.copy_key == CALL
    assert typed([result(CALL, "x")]).pieces[0].copy_key == f"r:{CALL}"


def test_short_ids_of_proxies_tell_no_copy() -> None:
    call = {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {}}
    found = extract(assistant(ID, "a", None, text("same"), call, message={"id": "msg_1"}))
    assert [piece.copy_key for piece in found.pieces] == ["", ""]
    assert typed([result("call_1", "x")]).pieces[0].copy_key == ""


def test_titles() -> None:
    assert find_title({"type": "custom-title", "customTitle": " parser "}) == ("parser", True)
    assert find_title({"type": "ai-title", "aiTitle": "Parser work"}) == ("Parser work", False)
    assert find_title({"type": "custom-title", "customTitle": " "}) is None
    assert find_title({"type": "user", "customTitle": "x"}) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-30T21:32:12.971Z", 1796074332971),
        ("2026-11-30T22:32:12.971+01:00", 1796074332971),
        ("2026-11-30T21:32:12.971", None),
        ("yesterday", None),
        (1796074332971, None),
        (None, None),
    ],
)
def test_times(written: object, expected: int | None) -> None:
    assert parse_time_ms(written) == expected


def test_a_clear_is_known_by_its_command() -> None:
    assert is_clear_command(user(ID, "x", None, "<command-name>/clear</command-name>\n  <command-message>clear"))
    assert not is_clear_command(user(ID, "x", None, "<command-name>/compact</command-name>"))
    assert not is_clear_command(user(ID, "x", None, "what does /clear do?"))
    assert not is_clear_command({"type": "user"})


def test_nothing_hidden_gets_into_a_text() -> None:
    texts = [piece.text for given in canary_records(ID) for piece in extract(given).pieces]
    assert texts
    assert not [text for text in texts for canary in CANARIES if canary in text]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    "type message content attachment subtype isMeta isCompactSummary isSidechain origin uuid summary prompt role id"
    " input name tool_use_id model commandMode"
)
FIELDS = st.sampled_from(NAMES.split())
TYPES = st.sampled_from(
    ["user", "assistant", "attachment", "system", "summary", "queued_command", "text", "tool_result", "tool_use"]
)


@given(st.dictionaries(FIELDS, st.one_of(JSON, TYPES, st.dictionaries(FIELDS, JSON | TYPES, max_size=4)), max_size=6))
def test_no_record_is_too_strange(given: dict[str, Any]) -> None:
    found = extract(given)
    assert all(isinstance(piece.text, str) for piece in found.pieces)
