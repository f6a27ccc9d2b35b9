"""What Command Code's command lines mean, how rigline adds to them, and what its entries say (1.64.0)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fixtures.command_code_store import entry, message

from rigline.harness.base import Classification, HookDefinition, LaunchRequest, Mode, NativePlan
from rigline.harness.command_code import CommandCode
from rigline.harness.command_code_store import extract
from rigline.model import Kind

ID = "9a175d55-26ce-4385-829d-354e1e0a04ae"
HOOKS = HookDefinition(commands=("hook --part 1",))


def classify(*args: str) -> Classification:
    return CommandCode().classify(args)


def plan(*args: str, resume: str | None = None, yolo: bool = False, hooks: HookDefinition | None = None) -> NativePlan:
    harness = CommandCode()
    request = LaunchRequest(
        args=args,
        classification=harness.classify(args),
        resume_id=resume,
        yolo=yolo,
        hooks=hooks,
        private_dir="/private",
    )
    return harness.plan(request)


@pytest.mark.parametrize(
    "line", ["--help", "-v", "--list-models", "--ide-setup", "-w", "--worktree fix -p x", "mods list", "-m x login"]
)
def test_what_starts_no_session_here_passes_through(line: str) -> None:
    found = classify(*line.split())
    assert found.mode is Mode.PASSTHROUGH
    assert found.reason
    assert plan(*line.split(), hooks=HOOKS, yolo=True).args == tuple(line.split())


@pytest.mark.parametrize("args", [("a prompt",), ("-m", "--help"), ("fix", "login"), ("--name", "status", "x")])
def test_a_value_or_a_prompt_is_no_flag_and_no_command(args: tuple[str, ...]) -> None:
    assert classify(*args).mode is Mode.SESSION


@pytest.mark.parametrize("args", [("-p", "x"), ("--print",), ("-tp", "x"), ("--print=x",)])
def test_print_takes_no_terminal(args: tuple[str, ...]) -> None:
    assert not classify(*args).interactive


@pytest.mark.parametrize(
    ("args", "native_id"),
    [
        (("-r", ID), ID),
        (("--resume", ID, "go on"), ID),
        ((f"--resume={ID}",), ID),
        (("--sessions", ID), ID),
        (("--session", ID), ID),
        (("--session", ID[:8]), None),
        (("--session", f"/x/{ID}.jsonl"), None),
        (("-r",), None),
        (("-r", "auth refactor"), None),
        (("-c",), None),
    ],
)
def test_the_user_s_choice_of_a_session(args: tuple[str, ...], native_id: str | None) -> None:
    selector = classify(*args).selector
    assert selector is not None
    assert selector.native_id == native_id


def test_an_option_that_only_forks_chooses_nothing() -> None:
    found = classify("--fork-session", "go on")
    assert found.selector is None
    assert found.forks
    planned = plan("--fork-session", "go on", resume=ID)
    assert planned.args == ("--resume", ID, "--fork-session", "go on")
    assert planned.expected_id is None


def test_ours_stand_in_front_and_never_use_the_option_that_resumes_anywhere() -> None:
    planned = plan("-p", "x", resume=ID, yolo=True, hooks=HOOKS)
    assert planned.args == ("--yolo", "--mod", "/private/mods/rigline.mjs", "--resume", ID, "-p", "x")
    assert planned.expected_id == ID
    assert planned.has_hooks
    assert '["hook --part 1"]' in planned.files["mods/rigline.mjs"]


@pytest.mark.parametrize("given", ["--plan", "--accept-edits", "--permission-mode=standard", "--auto-accept"])
def test_yolo_never_widens_a_narrower_choice(given: str) -> None:
    planned = plan(given, yolo=True)
    assert planned.args == (given,)
    assert given.partition("=")[0] in planned.notes[0]


@pytest.mark.parametrize("given", ["--yolo", "--dangerously-skip-permissions"])
def test_yolo_is_said_once(given: str) -> None:
    assert plan(given, yolo=True).args == (given,)


def test_a_run_that_keeps_nothing_is_known() -> None:
    assert classify("--no-session", "-p", "x").skips_persistence


def words(record: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    return [(piece.kind, piece.role, piece.text) for item in extract(record, 0) for piece in item.pieces]


@pytest.mark.parametrize("source", ["user", "steering", "followup"])
def test_what_was_typed_while_it_worked_is_the_user_s(source: str) -> None:
    assert words(message("user", "go left", source=source)) == [(Kind.MESSAGE, "user", "go left")]


def test_a_message_of_an_older_format_without_a_note_of_its_source_is_what_its_role_says() -> None:
    assert words(message("user", "hello")) == [(Kind.MESSAGE, "user", "hello")]


@pytest.mark.parametrize(
    ("record", "loss"),
    [
        (message("user", "x", source="user", isMeta=True), "meta"),
        (message("user", "x", source="stop_hook"), "meta"),
        (message("user", "Error: 429 Requests", messageId="1"), "api_error"),
        (message("user", "x", messageId="1"), "meta"),
        (message("system", "x"), "system_prompt"),
        (entry("custom_message", content="x"), "meta"),
        (entry("novelty"), "unknown:novelty"),
        (message("assistant", {"type": "novelty"}), "unknown:novelty"),
    ],
)
def test_what_is_left_out_is_counted(record: dict[str, Any], loss: str) -> None:
    (item,) = extract(record, 0)
    assert item.losses == (loss,)
    assert not item.pieces


def test_a_marker_that_a_person_pasted_confirms_nothing() -> None:
    marker = "[rigline packet abcdefghij0123456789klmnop part 1/1]"
    (typed,) = extract(message("user", marker, source="user"), 0)
    (shown,) = extract(message("user", marker, source="mod:rigline", isMeta=True), 0)
    assert not typed.packets
    assert shown.packets == (("abcdefghij0123456789klmnop", 1, 1),)
    assert not shown.pieces


def test_compactions_left_branches_and_titles_are_read() -> None:
    assert words(entry("compaction", summary="short", firstKeptEntryId="1")) == [(Kind.COMPACTION, None, "short")]
    assert words(entry("branch_summary", summary="left", fromId="1")) == [(Kind.MESSAGE, "assistant", "left")]
    (item,) = extract(entry("session_info", name="the parser"), 0)
    assert item.title == "the parser"


def test_equal_short_ids_in_strangers_files_are_no_copies() -> None:
    one, other = ({**message("user", "x", source="user"), "id": "0000000a"} for _ in range(2))
    assert extract(one, 0)[0].copy_key != extract(other, 0)[0].copy_key
    assert extract(one, 0)[0].copy_key == extract(dict(one), 0)[0].copy_key
