"""GitHub Copilot CLI's store: which session is where, whose it is, and what of it is read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rigline.harness.copilot_store import CopilotStore
from rigline.model import LinkKind, Presence
from rigline.testing.golden import compare_golden
from tests.fixtures.copilot_store import (
    GOLDEN,
    NAMES,
    event,
    find_id,
    find_log,
    place,
    start,
    user,
    write_golden,
    write_session,
)
from tests.fixtures.records import MARKER, RECORDED

ONE = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "copilot"


@pytest.fixture
def store(home: Path) -> CopilotStore:
    return CopilotStore(str(home))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_session_gives_what_was_said_and_done(name: str) -> None:
    compare_golden(write_golden(name), str(GOLDEN / f"{name}.txt"))


def test_a_session_is_described_by_its_first_event_and_its_name(home: Path, store: CopilotStore) -> None:
    path = place("resumed-compacted", home)
    info = store.look_up(find_id("resumed-compacted"), RECORDED).info
    assert info is not None
    assert (info.cwd, info.title, info.first_prompt, info.version) == (RECORDED, "own id", "own id", "1.0.102")
    assert info.path == str(path)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("name: my feature", "my feature"),
        ("name: 'it''s \"quoted\"'", 'it\'s "quoted"'),
        ('name: "a\\tb"', "a\tb"),
        ("name: |-", None),
        ("name:", None),
        ("names: x", None),
    ],
)
def test_the_name_is_read_from_the_one_line_that_holds_it(
    line: str, title: str | None, home: Path, store: CopilotStore
) -> None:
    path = write_session(home, ONE, start(ONE))
    (path.parent / "workspace.yaml").write_text(f"id: {ONE}\n{line}\nuser_named: false\n")
    info = store.find_in_file(str(path))
    assert info is not None
    assert info.title == title


def test_a_session_of_another_directory_is_not_for_resuming_here(
    home: Path, store: CopilotStore, tmp_path: Path
) -> None:
    write_session(home, ONE, start(ONE, "/home/dev/elsewhere"), user("x"))
    found = store.look_up(ONE, str(tmp_path))
    assert (found.presence, found.resumable) == (Presence.EXISTS, False)
    assert "/home/dev/elsewhere" in found.reason
    assert store.list_sessions(str(tmp_path), 10) == []


def test_a_format_that_is_not_known_is_named_and_refused(home: Path, store: CopilotStore) -> None:
    write_session(home, ONE, start(ONE, version=2), user("x"))
    found = store.look_up(ONE, RECORDED)
    assert found.presence is Presence.UNREADABLE
    assert "1.0.102" in found.reason
    assert "format 2" in found.reason
    assert "knows 1" in found.reason
    assert list(store.iter_sessions()) == []


def test_a_folder_that_holds_another_session_s_log_is_unreadable(home: Path, store: CopilotStore) -> None:
    write_session(home, ONE, start("22222222-0000-4000-8000-000000000001"), user("x"))
    assert store.look_up(ONE, RECORDED).presence is Presence.UNREADABLE


def test_a_session_in_which_nothing_was_said_is_missing(home: Path, store: CopilotStore) -> None:
    find_log(home, ONE).parent.mkdir(parents=True)
    assert store.look_up(ONE, RECORDED).presence is Presence.MISSING
    assert store.look_up("../x", RECORDED).presence is Presence.MISSING


@contextmanager
def running(*files: Path) -> Iterator[int]:
    """A process that has these files open; its pid."""
    script = "import sys, time; files = [open(path) for path in sys.argv[1:]]; print('', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", script, *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def test_an_open_session_is_known_by_the_lock_of_a_running_process(home: Path, store: CopilotStore) -> None:
    folder = write_session(home, ONE, start(ONE)).parent
    assert store.find_live(ONE) is None
    (folder / "held").touch()
    with running(folder / "held") as pid:
        (folder / "held").rename(folder / f"inuse.{pid}.hold")
        (folder / f"inuse.{pid}.lock").write_text(str(pid))
        live = store.find_live(ONE)
        assert live is not None
        assert live.pid == pid
    assert store.find_live(ONE) is None


def test_a_lock_that_a_killed_process_left_holds_nothing_even_if_its_number_is_taken(
    home: Path, store: CopilotStore
) -> None:
    folder = write_session(home, ONE, start(ONE)).parent
    (folder / "inuse.x.lock").touch()
    with running() as pid:
        (folder / f"inuse.{pid}.lock").write_text(str(pid))
        assert store.find_live(ONE) is not None, "where no second file is, the number alone tells"
        (folder / f"inuse.{pid}.hold").touch()
        assert store.find_live(ONE) is None


def test_only_a_refusal_for_the_account_s_sake_is_a_usage_limit(home: Path, store: CopilotStore) -> None:
    def ask(*last: dict[str, object]) -> str | None:
        path = write_session(home, ONE, start(ONE), user("x"), *last)
        info = store.find_in_file(str(path))
        assert info is not None
        return store.find_usage_limit(info)

    assert ask(event("session.error", errorType="quota", message="You are out.")) == "You are out."
    weekly = event("session.error", errorType="rate_limit", errorCode="user_weekly_rate_limited", message="Next week.")
    assert ask(weekly, event("session.shutdown")) == "Next week."
    assert ask(weekly, user("again"), event("assistant.message", content="Here.")) is None
    assert ask(weekly, user("again"), event("session.error", errorType="query", message="No.")) is None
    assert ask(event("session.error", errorType="rate_limit", message="429")) is None
    assert ask(event("session.error", None, {"agentId": "a"}, errorType="quota", message="A subagent's.")) is None


def test_a_busy_service_of_one_s_own_is_no_usage_limit(home: Path, store: CopilotStore) -> None:
    info = store.find_in_file(str(place("rate-limit", home)))
    assert info is not None
    assert store.find_usage_limit(info) is None


def test_a_packet_that_was_shown_confirms_its_delivery_and_is_no_history(home: Path, store: CopilotStore) -> None:
    shown = f"go\n\n<system_reminder>\n{MARKER}\nold words\n</system_reminder>"
    info = store.find_in_file(str(write_session(home, ONE, start(ONE), user("go", shown))))
    assert info is not None
    (window,) = store.read(info, None)
    assert window.packets == [("abcdefghij0123456789klmnop", 1, 1)]
    assert [each.text for each in window.events] == ["go"]


def test_a_fork_is_linked_to_its_parent_and_its_copies_are_known_for_copies(home: Path, store: CopilotStore) -> None:
    fork, parent = (store.find_in_file(str(place(name, home))) for name in ("fork", "forked"))
    assert fork is not None
    assert parent is not None
    windows = list(store.read(fork, None))
    (link,) = [link for window in windows for link in window.links]
    assert (link.child_id, link.parent_id, link.kind) == (fork.native_id, parent.native_id, LinkKind.FORK)
    own = {event.copy_key for window in store.read(parent, None) for event in window.events}
    copied = [event.text for window in windows for event in window.events if event.copy_key in own]
    assert copied[::2] == ["big one", "hi [slow:4]"]
    fresh = [event.text for window in windows for event in window.events if event.copy_key not in own]
    assert fresh[0] == "hello fork"


def test_neither_words_of_a_person_nor_a_parent_s_copied_ones_make_a_lineage(home: Path, store: CopilotStore) -> None:
    def tell(child: str) -> str:
        return f'Forked from "x" (22222222-0000-4000-8000-000000000001) as "y" ({child}).'

    copied = event("session.info", infoType="fork", message=tell("33333333-0000-4000-8000-000000000001"))
    other = event("session.info", infoType="notification", message=tell(ONE))
    info = store.find_in_file(str(write_session(home, ONE, start(ONE), user(tell(ONE)), copied, other)))
    assert info is not None
    assert [link for window in store.read(info, None) for link in window.links] == []
