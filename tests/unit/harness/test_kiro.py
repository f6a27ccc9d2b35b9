"""What Kiro CLI's command lines mean, and how rigline adds to them."""

from __future__ import annotations

import pytest

from rigline.harness.base import LaunchRequest, Mode, NativePlan
from rigline.harness.kiro import Kiro, KiroV2, KiroV3

ID = "373dafde-0d5f-4dab-9224-fc3b580e753e"
V3_ID = f"sess_{ID}"
BOTH = pytest.mark.parametrize("harness", [KiroV2(), KiroV3()], ids=lambda harness: harness.name)


def plan(harness: Kiro, *args: str, resume: str | None = None, yolo: bool = False, **more: str) -> NativePlan:
    request = LaunchRequest(
        args=args, classification=harness.classify(args), resume_id=resume, yolo=yolo, settings=more
    )
    return harness.plan(request)


@BOTH
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("--v3", "kiro-v3"),
        ("chat --v3 x", "kiro-v3"),
        ("--mode spec", "kiro-v3"),
        ("--agent-engine v3", "kiro-v3"),
        ("--agent-engine=v2 --mode spec", "kiro"),
        ("--agent-engine v2", "kiro"),
        ("--v2", "kiro"),
        (f"--resume-id {V3_ID}", "kiro-v3"),
        (f"--resume-id {ID}", "kiro"),
    ],
)
def test_the_command_line_says_which_engine_it_starts(harness: Kiro, line: str, name: str) -> None:
    assert harness.find_variant(tuple(line.split())) == name


@BOTH
@pytest.mark.parametrize("line", ["", "x", "-v x", "--agent v3 x", "-- --v3", "--agent-engine v9"])
def test_where_it_says_nothing_the_harness_is_the_one_asked_for(harness: Kiro, line: str) -> None:
    assert harness.find_variant(tuple(line.split())) == harness.name


@BOTH
@pytest.mark.parametrize(
    "line",
    [
        "--no-interactive x",
        "chat --no-interactive x",
        "--agent-engine v9",
        "--list-sessions",
        "-l",
        "-d 5",
        "--list-models",
        "settings list",
        "--agent mine mcp list",
        "-V",
        "--help-all",
        "chat --help",
    ],
)
def test_what_starts_no_session_of_this_store_passes_through(harness: Kiro, line: str) -> None:
    args = tuple(line.split())
    assert harness.classify(args).mode is Mode.PASSTHROUGH
    assert harness.classify(args).reason
    assert plan(harness, *args, yolo=True).args == args


@BOTH
@pytest.mark.parametrize("line", ["-v", "-vv x", "--verbose", "chat x", "--agent settings x", "fix settings"])
def test_a_small_v_is_no_version_and_a_value_no_command(harness: Kiro, line: str) -> None:
    assert harness.classify(tuple(line.split())).mode is Mode.SESSION


def test_each_engine_takes_its_own_ids_only() -> None:
    for harness, own, other in ((KiroV2(), ID, V3_ID), (KiroV3(), V3_ID, ID)):
        chosen = [harness.classify(("--resume-id", value)).selector for value in (own, other)]
        assert [selector.native_id for selector in chosen if selector] == [own, None]


@pytest.mark.parametrize(
    ("args", "planned"),
    [
        ((), ("--v3", "--resume-id", V3_ID)),
        (("x",), ("--v3", "--resume-id", V3_ID, "x")),
        (("chat", "x"), ("chat", "--v3", "--resume-id", V3_ID, "x")),
        (("--mode", "spec"), ("--resume-id", V3_ID, "--mode", "spec")),
        (("x", "--v3"), ("--resume-id", V3_ID, "x", "--v3")),
        (("--agent-engine", "v3"), ("--resume-id", V3_ID, "--agent-engine", "v3")),
    ],
)
def test_v3_is_chosen_first_where_the_user_does_not(args: tuple[str, ...], planned: tuple[str, ...]) -> None:
    assert plan(KiroV3(), *args, resume=V3_ID).args == planned


def test_v2_resumes_by_its_id() -> None:
    planned = plan(KiroV2(), "chat", "x", resume=ID)
    assert planned.args == ("chat", "--resume-id", ID, "x")
    assert planned.expected_id == ID


@pytest.mark.parametrize("given", ["--trust-all-tools", "-a", "--trust-tools=read"])
def test_yolo_adds_nothing_to_a_choice_of_the_user_s(given: str) -> None:
    assert plan(KiroV2(), given, yolo=True).args == (given,)


def test_yolo_of_v3_is_said_to_have_no_effect() -> None:
    planned = plan(KiroV3(), "--v3", yolo=True)
    assert planned.args == ("--v3",)
    assert "no option for it" in planned.notes[0]


def test_the_variable_is_blank_only_for_a_session_that_strayed() -> None:
    assert plan(KiroV3(), resume=V3_ID, strayed=f"sess_x {V3_ID}").variables == {"KIRO_HOME": ""}
    assert plan(KiroV3(), resume=V3_ID, strayed="sess_x").variables == {}
    assert plan(KiroV3(), strayed=V3_ID).variables == {}
