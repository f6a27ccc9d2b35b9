"""What Grok Build's command lines mean, how rigline adds to them, and what its rows say."""

from __future__ import annotations

from typing import Any

import pytest

from rigline.harness.base import LaunchRequest, Mode, NativePlan
from rigline.harness.grammar import is_uuid
from rigline.harness.grok import Grok
from rigline.harness.grok_store import read_row

ID = "019f470d-3e02-7601-b726-1133cc72ef76"
NEW = "019f470d-0000-4000-8000-000000000001"


def plan(*args: str, **more: Any) -> NativePlan:
    harness = Grok()
    return harness.plan(LaunchRequest(args=args, classification=harness.classify(args), private_dir="/private", **more))


@pytest.mark.parametrize("line", ["--help", "--version", "sessions list", "login", "--worktree", "-m x mcp list"])
def test_what_starts_no_session_here_passes_through(line: str) -> None:
    args = tuple(line.split())
    assert Grok().classify(args).mode is Mode.PASSTHROUGH
    assert plan(*args, yolo=True, packet=("p",)).args == args


@pytest.mark.parametrize("line", ["-p x", "--single x", "--prompt-file f", "--prompt-json {}"])
def test_a_prompt_on_the_command_line_takes_no_terminal(line: str) -> None:
    assert not Grok().classify(tuple(line.split())).interactive


def test_a_fresh_session_gets_an_id_of_ours() -> None:
    assert is_uuid(Grok().new_native_id() or "")
    planned = plan("x", fresh_id=NEW)
    assert planned.args == ("--session-id", NEW, "x")
    assert planned.expected_id == NEW


@pytest.mark.parametrize(
    ("line", "native_id", "chosen_id"),
    [
        (f"-r {ID}", ID, None),
        (f"--resume={ID}", ID, None),
        ("--resume", None, None),
        ("-c", None, None),
        (f"-s {NEW}", NEW, None),
        (f"--resume {ID} --fork-session", ID, None),
    ],
)
def test_the_user_s_choice_of_a_session(line: str, native_id: str | None, chosen_id: str | None) -> None:
    selector = Grok().classify(tuple(line.split())).selector
    assert selector is not None
    assert (selector.native_id, selector.chosen_id) == (native_id, chosen_id)


def test_a_fork_s_id_is_the_program_s_choice() -> None:
    planned = plan("--fork-session", "x", resume_id=ID, fresh_id=NEW)
    assert planned.args == ("--resume", ID, "--fork-session", "x")
    assert planned.expected_id is None


def test_a_packet_is_never_on_the_command_line() -> None:
    planned = plan("x", packet=("first part, secret plan", "second part"))
    assert planned.args[0] == "--rules"
    assert "/private/packet.md" in planned.args[1]
    assert "secret plan" not in " ".join(planned.args)
    assert planned.files == {"packet.md": "first part, secret plan\n\nsecond part\n"}
    assert planned.shows_packet


@pytest.mark.parametrize("given", ["--rules", "--append-system-prompt"])
def test_the_user_s_own_rules_are_left_alone_aloud(given: str) -> None:
    planned = plan(given, "be brief", packet=("p",))
    assert planned.args == (given, "be brief")
    assert not planned.shows_packet
    assert not planned.files
    assert given in planned.notes[0]


@pytest.mark.parametrize("given", ["--yolo", "--always-approve"])
def test_yolo_is_said_once(given: str) -> None:
    assert plan(given, yolo=True).args == (given,)


def test_yolo_never_widens_a_narrower_choice() -> None:
    assert plan("--permission-mode", "plan", yolo=True).args == ("--permission-mode", "plan")


def user(text: str, **more: object) -> dict[str, object]:
    return {"type": "user", "content": [{"type": "text", "text": text}], **more}


@pytest.mark.parametrize(
    ("record", "texts", "losses"),
    [
        (user("<user_query>\nfix it\n</user_query>"), ["fix it"], ()),
        (user("<user_info>x</user_info>\n<user_query>fix it</user_query>"), ["fix it"], ("meta",)),
        (user("plain words"), ["plain words"], ()),
        (user("<user_query>x</user_query>", synthetic_reason="nudge"), [], ("meta",)),
        (user("look: <system-reminder> in a text"), ["look: <system-reminder> in a text"], ()),
        ({"type": "user", "content": "words"}, ["words"], ()),
    ],
)
def test_what_the_user_typed_is_told_from_what_is_put_around_it(
    record: dict[str, object], texts: list[str], losses: tuple[str, ...]
) -> None:
    item = read_row(record, "k", "c")
    assert [piece.text for piece in item.pieces] == texts
    assert item.losses == losses
    assert item.is_prompt == bool(texts)


def test_calls_in_either_known_form_are_read() -> None:
    flat = {"id": "1", "name": "ls", "arguments": "{}"}
    nested = {"id": "2", "function": {"name": "cat", "arguments": "{}"}}
    item = read_row({"type": "assistant", "content": "", "tool_calls": [flat, nested]}, "k", "c")
    assert [(piece.tool, piece.call_id) for piece in item.pieces] == [("ls", "1"), ("cat", "2")]
