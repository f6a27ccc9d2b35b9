"""Pi in a workstream, as a person would use it: the real program, each turn proved by what the model got."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lab.tmux import Pane, Tmux

from tests.real.conftest import Done, Model, Other

pytestmark = pytest.mark.parametrize("other", ["pi"], indirect=True)
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def pi(other: Other, prompt: str, *words: str, cwd: str | None = None) -> Done:
    return other.rigline("run", "pi", *words, "-p", prompt, cwd=cwd)


def claude(other: Other, prompt: str) -> Done:
    return other.rigline("run", "claude", "-p", prompt)


def list_transcripts(other: Other) -> list[Path]:
    root = Path(other.rigline.home.path, ".pi", "agent", "sessions")
    return sorted(root.glob("*/*.jsonl"))


def read_header(path: Path) -> dict[str, str]:
    header: dict[str, str] = json.loads(path.read_text().splitlines()[0])
    return header


def count_packets(text: str) -> int:
    return text.count("[rigline packet")


def test_a_line_goes_on_in_the_same_session_and_comes_back_from_claude_code(other: Other, model: Model) -> None:
    pi(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    assert "recall marigold: yes" in pi(other, "recall: marigold").ok().out
    assert list_transcripts(other) == [first]

    assert "recall marigold: yes" in claude(other, "recall: marigold").ok().out
    claude(other, "say: the flower is a foxglove").ok()

    assert "recall foxglove: yes" in pi(other, "recall: foxglove").ok().out
    assert list_transcripts(other) == [first]
    assert count_packets(first.read_text()) == 1, "the session keeps it"
    sent = model.conversation("recall: foxglove").history
    assert count_packets(sent) == 1
    assert sent.index("[rigline packet") < sent.rindex("recall: foxglove"), "before the prompt"

    assert "recall foxglove: yes" in pi(other, "recall: foxglove").ok().out
    assert count_packets(first.read_text()) == 1, "it is not shown again"


def test_a_long_packet_reaches_the_model_whole(other: Other, model: Model) -> None:
    for number in range(4):
        claude(other, f"say: {number} {'a word of the history ' * 60}").ok()
    claude(other, "say: the end is a lupin").ok()
    assert "recall lupin: yes" in pi(other, "recall: lupin").ok().out
    records = [json.loads(line) for line in list_transcripts(other)[0].read_text().splitlines()]
    (kept,) = [record["content"] for record in records if record["type"] == "custom_message"]
    assert len(kept) > 9000, "longer than what one hook of Claude Code may say"
    assert kept in model.conversation("recall: lupin").history


def test_a_session_that_is_gone_is_followed_by_a_fresh_one_with_the_history(other: Other) -> None:
    pi(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    first.unlink()
    done = pi(other, "recall: marigold").ok()
    assert "recall marigold: yes" in done.out
    assert "is gone from Pi's store" in done.err


def test_a_missing_id_of_the_user_s_is_refused_by_the_program_and_binds_nothing(other: Other) -> None:
    done = pi(other, "say: x", "--session", ABSENT)
    assert done.code == 1
    assert f"has no session {ABSENT}" in done.err
    assert ABSENT not in json.dumps(other.rigline("workstreams", "--json").ok().json)


def test_a_path_that_pi_would_create_without_a_word_is_told(other: Other, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    done = pi(other, "say: x", "--session", str(missing)).ok()
    assert "begins a new session there without a word" in done.err
    assert missing.exists(), "which is why it has to be told"


def test_a_session_is_never_resumed_from_another_directory(other: Other, project: str) -> None:
    pi(other, "say: the word is marigold").ok()
    (first,) = list_transcripts(other)
    before = first.read_bytes()
    below = os.path.join(project, "below")
    os.mkdir(below)
    done = pi(other, "recall: marigold", cwd=below).ok()
    assert "recall marigold: yes" in done.out, "a turn took place, with the history"
    assert first.read_bytes() == before
    assert len(list_transcripts(other)) == 2

    own = read_header(first)["id"]
    told = pi(other, "say: x", "--session", own, cwd=below)
    assert "would not go on here" in told.err
    assert (told.code, told.out) == (0, ""), "the program ends as if all were well"


def test_a_fork_gets_its_id_from_us_and_its_parent_s_words_count_once(other: Other) -> None:
    pi(other, "say: the word is marigold").ok()
    (parent,) = list_transcripts(other)
    own = read_header(parent)["id"]
    before = parent.read_bytes()
    assert "recall marigold: yes" in pi(other, "recall: marigold", "--fork", own).ok().out
    (fork,) = [path for path in list_transcripts(other) if path != parent]
    assert read_header(fork)["parentSession"] == str(parent)
    assert parent.read_bytes() == before
    found = other.rigline("search", "word", "--json").ok().json
    assert len(found["hits"]) == 2, "question and answer, each once"
    assert read_header(fork)["id"] in other.rigline("lineage", "--json").ok().out
    assert "recall marigold: yes" in pi(other, "recall: marigold").ok().out
    assert fork.read_text().count('"recall: marigold"') == 2, "the line goes on with the fork"


def test_a_folder_of_sessions_that_the_user_names_is_heeded(other: Other, tmp_path: Path) -> None:
    folder = tmp_path / "sessions of mine"
    pi(other, "say: the word is marigold", "--session-dir", str(folder)).ok()
    (first,) = folder.glob("*.jsonl")
    done = pi(other, "recall: marigold", "--session-dir", str(folder)).ok()
    assert "recall marigold: yes" in done.out
    assert list(folder.glob("*.jsonl")) == [first]
    assert "saved 2 new events" in done.err


def test_the_user_s_own_extensions_and_settings_stay_as_they_are(other: Other, model: Model) -> None:
    agent = Path(other.rigline.home.path, ".pi", "agent")
    own = agent / "extensions" / "mine.ts"
    own.parent.mkdir()
    own.write_text(
        "export default (pi: any) => { pi.on('before_agent_start', async () => "
        "({message: {customType: 'mine', content: 'own-extension-7', display: false}})); };\n"
    )
    settings = (agent / "settings.json").read_bytes()
    claude(other, "say: the word is marigold").ok()
    pi(other, "say: hello").ok()
    history = model.conversations()[-1].history
    assert "the word is marigold" in history
    assert "own-extension-7" in history
    assert (agent / "settings.json").read_bytes() == settings
    assert not os.listdir(os.path.join(other.rigline.home.rigline_dir, "runs")), "nothing of ours is left"


def test_what_a_person_keeps_from_the_model_is_kept_from_the_other_agents_too(other: Other, tmux: Tmux) -> None:
    pane = tmux.open_pane(other.rigline.argv("run", "pi"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("scripted-model")
    pane.enter("say: hello")
    pane.wait_for(lambda screen: screen.count("hello") > 1)
    pane.enter("!!echo withheld-$((6*7))")
    pane.wait_for("withheld-42")
    pane.enter("!echo told-$((6*7))")
    pane.wait_for("told-42")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert "withheld-42" in list_transcripts(other)[0].read_text(), "the program itself keeps it"
    assert len(other.rigline("search", "told-42", "--json").ok().json["hits"]) == 1
    assert other.rigline("search", "withheld").code == 1, "nothing is found"


def enter(pane: Pane, prompt: str, answer: str) -> None:
    """A prompt, and its answer behind all that the pane shows."""
    before = pane.screen().count(answer)
    pane.enter(prompt)
    pane.wait_for(lambda screen: screen.count(answer) > before)


def resume(pane: Pane, words: str) -> None:
    """Go to the session with these words, by the program's own picker."""
    pane.enter("/resume")
    pane.wait_for("Resume Session")
    pane.enter(words)
    pane.wait_for(lambda screen: "Resume Session" not in screen and words in screen)


