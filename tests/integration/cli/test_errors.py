"""What every command has in common when something is wrong with the place it is called in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rigline.ledger.search_place import PlaceReader
from rigline.store.sqlite import open_reader
from tests.integration.cli.conftest import User

EVERY = [["workstreams"], ["log"], ["import"], ["lineage"], ["search", "x"], ["recover"]]


@pytest.mark.parametrize("words", EVERY, ids=lambda words: words[0])
def test_a_damaged_ledger_is_refused_by_name_with_what_repairs_it(user: User, words: list[str]) -> None:
    user.start()
    user.close()
    for path in user.home.glob("ledger.db*"):
        path.write_bytes(b"no database" * 1000)
    folder = user.home / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "launcher").write_text("999999999 long gone")
    answer = user.call(*words, "--json")
    assert answer.status == 69
    error = answer.value["error"]
    assert error["code"] == "ledger_corrupt"
    assert "recover --from-segments" in error["message"]


@pytest.mark.parametrize("words", [["workstreams"], ["log"], ["import"], ["lineage"]], ids=lambda words: words[0])
def test_a_data_folder_that_cannot_be_made_is_named(
    user: User, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RIGLINE_HOME", str(tmp_path / "file" / "below"))
    answer = user.call(*words)
    assert answer.status == 69
    assert str(tmp_path / "file" / "below") in answer.err


@pytest.mark.parametrize("words", [["workstreams"], ["log"], ["import"], ["lineage"], ["search"]])
def test_a_directory_that_is_gone_is_a_usage_error(
    user: User, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    user.start()
    gone = user.checkout / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    answer = user.call(*words)
    assert answer.status == 64
    assert "is not there any more" in answer.err


@pytest.mark.parametrize("words", EVERY, ids=lambda words: words[0])
def test_interrupted_runs_are_collected_first(user: User, words: list[str]) -> None:
    user.say(user.bind(user.start(), "aaaa1111-0000"), "x")
    folder = user.home / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "launcher").write_text("999999999 long gone")
    user.call(*words)
    assert not folder.exists()


def test_an_ambiguous_line_lists_its_candidates_in_search_as_well(user: User) -> None:
    ids = []
    for name in ("one", "two"):
        grant = user.start(new=name)
        user.ledger.finish(grant.run, 0, None)
        ids.append(grant.workstream.id)
    answer = user.call("search", "x", "--workstream", ids[0][:3], "--json")
    assert answer.status == 64
    assert sorted(json.loads(answer.out)["error"]["ids"]) == sorted(ids)


def test_a_name_of_this_checkout_wins_over_ids_that_begin_like_it(user: User) -> None:
    other = user.start(new="other")
    user.ledger.finish(other.run, 0, None)
    named = user.start(new=other.workstream.id[:4])
    path = str(user.home / "ledger.db")
    connection = open_reader(path)
    try:
        found = PlaceReader(connection, path).get_workstream(
            named.workstream.name, named.workstream.worktree_fingerprint
        )
    finally:
        connection.close()
    assert found == (named.workstream.id, named.workstream.name)
