"""Transcripts that the real programs wrote, read whole and in parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigline.harness import windows as bounds
from rigline.harness.claude_store import ClaudeStore
from rigline.harness.journal import decode_cursor
from rigline.model import Event, Kind, SessionInfo, Window
from tests.fixtures.claude_golden import GOLDEN, events_of, losses_of, write_out
from tests.fixtures.claude_store import (
    VERSIONS,
    assistant,
    place,
    place_subagent,
    result,
    text,
    transcript,
    transcripts,
    user,
    write_session,
)
from tests.fixtures.records import RECORDED, dump

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
NAMES = [f"{version}/{path.stem}" for version in VERSIONS for path in transcripts(version)]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def get_info(config: Path, native_id: str) -> SessionInfo:
    (found,) = [info for info in ClaudeStore(str(config)).iter_sessions() if info.native_id == native_id]
    return found


def read(config: Path, info: SessionInfo, cursor: str | None = None) -> list[Window]:
    return list(ClaudeStore(str(config)).read(info, cursor))


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_gives_what_was_said_and_done(name: str, config: Path) -> None:
    path = place(transcript(name), config, RECORDED)
    info = get_info(config, path.stem)
    assert write_out(info, read(config, info)) == (GOLDEN / f"{name}.txt").read_text()


def test_a_subagent_s_transcript_gives_its_own_part(config: Path) -> None:
    path = place_subagent(config, RECORDED)
    info = get_info(config, f"a0000000-0000-4000-8000-000000000003/{path.stem}")
    windows = read(config, info)
    assert [(event.role, event.text) for event in events_of(windows)] == [
        ("user", "say: subagent answer"),
        ("assistant", "subagent answer"),
    ]
    assert windows[0].links == [info.parent]
    assert "foreign_session" not in windows[0].losses


def test_a_tool_that_was_killed_stays_a_call_without_a_status(config: Path) -> None:
    path = place(transcript("2.1.197/killed-mid-tool"), config, RECORDED)
    last = events_of(read(config, get_info(config, path.stem)))[-1]
    assert (last.kind, last.tool, last.status) == (Kind.TOOL_CALL, "Bash", None)


def test_a_fork_s_copies_have_their_parent_s_keys_and_its_own_records_not(config: Path) -> None:
    parent = place(transcript("2.1.197/resumed-multi-turn-unicode-thinking-tool"), config, RECORDED)
    child = place(transcript("2.1.197/forked-by-fork-session"), config, RECORDED)
    first, second = (events_of(read(config, get_info(config, path.stem))) for path in (parent, child))
    assert [event.copy_key for event in second[: len(first)]] == [event.copy_key for event in first]
    assert not {event.copy_key for event in second[len(first) :]} & {event.copy_key for event in first}


def test_a_line_that_is_being_written_is_left_for_the_next_time(config: Path) -> None:
    path = write_session(config, RECORDED, ONE, user(ONE, "u1", None, "one"))
    info = get_info(config, ONE)
    next_one = dump(user(ONE, "u2", "u1", "two"))
    with path.open("a") as file:
        file.write(next_one[:40])
    first = read(config, info)
    with path.open("a") as file:
        file.write(next_one[40:])
    second = read(config, info, first[-1].cursor)
    assert [event.text for event in events_of(first)] == ["one"]
    assert [(event.text, event.parent_turn) for event in events_of(second)] == [("two", "u1")]
    assert not losses_of(first)
    assert not losses_of(second)


def test_a_record_that_was_glued_onto_half_a_line_is_read(config: Path) -> None:
    # What a resume after kill -9 leaves (both versions).
    path = write_session(config, RECORDED, ONE, user(ONE, "u1", None, "one"))
    torn, whole = dump(assistant(ONE, "a1", "u1", text("never finished"))), dump(user(ONE, "u2", "u1", "two"))
    with path.open("a") as file:
        file.write(torn[:-30] + whole)
    windows = read(config, get_info(config, ONE))
    assert [event.text for event in events_of(windows)] == ["one", "two"]
    assert losses_of(windows) == {"truncated": 1}


def test_a_moved_transcript_goes_on_from_its_cursor(config: Path, tmp_path: Path) -> None:
    path = write_session(config, RECORDED, ONE, user(ONE, "u1", None, "one"))
    cursor = read(config, get_info(config, ONE))[-1].cursor
    moved = config / "projects" / "renamed"
    path.parent.rename(moved)
    with (moved / path.name).open("a") as file:
        file.write(dump(user(ONE, "u2", "u1", "two")))
    assert [event.text for event in events_of(read(config, get_info(config, ONE), cursor))] == ["two"]


def test_cursors_stay_small(config: Path) -> None:
    rows = [user(ONE, f"{n:036}", f"{n - 1:036}", f"prompt {n}") for n in range(3000)]
    write_session(config, RECORDED, ONE, *rows)
    assert max(len(window.cursor) for window in read(config, get_info(config, ONE))) < 16_000


def test_unknown_kinds_are_counted_but_not_without_end(config: Path) -> None:
    write_session(config, RECORDED, ONE, user(ONE, "u", None, "x"), *({"type": f"kind-{n}"} for n in range(99)))
    losses = losses_of(read(config, get_info(config, ONE)))
    assert sum(losses.values()) == 99
    assert len(losses) <= 17
    assert losses["unknown:other"] == 83


def test_titles_of_windows_prefer_what_a_person_chose(config: Path) -> None:
    chosen = {"type": "custom-title", "customTitle": "Chosen", "sessionId": ONE}
    made_up = {"type": "ai-title", "aiTitle": "Made up", "sessionId": ONE}
    path = write_session(config, RECORDED, ONE, user(ONE, "u", None, "x"), made_up)
    info = get_info(config, ONE)
    (first,) = read(config, info)
    path.write_text(path.read_text() + dump(chosen, made_up))
    (second,) = read(config, info, first.cursor)
    path.write_text(path.read_text() + dump(made_up))
    (third,) = read(config, info, second.cursor)
    assert [first.title, second.title, third.title] == ["Made up", "Chosen", None]


def test_a_record_with_more_than_a_window_is_given_in_several(config: Path) -> None:
    results = [*(result(f"call_{n}", f"output {n}") for n in range(999)), text("and a question")]
    path = write_session(config, RECORDED, ONE, user(ONE, "u1", None, "one"), user(ONE, "u2", "gone", results))
    path.write_text(path.read_text() + dump(user(ONE, "u3", "u2", "three")))
    info = get_info(config, ONE)
    windows = read(config, info)
    assert [len(window.events) for window in windows] == [1, 400, 400, 201]
    whole = {(event.record, event.block): event for event in events_of(windows)}
    assert len(whole) == 1002
    assert whole["u2", 999].parent_turn == "u1"
    for count in range(len(windows)):
        # A crash between two of them: the record is read again from its first block, and gives the same.
        cursor = windows[count - 1].cursor if count else None
        again = events_of(windows[:count]) + events_of(read(config, info, cursor))
        assert {(event.record, event.block): event for event in again} == whole


def test_an_event_larger_than_a_window_has_one_for_itself(config: Path) -> None:
    big = "x" * (bounds.MAX_TEXT_BYTES + 1)
    rows = [user(ONE, "u1", None, "one"), user(ONE, "u2", "u1", big), user(ONE, "u3", "u2", "three")]
    write_session(config, RECORDED, ONE, *rows)
    windows = read(config, get_info(config, ONE))
    assert [[len(event.text) for event in window.events] for window in windows] == [[3], [len(big)], [5]]


def test_stretches_without_events_get_cursors_too(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_SOURCE_BYTES", 2000)
    rows = [{"type": "progress", "data": "x" * 100} for _ in range(100)]
    write_session(config, RECORDED, ONE, user(ONE, "u", None, "x"), *rows)
    windows = read(config, get_info(config, ONE))
    assert len(windows) > 5
    offsets = [cursor.offset for window in windows if (cursor := decode_cursor(window.cursor))]
    assert offsets == sorted(set(offsets)) or offsets[:-1] == sorted(set(offsets[:-1]))


CUTS = st.lists(st.floats(0, 1), max_size=4)
RELAXED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RELAXED
@given(name=st.sampled_from(NAMES), cuts=CUTS, events=st.sampled_from([1, 3, 400]))
def test_however_often_it_is_read_in_between_the_whole_is_the_same(
    name: str, cuts: list[float], events: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("config")
    path = place(transcript(name), config, RECORDED)
    info = get_info(config, path.stem)
    whole = path.read_bytes()
    expected = read(config, info)
    found: list[Window] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MAX_EVENTS", events)
        for length in [*sorted(int(cut * len(whole)) for cut in cuts), len(whole)]:
            path.write_bytes(whole[:length])
            found += read(config, info, found[-1].cursor if found else None)
    assert events_of(found) == events_of(expected)
    assert losses_of(found) == losses_of(expected)
    assert [marker for window in found for marker in window.packets] == [
        marker for window in expected for marker in window.packets
    ]


DAMAGE = st.lists(
    st.tuples(
        st.integers(0, 60), st.floats(0, 1), st.floats(0, 1), st.binary(max_size=6).filter(lambda b: b"\n" not in b)
    ),
    min_size=1,
    max_size=5,
)


@RELAXED
@given(name=st.sampled_from(NAMES), damage=DAMAGE)
def test_damage_never_raises_and_costs_only_the_lines_that_it_hit(
    name: str, damage: list[tuple[int, float, float, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("config")
    path = place(transcript(name), config, RECORDED)
    info = get_info(config, path.stem)
    lines = path.read_bytes().splitlines(keepends=True)
    hit = set()
    for number, begin, length, replacement in damage:
        place_in_file = number % len(lines)
        line = lines[place_in_file].rstrip(b"\n")
        start = int(begin * len(line))
        lines[place_in_file] = line[:start] + replacement + line[start + int(length * 30) :] + b"\n"
        hit.add(place_in_file)
    spared = {json.loads(line).get("uuid") for place, line in enumerate(lines) if place not in hit}
    expected = [event for event in events_of(read(config, info)) if event.record in spared]
    path.write_bytes(b"".join(lines))
    found = {key(event) for event in events_of(read(config, info))}
    assert {key(event) for event in expected} <= found


def key(event: Event) -> tuple[Any, ...]:
    return event.record, event.block, event.kind, event.text
