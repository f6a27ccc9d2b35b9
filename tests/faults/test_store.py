"""An agent's store in the state that real ones come in: huge lines, links, pipes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.faults.runs import TURN, both, end, newest, texts, transcripts, wait_for_request
from tests.real.conftest import Model, Rigline
from tests.real.test_run import bindings

pytestmark = [pytest.mark.real, newest]

HUGE = "needle at its beginning " + "x" * 12_000_000


def write_huge_line(path: Path, harness: str) -> None:
    """Append the result of a tool, in a line of 12 MB."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    record: dict[str, Any]
    if harness == "claude":
        last = [each for each in records if each.get("type") in ("user", "assistant")][-1]
        content = [{"type": "tool_result", "tool_use_id": "t1", "content": HUGE}]
        record = {**last, "type": "user", "uuid": "11111111-1111-4111-8111-111111111111", "parentUuid": last["uuid"]}
        record["message"] = {"role": "user", "content": content}
    else:
        payload = {"type": "function_call_output", "call_id": "t1", "output": HUGE}
        record = {"timestamp": records[-1]["timestamp"], "type": "response_item", "payload": payload}
    with path.open("a") as transcript:
        transcript.write(json.dumps(record) + "\n")


@both
def test_a_line_of_12_mb_that_comes_during_the_run_holds_nothing_up(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: before").ok()
    process = rigline.start(rigline.argv(*TURN[harness], "slow: 2"))
    wait_for_request(model, "slow: 2")
    (transcript,) = transcripts(rigline, harness)
    write_huge_line(transcript, harness)
    code, out, _ = end(process)
    assert (code, out.strip()[:10]) == (0, "slow reply")
    assert len([text for text in texts(rigline) if text.startswith("slow reply")]) == 1
    hits = rigline("search", "--all", "needle", "--json").ok().json["hits"]
    assert [hit["kind"] for hit in hits] == ["tool_result"]
    total = sum(path.stat().st_size for path in Path(rigline.home.rigline_dir).rglob("*") if path.is_file())
    assert total < 12_000_000, "the ledger keeps a bounded part of it"


@both
def test_a_folder_of_transcripts_that_is_moved_and_linked_is_the_same(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: the codeword is marigold").ok()
    bound = bindings(rigline)
    process = rigline.start(rigline.argv(*TURN[harness], "slow: 2"))
    wait_for_request(model, "slow: 2")
    (transcript,) = transcripts(rigline, harness)
    away = os.path.join(rigline.home.path, "away")
    shutil.move(transcript.parent, away)
    transcript.parent.symlink_to(away)
    assert end(process)[0] == 0
    assert rigline(*TURN[harness], "recall: marigold").ok().out.strip() == "recall marigold: yes"
    assert bindings(rigline) == bound
    found = texts(rigline)
    assert [found.count(text) for text in ("the codeword is marigold", "slow: 2", "recall marigold: yes")] == [1, 1, 1]
    assert "nothing new" in rigline("import", "--all").ok().out


@both
def test_pipes_in_the_store_hold_nothing_up(rigline: Rigline, model: Model, harness: str) -> None:
    rigline(*TURN[harness], "say: before").ok()
    (transcript,) = transcripts(rigline, harness)
    name = "11111111-1111-4111-8111-111111111111.jsonl"
    pipe = name if harness == "claude" else f"rollout-2026-01-05T09-00-00-{name}"
    for folder in [transcript.parent, *list(transcript.parents)[:3]]:
        if not (folder / pipe).exists():
            os.mkfifo(folder / pipe)
    rigline(*TURN[harness], "say: after", timeout_s=20).ok()
    for words in (["run", "--dry-run"], ["import", "--all"], ["doctor"], ["lineage"]):
        rigline(*words, timeout_s=20).ok()
    assert texts(rigline).count("after") == 1
