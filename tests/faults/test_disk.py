"""Disks that are full, read-only or gone: no agent without a ledger, and no agent disturbed by one that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.runs import (
    TURN,
    block,
    both,
    end,
    newest,
    notices,
    run_broken,
    texts,
    transcripts,
    wait_for_request,
)
from tests.real.conftest import Model, Rigline

pytestmark = [pytest.mark.real, newest]

ABSENT = "/proc/rigline"


@both
@pytest.mark.parametrize(
    ("fault", "cause", "prompt", "answer"),
    [
        ("full database", "the disk is full", "big: 40000", "0123456789abcdef"),
        ("full disk", "No space left on device", "slow: 1.5", "slow reply"),
    ],
    ids=["database", "segments"],
)
def test_a_full_disk_disturbs_no_agent_and_the_next_command_imports_all(
    rigline: Rigline, harness: str, fault: str, cause: str, prompt: str, answer: str
) -> None:
    rigline(*TURN[harness], "say: before").ok()
    done = run_broken(rigline, f"{fault},eager", *TURN[harness], prompt).ok()
    assert done.out.strip().startswith(answer)
    said = notices(done.err)
    assert len([each for each in said if cause in each]) == 1, said
    assert "the next rigline command will do it" in said[-1]

    rigline(*TURN[harness], "say: after").ok()
    found = texts(rigline)
    assert [found.count(text) for text in ("before", prompt, "after")] == [1, 1, 1]
    assert len([text for text in found if text.startswith(answer)]) == 1
    assert len(transcripts(rigline, harness)) == 1


@pytest.mark.parametrize("place", ["a file", "a link to nowhere", "below a file", ABSENT])
def test_where_the_data_folder_cannot_be_made_no_agent_is_started(
    rigline: Rigline, model: Model, place: str, tmp_path: Path
) -> None:
    path = ABSENT if place == ABSENT else str(tmp_path / "data")
    if place == "a link to nowhere":
        os.symlink(ABSENT, path)
    elif place != ABSENT:
        block(path)
    path = os.path.join(path, "below") if place == "below a file" else path
    done = rigline(*TURN["claude"], "say: x", RIGLINE_HOME=path)
    assert (done.code, done.out) == (69, "")
    assert path in done.err
    assert "Traceback" not in done.err
    assert model.entries() == []
    words = ["run", "--json", *TURN["claude"][1:], "say: x"]
    assert rigline(*words, RIGLINE_HOME=path).json["error"]["code"] == "ledger_unreachable"


@both
def test_on_a_read_only_disk_no_agent_is_started(rigline: Rigline, model: Model, harness: str) -> None:
    fresh = run_broken(rigline, "read-only", *TURN[harness], "say: x")
    rigline(*TURN[harness], "say: before").ok()
    done = run_broken(rigline, "read-only", *TURN[harness], "say: x")
    assert [(each.code, each.out) for each in (fresh, done)] == [(69, "")] * 2
    assert "Read-only file system" in fresh.err
    assert "it is read-only" in done.err
    assert "RIGLINE_HOME" in done.err
    assert model.conversations("say: x") == []


def test_where_the_run_s_folder_cannot_be_made_the_lease_is_given_back(rigline: Rigline, model: Model) -> None:
    rigline(*TURN["claude"], "say: before").ok()
    runs = os.path.join(rigline.home.rigline_dir, "runs")
    os.rmdir(runs)
    block(runs)
    refused = rigline(*TURN["claude"], "say: x")
    assert refused.code == 69
    assert runs in refused.err
    assert model.conversations("say: x") == []
    os.unlink(runs)
    assert "taken over" not in rigline(*TURN["claude"], "say: after").ok().err


@both
def test_a_data_folder_that_goes_away_during_the_run_costs_nothing(
    rigline: Rigline, model: Model, harness: str
) -> None:
    rigline(*TURN[harness], "say: before").ok()
    home = rigline.home.rigline_dir
    process = rigline.start(rigline.argv(*TURN[harness], "slow: 2"))
    wait_for_request(model, "slow: 2")
    os.rename(home, f"{home}.away")
    block(home)
    code, out, err = end(process)
    assert code == 0
    assert out.strip().startswith("slow reply")
    assert "the next rigline command will do it" in notices(err)[-1]

    os.unlink(home)
    os.rename(f"{home}.away", home)
    found = texts(rigline)
    assert (found.count("before"), found.count("slow: 2")) == (1, 1)
    assert len([text for text in found if text.startswith("slow reply")]) == 1
    assert not os.listdir(os.path.join(home, "runs"))


def test_an_agent_s_own_failure_is_told_by_its_exit_code_whatever_the_disk_does(rigline: Rigline) -> None:
    assert run_broken(rigline, "full disk", *TURN["claude"], "http: 400").code == 1
    assert texts(rigline).count("http: 400") == 1
