"""What Antigravity CLI's command lines mean, how rigline adds to them, and what its steps and prompts say."""

from __future__ import annotations

import pytest
from tests.fakes.antigravity import field

from rigline.harness.antigravity import Antigravity
from rigline.harness.antigravity_store import read_prompt, read_step
from rigline.harness.base import LaunchRequest, Mode, NativePlan
from rigline.harness.protobuf import find_field

ID = "11eea414-0000-4000-8000-000000000000"


def plan(*args: str, resume: str | None = None, yolo: bool = False, packet: tuple[str, ...] = ()) -> NativePlan:
    harness = Antigravity()
    request = LaunchRequest(
        args=args, classification=harness.classify(args), resume_id=resume, yolo=yolo, packet=packet
    )
    return harness.plan(request)


@pytest.mark.parametrize("line", ["--help", "-help", "--version", "plugin list", "update", "models"])
def test_what_starts_no_session_passes_through(line: str) -> None:
    args = tuple(line.split())
    assert Antigravity().classify(args).mode is Mode.PASSTHROUGH
    assert plan(*args, yolo=True).args == args


@pytest.mark.parametrize("args", [("-p", "--help"), ("--print", "update"), ("-i", "-c")])
def test_an_option_takes_the_next_word_whatever_it_is(args: tuple[str, ...]) -> None:
    found = Antigravity().classify(args)
    assert found.mode is Mode.SESSION
    assert found.selector is None


def test_only_a_prompt_that_ends_takes_no_terminal() -> None:
    assert not Antigravity().classify(("--prompt", "x")).interactive
    assert Antigravity().classify(("--prompt-interactive", "x")).interactive


@pytest.mark.parametrize(
    ("line", "native_id"), [(f"--conversation {ID}", ID), (f"-conversation {ID}", ID), ("-c", None)]
)
def test_the_user_s_choice_of_a_conversation(line: str, native_id: str | None) -> None:
    selector = Antigravity().classify(tuple(line.split())).selector
    assert selector is not None
    assert selector.native_id == native_id


def test_ours_stand_in_front() -> None:
    planned = plan("-p", "x", resume=ID, yolo=True)
    assert planned.args == ("--dangerously-skip-permissions", "--conversation", ID, "-p", "x")
    assert planned.expected_id == ID


def test_yolo_never_widens_a_narrower_choice() -> None:
    assert plan("--mode", "plan", yolo=True).args == ("--mode", "plan")


def test_a_packet_that_cannot_be_shown_is_told() -> None:
    planned = plan("-p", "x", packet=("p",))
    assert not planned.shows_packet
    assert "cannot be shown" in planned.notes[0]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (field(1, b"abc"), b"abc"),
        (field(2, b"x") + field(1, b"abc") + field(1, b"later"), b"abc"),
        (b"\x10\x05" + b"\x19" + bytes(8) + b"\x25" + bytes(4) + field(1, b"abc"), b"abc"),
        (field(1, b"y" * 300), b"y" * 300),
        (field(1, b""), b""),
        (b"", None),
        (field(2, b"abc"), None),
        (field(1, b"abc")[:-1], None),
        (field(1, b"abc") + b"\x0a", None),
        (field(1, b"abc") + b"\xff" * 11, None),
        (b"\x0b" + field(1, b"abc"), None),
        (b"\x02\x00" + field(1, b"abc"), None),
        (b"\x08\x01", None),
    ],
)
def test_one_field_of_a_whole_message_is_found_and_a_part_of_one_is_not_trusted(
    message: bytes, found: bytes | None
) -> None:
    assert find_field(message, 1) == found


@pytest.mark.parametrize(
    ("content", "text", "losses"),
    [
        ("<USER_REQUEST>\nfix it\n</USER_REQUEST>", "fix it", ()),
        ("<USER_REQUEST>fix</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>", "fix", ("meta",)),
        ("plain words", "plain words", ()),
    ],
)
def test_a_request_is_told_from_what_is_added_to_it(content: str, text: str, losses: tuple[str, ...]) -> None:
    item = read_step({"type": "USER_INPUT", "source": "USER_EXPLICIT", "status": "DONE", "content": content}, "k")
    assert [piece.text for piece in item.pieces] == [text]
    assert item.losses == losses


def test_a_prompt_of_another_conversation_or_workspace_is_not_read() -> None:
    row = {"display": "hello", "timestamp": 1796061700000, "workspace": "/w", "conversationId": ID}
    assert read_prompt(row, "k", ID, "/w").pieces[0].text == "hello"
    for other in ({**row, "conversationId": "x"}, {**row, "workspace": "/w2"}, {**row, "type": "slash_command"}):
        assert not read_prompt(other, "k", ID, "/w").pieces
