"""Claims are not facts: what binds a session, what is imported, and what is only said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rigline.errors import RunSuperseded
from rigline.harness.base import Observation
from rigline.launch.collect import Collector
from rigline.launch.console import Console
from rigline.launch.folder import RunFolder
from rigline.ledger.base import Appended
from rigline.model import LinkKind, LiveSession, Lookup, Presence, SessionInfo, SessionLink, Window
from tests.unit.launch.test_folder import STATE


def make_info(native_id: str, **fields: object) -> SessionInfo:
    defaults: dict[str, object] = {
        "harness": "codex",
        "native_id": native_id,
        "path": "/s",
        "cwd": "/w",
        "updated_ms": 1,
        "size_bytes": 1,
    }
    return SessionInfo(**{**defaults, **fields})  # type: ignore[arg-type]


class FakeStore:
    root = "/store"

    def __init__(self) -> None:
        self.sessions: dict[str, SessionInfo] = {}
        self.started: list[SessionInfo] = []
        self.asked_pids: list[int | None] = []
        self.children: dict[str, list[SessionInfo]] = {}
        self.live: LiveSession | None = None

    def add(self, native_id: str, **fields: object) -> None:
        self.sessions[native_id] = make_info(native_id, **fields)

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        info = self.sessions.get(native_id)
        return Lookup(presence=Presence.EXISTS if info else Presence.MISSING, info=info)

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        self.asked_pids.append(pid)
        return self.started

    def find_live(self, native_id: str) -> LiveSession | None:
        return self.live

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        return self.children.get(info.native_id, [])

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        if cursor != "end":
            yield Window(native_id=info.native_id, cursor="end", events=[], losses={}, packets=[], links=[])


class FakeHarness:
    name, label = "codex", "Codex"

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        return Observation(native_id=str(payload["session_id"]), source=str(payload["source"]))


class FakeLedger:
    def __init__(self) -> None:
        self.bound: list[tuple[str, str, str]] = []
        self.links: list[SessionLink] = []
        self.imported: list[str] = []
        self.born_ms: int | None = None

    def bind(self, run: object, info: SessionInfo, *, evidence: str, created_via: str, store: str) -> None:
        self.bound.append((info.native_id, created_via, evidence))

    def add_link(self, harness: str, link: SessionLink, *, born_ms: int | None) -> None:
        self.links.append(link)
        self.born_ms = born_ms

    def get_cursor(self, harness: str, native_id: str) -> str | None:
        return "end" if native_id in self.imported else None

    def append(self, info: SessionInfo, window: Window, *, scope: object, run: object) -> Appended:
        self.imported.append(info.native_id)
        return Appended(added=1)


class Scene:
    """A collector with its surroundings."""

    def __init__(self, tmp_path: Path, **state: object) -> None:
        self.store, self.ledger, self.console = FakeStore(), FakeLedger(), HearingConsole()
        self.folder = RunFolder.create(str(tmp_path / "home"), "r")
        ledger: Any = self.ledger
        harness: Any = FakeHarness()
        store: Any = self.store
        self.collector = Collector(ledger, harness, store, self.folder, replace(STATE, **state), self.console)

    def hook(self, native_id: str, source: str = "startup") -> None:
        with (Path(self.folder.path) / "observed.jsonl").open("a") as log:
            log.write(json.dumps({"session_id": native_id, "source": source}) + "\n")

    @property
    def bound_ids(self) -> list[str]:
        return [native_id for native_id, _, _ in self.ledger.bound]


class HearingConsole(Console):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def say(self, message: str) -> None:
        self.heard.append(message)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, expected_id="chosen")


def test_a_claim_alone_binds_nothing(scene: Scene) -> None:
    scene.hook("chosen")
    scene.collector.tick()
    assert scene.bound_ids == []


def test_a_claim_that_the_store_confirms_binds(scene: Scene) -> None:
    scene.hook("chosen")
    scene.store.add("chosen")
    scene.collector.tick()
    assert scene.ledger.bound == [
        ("chosen", "fresh", "chosen at the launch, named by the start hook, found in the harness's store")
    ]


def test_a_chosen_id_needs_no_hook(scene: Scene) -> None:
    scene.store.add("chosen")
    assert scene.collector.finish().added == 1
    assert scene.bound_ids == ["chosen"]


def test_a_fork_s_hook_that_names_the_parent_is_not_believed(tmp_path: Path) -> None:
    scene = Scene(tmp_path, expected_id="child", parent_id="parent", created_via="fork")
    scene.hook("parent", "resume")
    scene.store.add("parent")
    scene.store.add("child")
    scene.collector.finish()
    assert scene.bound_ids == ["child"]
    assert [(link.child_id, link.parent_id, link.kind) for link in scene.ledger.links] == [
        ("child", "parent", LinkKind.FORK)
    ]


def test_a_clear_binds_the_new_session_and_links_it_to_the_old(scene: Scene) -> None:
    scene.store.add("chosen")
    scene.collector.tick()
    scene.hook("after", "clear")
    scene.store.add("after")
    scene.collector.finish()
    assert scene.bound_ids == ["chosen", "after"]
    assert scene.ledger.bound[1][1] == "clear"
    assert [(link.child_id, link.parent_id, link.kind) for link in scene.ledger.links] == [
        ("after", "chosen", LinkKind.CLEAR)
    ]


def test_the_line_goes_on_with_the_session_that_was_written_last(scene: Scene) -> None:
    scene.store.add("one", updated_ms=STATE.since_ms + 1)
    scene.hook("one")
    scene.collector.tick()
    scene.store.add("two", updated_ms=STATE.since_ms + 2)
    scene.hook("two", "clear")
    scene.collector.tick()
    scene.store.add("one", updated_ms=STATE.since_ms + 3)
    scene.collector.finish()
    assert [native_id for native_id, _, _ in scene.ledger.bound] == ["one", "two", "one"]
    assert scene.collector.native_ids == ("two", "one")


def test_a_session_that_was_begun_last_stays_the_line_s_while_none_is_written_later(scene: Scene) -> None:
    for native_id, source in (("one", "startup"), ("two", "clear")):
        scene.store.add(native_id, updated_ms=STATE.since_ms + 1)
        scene.hook(native_id, source)
    scene.collector.finish()
    assert scene.collector.native_ids == ("one", "two")


def test_a_session_that_nobody_announced_is_found_if_it_is_the_only_one(tmp_path: Path) -> None:
    scene = Scene(tmp_path, has_hooks=False)
    scene.store.add("found")
    scene.store.started = [make_info("found")]
    scene.collector.finish()
    assert scene.bound_ids == ["found"]


def test_of_several_newborn_sessions_none_is_guessed(tmp_path: Path) -> None:
    scene = Scene(tmp_path, has_hooks=False)
    scene.store.started = [make_info("a"), make_info("b")]
    scene.collector.finish()
    assert scene.bound_ids == []
    assert "none was bound" in scene.console.heard[0]


def test_a_subagent_is_never_bound(tmp_path: Path) -> None:
    scene = Scene(tmp_path, has_hooks=False)
    scene.store.started = [make_info("sub", is_subagent=True)]
    scene.collector.finish()
    assert scene.bound_ids == []


def test_related_sessions_are_imported_with_it_and_not_bound(scene: Scene) -> None:
    scene.store.add("chosen")
    scene.store.children["chosen"] = [make_info("chosen/agent-1", is_subagent=True)]
    scene.collector.finish()
    assert scene.ledger.imported == ["chosen", "chosen/agent-1"]
    assert scene.bound_ids == ["chosen"]


def test_nothing_is_imported_twice(scene: Scene) -> None:
    scene.store.add("chosen")
    scene.collector.finish()
    scene.collector.finish()
    assert scene.ledger.imported == ["chosen"]


def test_work_without_a_transcript_is_reported_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    scene.store.live = LiveSession(native_id="chosen", pid=1, status="busy")
    for now[0] in range(0, 100, 10):
        scene.collector.tick()
    assert len(scene.console.heard) == 1
    assert "no transcript" in scene.console.heard[0]


def test_an_idle_session_without_a_transcript_is_not_reported(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    scene.store.live = LiveSession(native_id="chosen", pid=1, status="idle")
    for now[0] in range(0, 100, 10):
        scene.collector.tick()
    assert scene.console.heard == []


def test_a_superseded_run_s_session_is_kept_as_history(scene: Scene) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise RunSuperseded

    scene.ledger.bind = refuse  # type: ignore[method-assign]
    scene.store.add("chosen")
    scene.collector.finish()
    assert scene.ledger.imported == ["chosen"]
    assert "kept as history" in scene.console.heard[0]


@pytest.mark.parametrize("state", [{"has_hooks": True}, {"expected_id": "chosen"}])
def test_a_newborn_session_is_not_taken_for_one_that_would_have_been_announced(
    tmp_path: Path, state: dict[str, object]
) -> None:
    scene = Scene(tmp_path, **state)
    scene.store.started = [make_info("somebody-else-s")]
    scene.collector.finish()
    assert scene.bound_ids == []


def test_a_newborn_session_is_our_fork_only_if_it_comes_from_our_parent(tmp_path: Path) -> None:
    scene = Scene(tmp_path, parent_id="parent", created_via="fork")
    link = SessionLink(child_id="child", parent_id="parent", kind=LinkKind.FORK, evidence="e")
    scene.store.started = [make_info("other"), make_info("child", parent=link)]
    scene.store.add("child", parent=link)
    scene.collector.finish()
    assert scene.bound_ids == ["child"]
    assert scene.ledger.links == [link]


def test_an_adopted_fork_was_born_when_its_own_record_says(tmp_path: Path) -> None:
    scene = Scene(tmp_path, expected_id="old-fork", created_via="resume")
    link = SessionLink(child_id="old-fork", parent_id="parent", kind=LinkKind.FORK, evidence="e")
    scene.store.add("old-fork", parent=link, started_ms=77)
    scene.collector.finish()
    assert scene.ledger.born_ms == 77


def test_a_session_that_was_named_and_refused_is_not_bound(tmp_path: Path) -> None:
    scene = Scene(tmp_path, expected_id="named", created_via="selector", since_ms=1000)
    scene.store.add("named", updated_ms=999)
    scene.collector.finish()
    assert scene.bound_ids == []


def test_a_session_that_was_named_and_written_is_bound_without_a_hook(tmp_path: Path) -> None:
    scene = Scene(tmp_path, expected_id="named", created_via="selector", since_ms=1000)
    scene.store.add("named", updated_ms=1001)
    scene.collector.finish()
    assert scene.bound_ids == ["named"]


@pytest.mark.parametrize(("created_via", "count"), [("fresh", 1), ("resume", 0)])
def test_a_session_in_another_checkout_is_told_once(tmp_path: Path, created_via: str, count: int) -> None:
    scene = Scene(tmp_path, expected_id="chosen", created_via=created_via)
    scene.store.add("chosen", cwd=str(tmp_path))
    scene.collector.tick()
    scene.collector.finish()
    assert len([said for said in scene.console.heard if str(tmp_path) in said]) == count


@pytest.mark.parametrize(("interactive", "bound"), [(False, ["found"]), (True, [])])
def test_where_no_hook_spoke_a_session_is_looked_for_unless_nothing_may_have_been_said(
    tmp_path: Path, interactive: bool, bound: list[str]
) -> None:
    scene = Scene(tmp_path, is_interactive=interactive)
    scene.store.started = [make_info("found")]
    scene.collector.finish()
    assert scene.bound_ids == bound


def test_where_no_hook_spoke_the_session_that_the_running_process_has_open_is_bound(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.collector.set_child(4711)
    scene.store.add("found")
    scene.store.started = [scene.store.sessions["found"]]
    scene.collector.tick()
    assert scene.store.asked_pids == [4711]
    assert scene.bound_ids == ["found"]


def test_where_a_hook_spoke_nothing_else_is_looked_for(tmp_path: Path) -> None:
    scene = Scene(tmp_path, is_interactive=False)
    scene.hook("announced")
    scene.store.started = [make_info("somebody-else-s")]
    scene.collector.finish()
    assert scene.bound_ids == []


@pytest.mark.parametrize(("updated_ms", "bound"), [(999, []), (1001, ["theirs"])])
def test_another_checkout_s_session_that_a_hook_names_is_ours_only_when_it_was_written(
    tmp_path: Path, updated_ms: int, bound: list[str]
) -> None:
    scene = Scene(tmp_path, since_ms=1000)
    scene.store.add("theirs", cwd=str(tmp_path), updated_ms=updated_ms)
    scene.hook("theirs", "resume")
    scene.collector.finish()
    scene.collector.finish()
    assert scene.bound_ids == bound
    assert len([said for said in scene.console.heard if "not bound" in said]) == (0 if bound else 1)


def test_a_subagent_that_a_hook_names_is_not_bound_and_stops_nothing(scene: Scene) -> None:
    scene.store.add("chosen")
    scene.store.add("sub", is_subagent=True)
    scene.hook("sub")
    scene.collector.finish()
    assert scene.bound_ids == ["chosen"]


@pytest.mark.parametrize("native_id", ["nowhere", "../../x", "x\0y", ""])
def test_a_session_that_no_store_knows_is_not_bound(scene: Scene, native_id: str) -> None:
    scene.store.add("chosen")
    scene.hook(native_id)
    scene.collector.finish()
    assert scene.bound_ids == ["chosen"]
    assert scene.console.heard == []
