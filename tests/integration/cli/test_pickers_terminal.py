"""The pickers on real terminals: what is chosen there is started, and the terminal is left as it was."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from lab.tmux import Tmux, open_tmux

from tests.fixtures.claude_store import place, transcript
from tests.integration.cli.conftest import User
from tests.integration.cli.pickers import STAND_IN, add_line, commit, make_checkout

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

RIGLINE = [sys.executable, "-P", "-m", "rigline"]
SESSION = "11111111-2222-4333-8444-555555555555"
#: select graphic rendition with a colour: 30 to 38, 40 to 48, 90 to 107
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    with open_tmux(f"rigline-pickers-{os.getpid()}") as server:
        yield server


@pytest.fixture
def env(user: User, tmp_path: Path) -> dict[str, str]:
    """A home whose agents are scripts that write down how they were started, named in the user's settings."""
    home = tmp_path / "person"
    home.mkdir()
    settings = []
    for name, harness in (("claude", "claude-code"), ("codex", "codex")):
        program = tmp_path / "agents" / f"my-{name}"
        program.parent.mkdir(exist_ok=True)
        program.write_text(STAND_IN)
        program.chmod(0o755)
        settings.append(f'[harness.{harness}]\nexecutable = "{program}"\n')
    user.home.mkdir(exist_ok=True)
    (user.home / "config.toml").write_text("".join(settings))
    return {
        "HOME": str(home),
        "RIGLINE_HOME": str(user.home),
        "PATH": "/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def read_started(env: dict[str, str], program: str) -> list[str]:
    """Folder, PWD, NO_COLOR and arguments of a stand-in's start."""
    return Path(env["HOME"], f"started-{program}").read_text().splitlines()


def spawn(env: dict[str, str], cwd: Path, *words: str) -> pexpect.spawn[str]:
    """A command on a terminal of its own, of 80 by 24, that answers nothing."""
    program, *rest = [*RIGLINE, *words]
    return pexpect.spawn(program, rest, env=env, cwd=str(cwd), dimensions=(24, 80), encoding="utf-8", timeout=20)


def test_what_is_chosen_on_the_screen_is_started_in_its_own_session(
    user: User, tmp_path: Path, env: dict[str, str], tmux: Tmux
) -> None:
    app = make_checkout(tmp_path.resolve() / "日本語 app")
    add_line(user, user.checkout, "main", "claude-code", says="Not this one.")
    place(transcript("2.1.332/fresh-then-resumed-with-tool"), Path(env["HOME"], ".claude"), str(app), SESSION)
    add_line(user, app, "修正-🙂", "codex", "claude-code", says="漢字を直しました。", title="解析器", native_id=SESSION)
    commit(app, "since then")
    pane = tmux.open_pane([*RIGLINE, "resume", "--all"], env, str(user.checkout), size=(80, 24))
    pane.wait_for(lambda screen: "1 commit since" in screen)
    pane.type("漢字")
    screen = pane.wait_for(lambda screen: "1 of 2" in screen)
    assert "> 修正-🙂" in screen
    assert max(map(len, screen.splitlines())) <= 80
    assert "with < auto (claude-code) >" in screen
    pane.press("Enter")
    assert pane.wait_for_exit() == 0
    folder, pwd, _, *words = read_started(env, "my-claude")
    assert (folder, pwd) == (str(app), str(app))
    assert words[words.index("--resume") + 1] == SESSION
    lines = pane.screen()
    assert "type to filter" not in lines
    assert "修正-🙂" in lines  # what run says of its line, on the screen that was there before


@pytest.mark.parametrize("key", ["\x03", "\x1b"], ids=["Ctrl-C", "Esc"])
def test_leaving_gives_the_terminal_back_as_it_was(user: User, env: dict[str, str], key: str) -> None:
    add_line(user, user.checkout, "main", says="Hello.")
    script = f"stty -a; {shlex.join(RIGLINE)} resume; echo left with $?.; stty -a"
    screen = pexpect.spawn("sh", ["-c", script], env=env, cwd=str(user.checkout), encoding="utf-8", timeout=20)
    screen.expect_exact("Esc leave")
    modes = (screen.before or "").partition("\x1b")[0]
    screen.send(key)
    screen.expect_exact("left with 130.")
    written = screen.before or ""
    for off in ("\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l"):
        assert off in written
    assert "Traceback" not in written
    screen.expect(pexpect.EOF)
    assert " icanon" in modes
    assert (screen.before or "").split() == modes.split()


def test_no_colour_is_written_where_none_is_wanted_and_the_agent_is_told_so_too(
    user: User, env: dict[str, str]
) -> None:
    add_line(user, user.checkout, "main", "codex", says="Hello.")
    screen = spawn({**env, "NO_COLOR": "1"}, user.checkout, "resume")
    screen.expect_exact("Esc leave")
    written = screen.before or ""
    screen.send("mai")
    screen.expect_exact("/ ")
    written += screen.before or ""
    screen.send("\r")
    screen.expect(pexpect.EOF)
    assert "\x1b[7" in written  # reversed
    assert not COLOUR.search(written + (screen.before or ""))
    assert "NO_COLOR=1" in read_started(env, "my-codex")


def test_colour_is_written_where_it_is_wanted(user: User, env: dict[str, str]) -> None:
    add_line(user, user.checkout, "main", "codex", says="Hello.")
    screen = spawn(env, user.checkout, "resume")
    screen.expect_exact("Esc leave")
    screen.send("mai")
    screen.expect(COLOUR)
    screen.send("\x03")
    screen.expect(pexpect.EOF)


def test_show_leads_from_a_checkout_to_an_agent(user: User, tmp_path: Path, env: dict[str, str]) -> None:
    place_ = tmp_path.resolve() / "src"
    make_checkout(place_ / "one")
    make_checkout(place_ / "two")
    screen = spawn(env, place_, "show")
    screen.expect_exact("Enter choose")
    screen.send("two\r")
    screen.expect_exact("Agents for")
    screen.expect_exact("Esc back")
    screen.send("\x1b[B\x1b[B\r")  # down twice: auto, claude-code, codex
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0
    assert read_started(env, "my-codex")[0] == str(place_ / "two")


def test_continue_announces_and_starts_without_a_picker(user: User, env: dict[str, str]) -> None:
    add_line(user, user.checkout, "main", "codex", says="Hello.")
    screen = spawn({**env, "TERM": "dumb"}, Path(env["HOME"]), "continue")
    screen.expect_exact("going on with line 'main'")
    screen.expect_exact("the agent is here")
    screen.expect(pexpect.EOF)
    assert read_started(env, "my-codex")[0] == str(user.checkout)
