"""The main job: one line of work, begun by Claude Code, continued by Codex, taken back by Claude Code."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

import pytest
from lab.home import run_git

from tests.real.conftest import NEWEST, Agents, Model, Rigline

newest = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])


def claude(rigline: Rigline, prompt: str, *options: str) -> str:
    """One headless turn of Claude Code; its answer."""
    return rigline("run", *options, "claude", "-p", prompt).ok().out.strip()


def codex(rigline: Rigline, prompt: str, *options: str) -> str:
    """One headless turn of Codex; what it printed."""
    return rigline("run", *options, "codex", "exec", "--skip-git-repo-check", prompt).ok().out.strip()


def bindings(rigline: Rigline, name: str = "main") -> dict[str, str]:
    """The current native session of each harness on a line."""
    line = rigline("workstreams", "show", name, "--json").ok().json
    return {session["harness"]: session["native_id"] for session in line["sessions"]}


def store_bytes(rigline: Rigline) -> dict[str, bytes]:
    """Every transcript of both harnesses."""
    roots = [Path(rigline.home.claude_dir, "projects"), Path(rigline.home.codex_dir, "sessions")]
    return {str(path): path.read_bytes() for root in roots for path in root.rglob("*.jsonl")}


def test_codex_continues_what_claude_code_began_and_claude_code_takes_it_back(
    rigline: Rigline, model: Model, agents: Agents
) -> None:
    claude(rigline, "say: the codeword is marigold")
    first = bindings(rigline)["claude-code"]

    delivers = agents.codex.version != "0.120.0"  # no hooks can be given to that version per launch
    codex(rigline, "recall: marigold")
    assert ("marigold" in model.conversation("recall: marigold").history.replace("recall: marigold", "")) is delivers

    codex(rigline, "say: the parser moved to lexer.py")
    claude(rigline, "recall: lexer.py")
    request = model.conversation("recall: lexer.py")
    assert "the parser moved to lexer.py" in request.history
    assert "the codeword is marigold" in request.history
    assert bindings(rigline)["claude-code"] == first


def test_each_harness_resumes_its_own_session(rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: one")
    codex(rigline, "say: two")
    before = bindings(rigline)
    assert set(before) == {"claude-code", "codex"}
    claude(rigline, "say: three")
    codex(rigline, "say: four")
    assert bindings(rigline) == before


def test_what_was_delivered_is_confirmed_and_not_delivered_again(rigline: Rigline, model: Model) -> None:
    codex(rigline, "say: from codex")
    claude(rigline, "say: from claude")
    claude(rigline, "say: again")
    parts = model.conversation("say: again").history.count("[rigline packet")
    assert parts == 1, "one packet, once"


@newest
def test_a_session_s_own_words_are_never_echoed_to_it(rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: my own words")
    claude(rigline, "say: more of them")
    assert "[rigline packet" not in model.conversation("say: more of them").history


def test_a_missing_session_gives_a_fresh_one_aloud_with_the_line_s_history(rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: the codeword is marigold")
    lost = bindings(rigline)["claude-code"]
    shutil.rmtree(Path(rigline.home.claude_dir, "projects"))
    done = rigline("run", "claude", "-p", "recall: marigold").ok()
    assert f"{lost} is gone" in done.err
    assert done.out.strip() == "recall marigold: yes"
    found = bindings(rigline)["claude-code"]
    assert found != lost
    assert rigline("run", "claude", "-p", "say: x").ok().err.count("gone") == 0
    assert bindings(rigline)["claude-code"] == found


def test_the_user_s_own_selector_wins(rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: one")
    first = bindings(rigline)["claude-code"]
    claude(rigline, "say: two", "--fresh")
    assert bindings(rigline)["claude-code"] != first
    rigline("run", "claude", "-p", "say: three", "--resume", first).ok()
    assert bindings(rigline)["claude-code"] == first


def test_a_typing_error_in_a_selector_repoints_nothing(rigline: Rigline) -> None:
    claude(rigline, "say: one")
    before = bindings(rigline)
    done = rigline("run", "claude", "-p", "say: two", "--resume", str(uuid.uuid4()))
    assert done.code == 1
    assert "has no session" in done.err
    assert bindings(rigline) == before


@pytest.mark.parametrize("named", [True, False], ids=["of a named session", "of the line's own"])
def test_a_fork_is_bound_by_its_own_id_and_linked_to_its_parent(rigline: Rigline, model: Model, named: bool) -> None:
    claude(rigline, "say: the codeword is marigold")
    parent = bindings(rigline)["claude-code"]
    resume = ["--resume", parent] if named else []
    done = rigline("run", "claude", "-p", "recall: marigold", *resume, "--fork-session").ok()
    assert done.out.strip() == "recall marigold: yes"
    child = bindings(rigline)["claude-code"]
    assert child != parent
    (tree,) = rigline("lineage", child, "--json").ok().json["trees"]
    assert tree["native_id"] == parent
    assert [(node["native_id"], node["kind"]) for node in tree["children"]] == [(child, "fork")]
    assert rigline("run", "claude", "-p", "count:").ok().out.strip() == "user=3 assistant=2"
    assert bindings(rigline)["claude-code"] == child


def test_an_id_that_is_refused_since_it_exists_repoints_nothing(rigline: Rigline) -> None:
    claude(rigline, "say: one")
    first = bindings(rigline)["claude-code"]
    claude(rigline, "say: two", "--fresh")
    before = bindings(rigline)
    assert rigline("run", "claude", "-p", "say: three", "--session-id", first).code == 1
    assert bindings(rigline) == before


def test_no_history_is_claimed_where_it_cannot_be_shown(rigline: Rigline, agents: Agents) -> None:
    claude(rigline, "say: one")
    told = rigline("run", "codex", "exec", "--skip-git-repo-check", "say: two").ok().err
    assert ("as history" in told) is (agents.codex.version != "0.120.0")
    assert "offered again" not in told


@pytest.mark.parametrize("args", [("--version",), ("--help",), ("mcp", "list")])
def test_utility_commands_bind_and_import_nothing(rigline: Rigline, args: tuple[str, ...]) -> None:
    for harness in ("claude", "codex"):
        rigline("run", harness, *args).ok()
    assert rigline("workstreams", "--all", "--json").ok().json["workstreams"] == []


def test_the_child_s_exit_code_is_kept(rigline: Rigline, model: Model) -> None:
    assert rigline("run", "claude", "-p", "http: 400").code == 1
    assert rigline("run", "codex", "exec", "--skip-git-repo-check", "http: 400").code == 1


@newest
def test_the_native_stores_are_only_read(rigline: Rigline) -> None:
    claude(rigline, "bash: echo hello")
    codex(rigline, "bash: echo hello")
    before = store_bytes(rigline)
    assert len(before) == 2
    for words in (["import", "--all"], ["doctor"], ["log"], ["search", "hello"], ["run", "--dry-run", "claude"]):
        rigline(*words)
    assert store_bytes(rigline) == before


@newest
def test_markers_of_an_outer_agent_do_not_reach_the_child(rigline: Rigline) -> None:
    rigline.more = {"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SESSION_ID": str(uuid.uuid4())}
    done = rigline("run", "claude", "-p", "say: persisted").ok()
    assert "CLAUDE_CODE_CHILD_SESSION" in done.err
    assert "claude-code" in bindings(rigline)


@newest
def test_a_user_s_configuration_files_are_untouched(rigline: Rigline, home: object) -> None:
    config = Path(rigline.home.codex_dir, "config.toml")
    before = config.read_bytes()
    settings = Path(rigline.home.claude_dir, "settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"env": {"A": "1"}}')
    claude(rigline, "say: one")
    codex(rigline, "say: two")
    claude(rigline, "say: three")
    assert config.read_bytes() == before
    assert settings.read_text() == '{"env": {"A": "1"}}'


@newest
def test_a_packet_of_several_parts_arrives_whole(rigline: Rigline, model: Model) -> None:
    for number in range(8):
        claude(rigline, f"big: {3000 + number}")
        claude(rigline, f"say: milestone-{number}-reached")
    codex(rigline, "count:")
    history = model.conversation("count:").history
    markers = [line for line in history.splitlines() if line.startswith("[rigline packet ")]
    assert len({line.split()[4] for line in markers}) > 1
    assert all(f"milestone-{number}-reached" in history for number in range(8))
    text = rigline("run", "--print-context", "--json", "--fresh", "codex", "exec", "x").ok().json["context"]
    assert "milestone-7-reached" in text


@newest
def test_a_subdirectory_continues_the_same_line(rigline: Rigline, project: str) -> None:
    claude(rigline, "say: at the top")
    below = os.path.join(project, "src")
    os.mkdir(below)
    rigline("run", "codex", "exec", "--skip-git-repo-check", "say: below", cwd=below).ok()
    assert set(bindings(rigline)) == {"claude-code", "codex"}


@newest
def test_bare_run_continues_the_harness_used_last(rigline: Rigline) -> None:
    claude(rigline, "say: one")
    codex(rigline, "say: two")
    plan = rigline("run", "--dry-run", "--json").ok().json
    assert plan["harness"] == "codex"
    assert plan["native_id"] == bindings(rigline)["codex"]
    claude(rigline, "say: three")
    assert rigline("run", "--dry-run", "--json").ok().json["native_id"] == bindings(rigline)["claude-code"]


@newest
def test_an_empty_directory_says_what_to_type(rigline: Rigline) -> None:
    done = rigline("run")
    assert done.code == 64
    assert "rigline run claude" in done.err


@newest
def test_bare_run_on_an_empty_line_takes_over_the_newest_local_session(rigline: Rigline, agents: Agents) -> None:
    session = str(uuid.uuid4())
    rigline.agent(agents.claude.path, "-p", "say: before rigline", "--session-id", session).ok()
    plan = rigline("run", "--dry-run", "--json").ok().json
    assert (plan["harness"], plan["native_id"]) == ("claude-code", session)


@newest
def test_a_dry_run_changes_nothing(rigline: Rigline) -> None:
    for words in (["--dry-run", "codex"], ["--print-context", "claude"], ["--dry-run"]):
        done = rigline("run", *words)
        assert "takes no start hook" not in done.out
    assert not os.path.lexists(rigline.home.rigline_dir)
    assert rigline("workstreams", "--all", "--json").ok().json["workstreams"] == []


@newest
def test_new_lines_are_separate(rigline: Rigline, model: Model) -> None:
    claude(rigline, "say: the codeword is marigold")
    claude(rigline, "recall: marigold", "--new", "other")
    assert "marigold" not in model.conversation("recall: marigold").history.replace("recall: marigold", "")
    refused = rigline("run", "--new", "other", "claude", "-p", "say: x")
    assert refused.code == 64
    assert "--workstream" in refused.err
    unknown = rigline("run", "--workstream", "othre", "claude", "-p", "say: x")
    assert unknown.code == 64
    assert "other" in unknown.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["run", "cluade"], 64, "Did you mean 'claude'"),
        (["run", "--executable", "/nowhere/claude", "claude"], 127, "/nowhere/claude"),
        (["run", "--executable", "/etc/passwd", "claude"], 126, "/etc/passwd"),
        (["run", "--fresh", "claude", "--resume", "x"], 64, "--resume"),
        (["run", "--env", "nonsense", "claude"], 64, "nonsense"),
        (["run", "--nwe", "x", "claude"], 64, "--nwe"),
    ],
)
@newest
def test_bad_input_gets_one_clear_paragraph(rigline: Rigline, words: list[str], code: int, told: str) -> None:
    done = rigline(*words)
    assert (done.code, done.out) == (code, "")
    assert told in done.err
    assert "Traceback" not in done.err
    as_json = rigline(words[0], "--json", *words[1:])
    assert as_json.json["error"]["exit_status"] == code
    assert rigline("workstreams", "--all", "--json").ok().json["workstreams"] == []


@newest
def test_a_renamed_checkout_is_told_where_its_history_is(rigline: Rigline, project: str) -> None:
    run_git(project, "remote", "add", "origin", "https://example.org/team/project.git")
    claude(rigline, "say: under the old name")
    renamed = project + "-renamed"
    os.rename(project, renamed)
    done = rigline("run", "claude", "-p", "say: under the new name", cwd=renamed).ok()
    told = " ".join(done.err.split())
    assert f"was in {project}, of the same repository" in told
    assert "`rigline relocate`" in told
    line = told.partition("rigline log ")[2].partition("`")[0]
    assert "under the old name" in rigline("log", line, cwd=renamed).ok().out


@pytest.mark.parametrize("words", [["codex", "exec", "resume", "no-such-name"], ["claude", "--continue", "-p"]])
@newest
def test_a_session_that_silently_begins_fresh_is_shown_the_line(
    rigline: Rigline, model: Model, words: list[str]
) -> None:
    other = claude if words[0] == "codex" else codex
    other(rigline, "say: the codeword is marigold")
    skip = ["--skip-git-repo-check"] if words[0] == "codex" else []
    rigline("run", *words, *skip, "recall: marigold").ok()
    assert "the codeword is marigold" in model.conversation("recall: marigold").history
