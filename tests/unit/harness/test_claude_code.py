"""What Claude Code's command lines mean, and how a launch is planned. Each row was seen with the real programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rigline.harness.argv import Takes, tokenize
from rigline.harness.base import Classification, HookDefinition, LaunchRequest, Mode, Selector
from rigline.harness.claude_code import ClaudeCode
from rigline.harness.claude_options import ELSEWHERE, PERMISSIONS, SKIP_PERMISSIONS, TABLE, WITHOUT_HOOKS

ID = "0b7e3a52-5b0c-4c36-9a55-3f0d9a1f6c11"
OTHER = "5f7ea69e-f07c-4037-aae0-b55edfb034a3"
HOOKS = HookDefinition(commands=("hook --part 1", "hook --part 2"))
CLAUDE = ClaudeCode()


def classify(*args: str) -> Classification:
    return CLAUDE.classify(args)


def request(*args: str, **more: object) -> LaunchRequest:
    return structs.replace(LaunchRequest(args=args, classification=classify(*args)), **more)


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("-h", "-p", "x"),
        ("--version",),
        ("-v",),
        ("a prompt", "--version"),
        ("mcp", "list"),
        ("mcp", "add", "server", "--", "npx", "-p", "package"),
        ("--model", "opus", "mcp", "list"),
        ("--", "doctor"),
        ("plugin", "install", "x"),
        ("plugins", "list"),
        ("upgrade",),
        ("project", "purge"),
        ("import",),
        ("attach", "abc"),
        ("logs", "abc", "-p"),
        ("kill", "abc"),
        ("remote-control",),
        ("--bg", "a prompt"),
        ("--background", "a prompt"),
        ("--cloud", "a task"),
        ("--init-only",),
    ],
)
def test_what_is_no_session_of_this_terminal_passes_through(args: tuple[str, ...]) -> None:
    found = classify(*args)
    assert found.mode is Mode.PASSTHROUGH
    assert found.selector is None
    assert found.reason


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("a prompt",),
        ("-p", "--", "--version"),
        ("-p", "--append-system-prompt", "--help"),
        ("--append-system-prompt", "--version", "a prompt"),
        ("--model=-p", "a prompt"),
        ("-p", "doctor"),
        ("doctor", "-p"),
        ("-p", "--", "mcp"),
        ("mcp", "--print", "list"),
        ("a prompt", "doctor"),
        ("--model", "opus", "logs", "abc"),
        ("help",),
        ("--name", "--bg", "x"),
        ("-n", "mcp"),
        ("--allowedTools", "mcp", "doctor"),
    ],
)
def test_a_value_or_prompt_that_looks_like_something_else_is_a_session(args: tuple[str, ...]) -> None:
    found = classify(*args)
    assert found.mode is Mode.SESSION
    assert found.selector is None


@pytest.mark.parametrize(
    ("args", "is_interactive"),
    [
        ((), True),
        (("-p", "x"), False),
        (("--print",), False),
        (("x", "-p"), False),
        (("-pc",), False),
        (("--system-prompt", "-p", "x"), True),
        (("--", "-p"), True),
    ],
)
def test_print_mode_is_not_interactive(args: tuple[str, ...], is_interactive: bool) -> None:
    assert classify(*args).interactive is is_interactive


@pytest.mark.parametrize(
    ("args", "selector"),
    [
        (("--resume", ID), Selector(words=("--resume", ID), native_id=ID)),
        (("-r", ID, "go on"), Selector(words=("-r", ID), native_id=ID)),
        ((f"--resume={ID}",), Selector(words=(f"--resume={ID}",), native_id=ID)),
        ((f"-r{ID}", "-p", "x"), Selector(words=(f"-r{ID}",), native_id=ID)),
        (("-pr", ID, "x"), Selector(words=("-pr", ID), native_id=ID)),
        (("x", "--resume", ID, "--allowedTools", "A", "B"), Selector(words=("--resume", ID), native_id=ID)),
        (("--resume",), Selector(words=("--resume",))),
        (("-r", "--verbose"), Selector(words=("-r",))),
        (("--resume", "my title"), Selector(words=("--resume", "my title"))),
        (("--resume", f"/x/{ID}.jsonl"), Selector(words=("--resume", f"/x/{ID}.jsonl"))),
        (("--continue",), Selector(words=("--continue",))),
        (("-c", "x"), Selector(words=("-c",))),
        (("--from-pr", "12"), Selector(words=("--from-pr", "12"))),
        (("--teleport",), Selector(words=("--teleport",))),
        (("--session-id", ID, "x"), Selector(words=("--session-id", ID), native_id=ID, is_new=True)),
        (("--resume", ID, "--fork-session"), Selector(words=("--resume", ID), native_id=ID, forks=True)),
        (("-c", "--fork-session"), Selector(words=("-c",), forks=True)),
        (
            ("--fork-session", "--session-id", OTHER, "-r", ID),
            Selector(words=("-r", ID), native_id=ID, forks=True, chosen_id=OTHER),
        ),
        (("--resume", ID, "--session-id", OTHER), Selector(words=("--resume", ID), native_id=ID)),
        (("--fork-session",), None),
        (("--system-prompt", "--resume", ID), None),
        (("--", "--resume", ID), None),
        (("-p", "--add-dir", "--continue"), None),
    ],
)
def test_selectors(args: tuple[str, ...], selector: Selector | None) -> None:
    assert classify(*args).selector == selector


def test_options_that_leave_no_trace_are_told() -> None:
    assert classify("-p", "x", "--no-session-persistence").skips_persistence
    assert not classify("-p", "--", "--no-session-persistence").skips_persistence
    for option in WITHOUT_HOOKS:
        assert classify(option, "x").skips_hooks
    for option in ("--restricted", "--setting-sources="):
        assert not classify(option, "x").skips_hooks


def test_options_are_found_where_the_program_would_take_them_for_options() -> None:
    args = ("-p", "--yolo", "--name", "--yolo", "x", "--allowedTools", "A", "--", "--yolo")
    assert CLAUDE.find_options(args) == {0, 1, 2, 5}


@pytest.mark.parametrize(
    ("args", "more", "expected", "expected_id"),
    [
        (("x",), {}, ("x",), None),
        (("x",), {"fresh_id": ID}, ("--session-id", ID, "x"), ID),
        (("x", "-p"), {"resume_id": ID}, ("--resume", ID, "x", "-p"), ID),
        (("--allowedTools", "A", "--", "x"), {"resume_id": ID}, ("--resume", ID, "--allowedTools", "A", "--", "x"), ID),
        (("--fork-session",), {"resume_id": ID}, ("--resume", ID, "--fork-session"), None),
        (("--fork-session",), {"fresh_id": ID}, ("--session-id", ID, "--fork-session"), ID),
        (("--resume", ID), {}, ("--resume", ID), ID),
        (("--resume", ID, "--fork-session"), {}, ("--resume", ID, "--fork-session"), None),
        (
            ("-r", ID, "--fork-session", "--session-id", OTHER),
            {},
            ("-r", ID, "--fork-session", "--session-id", OTHER),
            OTHER,
        ),
        (("--session-id", ID), {}, ("--session-id", ID), ID),
        (("-c",), {}, ("-c",), None),
        (("x",), {"yolo": True, "fresh_id": ID}, (SKIP_PERMISSIONS, "--session-id", ID, "x"), ID),
    ],
)
def test_plans(args: tuple[str, ...], more: dict[str, object], expected: tuple[str, ...], expected_id: str) -> None:
    plan = CLAUDE.plan(request(*args, **more))
    assert plan.args == expected
    assert plan.expected_id == expected_id


def test_the_start_hook_comes_in_a_plugin_of_this_run() -> None:
    plan = CLAUDE.plan(request("x", hooks=HOOKS, private_dir="/run/1", resume_id=ID, yolo=True))
    assert plan.args == (SKIP_PERMISSIONS, "--plugin-dir", "/run/1/plugin", "--resume", ID, "x")
    assert json.loads(plan.files["plugin/.claude-plugin/plugin.json"])["name"] == "rigline"
    hooks = json.loads(plan.files["plugin/hooks/hooks.json"])["hooks"]
    assert list(hooks) == ["SessionStart"]
    (matcher,) = hooks["SessionStart"]
    assert "matcher" not in matcher, "it runs for every source"
    assert [hook["command"] for hook in matcher["hooks"]] == list(HOOKS.commands)
    assert {hook["type"] for hook in matcher["hooks"]} == {"command"}


@pytest.mark.parametrize("option", WITHOUT_HOOKS)
def test_no_plugin_is_given_where_it_would_not_run(option: str) -> None:
    plan = CLAUDE.plan(request(option, "x", hooks=HOOKS, private_dir="/run/1", fresh_id=ID))
    assert plan.args == ("--session-id", ID, option, "x")
    assert plan.files == {}


@pytest.mark.parametrize("option", PERMISSIONS)
def test_yolo_never_widens_what_the_user_narrowed(option: str) -> None:
    plan = CLAUDE.plan(request(f"{option}=x" if option != "--restricted" else option, "x", yolo=True))
    assert SKIP_PERMISSIONS not in plan.args
    assert option in plan.notes[0]


def test_yolo_is_not_said_twice() -> None:
    args = (SKIP_PERMISSIONS, "x")
    plan = CLAUDE.plan(request(*args, yolo=True))
    assert plan.args == args
    assert plan.notes == ()


def test_passthrough_is_left_alone() -> None:
    plan = CLAUDE.plan(request("mcp", "list", hooks=HOOKS, private_dir="/run/1", yolo=True))
    assert plan.args == ("mcp", "list")
    assert (plan.expected_id, plan.files, plan.notes) == (None, {}, ())


def test_each_option_is_in_the_table_once() -> None:
    names = [name for option in TABLE.options for name in option.names]
    assert len(names) == len(set(names))
    assert set(ELSEWHERE) | set(PERMISSIONS) | set(WITHOUT_HOOKS) | {SKIP_PERMISSIONS} <= set(names)
    leading = {option.names[0] for option in TABLE.options}
    assert set(ELSEWHERE) | set(PERMISSIONS) <= leading


OPTION_WORDS = [name for option in TABLE.options for name in option.names]
WORDS = st.one_of(
    st.sampled_from([*OPTION_WORDS, "--", ID, "mcp", "doctor", "a prompt", "--resume=x", "-rx", "-pc", "--yolo"]),
    st.text(max_size=6),
)


@given(
    args=st.lists(WORDS, max_size=7).map(tuple),
    yolo=st.booleans(),
    start=st.sampled_from([{}, {"resume_id": ID}, {"fresh_id": ID}]),
)
def test_any_command_line_comes_out_whole_behind_ours(args: tuple[str, ...], yolo: bool, start: dict[str, str]) -> None:
    classification = classify(*args)
    is_free = classification.mode is Mode.SESSION and classification.selector is None
    plan = CLAUDE.plan(request(*args, yolo=yolo, hooks=HOOKS, private_dir="/run/1", **(start if is_free else {})))
    ours = plan.args[: len(plan.args) - len(args)]
    assert plan.args[len(ours) :] == args
    # What the user said is read as it would have been without ours.
    shift = len(ours)
    alone = [(token.index + shift, token.role, token.option, token.value) for token in tokenize(args, TABLE)]
    together = [(token.index, token.role, token.option, token.value) for token in tokenize(plan.args, TABLE)]
    assert together[len(together) - len(alone) :] == alone
    options = [option for word in ours if (option := TABLE.find(word)) is not None]
    assert all(option.takes is not Takes.MANY for option in options)


HOOK_PAYLOADS = sorted(Path(__file__).parents[2].glob("fixtures/claude/*/hooks/*.json"))


@pytest.mark.parametrize("path", HOOK_PAYLOADS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_start_hooks_are_read_as_the_programs_send_them(path: Path) -> None:
    payload = json.loads(path.read_text())["payload"]
    claim = CLAUDE.read_observation(payload)
    assert claim is not None
    assert claim.native_id == payload["session_id"]
    assert claim.source == path.stem.removeprefix("SessionStart-")
    assert claim.transcript_path == payload["transcript_path"]
    assert claim.cwd == "/home/dev/project"


def test_all_hook_payloads_are_there() -> None:
    assert len(HOOK_PAYLOADS) == 8


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "Stop", "session_id": ID},
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "SessionStart", "session_id": ""},
        {"hook_event_name": "SessionStart", "session_id": 7},
    ],
)
def test_other_payloads_claim_nothing(payload: dict[str, object]) -> None:
    assert CLAUDE.read_observation(payload) is None


def test_a_claim_may_lack_what_is_optional() -> None:
    claim = CLAUDE.read_observation({"hook_event_name": "SessionStart", "session_id": ID, "source": 7, "cwd": None})
    assert claim is not None
    assert (claim.source, claim.transcript_path, claim.cwd) == ("", None, None)


def test_the_hook_s_answer_is_valid_json_whatever_it_says() -> None:
    words = 'a "b" \\ \n\x00 \u2028 \U0001f389'
    answer = json.loads(CLAUDE.write_hook_answer(words))
    assert answer == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": words}}


def test_no_variable_of_the_user_s_configuration_is_taken_for_a_marker() -> None:
    kept = {
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_OAUTH_TOKEN",
    }
    assert not kept & set(CLAUDE.session_variables)
    for name in ("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_ENV_FILE"):
        assert name in CLAUDE.session_variables


def test_new_ids_are_uuids() -> None:
    first, second = CLAUDE.new_native_id(), CLAUDE.new_native_id()
    assert first != second
    assert classify("--resume", str(first)).selector == Selector(words=("--resume", str(first)), native_id=first)
