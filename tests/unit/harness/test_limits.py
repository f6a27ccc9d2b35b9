"""A usage limit is recognised by the record that the harness writes for it, and by nothing that was said.

`tests/fixtures/limits` holds what the real programs wrote at the limits that `lab/limits.py` makes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT

from rigline.harness import claude_limit, codex_limit

LIMITS = ROOT / "tests" / "fixtures" / "limits"
FINDERS: dict[str, Callable[[str], str | None]] = {"claude": claude_limit.find_limit, "codex": codex_limit.find_limit}

JsonObject = dict[str, Any]


def find(path: Path) -> str | None:
    return FINDERS[path.name.partition("-")[0]](str(path))


def write(tmp_path: Path, name: str, records: list[JsonObject]) -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def load(name: str) -> list[JsonObject]:
    return [json.loads(line) for line in (LIMITS / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("claude-2.1.332-usage-subscription", "You've hit your 5-hour limit · resets 6:07am (UTC)"),
        ("claude-2.1.332-usage-terminal", "You've hit your 5-hour limit · resets 6:18am (UTC)"),
        ("claude-2.1.332-credit-key", "Credit balance is too low"),
        ("claude-2.1.332-rate-key", "API Error: Request rejected (429) · This request would exceed"),
        ("claude-2.1.332-rate-subscription", None),
        ("claude-2.1.197-usage-subscription", "You've hit your session limit · resets 6:07am (UTC)"),
        ("claude-2.1.197-usage-terminal", "You've hit your session limit · resets 6:18am (UTC)"),
        ("claude-2.1.197-credit-key", "Credit balance is too low"),
        ("claude-2.1.197-rate-key", "API Error: Request rejected (429) · This request would exceed"),
        ("claude-2.1.197-rate-subscription", None),
        ("codex-0.171.0-usage", "You\u2019ve hit your usage limit."),
        ("codex-0.171.0-usage-terminal", "You\u2019ve hit your usage limit."),
        ("codex-0.171.0-credit", "Quota exceeded. Check your plan and billing details."),
        ("codex-0.171.0-rate", "exceeded retry limit, last status: 429 Too Many Requests"),
        ("codex-0.120.0-usage", None),
        ("codex-0.120.0-credit", None),
        ("codex-0.120.0-rate", None),
    ],
)
def test_what_the_real_programs_wrote_is_told(name: str, words: str | None) -> None:
    found = find(LIMITS / f"{name}.jsonl")
    assert (found or "").startswith(words) if words is not None else found is None


def test_every_recorded_end_is_in_the_table() -> None:
    test = Path(__file__).read_text(encoding="utf-8")
    assert [path.stem for path in LIMITS.glob("*.jsonl") if f'"{path.stem}"' not in test] == []


@pytest.mark.parametrize("name", ["claude-2.1.332-usage-subscription.jsonl", "claude-2.1.197-usage-subscription.jsonl"])
def test_claude_code_s_next_turn_ends_the_limit(tmp_path: Path, name: str) -> None:
    records = load(name)
    prompt = {**records[0], "uuid": "later", "message": {"role": "user", "content": "again"}}
    assert find(write(tmp_path, name, [*records, prompt])) is None, "a prompt that nobody answered is no limit"
    answer = {**records[1], "uuid": "answer", "isApiErrorMessage": False, "error": None}
    answer["message"] = {**answer["message"], "model": "m", "content": [{"type": "text", "text": "done"}]}
    assert find(write(tmp_path, name, [*records, prompt, answer])) is None


def test_what_stays_with_claude_code_is_no_next_turn(tmp_path: Path) -> None:
    name = "claude-2.1.332-usage-subscription.jsonl"
    records = load(name)
    words = ["<command-name>/exit</command-name>", "<local-command-stdout>See you!</local-command-stdout>"]
    later = [{**records[0], "uuid": text, "message": {"role": "user", "content": text}} for text in words]
    side = {**records[1], "uuid": "side", "isSidechain": True, "isApiErrorMessage": False}
    assert find(write(tmp_path, name, [*records, *later, side])) is not None


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_words_about_a_limit_are_only_words(tmp_path: Path, harness: str) -> None:
    text = "You've hit your usage limit. usage_limit_exceeded rate_limit isApiErrorMessage 429"
    said = {
        "claude": [
            {"type": "user", "uuid": "1", "message": {"role": "user", "content": text}},
            {"type": "assistant", "uuid": "2", "message": {"model": "m", "content": [{"type": "text", "text": text}]}},
        ],
        "codex": [
            {"type": "event_msg", "payload": {"type": "user_message", "message": text}},
            {"type": "event_msg", "payload": {"type": "agent_message", "message": text}},
            {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": text}},
        ],
    }
    assert find(write(tmp_path, f"{harness}-said.jsonl", said[harness])) is None


@pytest.mark.parametrize(
    "error", ["server_error", "authentication_failed", "invalid_request", None, 429, ["rate_limit"]]
)
def test_another_error_of_claude_code_s_is_no_limit(tmp_path: Path, error: object) -> None:
    records = load("claude-2.1.332-rate-key.jsonl")
    records[1]["error"] = error
    assert find(write(tmp_path, "claude-x.jsonl", records)) is None


@pytest.mark.parametrize(
    "info",
    [
        "server_overloaded",
        "context_window_exceeded",
        None,
        {"response_too_many_failed_attempts": {"http_status_code": 503}},
        {"http_connection_failed": {"http_status_code": 429}},
        {"response_too_many_failed_attempts": None},
        ["usage_limit_exceeded"],
    ],
)
def test_another_error_of_codex_s_is_no_limit(tmp_path: Path, info: object) -> None:
    records = load("codex-0.171.0-usage.jsonl")
    records[-1]["payload"]["error"]["codex_error_info"] = info
    assert find(write(tmp_path, "codex-x.jsonl", records)) is None


def test_codex_s_own_event_of_an_error_counts_until_the_next_turn(tmp_path: Path) -> None:
    def event(**payload: object) -> JsonObject:
        return {"type": "event_msg", "payload": payload}

    error = event(type="error", message="You've hit your usage limit.", codex_error_info="usage_limit_exceeded")
    turn = [event(type="task_started"), event(type="user_message", message="x"), error]
    end = event(type="task_complete", last_agent_message=None)
    assert find(write(tmp_path, "codex-a.jsonl", turn)) == "You've hit your usage limit."
    assert find(write(tmp_path, "codex-b.jsonl", [*turn, end])) == "You've hit your usage limit."
    answered = event(type="task_complete", last_agent_message="it went on after all")
    assert find(write(tmp_path, "codex-c.jsonl", [*turn, answered])) is None
    for later in ("task_started", "user_message", "turn_aborted"):
        assert find(write(tmp_path, "codex-d.jsonl", [*turn, end, event(type=later)])) is None


@pytest.mark.parametrize("name", ["claude-2.1.332-usage-subscription.jsonl", "codex-0.171.0-usage.jsonl"])
def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = {"type": "user", "uuid": "0", "message": {"role": "user", "content": "x" * 10_000}}
    path = write(tmp_path, name, [filler] * 300 + load(name))
    assert find(path) is not None
    path = write(tmp_path, name, [*load(name), {"type": "other", "text": "x" * (3 << 20)}])
    assert find(path) is None, "one line longer than what is read holds the end"


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_a_damaged_or_empty_transcript_tells_no_limit(tmp_path: Path, harness: str) -> None:
    path = tmp_path / f"{harness}-damaged.jsonl"
    for content in (b"", b"\n\n", b"\0" * 100, b'{"type": "event_msg", "payload"', b"[1]\n7\n", b"\xff\xfe\n"):
        path.write_bytes(content)
        assert find(path) is None
