"""Kiro CLI's two stores: locks that outlive their program, metadata that misleads, and two places for V3."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rigline.harness.kiro import KiroV2, KiroV3
from rigline.harness.kiro_store import KiroStore, read_time_ms
from rigline.model import LinkKind, Presence
from tests.fixtures.kiro_store import SESSION, SUBAGENT, V3_BUCKET, V3_SESSION, place_v2, place_v3


@pytest.fixture
def cli(tmp_path: Path, cwd: str) -> Path:
    return place_v2(tmp_path / "kiro", cwd)


@pytest.fixture
def store(tmp_path: Path, cli: Path) -> KiroStore:
    return KiroV2().open_store({"KIRO_HOME": str(tmp_path / "kiro")})


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose command line names Kiro."""
    program = tmp_path / "kiro-cli"
    program.write_text("#!/bin/sh\nread line\n")
    program.chmod(0o755)
    process = subprocess.Popen([str(program)], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_only_a_parent_makes_a_subagent_whatever_the_reason_of_its_creation_says(store: KiroStore, cwd: str) -> None:
    assert [info.native_id for info in store.list_sessions(cwd, 10)] == [SESSION]
    found = store.look_up(SUBAGENT, cwd)
    assert found.info is not None
    assert found.info.parent is not None
    assert (found.info.parent.parent_id, found.info.parent.kind) == (SESSION, LinkKind.SUBAGENT)
    assert not found.resumable


def test_a_session_resumes_from_every_directory_and_is_listed_in_its_own(store: KiroStore, tmp_path: Path) -> None:
    assert store.look_up(SESSION, str(tmp_path)).resumable
    assert store.list_sessions(str(tmp_path), 10) == []


def test_a_lock_names_the_process_that_has_the_session_open(
    store: KiroStore, cli: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    (cli / f"{SESSION}.lock").write_text(json.dumps({"pid": sleeper.pid, "started_at": "2026-11-30T15:07:24Z"}))
    live = store.find_live(SESSION)
    assert live is not None
    assert live.pid == sleeper.pid


def test_a_lock_that_outlived_its_program_names_nobody(
    store: KiroStore, cli: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    lock = cli / f"{SESSION}.lock"
    lock.write_text(json.dumps({"pid": sleeper.pid}))
    sleeper.kill()
    sleeper.wait()
    assert store.find_live(SESSION) is None
    with subprocess.Popen(["sleep", "60"]) as other:
        lock.write_text(json.dumps({"pid": other.pid}))
        assert store.find_live(SESSION) is None, "the pid is another program's now"
        other.kill()
    for text in ("", "{}", '{"pid": "7"}', '{"pid": -1}'):
        lock.write_text(text)
        assert store.find_live(SESSION) is None


@pytest.mark.parametrize(
    ("name", "text"), [("cwd", '"relative"'), ("session_id", f'"{SUBAGENT}"'), ("cwd", "null")], ids=str
)
def test_metadata_that_does_not_fit_makes_a_session_unreadable(
    store: KiroStore, cli: Path, cwd: str, name: str, text: str
) -> None:
    path = cli / f"{SESSION}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: json.loads(text)}))
    assert store.look_up(SESSION, cwd).presence is Presence.UNREADABLE
    assert store.list_sessions(cwd, 10) == []


def test_an_envelope_of_another_version_within_a_session_is_counted_and_not_read(
    store: KiroStore, cli: Path, cwd: str
) -> None:
    with open(cli / f"{SESSION}.jsonl", "a", encoding="utf-8") as file:
        file.write('{"version":"v2","kind":"Prompt","data":{"content":[{"kind":"text","data":"unheard"}]}}\n')
    (info,) = store.list_sessions(cwd, 10)
    windows = list(store.read(info, None))
    assert windows[-1].losses["unknown:version"] == 1
    assert "unheard" not in repr(windows)


@pytest.mark.parametrize(
    ("value", "at_ms"),
    [(1796051244, 1796051244000), (1796051244269, 1796051244269), ("2026-11-30T15:07:24Z", 1796051244000)]
    + [(value, None) for value in (None, True, "soon", -5, 1e300)],
)
def test_times_in_seconds_milliseconds_and_words_are_one(value: object, at_ms: int | None) -> None:
    assert read_time_ms(value) == at_ms


def test_v3_sessions_below_the_home_folder_are_found_beside_those_of_the_variable(tmp_path: Path, cwd: str) -> None:
    place_v3(tmp_path / "home" / ".kiro", cwd)
    env = {"HOME": str(tmp_path / "home"), "KIRO_HOME": str(tmp_path / "elsewhere")}
    assert KiroV3().open_store(env).look_up(V3_SESSION, cwd).presence is Presence.EXISTS
    assert KiroV3().read_settings(env, cwd) == {"strayed": V3_SESSION}
    place_v3(tmp_path / "elsewhere", cwd)
    assert KiroV3().read_settings(env, cwd) == {}, "it is where the variable says as well"
    assert KiroV3().read_settings({"HOME": env["HOME"]}, cwd) == {}


def test_a_data_model_of_v3_that_is_not_known_is_named(tmp_path: Path, cwd: str) -> None:
    place_v3(tmp_path / "kiro", cwd)
    path = tmp_path / "kiro" / "sessions" / V3_BUCKET / V3_SESSION / "session.json"
    path.write_text(path.read_text().replace('"dataModelVersion": 1', '"dataModelVersion": 7'))
    found = KiroV3().open_store({"KIRO_HOME": str(tmp_path / "kiro"), "HOME": str(tmp_path)}).look_up(V3_SESSION, cwd)
    assert found.presence is Presence.UNREADABLE
    assert "data model 7" in found.reason


def test_neither_store_has_the_other_s_sessions(tmp_path: Path, cwd: str) -> None:
    place_v2(tmp_path / "kiro", cwd)
    place_v3(tmp_path / "kiro", cwd)
    env = {"KIRO_HOME": str(tmp_path / "kiro"), "HOME": str(tmp_path)}
    v2, v3 = KiroV2().open_store(env), KiroV3().open_store(env)
    assert {info.native_id for info in v2.iter_sessions()} == {SESSION, SUBAGENT}
    assert {info.native_id for info in v3.iter_sessions()} == {V3_SESSION}
    assert v2.look_up(V3_SESSION, cwd).presence is Presence.MISSING
    assert v3.look_up(SESSION, cwd).presence is Presence.MISSING
