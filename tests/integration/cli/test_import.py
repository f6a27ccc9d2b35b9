"""`rigline import` takes what agents left into the history, once, and leaves their files as they are."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lab.corpus import write_corpus

from rigline.harness.claude_store import ClaudeStore
from rigline.ledger.local import LocalLedger
from rigline.model import SessionInfo
from tests.fixtures import claude_store
from tests.fixtures.records import RECORDED, dump
from tests.integration.cli.conftest import User

CODEX = Path(claude_store.__file__).parent / "codex" / "0.171.0"
ROOT, FORK, FORK_OF_FORK = (
    f"01a22e72-{rest}"
    for rest in ("04b5-79a3-baea-cb5f3f1db17b", "1095-7730-8ff5-c6100499e6af", "142f-7100-bf9b-d826ea1f31c0")
)


@pytest.fixture
def home() -> Path:
    """The user's home, where agents keep their stores."""
    return Path(os.environ["HOME"])


def place_lineage(home: Path, cwd: Path) -> None:
    """A Codex thread, its fork, and the fork's fork; none of them holds a copy of its parent."""
    folder = home / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    for path in (CODEX / "fork-lineage").iterdir():
        (folder / path.name).write_text(path.read_text().replace(RECORDED, str(cwd)))


def write_talk(home: Path, cwd: Path | str, native_id: str, *texts: str) -> Path:
    """A Claude Code session in which a person said these texts."""
    records = [make_prompt(native_id, n, text) for n, text in enumerate(texts)]
    return claude_store.write_session(home / ".claude", str(cwd), native_id, *records)


def make_prompt(native_id: str, number: int, text: str) -> dict[str, Any]:
    """What was said as the session's turn of that number; no other session has a record of that uuid."""
    before = f"{native_id}-{number - 1}" if number else None
    return claude_store.user(native_id, f"{native_id}-{number}", before, text)


def make_id(number: int) -> str:
    return f"aaaaaaaa-0000-4000-8000-{number:012}"


def hash_files(*folders: Path) -> dict[str, str]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_whole_store_is_found_again_and_stays_as_it_was(user: User, home: Path) -> None:
    corpus = write_corpus(str(home), 1.5)
    before = hash_files(home / ".claude", home / ".codex")
    first = user.call("import", "--all", "--json").value
    assert first["sessions"] == first["sessions_changed"] == corpus.sessions
    assert (first["failures"], first["is_complete"]) == ([], True)
    for token, needle in corpus.needles.items():
        hits = user.call("search", "--all", token, "--json").value["hits"]
        assert [(hit["harness"], hit["native_id"]) for hit in hits] == [(needle.harness, needle.session)]
    assert hash_files(home / ".claude", home / ".codex") == before
    again = user.call("import", "--all")
    assert again.status == 0
    assert "nothing new" in again.out


def test_only_sessions_of_this_checkout_are_imported(user: User, home: Path) -> None:
    (user.checkout / "src").mkdir()
    nested = user.checkout / "vendored"
    subprocess.run(["git", "init", "-q", str(nested)], check=True, capture_output=True)
    (user.checkout.parent / "app-two").mkdir()
    places = [user.checkout, user.checkout / "src", nested, user.checkout.parent / "app-two", user.checkout.parent]
    for number, place in enumerate(places):
        write_talk(home, place, make_id(number), f"said in {place.name}")
    assert user.call("import").status == 0
    found = user.call("search", "--all", "said", "--json").value["hits"]
    assert sorted(hit["snippet"] for hit in found) == ["said in app", "said in src"]
    assert user.call("import", "--all").status == 0
    assert len(user.call("search", "--all", "said", "--json").value["hits"]) == len(places)
    here = user.call("search", "said", "--json").value["hits"]
    assert sorted(hit["snippet"] for hit in here) == ["said in app", "said in src"]


def test_what_was_imported_is_on_no_line(user: User, home: Path) -> None:
    write_talk(home, user.checkout, make_id(1), "hello")
    user.call("import")
    assert user.call("workstreams", "--json").value == {"workstreams": []}
    assert "hello" in user.call("log", "--session", make_id(1)).out


