"""`make demo`: one line of work crosses the real Claude Code and Codex, offline, and each claim is checked.

A scripted model on loopback stands for both vendors' models (`lab/script.py` says what it answers). Everything is
made below `.demo/` and left there to be looked at. The exit status is 0 only when every claim held.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob
from typing import IO

from lab.agents import DEMO, ROOT, AgentsError, get_agent
from lab.home import AgentHome, make_home, make_project
from lab.model_server import ModelServer, open_model_server
from lab.request_log import read_log

FOLDER = os.path.join(ROOT, ".demo")
SHOWN_LINES = 12


class ClaimFailed(Exception):
    """Something that this demonstration claims is not so."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and its lines in the order they came, each with where: out or err."""

    code: int
    lines: list[tuple[str, str]]

    @property
    def out(self) -> str:
        """Standard output."""
        return "\n".join(line for stream, line in self.lines if stream == "out")

    @property
    def everything(self) -> str:
        """Both, as a person would have seen them."""
        return "\n".join(line for _, line in self.lines)


class Screen:
    """What a person reads; in colour only on a terminal."""

    def __init__(self) -> None:
        self.has_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 110)

    def write(self, text: str, style: str = "") -> None:
        """One line in a style: bold, dim, green, red or cyan."""
        codes = {"bold": "1", "dim": "2", "green": "32", "red": "31", "cyan": "36"}
        if self.has_colour and style:
            text = f"\033[{codes[style]}m{text}\033[0m"
        print(text, flush=True)

    def title(self, text: str) -> None:
        """The beginning of a step."""
        self.write(f"\n{text}", "bold")

    def tell(self, text: str) -> None:
        """A sentence of the story."""
        self.write(textwrap.fill(text, self.width))

    def command(self, words: list[str]) -> None:
        """A command line, as one would type it."""
        self.write("\n  $ " + shlex.join(words).replace("\n", "\n    "), "cyan")

    def output(self, done: Done, start_at: str = "") -> None:
        """What a command printed, shortened, from where a text first is; of standard error only what rigline says."""
        shown = [(stream, line) for stream, line in done.lines if stream == "out" or line.startswith("rigline: ")]
        start = next((max(0, i - 1) for i, (_, line) in enumerate(shown) if start_at and start_at in line), 0)
        if start:
            self.write(f"  ... {start} lines before", "dim")
        for stream, line in shown[start : start + SHOWN_LINES]:
            self.write(self.indent(line), "dim" if stream == "err" else "")
        if len(shown) > start + SHOWN_LINES:
            self.write(f"  ... {len(shown) - start - SHOWN_LINES} more lines", "dim")

    def indent(self, line: str) -> str:
        """A line of output, folded where it is too long."""
        folded = textwrap.wrap(line, self.width - 2, subsequent_indent="    ", break_on_hyphens=False)
        return "\n".join("  " + part for part in folded or [""])

    def proved(self, claim: str) -> None:
        """A claim that holds."""
        self.write(f"  ok  {claim}", "green")


