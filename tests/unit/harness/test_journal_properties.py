"""The tolerant reader under random records, random damage, and any way a file can grow."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rigline.harness.journal import Line, iter_lines, make_cursor, open_at

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
records = st.dictionaries(st.text(), values, max_size=4)
garbage = st.binary(max_size=40) | st.sampled_from([b"\0" * 9, b"{", b'{"a":', b'"}', b"}{", b"\xff\xfe", b"[[["])


def encode(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def clean_records(lines: list[Line]) -> list[object]:
    return [line.record for line in lines if line.record is not None]


def read_bytes(data: bytes) -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(data)
        return list(iter_lines(str(path)))


@given(st.lists(records))
def test_what_was_written_is_read(written: list[dict[str, object]]) -> None:
    lines = read_bytes(b"".join(encode(record) + b"\n" for record in written))
    assert clean_records(lines) == written
    assert {line.damage for line in lines} <= {None}


@given(st.lists(st.one_of(records.map(lambda record: encode(record) + b"\n"), garbage)))
def test_no_damage_raises_and_every_place_is_true(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    at = 0
    for line in read_bytes(data):
        assert at <= line.offset < line.end <= len(data)
        assert line.record is not None or line.damage is not None
        at = line.end


@given(st.lists(st.tuples(garbage.map(lambda data: data.replace(b"\n", b"")), records)))
def test_undamaged_lines_all_come_out_between_damaged_ones(pairs: list[tuple[bytes, dict[str, object]]]) -> None:
    data = b"".join(broken + b"\n" + encode(record) + b"\n" for broken, record in pairs)
    found = clean_records(read_bytes(data))
    for _, record in pairs:
        assert record in found
        found = found[found.index(record) + 1 :]


@given(records.filter(bool), records.filter(bool), st.data())
def test_a_record_glued_onto_half_of_itself_is_recovered(
    before: dict[str, object], record: dict[str, object], data: st.DataObject
) -> None:
    whole = encode(record)
    cut = data.draw(st.integers(1, len(whole) - 1))
    text = encode(before) + b"\n" + whole[:cut] + whole + b"\n"
    assert clean_records(read_bytes(text)) == [before, record]


@given(st.lists(st.one_of(records.map(lambda record: encode(record) + b"\n"), garbage), max_size=8), st.data())
def test_any_way_of_growing_gives_the_same_records(pieces: list[bytes], data: st.DataObject) -> None:
    content = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    found: list[object] = []
    cursor: str | None = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        for cut in [*cuts, len(content)]:
            path.write_bytes(content[:cut])
            start = open_at(cursor, str(path))
            assert not start.is_restart
            lines = list(iter_lines(str(path), start.offset))
            found += clean_records(lines)
            cursor = make_cursor(str(path), lines[-1].end if lines else start.offset, {}).encode()
    assert found == clean_records(read_bytes(content))