def test_forks_come_after_their_parents_and_count_nothing_twice(user: User, home: Path) -> None:
    place_lineage(home, user.checkout)
    brought = user.call("import", "--json").value
    assert brought["events_added"] == sum(each.events - each.copies for each in user.ledger.list_sessions(None))
    (tree,) = user.call("lineage", FORK_OF_FORK, "--json").value["trees"]
    assert tree["native_id"] == ROOT
    assert {tree["children"][0]["native_id"], tree["children"][0]["children"][0]["native_id"]} == {FORK, FORK_OF_FORK}
    records = {record.native_id: record for record in user.ledger.list_sessions(None)}
    assert set(records) == {ROOT, FORK, FORK_OF_FORK}
    said = user.call("search", "marigold", "--role", "user", "--json").value["hits"]
    assert [hit["native_id"] for hit in said if "codeword" in hit["snippet"]] == [ROOT]


def test_a_claude_fork_is_counted_once(user: User, home: Path) -> None:
    config = home / ".claude"
    parent = claude_store.transcript("2.1.197/resumed-multi-turn-unicode-thinking-tool")
    child = claude_store.transcript("2.1.197/forked-by-fork-session")
    claude_store.place(parent, config, str(user.checkout))
    claude_store.place(child, config, str(user.checkout))
    brought = user.call("import", "--json").value
    assert brought["events_copied"] > 0
    record = user.ledger.get_session(claude_store.find_id(child))
    assert record.copies == brought["events_copied"]
    assert brought["events_added"] == sum(each.events - each.copies for each in user.ledger.list_sessions(None))


def test_a_subagent_is_a_child_of_its_session(user: User, home: Path) -> None:
    claude_store.place(claude_store.transcript("2.1.197/with-subagent"), home / ".claude", str(user.checkout))
    claude_store.place_subagent(home / ".claude", str(user.checkout))
    assert user.call("import", "--json").value["sessions"] == 2
    (tree,) = user.call(
        "lineage", claude_store.find_id(claude_store.transcript("2.1.197/with-subagent")), "--json"
    ).value["trees"]
    assert [child["kind"] for child in tree["children"]] == ["subagent"]
    assert tree["children"][0]["events"] > 0


def test_an_import_goes_on_where_the_last_one_ended(user: User, home: Path) -> None:
    path = write_talk(home, user.checkout, make_id(1), "one", "two")
    assert user.call("import", "--json").value["events_added"] == 2
    more = make_prompt(make_id(1), 2, "three") | {"cwd": str(user.checkout)}
    with path.open("a") as file:
        file.write(dump(more))
    assert user.call("import", "--json").value["events_added"] == 1
    assert user.ledger.get_session(make_id(1)).events == 3