@dataclass
class Stage:
    """The throw-away home and project, the model, and the commands that are run there."""

    screen: Screen
    home: AgentHome
    project: str
    server: ModelServer
    bin_dirs: list[str]
    claims: list[str] = field(default_factory=list)

    def run(self, *words: str, cwd: str | None = None, start_at: str = "") -> Done:
        """Run a command as a user would, and show it with what it printed, from `start_at` on."""
        self.screen.command(list(words))
        done = collect(self.start(*words, cwd=cwd))
        self.screen.output(done, start_at)
        return done

    def start(self, *words: str, cwd: str | None = None) -> subprocess.Popen[str]:
        """Start a command in the cleared environment, without a terminal."""
        return subprocess.Popen(
            words,
            cwd=cwd or self.project,
            env=self.home.environment(self.bin_dirs),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def claim(self, claim: str | None, holds: bool, expected: str, seen: str) -> None:
        """Say that a claim holds (None: say nothing), or stop with what was expected and seen."""
        if not holds:
            raise ClaimFailed(f"{claim or 'a command works'}\n  expected: {expected}\n  seen:     {seen.strip()}")
        if claim:
            self.claims.append(claim)
            self.screen.proved(claim)

    def claim_output(self, claim: str | None, done: Done, expected: str) -> None:
        """A claim that is shown by a command's output."""
        holds = done.code == 0 and expected in done.out
        self.claim(claim, holds, f"exit 0 and {expected!r}", f"exit {done.code}:\n{done.everything}")

    def claude_sessions(self) -> list[str]:
        """The ids of Claude Code's own sessions."""
        files = glob(os.path.join(self.home.claude_dir, "projects", "*", "*.jsonl"))
        return sorted(os.path.basename(name).removesuffix(".jsonl") for name in files)

    def count_requests(self, prompt: str) -> int:
        """How many requests with that in their newest prompt reached the model."""
        entries = read_log(self.server.log.path)
        return sum(1 for entry in entries if entry.request and prompt in entry.request.prompt)


def claude_begins(stage: Stage) -> None:
    """Claude Code says something that only its own session holds."""
    stage.screen.title("1  Claude Code begins a piece of work")
    done = stage.run("rigline", "run", "claude", "-p", "say: The parser lives in parse.py; the codeword is marigold")
    stage.claim_output("Claude Code answered through rigline", done, "the codeword is marigold")
    sessions = stage.claude_sessions()
    stage.claim(None, len(sessions) == 1, "one session in Claude Code's own store", str(sessions))


def codex_knows(stage: Stage) -> None:
    """Codex alone does not know; through rigline it does."""
    stage.screen.title("2  Codex continues it")
    stage.screen.tell(
        "The scripted model answers `recall: WORD` with yes only if WORD is in the history that the agent sent. "
        "First the control: Codex by itself, in another folder."
    )
    other = make_project(os.path.join(FOLDER, "other"))
    control = stage.run("codex", "exec", "recall: marigold", cwd=other)
    stage.claim_output("without rigline Codex does not know the codeword", control, "recall marigold: no")
    done = stage.run("rigline", "run", "codex", "exec", "recall: marigold")
    stage.claim_output("with rigline Codex knows what was said to Claude Code", done, "recall marigold: yes")
    done = stage.run("rigline", "run", "codex", "exec", "say: I moved the tests; their codeword is cornflower")
    stage.claim_output(None, done, "cornflower")


def claude_returns(stage: Stage) -> None:
    """Claude Code resumes its own session, and knows what Codex did."""
    stage.screen.title("3  Claude Code takes it back, in its own session")
    (session,) = stage.claude_sessions()
    question = ("claude", "-p", "recall: cornflower")
    plan = stage.run("rigline", "run", "--dry-run", *question)
    stage.claim_output("rigline resumes Claude Code's own session", plan, f"--resume {session}")
    done = stage.run("rigline", "run", *question)
    stage.claim_output("Claude Code knows what Codex said", done, "recall cornflower: yes")
    done = stage.run("rigline", "run", "claude", "-p", "recall: parse.py")
    stage.claim_output("Claude Code still has its own history too", done, "recall parse.py: yes")
    after = stage.claude_sessions()
    stage.claim(f"Claude Code still has one session, {session}", after == [session], session, str(after))


def history_is_one(stage: Stage) -> None:
    """The ledger tells it all as one line of work."""
    stage.screen.title("4  One history")
    (session,) = stage.claude_sessions()
    stage.claim_output("there is one workstream", stage.run("rigline", "workstreams"), "main")
    stage.claim_output("search finds the codeword", stage.run("rigline", "search", "marigold"), "marigold")
    log = stage.run("rigline", "log")
    holds = log.out.find("marigold") < log.out.find("cornflower") and "marigold" in log.out
    stage.claim("the log has both agents' words in order", holds, "marigold before cornflower", log.out)
    stage.screen.tell("The person's own selector always counts, here Claude Code's own fork:")
    stage.run("rigline", "run", "claude", "-p", "recall: marigold", "--resume", session, "--fork-session")
    (fork,) = set(stage.claude_sessions()) - {session}
    lineage = stage.run("rigline", "lineage")
    holds = -1 < lineage.out.find(session[:8]) < lineage.out.find(fork[:8]) and "fork" in lineage.out
    stage.claim("the lineage tells which session came from which", holds, f"{session} > {fork}", lineage.out)


def killed_launcher_loses_nothing(stage: Stage) -> None:
    """kill -9 in the middle of an answer."""
    stage.screen.title("5  kill -9 while the agent answers")
    prompt = "The next codeword is foxglove.\nslow: 3"
    words = ("rigline", "run", "claude", "-p", prompt)
    stage.screen.command(list(words))
    launcher = stage.start(*words)
    wait_for("the model to be asked", lambda: stage.count_requests("foxglove") > 0)
    os.kill(launcher.pid, signal.SIGKILL)
    stage.screen.command(["kill", "-9", str(launcher.pid)])
    stage.screen.tell("Only the launcher is dead; the agent ends its answer. What comes next is an ordinary run:")
    collect(launcher)  # the agent has the launcher's pipes, which close when it ends
    done = stage.run("rigline", "run", "codex", "exec", "recall: foxglove")
    stage.claim_output("the next run knows what the killed one was told", done, "recall foxglove: yes")
    log = stage.run("rigline", "log", start_at="codeword is foxglove")
    told = " ".join(log.out.split())
    said = told.count("codeword is foxglove")
    stage.claim("what the killed run was told is in the history once", said == 1, "once", f"{said} times:\n{log.out}")
    answered = told.count(("slow reply, piece by piece. " * 8).strip())
    stage.claim(
        "the answer that came after the kill is there once too", answered == 1, "once", f"{answered} times:\n{log.out}"
    )


def collect(process: subprocess.Popen[str]) -> Done:
    """Read both outputs of a process to their end."""
    lines: list[tuple[str, str]] = []

    def read(stream: str, pipe: IO[str]) -> None:
        lines.extend((stream, line.rstrip("\n")) for line in pipe)

    assert process.stdout
    assert process.stderr
    pipes = {"out": process.stdout, "err": process.stderr}
    readers = [threading.Thread(target=read, args=pair) for pair in pipes.items()]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return Done(process.wait(), lines)


def wait_for(what: str, holds: Callable[[], bool], timeout_s: float = 30) -> None:
    """Wait until it holds; raises ClaimFailed when it does not."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            raise ClaimFailed(f"waited {timeout_s:.0f} s for {what}")
        time.sleep(0.05)


STORY = (claude_begins, codex_knows, claude_returns, history_is_one, killed_launcher_loses_nothing)


@contextmanager
def open_stage(screen: Screen) -> Iterator[Stage]:
    """A new stage in an empty `.demo/`."""
    agents = [get_agent(agent.name, agent.version) for agent in DEMO]
    shutil.rmtree(FOLDER, ignore_errors=True)
    project = make_project(os.path.join(FOLDER, "project"), {"parse.py": "def parse(text):\n    return text.split()\n"})
    with open_model_server(os.path.join(FOLDER, "requests.jsonl")) as server:
        home = make_home(os.path.join(FOLDER, "home"), server.url, project, os.path.join(FOLDER, "other"))
        names = " and ".join(f"{agent.label} {agent.version}" for agent in agents)
        screen.tell(
            f"{names}, the real programs, in an empty home with dummy keys. "
            "A scripted model on loopback answers for both vendors; nothing leaves this machine."
        )
        yield Stage(screen, home, project, server, [agent.bin_dir for agent in agents])


def conclude(stage: Stage, started: float) -> None:
    """What was proved, and where to look."""
    stage.screen.title(f"Proved, in {time.monotonic() - started:.0f} s:")
    for claim in stage.claims:
        stage.screen.proved(claim)
    stage.screen.title("Where to look")
    places = {
        "what each agent sent to the model": ".venv/bin/python -m lab.model_server show "
        + show_path(stage.server.log.path),
        "Claude Code's own session": show_path(os.path.join(stage.home.claude_dir, "projects")),
        "Codex's own sessions": show_path(os.path.join(stage.home.codex_dir, "sessions")),
        "the ledger": show_path(stage.home.rigline_dir),
    }
    for what, where in places.items():
        stage.screen.write(f"  {what:34} {where}")


def show_path(path: str | os.PathLike[str]) -> str:
    """A path as seen from the project."""
    return os.path.relpath(path, ROOT)


def main() -> int:
    """The whole story; 1 when a claim failed."""
    screen, started = Screen(), time.monotonic()
    try:
        with open_stage(screen) as stage:
            for step in STORY:
                step(stage)
            conclude(stage, started)
    except (ClaimFailed, AgentsError) as error:
        screen.write(f"\n  FAILED  {error}", "red")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
