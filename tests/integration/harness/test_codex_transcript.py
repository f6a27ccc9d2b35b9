"""What is read of the rollouts that real programs wrote, and of damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigline.harness.codex import Codex
from rigline.harness.codex_store import CodexStore
from rigline.model import SESSION_START, Event, Kind, LinkKind, Window
from tests.fixtures.codex_store import (
    LEGACY,
    LEGACY_FORK,
    LINEAGE,
    PARENT,
    REWOUND,
    REWOUND_FORK,
    SUBAGENT,
    call,
    find_id,
    message,
    meta,
    output,
    place,
    place_tree,
    record,
    rollout,
    started,
    told,
    write_rollout,
)
from tests.fixtures.records import dump

NATIVE = "01a22ee0-0000-7000-8000-000000000002"


@pytest.fixture
def store(tmp_path: Path) -> CodexStore:
    return Codex().open_store({"CODEX_HOME": str(tmp_path)})


def windows(store: CodexStore, native_id: str, cursor: str | None = None) -> list[Window]:
    info = store.look_up(native_id, "/").info
    assert info is not None
    return list(store.read(info, cursor))


def events(store: CodexStore, native_id: str) -> list[Event]:
    return [event for window in windows(store, native_id) for event in window.events]


def words(found: list[Event]) -> list[str]:
    return [f"{event.role}: {event.text}" for event in found]


GOLDEN = {
    "0.171.0/fresh-one-turn": ["user: say: the codeword is marigold", "assistant: the codeword is marigold"],
    "0.171.0/resumed-multi-turn-unicode-reasoning-tool": [
        "user: say: the codeword is marigold",
        "assistant: the codeword is marigold",
        "user: recall: marigold",
        "assistant: recall marigold: yes",
        "user: think: a 日本語 🎉 answer",
        "assistant: a 日本語 🎉 answer",
        "user: bash: printf 'one\\ntwo\\n'",
        "assistant: Running it.",
        'assistant: exec_command {"cmd": "printf \'one\\\\ntwo\\\\n\'"}',
        "tool: one",
        "assistant: tool said: two",
    ],
    "0.171.0/killed-mid-tool": [
        "user: say: first",
        "assistant: first",
        "user: bash: sleep 47",
        "assistant: Running it.",
        'assistant: exec_command {"cmd": "sleep 47"}',
    ],
    "0.171.0/killed-mid-stream": ["user: hang:"],
    "0.171.0/api-error-400": ["user: http: 400"],
    "0.120.0/parent": [
        "user: say: the codeword is marigold",
        "assistant: the codeword is marigold",
        "user: bash: echo hi",
        "assistant: Running it.",
        'assistant: exec_command {"cmd": "echo hi"}',
        "tool: hi",
        "assistant: tool said: hi",
    ],
    "0.120.0/rolled-back-shell-command-compacted": [
        "user: say: first",
        "assistant: first",
        "user: say: second",
        "assistant: second",
        "user: say: second edited",
        "assistant: second edited",
        "assistant: Another language model started to solve this problem and produced a summary of its thinking",
        "user: say: after compact",
        "assistant: after compact",
    ],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_each_spoken_text_and_action_is_read_once(store: CodexStore, tmp_path: Path, name: str) -> None:
    native_id = find_id(place(name, tmp_path))
    found = [line.split("\n")[0] for line in words(events(store, native_id))]
    assert [line[: len(wanted)] for line, wanted in zip(found, GOLDEN[name], strict=True)] == GOLDEN[name]


def test_what_is_left_out_is_counted(store: CodexStore, tmp_path: Path) -> None:
    native_id = find_id(place("0.171.0/resumed-multi-turn-unicode-reasoning-tool", tmp_path))
    (window,) = windows(store, native_id)
    assert window.losses == {"system_prompt": 3, "meta": 1, "hidden_reasoning": 1}


def test_a_compaction_and_an_interruption_leave_the_conversation(store: CodexStore, tmp_path: Path) -> None:
    name = "0.171.0/interactive-approval-interrupt-rename-compact"
    native_id = find_id(place(name, tmp_path))
    found = events(store, native_id)
    assert [event.kind for event in found].count(Kind.COMPACTION) == 1
    assert not any("<turn_aborted>" in event.text or "<environment_context>" in event.text for event in found)


def test_a_paginated_fork_has_only_its_own_records_and_a_link(store: CodexStore, tmp_path: Path) -> None:
    place_tree("fork-lineage", tmp_path)
    (fork,) = windows(store, LINEAGE[1])
    assert {event.native_id for event in fork.events} == {LINEAGE[1]}
    assert [(link.parent_id, link.kind) for link in fork.links] == [(LINEAGE[0], LinkKind.FORK)]
    assert fork.links[0].evidence == "`forked_from_id`, records before ordinal 53"
    shared = {event.record for event in events(store, LINEAGE[0])}
    assert not shared.intersection(event.record for event in fork.events)
    assert fork.events[0].parent_turn in shared


def test_the_related_sessions_of_a_fork_are_its_ancestors(store: CodexStore, tmp_path: Path) -> None:
    place_tree("fork-lineage", tmp_path)
    info = store.look_up(LINEAGE[2], "/").info
    assert info is not None
    assert [related.native_id for related in store.related(info)] == [LINEAGE[1], LINEAGE[0]]


def test_a_legacy_fork_s_copies_have_their_parent_s_identities(store: CodexStore, tmp_path: Path) -> None:
    place("0.120.0/parent", tmp_path)
    place("0.120.0/forked-copies-parent-and-its-session-meta", tmp_path)
    parent, fork = events(store, LEGACY), events(store, LEGACY_FORK)
    assert {event.native_id for event in fork} == {LEGACY_FORK}
    assert [event.copy_key for event in fork[: len(parent)]] == [event.copy_key for event in parent]
    assert words(fork)[len(parent) :] == ["user: recall: marigold", "assistant: recall marigold: yes"]
    (link,) = [link for window in windows(store, LEGACY_FORK) for link in window.links]
    assert (link.parent_id, link.evidence) == (LEGACY, "`forked_from_id`, a copy of its records")


def test_a_rewound_thread_is_read_from_all_its_rollouts(store: CodexStore, tmp_path: Path) -> None:
    place_tree("rewound", tmp_path)
    prompts = [event for event in events(store, REWOUND) if event.role == "user"]
    assert [event.text for event in prompts][:5] == ["say: t1", "say: t2", "say: t3", "say: t3 v2", "say: t1 v3"]
    first, second, third, instead, again = prompts[:5]
    assert (third.parent_turn, instead.parent_turn) == (second.record, second.record)
    assert (first.parent_turn, again.parent_turn) == (SESSION_START, SESSION_START)


def test_a_fork_of_a_rewound_thread_follows_the_rollout_that_it_left(store: CodexStore, tmp_path: Path) -> None:
    place_tree("rewound", tmp_path)
    recalled = [event for event in events(store, REWOUND) if event.role == "user" and event.text == "recall: t1"]
    assert events(store, REWOUND_FORK)[0].parent_turn == recalled[0].record


def test_a_rewind_is_followed_from_a_cursor_before_it(store: CodexStore, tmp_path: Path) -> None:
    _, *later, _ = place_tree("rewound", tmp_path)
    contents = [path.read_text() for path in later]
    for path in later:
        path.unlink()
    begun = windows(store, REWOUND)
    for path, text in zip(later, contents, strict=True):
        path.write_text(text)
    followed = windows(store, REWOUND, begun[-1].cursor)
    assert [e for w in (*begun, *followed) for e in w.events] == events(store, REWOUND)
    assert [w.at_end for w in followed][-1] is True


def test_a_rollback_within_a_file_puts_the_next_prompt_behind_an_earlier_one(store: CodexStore, tmp_path: Path) -> None:
    native_id = find_id(place("0.120.0/rolled-back-shell-command-compacted", tmp_path))
    first, second, edited, after = [event for event in events(store, native_id) if event.role == "user"]
    assert (second.parent_turn, edited.parent_turn, after.parent_turn) == (first.record, first.record, edited.record)


def test_a_subagent_is_a_linked_session_of_its_own(store: CodexStore, tmp_path: Path) -> None:
    place_tree("subagent", tmp_path)
    parent = store.look_up(PARENT, "/").info
    assert parent is not None
    (child,) = store.related(parent)
    assert (child.native_id, child.is_subagent) == (SUBAGENT, True)
    assert child.parent is not None
    assert (child.parent.parent_id, child.parent.kind) == (PARENT, LinkKind.SUBAGENT)
    assert words(events(store, SUBAGENT)) == ["user: say: from the child"]


def test_a_prompt_that_looks_injected_is_read_when_an_event_says_it_was_typed(
    store: CodexStore, tmp_path: Path
) -> None:
    odd = "<environment_context> is what I want explained"
    text = dump(
        meta(NATIVE), started("t1"), message("user", "<environment_context>\nx"), message("user", odd), told(odd)
    )
    write_rollout(tmp_path, NATIVE, text)
    (window,) = windows(store, NATIVE)
    assert [(event.text, event.record, event.turn) for event in window.events] == [(odd, "t1:1", "t1:1")]
    assert window.losses == {"meta": 1}


def test_reused_ordinals_do_not_merge_records(store: CodexStore, tmp_path: Path) -> None:
    one, other = message("user", "one"), message("user", "other")
    one["ordinal"] = other["ordinal"] = 7
    write_rollout(tmp_path, NATIVE, dump(meta(NATIVE), one, other))
    found = events(store, NATIVE)
    assert [event.text for event in found] == ["one", "other"]
    assert found[0].record != found[1].record


def test_call_ids_that_repeat_from_turn_to_turn_do_not_merge_calls(store: CodexStore, tmp_path: Path) -> None:
    turns = [[started(f"t{n}"), message("user", f"{n}"), call("call_0"), output("call_0", f"out {n}")] for n in (1, 2)]
    write_rollout(tmp_path, NATIVE, dump(meta(NATIVE), *turns[0], *turns[1]))
    found = events(store, NATIVE)
    assert len({(event.record, event.kind) for event in found}) == 6


def test_half_a_record_and_the_same_record_again_give_it_once(store: CodexStore, tmp_path: Path) -> None:
    prompt, answer = dump(message("user", "ask")), dump(message("assistant", "answer"))
    text = dump(meta(NATIVE), started("t1")) + prompt + answer[: len(answer) // 2] + answer
    write_rollout(tmp_path, NATIVE, text)
    (window,) = windows(store, NATIVE)
    assert words(window.events) == ["user: ask", "assistant: answer"]
    assert window.losses["truncated"] == 1


def test_a_rollout_without_its_first_record_is_read_as_far_as_it_can_be(store: CodexStore, tmp_path: Path) -> None:
    text = rollout("0.171.0/fresh-one-turn").read_text().split("\n", 1)[1]
    write_rollout(tmp_path, NATIVE, text)
    assert words(events(store, NATIVE)) == GOLDEN["0.171.0/fresh-one-turn"]


def test_records_of_unknown_types_are_counted_within_bounds(store: CodexStore, tmp_path: Path) -> None:
    write_rollout(tmp_path, NATIVE, dump(meta(NATIVE), *(record(f"new_{n}") for n in range(100)), message("user", "x")))
    (window,) = windows(store, NATIVE)
    assert sum(window.losses.values()) == 100
    assert len(window.losses) <= 17


def test_an_archived_thread_is_read_on_from_where_it_was(store: CodexStore, tmp_path: Path) -> None:
    path = place("0.171.0/fresh-one-turn", tmp_path)
    native_id = find_id(path)
    info = store.look_up(native_id, "/").info
    assert info is not None
    cursor = windows(store, native_id)[-1].cursor
    target = tmp_path / "archived_sessions" / path.name
    target.parent.mkdir()
    path.rename(target)
    target.write_text(target.read_text() + dump(message("assistant", "later")))
    assert words([event for window in store.read(info, cursor) for event in window.events]) == ["assistant: later"]


def test_a_named_file_outside_the_store_is_read_too(store: CodexStore, tmp_path: Path) -> None:
    path = place("0.171.0/fresh-one-turn", tmp_path)
    info = store.look_up(find_id(path), "/").info
    assert info is not None
    copy = tmp_path / "copy.jsonl"
    copy.write_text(path.read_text() + json.dumps(message("assistant", "only here")) + "\n")
    found = [event for window in store.read(replace(info, path=str(copy)), None) for event in window.events]
    assert words(found)[-1] == "assistant: only here"