def test_in_a_terminal_the_line_is_shown_once_to_each_session_and_never_to_a_new_one(
    other: Other, tmux: Tmux, model: Model
) -> None:
    other.rigline.agent(other.path, "-p", "say: an older one").ok()
    (older,) = list_transcripts(other)
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "pi", "--fresh"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("scripted-model")
    enter(pane, "recall: marigold", "recall marigold: yes")
    (first,) = [path for path in list_transcripts(other) if path != older]
    assert count_packets(first.read_text()) == 1

    enter(pane, "/reload", "Reloaded")
    enter(pane, "say: it is reloaded", "it is reloaded")
    assert count_packets(first.read_text()) == 1, "not again after /reload"

    pane.enter("/new")
    pane.wait_for(lambda screen: "recall marigold" not in screen)
    pane.enter("/reload")
    pane.wait_for("Reloaded")
    enter(pane, "recall: marigold", "recall marigold: no")
    (new,) = [path for path in list_transcripts(other) if path not in (older, first)]
    assert count_packets(new.read_text()) == 0, "asked for to be empty, also after /reload"

    resume(pane, "reloaded")
    enter(pane, "say: back again", "back again")
    assert count_packets(first.read_text()) == 1, "not again in the session that had it"
    resume(pane, "older")
    enter(pane, "recall: word is marigold", "recall word is marigold: yes")
    assert count_packets(older.read_text()) == 1, "an older session has not seen the line yet"
    sent = model.conversation("recall: word is marigold").history
    assert sent.index("an older one") < sent.index("[rigline packet") < sent.rindex("recall: word is")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    assert not any(count_packets(path.read_text()) > 1 for path in list_transcripts(other))


def test_in_a_terminal_the_line_is_shown_once_and_a_new_session_stays_empty(other: Other, tmux: Tmux) -> None:
    claude(other, "say: the word is marigold").ok()
    pane = tmux.open_pane(other.rigline.argv("run", "pi"), other.rigline.env, other.rigline.cwd)
    pane.wait_for("scripted-model")
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: yes")
    pane.enter("/new")
    pane.wait_for(lambda screen: "recall marigold" not in screen)
    pane.enter("recall: marigold")
    pane.wait_for("recall marigold: no")
    pane.enter("/quit")
    assert pane.wait_for_exit() == 0
    packets = [count_packets(path.read_text()) for path in list_transcripts(other)]
    assert sorted(packets) == [0, 1]
    line = other.rigline("workstreams", "show", "main", "--json").ok().json
    (current,) = [each for each in line["sessions"] if each["harness"] == "pi"]
    newest = max(list_transcripts(other), key=lambda path: path.stat().st_mtime_ns)
    assert current["native_id"] == read_header(newest)["id"], "the line goes on with the session that was used last"
