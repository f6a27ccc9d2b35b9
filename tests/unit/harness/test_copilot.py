"""GitHub Copilot CLI's command line, launch plan and events, by tables."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.fixtures.copilot_store import COPILOT, event, result, user
from tests.fixtures.records import MARKER

from rigline.harness.base import HookDefinition, HookEvent, LaunchRequest, Mode
from rigline.harness.copilot import Copilot
from rigline.harness.copilot_events import KNOWN
from rigline.harness.copilot_records import extract
from rigline.model import Kind

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "22222222-2222-4333-8444-555555555555"
HOOKS = HookDefinition(commands=("hook --part 1",))
copilot = Copilot()


def request(*args: str, **more: Any) -> LaunchRequest:
    return LaunchRequest(args=args, classification=copilot.classify(args), private_dir="/private/run", **more)


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("-p", "hello"), Mode.SESSION, False),
        (("-i", "hello"), Mode.SESSION, True),
        (("--prompt=hello", "--allow-tool", "write", "shell(git:*)", "-s"), Mode.SESSION, False),
        (("-p", "plugin"), Mode.SESSION, False),
        (("plugin", "list"), Mode.PASSTHROUGH, True),
        (("help", "environment"), Mode.PASSTHROUGH, True),
        (("sessions", "import", "x.jsonl"), Mode.PASSTHROUGH, True),
        (("--acp",), Mode.PASSTHROUGH, True),
        (("--connect", ONE), Mode.PASSTHROUGH, True),
        (("--version",), Mode.PASSTHROUGH, True),
    ],
)
def test_a_command_line_is_taken_for_what_it_is(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = copilot.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("args", "words", "native_id"),
    [
        (("--resume", ONE), ("--resume", ONE), ONE),
        ((f"--resume={ONE}",), (f"--resume={ONE}",), ONE),
        (("-r", ONE, "-p", "x"), ("-r", ONE), ONE),
        ((f"-r{ONE}",), (f"-r{ONE}",), ONE),
        (("--resume",), ("--resume",), None),
        (("--resume=my feature",), ("--resume=my feature",), None),
        (("--resume=1111111",), ("--resume=1111111",), None),
        (("--continue",), ("--continue",), None),
        (("--session-id", ONE), ("--session-id", ONE), ONE),
    ],
)
def test_the_users_choice_of_a_session_is_seen(
    args: tuple[str, ...], words: tuple[str, ...], native_id: str | None
) -> None:
    selector = copilot.classify(args).selector
    assert selector is not None
    assert (selector.words, selector.native_id, selector.forks) == (words, native_id, False)


def test_a_prompt_that_looks_like_a_selector_chooses_nothing() -> None:
    assert copilot.classify(("-p", "resume", "--name", "continue")).selector is None


def test_a_fresh_session_gets_our_id_and_a_bound_one_is_resumed_in_one_word() -> None:
    fresh = copilot.plan(request("-p", "x", fresh_id=TWO))
    assert (fresh.args, fresh.expected_id) == (("--session-id", TWO, "-p", "x"), TWO)
    resumed = copilot.plan(request("-p", "x", resume_id=ONE))
    assert (resumed.args, resumed.expected_id) == ((f"--resume={ONE}", "-p", "x"), ONE)


def test_the_hook_is_a_plugin_of_the_run_s_own_folder_and_nothing_secret_is_on_the_command_line() -> None:
    plan = copilot.plan(request("-p", "x", hooks=HOOKS, packet=("CANARY",)))
    assert plan.args == ("--plugin-dir", "/private/run/copilot-plugin", "-p", "x")
    assert plan.has_hooks
    hooks = json.loads(plan.files["copilot-plugin/hooks/hooks.json"])["hooks"]
    assert [each["bash"] for each in hooks["userPromptSubmitted"]] == ["hook --part 1"]
    assert json.loads(plan.files["copilot-plugin/plugin.json"])["hooks"] == "hooks/hooks.json"
    assert "CANARY" not in repr(plan)
    assert copilot.hook_event is HookEvent.FIRST_PROMPT


def test_an_own_continue_is_kept_with_a_word_about_what_it_may_do() -> None:
    plan = copilot.plan(request("--continue", "-p", "x"))
    assert plan.args == ("--continue", "-p", "x")
    assert "newest of any other" in plan.notes[0]


@pytest.mark.parametrize(
    ("args", "expected", "is_noted"),
    [
        (("-p", "x"), ("--allow-all", "-p", "x"), False),
        (("--yolo", "-p", "x"), ("--yolo", "-p", "x"), False),
        (("--allow-all-tools", "-p", "x"), ("--allow-all-tools", "-p", "x"), True),
        (("--deny-tool", "shell", "-p", "x"), ("--deny-tool", "shell", "-p", "x"), True),
        (("--deny-url=x.example",), ("--deny-url=x.example",), True),
    ],
)
def test_yolo_never_widens_a_choice_of_the_user_s(
    args: tuple[str, ...], expected: tuple[str, ...], is_noted: bool
) -> None:
    plan = copilot.plan(request(*args, yolo=True))
    assert (plan.args, bool(plan.notes)) == (expected, is_noted)


def test_a_hook_names_its_session_in_the_program_s_spelling() -> None:
    found = copilot.read_observation({"sessionId": ONE, "cwd": "/home/dev/project", "prompt": "x"})
    assert found is not None
    assert (found.native_id, found.cwd) == (ONE, "/home/dev/project")
    assert copilot.read_observation({"session_id": ONE}) is None
    assert json.loads(copilot.write_hook_answer('a "b"\n')) == {"additionalContext": 'a "b"\n'}


def test_every_type_of_event_that_the_schema_names_is_known() -> None:
    assert frozenset((COPILOT / "event_types.txt").read_text().split()) <= KNOWN


@pytest.mark.parametrize(
    ("record", "losses"),
    [
        (event("session.idle"), ()),
        (event("session.from_the_future"), ("unknown:session.from_the_future",)),
        (event("x" * 60), ("unknown:other",)),
        ({"type": 7, "id": [], "data": "x"}, ("unknown:other",)),
        (
            user("x", attachments=[{"type": "file"}, {"type": "blob"}, 7]),
            ("attachment_file", "attachment_blob", "attachment_file"),
        ),
        (user("go on", isAutopilotContinuation=True), ("meta",)),
        (event("user.message", None, {"agentId": "a"}, content="x"), ("sidechain",)),
        (event("assistant.message", content="x", parentToolCallId="t"), ("sidechain",)),
        (user("x", f"x\n<system_reminder>\n{MARKER}\nold\n</system_reminder>"), ("own_packet",)),
    ],
)
def test_what_is_left_out_is_counted_by_kind(record: dict[str, Any], losses: tuple[str, ...]) -> None:
    (item,) = extract(record, 7)
    assert item.losses == losses


def test_a_packet_behind_a_prompt_is_seen_and_only_the_typed_words_are_history() -> None:
    (item,) = extract(user("fix it", f"fix it\n\n<system_reminder>\n{MARKER}\nold\n</system_reminder>"), 0)
    assert item.packets == (("abcdefghij0123456789klmnop", 1, 1),)
    assert [piece.text for piece in item.pieces] == ["fix it"]
    assert item.is_prompt


@pytest.mark.parametrize(
    ("record", "status"),
    [
        (result("c", "fine", shellExecution={"exitCode": 0}), None),
        (result("c", "broken", shellExecution={"exitCode": 3}), "error"),
        (result("c", "broken", success=False), "error"),
        (result("c", "fine"), None),
    ],
)
def test_a_tool_s_failure_is_told(record: dict[str, Any], status: str | None) -> None:
    (piece,) = extract(record, 0)[0].pieces
    assert (piece.kind, piece.call_id, piece.status) == (Kind.TOOL_RESULT, "c", status)


def test_calls_of_one_answer_are_pieces_of_their_own() -> None:
    calls = [{"toolCallId": f"c{number}", "name": "bash", "arguments": {"command": "ls"}} for number in (1, 2)]
    (item,) = extract(event("assistant.message", content="Looking.", toolRequests=calls), 0)
    assert [(piece.kind, piece.block, piece.call_id) for piece in item.pieces] == [
        (Kind.MESSAGE, 0, None),
        (Kind.TOOL_CALL, 1, "c1"),
        (Kind.TOOL_CALL, 2, "c2"),
    ]
    assert item.pieces[1].text == 'bash {"command":"ls"}'


def test_a_failed_compaction_is_no_summary() -> None:
    done, failed = (event("session.compaction_complete", success=ok, summaryContent="short") for ok in (True, False))
    assert [piece.kind for piece in extract(done, 0)[0].pieces] == [Kind.COMPACTION]
    assert not extract(failed, 0)[0].pieces
