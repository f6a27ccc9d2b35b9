"""Crush: what its command line means, how it is launched, where its data lie, and what its records say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.crush_store import FINISH, call, part, result, text

from rigline.harness.base import HookDefinition, LaunchRequest, Mode, NativePlan, Selector
from rigline.harness.crush import Crush
from rigline.harness.crush_config import find_data_folder, read_projects
from rigline.harness.crush_records import extract

ID = "0a1b2c3d-0000-4000-8000-000000000001"
CRUSH = Crush()


@pytest.mark.parametrize(
    ("args", "mode", "interactive"),
    [
        ((), Mode.SESSION, True),
        (("--debug", "-y"), Mode.SESSION, True),
        (("run", "x"), Mode.SESSION, False),
        (("-d", "r", "x"), Mode.SESSION, False),
        (("run", "logs"), Mode.SESSION, False),
        (("logs", "--follow"), Mode.PASSTHROUGH, True),
        (("session", "list"), Mode.PASSTHROUGH, True),
        (("run", "-h"), Mode.PASSTHROUGH, False),
        (("-v",), Mode.PASSTHROUGH, True),
        (("run", "-v", "x"), Mode.SESSION, False),
        (("-D", "/elsewhere"), Mode.PASSTHROUGH, True),
        (("run", "--cwd", "/elsewhere", "x"), Mode.PASSTHROUGH, False),
        (("run", "-m", "--help", "x"), Mode.SESSION, False),
    ],
)
def test_what_a_command_line_is_for(args: tuple[str, ...], mode: Mode, interactive: bool) -> None:
    found = CRUSH.classify(args)
    assert (found.mode, found.interactive) == (mode, interactive)


@pytest.mark.parametrize(
    ("args", "selector"),
    [
        ((), None),
        (("-s", ID), Selector(words=("-s", ID), native_id=ID)),
        (("run", f"--session={ID}", "x"), Selector(words=(f"--session={ID}",), native_id=ID)),
        # the beginning of an id, or a hash of one, that only the program can tell
        (("-s", "0a1b2c"), Selector(words=("-s", "0a1b2c"))),
        (("run", "-C", "x"), Selector(words=("-C",))),
        (("-c", "/elsewhere"), None),
    ],
)
def test_the_user_s_choice_of_a_session(args: tuple[str, ...], selector: Selector | None) -> None:
    assert CRUSH.classify(args).selector == selector


def plan(*args: str, **more: Any) -> NativePlan:
    request = LaunchRequest(args=args, classification=CRUSH.classify(args), private_dir="/private", **more)
    return CRUSH.plan(request)


@pytest.mark.parametrize(
    ("args", "planned"),
    [
        ((), ("--session", ID)),
        (("run", "x"), ("run", "--session", ID, "x")),
        (("-d", "r", "-q", "x"), ("-d", "r", "--session", ID, "-q", "x")),
    ],
)
def test_a_session_is_resumed_by_its_id(args: tuple[str, ...], planned: tuple[str, ...]) -> None:
    found = plan(*args, resume_id=ID)
    assert (found.args, found.expected_id) == (planned, ID)


def test_yolo_is_for_the_terminal_since_run_refuses_it_and_asks_for_nothing() -> None:
    assert plan(yolo=True).args == ("--yolo",)
    assert plan("-y", yolo=True).args == ("-y",)
    assert plan("run", "x", yolo=True) == plan("run", "x")


def test_without_a_packet_nothing_of_the_configuration_is_moved() -> None:
    planned = plan("run", "x", hooks=HookDefinition(commands=("hook",)), settings={"folder": "/theirs"})
    assert (planned.variables, planned.files, planned.shows_packet, planned.has_hooks) == ({}, {}, True, False)


OWN = {"providers": {"lab": {"api_key": "$KEY"}}, "options": {"debug": True, "global_context_paths": ["~/rules.md"]}}


def test_a_packet_is_a_context_file_in_a_configuration_that_is_the_user_s() -> None:
    settings = {"folder": "/theirs/crush", "crush.json": json.dumps(OWN), "crushrc": "/the user's/crushrc"}
    planned = plan("run", "x", packet=("one", "two"), settings=settings)
    assert planned.variables == {"CRUSH_GLOBAL_CONFIG": "/private"}
    config = json.loads(planned.files["crush.json"])
    paths = ["~/rules.md", "/private/crush-context.md"]
    assert config == {**OWN, "options": {"debug": True, "global_context_paths": paths}}
    assert planned.files["crush-context.md"] == "one\n\ntwo"
    assert planned.files["crushrc"] == "source '/the user'\\''s/crushrc'\n"
    assert planned.shows_packet
    assert planned.args == ("run", "x")


def test_the_context_that_crush_reads_by_itself_stays() -> None:
    planned = plan(packet=("one",), settings={"folder": "/theirs/crush"})
    assert json.loads(planned.files["crush.json"])["options"]["global_context_paths"] == [
        "/theirs/crush/CRUSH.md",
        "/theirs/AGENTS.md",
        "/private/crush-context.md",
    ]


@pytest.mark.parametrize("config", ["{ no json", "[]", '{"options": []}', "unreadable"])
def test_a_configuration_that_is_no_plain_json_is_left_as_it_is_and_said(config: str) -> None:
    planned = plan(packet=("one",), settings={"folder": "/theirs", "crush.json": config})
    assert (planned.variables, planned.files, planned.shows_packet) == ({}, {}, False)
    assert "crush.json" in planned.notes[0]


def test_the_user_s_configuration_is_found_and_only_read(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "crush"
    folder.mkdir(parents=True)
    (folder / "crush.json").write_text("{}")
    (folder / "crushrc").write_text("option debug true")
    found = CRUSH.read_settings({"HOME": str(tmp_path)}, str(tmp_path))
    assert found == {"folder": str(folder), "crush.json": "{}", "crushrc": str(folder / "crushrc")}
    assert CRUSH.read_settings({"HOME": str(tmp_path), "CRUSH_GLOBAL_CONFIG": "/no"}, "/x") == {"folder": "/no"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / ".git").mkdir(parents=True)
    (root / "a" / "b").mkdir(parents=True)
    return root


def find(checkout: Path, where: str = "a/b", **env: str) -> str:
    home = checkout.parent / "home"
    return find_data_folder({"HOME": str(home), **env}, str(checkout / where))


def test_data_lie_in_the_directory_where_there_are_none_yet(checkout: Path) -> None:
    assert find(checkout) == str(checkout / "a" / "b" / ".crush")


def test_data_lie_in_the_closest_folder_up_to_the_checkout_s_root(checkout: Path) -> None:
    (checkout.parent / ".crush").mkdir()
    assert find(checkout) == str(checkout / "a" / "b" / ".crush")
    (checkout / ".crush").mkdir()
    assert find(checkout) == str(checkout / ".crush")
    (checkout / "a" / ".crush").mkdir()
    assert find(checkout) == str(checkout / "a" / ".crush")


def test_outside_of_a_checkout_only_the_directory_counts(tmp_path: Path) -> None:
    (tmp_path / ".crush").mkdir()
    (tmp_path / "below").mkdir()
    assert find(tmp_path, "below") == str(tmp_path / "below" / ".crush")


def test_the_last_configuration_that_names_a_folder_wins(checkout: Path) -> None:
    def configure(path: Path, folder: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"options": {"data_directory": folder}}))

    configure(checkout.parent / "home/.config/crush/crush.json", "/from/config")
    assert find(checkout) == "/from/config"
    configure(checkout.parent / "home/.local/share/crush/crush.json", "/from/data")
    assert find(checkout) == "/from/data"
    configure(checkout / "crush.json", "state")
    assert find(checkout) == str(checkout / "a" / "b" / "state")
    configure(checkout / ".crush.json", "/from/root")
    assert find(checkout) == "/from/root"
    configure(checkout / "a" / "crush.json", "/from/below")
    assert find(checkout) == "/from/below"


def test_a_broken_configuration_names_no_folder(checkout: Path) -> None:
    for name, content in (("crush.json", "{ no json"), (".crush.json", '{"options": {"data_directory": 7}}')):
        (checkout / name).write_text(content)
    assert find(checkout) == str(checkout / "a" / "b" / ".crush")


@pytest.mark.parametrize("content", ["", "[]", '{"projects": {}}', '{"projects": [1, {"path": "relative"}, {}]}'])
def test_a_list_of_projects_that_is_damaged_names_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "projects.json").write_text(content)
    assert read_projects({"CRUSH_GLOBAL_DATA": str(tmp_path)}) == {}


def read(role: str, *parts: dict[str, Any], is_summary: bool = False) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    item = extract("m", role, list(parts), at_ms=1, is_summary=is_summary, prompt="p")
    return [(str(piece.kind), piece.text) for piece in item.pieces], item.losses


@pytest.mark.parametrize(
    ("role", "parts", "pieces", "losses"),
    [
        ("user", (text("words"), FINISH), [("message", "words")], ()),
        ("user", (text("made up", hidden=True),), [], ("meta",)),
        ("assistant", (part("reasoning", thinking="x"), text("words")), [("message", "words")], ("hidden_reasoning",)),
        ("assistant", (call(),), [("tool_call", 'bash {"command":"ls"}')], ()),
        ("assistant", (call(finished=False),), [], ()),
        ("tool", (result("out"),), [("tool_result", "out")], ()),
        ("assistant", (part("finish", reason="error", message="overloaded"),), [], ("api_error",)),
        ("assistant", (part("finish", reason="canceled"),), [], ()),
        ("user", (part("binary", Path="a", MIMEType="text/plain", Data=""),), [], ("attachment_file",)),
        ("user", (part("image_url", url="x"),), [], ("attachment_image",)),
        ("system", (text("rules"),), [], ("system_prompt",)),
        ("assistant", (part("later"),), [], ("unknown:later",)),
    ],
)
def test_what_a_message_says(
    role: str, parts: tuple[dict[str, Any], ...], pieces: list[tuple[str, str]], losses: tuple[str, ...]
) -> None:
    assert read(role, *parts) == (pieces, losses)


def test_a_summary_is_a_compaction_whoever_seems_to_say_it() -> None:
    for role in ("user", "assistant"):
        assert read(role, text("so far"), is_summary=True) == ([("compaction", "so far")], ())


def test_a_call_and_its_result_are_paired_and_a_failure_is_told() -> None:
    (one,) = extract("m", "assistant", [call("c")], at_ms=1, is_summary=False, prompt="p").pieces
    (other,) = extract(
        "n", "tool", [result("x", call_id="c", is_error=True)], at_ms=1, is_summary=False, prompt="p"
    ).pieces
    assert (one.call_id, other.call_id, other.status, other.tool) == ("c", "c", "error", "bash")


@pytest.mark.parametrize(
    "parts", [None, [1, None, "x", []], [{"type": 7, "data": 8}], [{"type": "text", "data": {"text": 9}}]]
)
def test_nothing_that_a_message_may_hold_is_an_error(parts: list[object] | None) -> None:
    for role in ("user", "assistant", "tool", "system", ""):
        extract("m", role, parts, at_ms=1, is_summary=False, prompt="")
