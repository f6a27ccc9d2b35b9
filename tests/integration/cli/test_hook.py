"""`rigline hook`, as agents call it: whatever it gets, no agent is disturbed, and nothing lands where it should not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SESSION = "11111111-1111-4111-8111-111111111111"


class Hook:
    """A run's folder with a packet in two parts, and the hook called in a directory of its own."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "home" / "runs" / "r1"
        self.folder.mkdir(parents=True)
        self.cwd = tmp_path / "checkout"
        self.cwd.mkdir()
        self.write([SESSION])
        for part in (1, 2):
            (self.folder / f"answer-{part}").write_text(f"part {part}")

    def write(self, receivers: list[str] | None) -> None:
        (self.folder / "hook.json").write_text(json.dumps({"receivers": receivers, "parts": 2}))

    def call(self, payload: bytes, *, part: int = 1, folder: str | None = None) -> str:
        """What it printed; it always ends well."""
        run_dir = str(self.folder) if folder is None else folder
        env = {**os.environ, "RIGLINE_RUN_DIR": run_dir}
        if not run_dir:
            del env["RIGLINE_RUN_DIR"]
        argv = [sys.executable, "-P", "-m", "rigline", "hook", "session-start", "--part", str(part)]
        done = subprocess.run(argv, input=payload, env=env, cwd=self.cwd, capture_output=True, timeout=20, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert list(self.cwd.iterdir()) == []
        return done.stdout.decode()


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return Hook(tmp_path)


def write_payload(native_id: str = SESSION, source: str = "startup", **more: object) -> bytes:
    return json.dumps({"hook_event_name": "SessionStart", "session_id": native_id, "source": source, **more}).encode()


def test_each_part_is_printed_and_the_payload_kept_once(hook: Hook) -> None:
    assert [hook.call(write_payload(), part=part) for part in (1, 2, 3)] == ["part 1", "part 2", ""]
    assert len((hook.folder / "observed.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_session_that_was_cleared_or_compacted_is_shown_nothing(hook: Hook, source: str) -> None:
    assert hook.call(write_payload(source=source)) == ""


NO_PAYLOADS = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'{"session_id": 7}']


@pytest.mark.parametrize("payload", [*NO_PAYLOADS, write_payload("../../x"), write_payload("a\0b")])
def test_what_is_no_payload_of_this_session_gets_no_packet(hook: Hook, payload: bytes) -> None:
    before = sorted(path.name for path in hook.folder.parent.parent.rglob("*"))
    assert hook.call(payload) == ""
    after = sorted(path.name for path in hook.folder.parent.parent.rglob("*"))
    assert set(after) - set(before) <= {"observed.jsonl", "hook.log"}


def test_a_payload_of_a_megabyte_takes_no_time_to_speak_of(hook: Hook) -> None:
    began = time.monotonic()
    assert hook.call(write_payload(prompt="\\\"{'" * 250_000)) == "part 1"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("folder", ["", "relative", "/nowhere/r1"])
def test_a_hook_of_no_run_or_of_one_that_is_over_writes_nothing(hook: Hook, folder: str) -> None:
    assert hook.call(write_payload(), folder=folder) == ""


def test_a_fault_of_the_hook_is_kept_for_the_doctor(hook: Hook) -> None:
    (hook.folder / "hook.json").unlink()
    assert hook.call(write_payload()) == ""
    assert "FileNotFoundError" in (hook.folder / "hook.log").read_text()
