"""Codex's rollouts under random content, random damage, and any way of growing."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rigline.harness.codex import Codex
from rigline.harness.codex_records import extract
from rigline.harness.codex_store import CodexStore
from rigline.model import Window
from tests.fixtures.codex_store import CANARIES, call, canary_records, message, meta, output, record, started, told
from tests.fixtures.records import dump

NATIVE = "01a22ee0-0000-7000-8000-000000000004"

#: what stands in records of kinds that are never read; no broken byte makes another kind of them
HIDDEN = [canary for canary in CANARIES if canary not in ("CANARY-environment", "CANARY-packet")]

texts = st.text(max_size=12) | st.sampled_from(["<environment_context>", "say: x", "Process exited with code 1"])
turn_ids = st.sampled_from(["t1", "t2", "t3"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda children: st.lists(children, max_size=2) | st.dictionaries(texts, children, max_size=2),
    max_leaves=5,
)
records = st.one_of(
    st.builds(started, turn_ids),
    st.builds(message, st.sampled_from(["user", "assistant", "developer"]), texts),
    st.builds(told, texts),
    st.builds(call, texts, texts),
    st.builds(output, texts, values),
    st.builds(lambda text: record("compacted", message=text), texts),
    st.builds(lambda number: record("event_msg", type="thread_rolled_back", num_turns=number), values),
    st.builds(lambda kind, payload: {"type": kind, "payload": payload}, texts | st.just("response_item"), values),
)
noise = st.sampled_from([b"\0\0\0\n", b"}{\n", b"[1]\n", b"\xff\n", b'{"type":"resp\n', b"\n"])


@contextmanager
def thread(text: bytes = b"") -> Iterator[tuple[CodexStore, Path]]:
    with tempfile.TemporaryDirectory() as home:
        path = Path(home, "sessions", "2026", "11", "30", f"rollout-2026-11-30T00-00-00-{NATIVE}.jsonl")
        path.parent.mkdir(parents=True)
        path.write_bytes(text)
        yield Codex().open_store({"CODEX_HOME": home}), path


def read(store: CodexStore, cursor: str | None = None) -> list[Window]:
    info = next(iter(store.iter_sessions()))
    return list(store.read(info, cursor))


def summarise(windows: list[Window]) -> tuple[list[object], Counter[str], list[object]]:
    losses: Counter[str] = Counter()
    for window in windows:
        losses.update(window.losses)
    return [event for w in windows for event in w.events], losses, [packet for w in windows for packet in w.packets]


def encode(items: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


@settings(max_examples=60)
@given(st.lists(records, max_size=20))
def test_nothing_that_decodes_raises(items: list[dict[str, Any]]) -> None:
    for item in items:
        extract(item)
    with thread(encode([meta(NATIVE), *items])) as (store, _):
        keys = [event.record for window in read(store) for event in window.events]
        assert all(keys)


@settings(max_examples=60)
@given(st.lists(records, max_size=20), st.data())
def test_a_thread_read_as_it_grows_is_the_thread_read_at_once(items: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = encode([meta(NATIVE), *items])
    head = whole.index(b"\n") + 1
    cuts = sorted(data.draw(st.lists(st.integers(head, len(whole)), max_size=4)))
    with thread(whole) as (store, path):
        expected = summarise(read(store))
        grown: list[Window] = []
        for cut in (*cuts, len(whole)):
            path.write_bytes(whole[:cut])
            grown += read(store, grown[-1].cursor if grown else None)
        assert summarise(grown) == expected


@settings(max_examples=60)
@given(st.lists(records, max_size=12), st.lists(noise, max_size=12), st.integers())
def test_damage_between_records_costs_no_record(items: list[dict[str, Any]], damage: list[bytes], seed: int) -> None:
    lines = encode(items).splitlines(keepends=True)
    mixed = lines[:]
    for piece in damage:
        mixed.insert(random.Random(seed).randint(0, len(mixed)), piece)
    head = encode([meta(NATIVE), started("t0")])
    with thread(head + b"".join(lines)) as (store, path):
        clean = summarise(read(store))[0]
        path.write_bytes(head + b"".join(mixed))
        assert summarise(read(store))[0] == clean


@settings(max_examples=60)
@given(st.data())
def test_no_damage_brings_a_canary_out(data: st.DataObject) -> None:
    whole = bytearray(dump(*canary_records(NATIVE, "/w")).encode())
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    with thread(bytes(whole)) as (store, _):
        for info in store.iter_sessions():
            for window in store.read(info, None):
                told_texts = " ".join(event.text for event in window.events)
                assert not any(canary in told_texts for canary in HIDDEN)
