"""The start hook: the right part to the right session, and silence whatever goes wrong."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rigline.cli import hook

Ask = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIGLINE_RUN_DIR", str(tmp_path))
    return tmp_path


def prepare(folder: Path, receivers: list[str] | None, *parts: str) -> None:
    (folder / "hook.json").write_text(json.dumps({"receivers": receivers, "parts": len(parts)}))
    for number, text in enumerate(parts, 1):
        (folder / f"answer-{number}").write_text(text)


def call(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    payload: object,
    part: int = 1,
    event: str = "session-start",
) -> str:
    """What the hook prints for a payload."""
    stdin = io.TextIOWrapper(io.BytesIO(payload if isinstance(payload, bytes) else json.dumps(payload).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert hook.main([event, "--part", str(part)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    return lambda *args: call(monkeypatch, capsys, *args)


def start(native_id: str, source: str = "startup") -> dict[str, str]:
    return {"hook_event_name": "SessionStart", "session_id": native_id, "source": source}


def test_each_part_goes_to_the_session_it_was_made_for(folder: Path, ask: Ask) -> None:
    prepare(folder, ["s"], "one", "two")
    assert [ask(start("s"), part) for part in (1, 2, 3, 4)] == ["one", "two", "", ""]


def test_what_the_harness_said_is_noted_once(folder: Path, ask: Ask) -> None:
    prepare(folder, ["s"], "one", "two")
    for part in (1, 2):
        ask(start("s"), part)
    assert [json.loads(line) for line in (folder / "observed.jsonl").read_text().splitlines()] == [start("s")]


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_an_emptied_conversation_is_not_filled_again(folder: Path, ask: Ask, source: str) -> None:
    prepare(folder, None, "one")
    assert ask(start("s", source)) == ""
    assert "observed.jsonl" in {path.name for path in folder.iterdir()}


def test_a_packet_for_whichever_starts_goes_to_the_first(folder: Path, ask: Ask) -> None:
    prepare(folder, None, "one", "two")
    assert ask(start("first"), 1) == "one"
    assert ask(start("second"), 1) == ""
    assert ask(start("first"), 2) == "two"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """The packets that were made while the hook ran: for which session, which part."""
    calls: list[tuple[str, str, int]] = []

    def answer(folder: str, native_id: str, part: int, *, may_be_new: bool) -> str:
        assert not may_be_new, "the payload has told why it began"
        calls.append((folder, native_id, part))
        return "made now"

    monkeypatch.setattr("rigline.launch.deliver.answer_other_session", answer)
    return calls


def test_another_session_gets_a_packet_of_its_own(folder: Path, ask: Ask, asked: list[tuple[str, str, int]]) -> None:
    prepare(folder, ["s"], "one")
    assert ask(start("other", "resume")) == "made now"
    assert asked == [(str(folder), "other", 1)]
    assert ask(start("yet-another", "startup")) == ""


@pytest.mark.parametrize("source", ["startup", "resume"])
def test_where_nothing_could_be_prepared_the_packet_is_made_for_whoever_starts(
    folder: Path, ask: Ask, asked: list[tuple[str, str, int]], source: str
) -> None:
    prepare(folder, [])
    assert ask(start("chosen-inside", source)) == "made now"
    assert asked == [(str(folder), "chosen-inside", 1)]


def test_a_harness_that_asks_at_every_prompt_is_answered_at_a_session_s_first(folder: Path, ask: Ask) -> None:
    prepare(folder, ["s"], "one", "two")
    prompt = {"session_id": "s", "prompt": "hello"}
    assert [ask(prompt, part, "first-prompt") for part in (1, 2, 1, 2)] == ["one", "two", "", ""]
    assert len((folder / "observed.jsonl").read_text().splitlines()) == 1


def test_the_id_is_found_in_copilot_s_spelling_too(folder: Path, ask: Ask) -> None:
    prepare(folder, ["s"], "one")
    assert ask({"sessionId": "s"}, 1, "first-prompt") == "one"


@pytest.mark.parametrize(("receivers", "may_be_new"), [(["s"], True), ([], False)])
def test_a_session_of_which_is_not_told_why_it_began_may_be_new(
    folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, receivers: list[str], may_be_new: bool
) -> None:
    told: list[bool] = []
    monkeypatch.setattr(
        "rigline.launch.deliver.answer_other_session",
        lambda *_, may_be_new: told.append(may_be_new) or "",  # type: ignore[func-returns-value]
    )
    prepare(folder, receivers, *receivers)
    ask({"session_id": "other"}, 1, "first-prompt")
    assert told == [may_be_new]


@pytest.mark.parametrize("payload", [b"", b"not json", b"[1]", b"{}", b"\xff"])
def test_nothing_that_goes_wrong_reaches_the_agent(folder: Path, ask: Ask, payload: bytes) -> None:
    prepare(folder, ["s"], "one")
    assert ask(payload) == ""


def test_a_folder_that_is_gone_is_silence(folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGLINE_RUN_DIR", str(folder / "gone"))
    assert ask(start("s")) == ""
    monkeypatch.delenv("RIGLINE_RUN_DIR")
    assert ask(start("s")) == ""


def test_a_failure_leaves_a_word_for_the_doctor(folder: Path, ask: Ask) -> None:
    assert ask(start("s")) == ""
    assert "FileNotFoundError" in (folder / "hook.log").read_text()
