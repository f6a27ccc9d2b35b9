"""`rigline` finds its commands, and says what went wrong in one paragraph or one JSON value."""

from __future__ import annotations

import json
import types
from pathlib import Path

import pytest

from rigline import cli
from rigline.errors import LedgerUnreachable


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIGLINE_HOME", str(tmp_path / "rigline"))
    return tmp_path / "rigline"


def let_fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make `rigline log` end with an error."""

    def fail(_argv: list[str]) -> int:
        raise error

    monkeypatch.setattr("importlib.import_module", lambda _name: types.SimpleNamespace(main=fail))


def test_help_lists_every_command_within_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in cli.COMMANDS)
    assert "hook" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_without_a_command_the_list_is_shown_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 64
    assert "usage: rigline" in capsys.readouterr().out


def test_an_unknown_command_gets_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serach", "x"]) == 64
    assert "Did you mean `rigline search`?" in capsys.readouterr().err
    assert cli.main(["claude"]) == 64
    assert "Did you mean `rigline run claude`?" in capsys.readouterr().err
    assert cli.main(["xyz", "--json"]) == 64
    assert json.loads(capsys.readouterr().out)["error"]["word"] == "xyz"


def test_an_error_is_one_paragraph_or_one_json_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    let_fail(monkeypatch, LedgerUnreachable("The disk is full.", path="/x"))
    assert cli.main(["log"]) == 69
    answer = capsys.readouterr()
    assert (answer.out, answer.err) == ("", "rigline: The disk is full.\n")
    assert cli.main(["log", "--json"]) == 69
    answer = capsys.readouterr()
    error = {"code": "ledger_unreachable", "message": "The disk is full.", "exit_status": 69, "path": "/x"}
    assert json.loads(answer.out) == {"error": error}
    assert answer.err == ""


def test_our_own_fault_goes_into_a_private_file_and_not_onto_the_screen(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    let_fail(monkeypatch, KeyError("boom"))
    assert cli.main(["log"]) == 70
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert str(home / "crash.log") in err
    assert "KeyError: 'boom'" in (home / "crash.log").read_text()
    assert (home / "crash.log").stat().st_mode & 0o777 == 0o600


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    let_fail(monkeypatch, KeyboardInterrupt())
    assert cli.main(["log"]) == 130
    assert capsys.readouterr().err == ""