def test_named_files_are_known_by_their_content_wherever_they_lie(user: User, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    backup.mkdir()
    claude = shutil.copy(claude_store.transcript("2.1.332/fresh-then-resumed-with-tool"), backup / "renamed.jsonl")
    codex = shutil.copy(CODEX / "fresh-one-turn.jsonl", backup / "other.txt")
    told = user.call("import", str(claude), str(codex), "--json").value
    assert (told["sessions"], told["failures"]) == (2, [])
    assert {each.harness for each in user.ledger.list_sessions(None)} == {"claude-code", "codex"}
    assert user.call("import", "--harness", "codex", str(claude)).status == 64


def test_a_session_of_another_program_with_records_of_the_same_types_is_not_taken(user: User, tmp_path: Path) -> None:
    record = make_prompt(make_id(1), 0, "hello") | {"message": {"role": "user", "body": "hello"}}
    (tmp_path / f"{make_id(1)}.jsonl").write_text(dump(record))
    refused = user.call("import", str(tmp_path / f"{make_id(1)}.jsonl"))
    assert refused.status == 64
    assert "holds no session" in refused.err


def test_files_that_are_no_sessions_are_named_and_nothing_is_imported(user: User, tmp_path: Path, home: Path) -> None:
    good = write_talk(home, user.checkout, make_id(1), "hello")
    (tmp_path / "notes.txt").write_text("notes")
    refused = user.call("import", str(good), str(tmp_path / "notes.txt"), str(tmp_path / "gone"))
    assert refused.status == 64
    assert "notes.txt holds no session" in refused.err
    assert "gone is not there" in refused.err
    assert user.ledger.list_sessions(None) == []


def test_one_bad_session_is_told_and_the_rest_is_imported(
    user: User, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write_talk(home, user.checkout, make_id(number), f"said {number}")
    read = ClaudeStore.read

    def read_two(self: ClaudeStore, info: SessionInfo, cursor: str | None) -> Any:
        if info.native_id == make_id(1):
            raise OSError(5, "Input/output error")
        return read(self, info, cursor)

    monkeypatch.setattr(ClaudeStore, "read", read_two)
    answer = user.call("import")
    assert answer.status == 1
    assert f"{make_id(1)} could not be imported: Input/output error" in answer.err
    assert "1 session could not be imported." in answer.out
    monkeypatch.undo()
    os.chdir(user.checkout)


def test_a_bad_marker_in_a_nested_checkout_fails_its_sessions_alone(user: User, home: Path) -> None:
    nested = user.checkout / "nested"
    nested.mkdir()
    (nested / ".rigline.toml").write_text("nonsense = 1\n")
    write_talk(home, user.checkout, make_id(1), "good")
    write_talk(home, nested, make_id(2), "bad")
    answer = user.call("import", "--json")
    assert answer.status == 1
    (failure,) = answer.value["failures"]
    assert failure["native_id"] == make_id(2)
    assert ".rigline.toml" in failure["reason"]
    assert answer.value["events_added"] == 1


def test_an_interrupted_import_keeps_what_it_has_and_goes_on(
    user: User, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        write_talk(home, user.checkout, make_id(number), f"said {number}")
    append, calls = LocalLedger.append, []

    def interrupt(self: LocalLedger, *arguments: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return append(self, *arguments, **more)

    monkeypatch.setattr(LocalLedger, "append", interrupt)
    answer = user.call("import", "--json")
    assert answer.status == 130
    assert (answer.value["events_added"], answer.value["is_complete"]) == (2, False)
    monkeypatch.setattr(LocalLedger, "append", append)
    assert user.call("import", "--json").value["events_added"] == 2
    assert "Interrupted" not in user.call("import").out


def test_a_dry_run_imports_nothing(user: User, home: Path) -> None:
    write_talk(home, user.checkout, make_id(1), "hello")
    answer = user.call("import", "--dry-run")
    assert answer.status == 0
    assert "1 session (0 kB), 1 not begun" in answer.out.replace("(1 kB)", "(0 kB)")
    assert user.ledger.list_sessions(None) == []
    (row,) = user.call("import", "--dry-run", "--json").value["sessions"]
    assert (row["native_id"], row["is_begun"]) == (make_id(1), False)


def test_a_session_of_a_directory_that_is_gone_is_kept_as_a_project_of_its_own(user: User, home: Path) -> None:
    gone = user.checkout.parent / "gone"
    gone.mkdir()
    write_talk(home, gone, make_id(1), "hello from there")
    gone.rmdir()
    assert user.call("import", "--all").status == 0
    (record,) = user.ledger.list_sessions(None)
    assert record.cwd == str(gone)
    assert user.call("search", "hello").status == 1
    assert user.call("search", "--all", "hello").status == 0


def test_a_native_session_that_was_deleted_stays_in_the_history(user: User, home: Path) -> None:
    path = write_talk(home, user.checkout, make_id(1), "remember this")
    user.call("import")
    path.unlink()
    assert user.call("import").status == 0
    assert user.call("search", "remember").status == 0


def test_without_sessions_it_says_where_else_to_look(user: User) -> None:
    answer = user.call("import")
    assert answer.status == 0
    assert "rigline import --all" in answer.out


@pytest.mark.parametrize("words", [("--all", "file"), ("--watch", "--dry-run"), ("--harness", "nobody")])
def test_what_contradicts_itself_is_a_usage_error(user: User, words: tuple[str, ...]) -> None:
    assert user.call("import", *words).status == 64


def test_watching_follows_what_is_written_until_ctrl_c(user: User, home: Path) -> None:
    path = write_talk(home, user.checkout, make_id(1), "one")
    words = [sys.executable, "-m", "rigline", "import", "--watch", "--json"]
    with subprocess.Popen(words, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        try:
            wait_for(lambda: count_events(user) == 1)
            more = make_prompt(make_id(1), 1, "two") | {"cwd": str(user.checkout)}
            with path.open("a") as file:
                file.write(dump(more))
            write_talk(home, user.checkout, make_id(2), "three")
            wait_for(lambda: count_events(user) == 3)
            watching.send_signal(signal.SIGINT)
            out, err = watching.communicate(timeout=20)
        except AssertionError as never:
            watching.kill()
            raise AssertionError(f"{never}: {watching.communicate()}") from never
        finally:
            watching.kill()
    assert watching.returncode == 0
    assert json.loads(out)["events_added"] == 3
    assert "1 new event of 1 session." in err
    assert "Traceback" not in err


def count_events(user: User) -> int:
    return sum(record.events for record in user.ledger.list_sessions(None))


def wait_for(is_so: Any, timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, "it never became so"
        time.sleep(0.1)
