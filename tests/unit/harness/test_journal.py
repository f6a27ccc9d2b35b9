"""The tolerant reader: what each damage becomes. Unlike other unit tests these read a file, as that is its work."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from rigline.harness.journal import Line, decode_cursor, iter_lines, make_cursor, open_at


def read(path: Path, data: bytes, start: int = 0, cap_bytes: int = 1 << 20) -> list[Line]:
    path.write_bytes(data)
    return list(iter_lines(str(path), start, cap_bytes=cap_bytes))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


DAMAGES = [
    pytest.param(b'{"a":1}{"b":2}\n', [({"a": 1}, "glued"), ({"b": 2}, None)], id="glued-records"),
    pytest.param(b'{"a":"x{"a":"xy"}\n', [(None, "truncated"), ({"a": "xy"}, None)], id="cut-in-a-string"),
    pytest.param(b'{"a":1,"b{"b":2}\n', [(None, "truncated"), ({"b": 2}, None)], id="cut-in-a-key"),
    pytest.param(b'{"a":12{"a":123}\n', [(None, "truncated"), ({"a": 123}, None)], id="cut-in-a-number"),
    pytest.param(b'{"a":tr{"a":true}\n', [(None, "truncated"), ({"a": True}, None)], id="cut-in-a-word"),
    pytest.param(b'{"a":"x\\{"a":"x"}\n', [(None, "truncated"), ({"a": "x"}, None)], id="cut-in-an-escape"),
    pytest.param(
        b'{"a":{"a":{"k":1}}\n', [(None, "truncated"), ({"a": {"k": 1}}, None)], id="cut-before-a-value-of-a-key"
    ),
    pytest.param(b'{"a":[{"a":[1]}\n', [(None, "truncated"), ({"a": [1]}, None)], id="cut-in-a-list"),
    pytest.param(b'{"p":{"c":1}{"a":2}\n', [(None, "truncated"), ({"a": 2}, None)], id="cut-after-a-nested-object"),
    pytest.param(b'{"p":{"c":1}\n{"a":2}\n', [(None, "truncated"), ({"a": 2}, None)], id="cut-then-a-newline"),
    pytest.param(b'{"a":"{"a":"{"a":"z"}\n', [(None, "truncated"), ({"a": "z"}, None)], id="two-halves-then-a-whole"),
    pytest.param(b'\0\0\0{"a":1}\n', [(None, "nul_run"), ({"a": 1}, None)], id="nuls-before-a-record"),
    pytest.param(b'{"a":1}\0\0{"b":2}\n', [({"a": 1}, "nul_run"), ({"b": 2}, "nul_run")], id="nuls-for-a-newline"),
    pytest.param(b'{"a":"\xff!"}\n', [({"a": "\ufffd!"}, "invalid_utf8")], id="invalid-utf8"),
    pytest.param(b'{"a":"\\ud83d!"}\n', [({"a": "\ufffd!"}, "lone_surrogate")], id="lone-surrogate"),
    pytest.param(b'{"a":"\\ud83d\\ude00"}\r\n', [({"a": "\U0001f600"}, None)], id="a-pair-is-no-damage"),
    pytest.param(b'\xef\xbb\xbf{"a":1}\r\n\r\n \n\n', [({"a": 1}, None)], id="bom-crlf-and-blank-lines"),
    pytest.param(b'[1]\n2\n"x"\n', [(None, "not_an_object")] * 3, id="no-objects"),
    pytest.param(b'WARN {"x":1} y\n', [(None, "not_json")], id="text"),
    pytest.param(b'WARN {"x":1}\n', [(None, "not_json"), ({"x": 1}, None)], id="text-before-a-record"),
    pytest.param(b'{"a":' + b"[" * 200_000 + b"\n", [(None, "not_json")], id="nested-too-deep"),
    pytest.param(b'{"a":"\x01"}\n', [({"a": "\x01"}, None)], id="a-raw-control-character-is-read"),
]


@pytest.mark.parametrize(("data", "expected"), DAMAGES)
def test_damage_is_named_and_whole_records_are_recovered(
    path: Path, data: bytes, expected: list[tuple[object, str | None]]
) -> None:
    lines = read(path, data + b'{"z":0}\n')
    assert [(line.record, line.damage) for line in lines] == [*expected, ({"z": 0}, None)]


@pytest.mark.parametrize("tail", [b'{"a":1,"b', b'{"a":1}{"b":', b"\0\0\0", b'{"a":"\xe2\x82', b"3", b'{"a":1}{"b":2}'])
def test_an_incomplete_last_line_is_left_for_the_next_time(path: Path, tail: bytes) -> None:
    lines = read(path, b'{"z":0}\n' + tail)
    assert [(line.record, line.end) for line in lines] == [({"z": 0}, 8)]


def test_a_whole_last_record_is_read_without_its_newline(path: Path) -> None:
    assert [line.end for line in read(path, b'{"z":0}\n{"a":1}')] == [8, 15]
    assert [line.record for line in read(path, b'{"z":0}\n{"a":1}\n{"b":2}\n', start=15)] == [{"b": 2}]


def test_a_line_over_the_cap_is_skipped_and_the_next_one_read(path: Path) -> None:
    data = b'{"a":"' + b"x" * 500 + b'"}\n{"b":1}\n'
    assert [(line.offset, line.record, line.damage) for line in read(path, data, cap_bytes=64)] == [
        (0, None, "oversized"),
        (509, {"b": 1}, None),
    ]
    assert read(path, data[:300], cap_bytes=64) == []


def test_each_end_is_a_place_to_start_again(path: Path) -> None:
    data = b"".join(param.values[0] for param in DAMAGES if isinstance(param.values[0], bytes))
    lines = read(path, data)
    for index, line in enumerate(lines):
        rest = [later.record for later in iter_lines(str(path), line.end) if later.record is not None]
        assert rest == [later.record for later in lines[index + 1 :] if later.record is not None]


def test_a_fifo_is_refused_at_once(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        list(iter_lines(str(path)))


def test_hostile_lines_cost_bounded_time(path: Path) -> None:
    half = 2_000_000
    data = b'{"a":"' + b"{" * half + b"\n" + b'{"a":' * (half // 5) + b"\n" + b'{"a":1}{' * (half // 8) + b"\n"
    began = time.monotonic()
    lines = read(path, data + b'{"z":0}\n', cap_bytes=1 << 25)
    assert lines[-1].record == {"z": 0}
    assert time.monotonic() - began < 10


def test_a_run_of_nuls_of_any_length_needs_little_memory(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    os.truncate(path, 200 << 20)
    with open(path, "ab") as file:
        file.write(b'{"b":2}\n')
    tracemalloc.start()
    try:
        lines = list(iter_lines(str(path), cap_bytes=4 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [line.record for line in lines if line.record] == [{"a": 1}, {"b": 2}]
    assert {line.damage for line in lines} == {None, "nul_run"}
    assert peak < 30 << 20


def cursor_of(path: Path, offset: int) -> str:
    return make_cursor(str(path), offset, {"n": "1"}).encode()


def test_a_cursor_continues_in_a_file_that_grew(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    cursor = cursor_of(path, 8)
    path.write_bytes(b'{"a":1}\n{"b":2}\n')
    start = open_at(cursor, str(path))
    assert (start.offset, start.state, start.is_restart) == (8, {"n": "1"}, False)


def test_a_cursor_continues_in_the_same_content_at_another_place(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    cursor = cursor_of(path, 8)
    moved = tmp_path / "archived.jsonl"
    moved.write_bytes(path.read_bytes())
    assert open_at(cursor, str(moved)).offset == 8


@pytest.mark.parametrize("now", [b'{"a":2}\n', b'{"a":2}\n{"b":2}\n', b"", b'{"a"'])
def test_a_cursor_starts_over_in_a_file_that_was_rewritten_or_is_shorter(path: Path, now: bytes) -> None:
    path.write_bytes(b'{"a":1}\n')
    cursor = cursor_of(path, 8)
    path.write_bytes(now)
    assert (open_at(cursor, str(path)).offset, open_at(cursor, str(path)).is_restart) == (0, True)


def test_no_cursor_starts_at_the_beginning(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    assert (open_at(None, str(path)).offset, open_at(None, str(path)).is_restart) == (0, False)


@pytest.mark.parametrize("text", ["", "x", "{}", "[]", '{"path":1}', "\ud800"])
def test_what_is_no_cursor_decodes_to_none(text: str) -> None:
    assert decode_cursor(text) is None
