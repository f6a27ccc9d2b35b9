"""Segments hold what a batch brought, privately, durably, and so that it can be read back."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.errors import LedgerUnreachable
from rigline.ledger.incoming import TEXT_LIMIT_CHARS, hash_copy_key, prepare_event, prepare_events
from rigline.ledger.segments import (
    Header,
    Line,
    build_lines,
    find_segments,
    hash_segment,
    name_folder,
    read_header,
    read_lines,
    write_segment,
)
from rigline.model import Kind
from rigline.store.events import Batch, Step
from rigline.testing.samples import make_event


def _header(native_id: str = "s1", first_position: int = 1) -> Header:
    return Header(
        harness="codex", native_id=native_id, first_position=first_position, cursor_before=None, cursor_after="c1"
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    lines = [Line(kind="message", text="ünï\ncode \u2028", record="r1"), Line(copy_of="00ff", turn="t")]
    segment = write_segment(str(tmp_path / "segments"), _header(), lines)
    path = str(tmp_path / "segments" / segment.name)
    assert read_header(path) == _header()
    assert list(read_lines(path)) == lines
    content = Path(path).read_bytes()
    assert (segment.events, segment.bytes) == (2, len(content))
    assert segment.sha256 == hashlib.sha256(content).hexdigest()
    assert hash_segment(path) == (segment.bytes, segment.sha256)
    assert find_segments(str(tmp_path / "segments")) == [segment.name]


def test_segments_and_their_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        segment = write_segment(str(tmp_path / "segments"), _header(), [])
    finally:
        os.umask(before)
    path = tmp_path / "segments" / segment.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent, tmp_path / "segments"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_same_content_is_one_segment(tmp_path: Path) -> None:
    first = write_segment(str(tmp_path / "segments"), _header(), [Line(text="a")])
    before = (tmp_path / "segments" / first.name).stat()
    assert write_segment(str(tmp_path / "segments"), _header(), [Line(text="a")]) == first
    after = (tmp_path / "segments" / first.name).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    other = write_segment(str(tmp_path / "segments"), _header(), [Line(text="b")])
    assert other.name != first.name


def test_segments_sort_by_position(tmp_path: Path) -> None:
    for position in (1_000_000, 5, 99):
        write_segment(str(tmp_path), _header(first_position=position), [])
    names = sorted(os.path.basename(name) for name in find_segments(str(tmp_path)))
    assert [int(name.split("-")[0]) for name in names] == [5, 99, 1_000_000]


def test_a_half_written_segment_has_no_segments_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "codex" / "s1").mkdir(parents=True)
    with pytest.raises(LedgerUnreachable, match="No space left"):
        write_segment(str(tmp_path), _header(), [Line(text="a")])
    assert find_segments(str(tmp_path)) == []


def test_a_segment_and_its_place_are_on_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    rename, fsync = os.rename, os.fsync

    def note_rename(source: str, target: str) -> None:
        steps.append("rename")
        rename(source, target)

    def note_fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    (tmp_path / "codex" / "s1").mkdir(parents=True)
    monkeypatch.setattr(os, "rename", note_rename)
    monkeypatch.setattr(os, "fsync", note_fsync)
    write_segment(str(tmp_path), _header(), [Line(text="a")])
    assert steps == ["file", "rename", "folder"]
    steps.clear()
    write_segment(str(tmp_path), _header("s2"), [Line(text="a")])
    assert steps == ["folder", "file", "rename", "folder"]


def test_what_a_killed_writer_left_does_not_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "codex" / "s1").mkdir(parents=True)
    (tmp_path / "codex" / "s1" / ".next.tmp").write_bytes(b"half a segm" * 1000)
    segment = write_segment(str(tmp_path), _header(), [Line(text="a")])
    assert list(read_lines(str(tmp_path / segment.name))) == [Line(text="a")]
    assert os.listdir(tmp_path / "codex" / "s1") == [os.path.basename(segment.name)]


def test_damaged_lines_are_told_and_the_others_read(tmp_path: Path) -> None:
    segment = write_segment(str(tmp_path), _header(), [Line(text="a"), Line(text="b"), Line(text="c")])
    path = tmp_path / segment.name
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"text": "b'
    path.write_bytes(b"\n".join(lines))
    assert list(read_lines(str(path))) == [Line(text="a"), None, Line(text="c")]
    path.write_bytes(b"\0" * 100)
    assert read_header(str(path)) is None


@pytest.mark.parametrize(
    "native_id", ["", ".", "..", ".hidden", "a/b", "/abs/path.jsonl", "x" * 101, "a b", "é", "\ud800"]
)
def test_an_id_that_is_no_plain_name_gets_a_hashed_folder(native_id: str) -> None:
    name = name_folder(native_id)
    assert name.startswith("h-")
    assert len(name) == 34


@given(st.text(alphabet=st.characters(exclude_categories=())), st.text(alphabet=st.characters(exclude_categories=())))
def test_folders_stay_below_their_harness_and_apart(one: str, other: str) -> None:
    assert "/" not in name_folder(one)
    assert name_folder(one) not in {"", ".", ".."}
    assert (name_folder(one) == name_folder(other)) == (one == other)


def test_a_uuid_is_its_own_folder() -> None:
    assert name_folder("9114fd70-31f5-4ba9-9bbd-9fdad06b0b8e") == "9114fd70-31f5-4ba9-9bbd-9fdad06b0b8e"


def test_lines_tell_new_events_copies_and_revisions_apart() -> None:
    def redact(text: str) -> tuple[str, dict[str, int]]:
        return text, {}

    new, copy, revised, inherited = prepare_events(
        [
            make_event("s1", "r1", "new", kind=Kind.TOOL_CALL),
            make_event("s1", "r2", "copied", turn="t2", parent_turn="t1"),
            make_event("s1", "r3", "revised"),
            make_event("s0", "r0", "from the parent"),
        ],
        redact,
    )
    batch = Batch(steps=[Step(new), Step(copy, 7, b"\x01\x02"), Step(inherited)], revised=[(9, revised)])
    lines = build_lines(batch, "s1")
    assert [line.text for line in lines] == ["new", "", "from the parent", "revised"]
    assert [line.copy_of for line in lines] == ["", "0102", "", ""]
    assert [line.native_id for line in lines] == ["", "", "s0", ""]
    assert (lines[1].turn, lines[1].parent_turn) == ("t2", "t1")


def test_redaction_sees_the_text_before_it_is_cut() -> None:
    seen: list[int] = []

    def redact(text: str) -> tuple[str, dict[str, int]]:
        seen.append(len(text))
        return text, {"token": 2}

    prepared = prepare_event(make_event("s1", "r1", "word " * TEXT_LIMIT_CHARS), redact)
    assert prepared is not None
    assert seen == [5 * TEXT_LIMIT_CHARS]
    assert len(prepared.event.text) <= TEXT_LIMIT_CHARS
    assert prepared.losses == {"redacted:token": 2, "text_cut": 1}


def test_a_copy_key_is_told_apart_by_harness_block_and_kind() -> None:
    keys = {
        hash_copy_key(make_event("s1", "r1", copy_key="k")),
        hash_copy_key(make_event("s2", "r9", copy_key="k")),
        hash_copy_key(make_event("s1", "r1", copy_key="k", block=1)),
        hash_copy_key(make_event("s1", "r1", copy_key="k", kind=Kind.TOOL_CALL)),
        hash_copy_key(make_event("s1", "r1", copy_key="k", harness="codex")),
    }
    assert len(keys) == 4
    assert hash_copy_key(make_event("s1", "r1")) is None
