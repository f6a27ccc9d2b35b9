"""A made-up corpus of Claude Code and Codex sessions in the vendors' own layouts, the same for the same seed.

    python -m lab.corpus HOME MEGABYTES [--seed N]

writes HOME/.claude/projects/*/UUID.jsonl and HOME/.codex/sessions/Y/M/D/rollout-*.jsonl. In each session one
word occurs nowhere else: a needle. HOME/needles.json says where each was planted. The shapes are those of Claude Code
2.1.220 and Codex 0.146.0; three sessions in five are Claude Code's.
"""

from __future__ import annotations

import argparse
import bisect
import datetime
import itertools
import json
import os
import random
import re
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any, TextIO

SYLLABLES = (
    "ba ke lo mi nu ra si to ve zu cha dri fen gol har jin kar lun mor pel qui ros sta tri uld vor wex yar zen pha"
)
FIRST_DAY = datetime.datetime(2026, 3, 1, 9, 0, 0, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Needle:
    """A word that was planted once: in which session, and in what (user, assistant or tool_result)."""

    harness: str
    session: str
    where: str
    cwd: str


@dataclass
class Corpus:
    """What was written."""

    sessions: int = 0
    size_bytes: int = 0
    needles: dict[str, Needle] = field(default_factory=dict)


class Prose:
    """Made-up words with the frequencies of a language, and pools of text and code made of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        syllables = SYLLABLES.split()
        words = {"".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))) for _ in range(30000)}
        self.words = sorted(words)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))
        self.texts = [self.make_text(rng.randint(60, 220)) for _ in range(3000)]
        self.codes = [self.make_code(rng.randint(10, 220)) for _ in range(1500)]
        self.projects = [f"/home/dev/src/{self.word()}.{self.word()}-{self.word()}" for _ in range(60)]

    def word(self) -> str:
        """Any word, rare ones as often as others."""
        return self.rng.choice(self.words)

    def make_text(self, length: int) -> str:
        """That many words."""
        top = self.weights[-1]
        return " ".join(self.words[bisect.bisect(self.weights, self.rng.random() * top)] for _ in range(length))

    def make_code(self, lines: int) -> str:
        """That many lines which look like code."""
        return "\n".join(
            f"    {self.word()}_{self.word()}({self.word()}, {self.rng.randint(0, 9999)})  # {self.word()}"
            for _ in range(lines)
        )

    def text(self) -> str:
        """A paragraph of 40 to 900 characters."""
        return self.rng.choice(self.texts)[: self.rng.randint(40, 900)]

    def code(self) -> str:
        """The output of a tool."""
        return self.rng.choice(self.codes)

    def uuid(self) -> str:
        """A random id that the seed decides."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def hex24(self) -> str:
        """The tail of a vendor's id."""
        return f"{self.rng.getrandbits(96):024x}"


class Session:
    """One session file while it is written."""

    def __init__(self, prose: Prose, harness: str, token: str, out: TextIO, native_id: str, cwd: str) -> None:
        self.prose, self.rng, self.out = prose, prose.rng, out
        self.native_id, self.cwd, self.token = native_id, cwd, token
        self.turns = min(int(self.rng.paretovariate(1.1) * 6), 260)
        self.needle_turn = self.rng.randrange(self.turns)
        self.needle = Needle(harness, native_id, self.rng.choice(["user", "assistant", "tool_result"]), cwd)
        self.time = FIRST_DAY
        self.size_bytes = 0
        self.last_uuid: str | None = None

    def pass_time(self, low_s: int, high_s: int) -> None:
        """Let the clock go on."""
        self.time += datetime.timedelta(seconds=self.rng.randint(low_s, high_s))

    def plant(self, turn: int, where: str, first: bool = True) -> str:
        """The needle with a space before it, where it belongs; else nothing."""
        return f" {self.token}" if first and turn == self.needle_turn and where == self.needle.where else ""

    def stamp(self) -> str:
        """The time as both vendors write it."""
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03d}Z"

    def write(self, record: dict[str, Any]) -> None:
        """One line."""
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        self.out.write(line)
        self.size_bytes += len(line.encode())


class ClaudeSession(Session):
    """Claude Code: a chain of records by parentUuid, one record a block."""

    def record(self, kind: str, **more: Any) -> None:
        """One record at the end of the chain."""
        parent, self.last_uuid = self.last_uuid, self.prose.uuid()
        common = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.native_id,
            "version": "2.1.220",
            "gitBranch": "main",
        }
        self.write({**common, "type": kind, "uuid": self.last_uuid, "timestamp": self.stamp(), **more})

    def run(self) -> None:
        """All turns."""
        for turn in range(self.turns):
            self.pass_time(5, 90)
            prompt = self.prose.text() + self.plant(turn, "user")
            self.record("user", message={"role": "user", "content": prompt})
            for step in range(self.rng.randint(1, 5)):
                self.pass_time(1, 20)
                self.step(turn, step == 0)

    def step(self, turn: int, first: bool) -> None:
        """A sentence, a tool call and its output."""
        message_id, call_id = "msg_" + self.prose.hex24(), "toolu_" + self.prose.hex24()
        usage = {
            "input_tokens": 6,
            "output_tokens": self.rng.randint(20, 900),
            "cache_read_input_tokens": self.rng.randint(10000, 150000),
            "cache_creation_input_tokens": self.rng.randint(100, 9000),
        }
        head = {"id": message_id, "type": "message", "role": "assistant", "model": "claude-opus-4-8", "usage": usage}
        text = {"type": "text", "text": self.prose.text() + self.plant(turn, "assistant", first)}
        self.record("assistant", requestId="req_" + message_id[4:], message={**head, "content": [text]})
        arguments = {
            "command": "pytest -q " + self.prose.word(),
            "file_path": f"{self.cwd}/{self.prose.word()}.py",
        }
        name = self.rng.choice(["Bash", "Read", "Edit", "Grep"])
        call = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        self.record("assistant", requestId="req_" + message_id[4:], message={**head, "content": [call]})
        output = self.prose.code() + self.plant(turn, "tool_result", first)
        result = {"tool_use_id": call_id, "type": "tool_result", "content": output}
        self.record("user", message={"role": "user", "content": [result]})


class CodexSession(Session):
    """Codex: every spoken text twice, as a response item and as an event."""

    def record(self, kind: str, payload: dict[str, Any]) -> None:
        """One record."""
        self.write({"timestamp": self.stamp(), "type": kind, "payload": payload})

    def run(self) -> None:
        """The header and all turns."""
        meta = {"id": self.native_id, "timestamp": self.stamp(), "cwd": self.cwd, "originator": "codex_cli_rs"}
        origin = {"cli_version": "0.146.0", "instructions": None, "source": "cli", "model_provider": "openai"}
        self.record("session_meta", {**meta, **origin, "git": {"branch": "main"}})
        for turn in range(self.turns):
            self.pass_time(5, 90)
            prompt = self.prose.text() + self.plant(turn, "user")
            content = [{"type": "input_text", "text": prompt}]
            self.record("response_item", {"type": "message", "role": "user", "content": content})
            self.record("event_msg", {"type": "user_message", "message": prompt, "images": []})
            for step in range(self.rng.randint(1, 5)):
                self.pass_time(1, 20)
                self.step(turn, step == 0)

    def step(self, turn: int, first: bool) -> None:
        """A tool call, its output, a sentence and the accounting."""
        call_id = "call_" + self.prose.hex24()
        arguments = json.dumps({"command": ["bash", "-lc", "rg " + self.prose.word()]})
        call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call_id}
        self.record("response_item", call)
        printed = self.prose.code() + self.plant(turn, "tool_result", first)
        output = json.dumps({"output": printed, "metadata": {"exit_code": 0, "duration_seconds": 0.4}})
        self.record("response_item", {"type": "function_call_output", "call_id": call_id, "output": output})
        said = self.prose.text() + self.plant(turn, "assistant", first)
        self.record("event_msg", {"type": "agent_message", "message": said})
        content = [{"type": "output_text", "text": said}]
        self.record("response_item", {"type": "message", "role": "assistant", "content": content})
        usage = {"input_tokens": self.rng.randint(1000, 99999), "output_tokens": self.rng.randint(10, 999)}
        self.record("event_msg", {"type": "token_count", "info": {"total_token_usage": usage}})


def session_path(home: str, harness: str, native_id: str, cwd: str, begun: datetime.datetime) -> str:
    """Where the vendor would put the session."""
    if harness == "claude-code":
        return os.path.join(home, ".claude", "projects", re.sub(r"[^A-Za-z0-9]", "-", cwd), f"{native_id}.jsonl")
    name = f"rollout-{begun:%Y-%m-%dT%H-%M-%S}-{native_id}.jsonl"
    return os.path.join(home, ".codex", "sessions", f"{begun:%Y}", f"{begun:%m}", f"{begun:%d}", name)


def write_session(home: str, prose: Prose, number: int) -> tuple[str, Session]:
    """One session file; its needle and the session."""
    is_claude = number % 5 < 3
    harness, kind = ("claude-code", ClaudeSession) if is_claude else ("codex", CodexSession)
    cwd, native_id = prose.rng.choice(prose.projects), prose.uuid()
    begun = FIRST_DAY + datetime.timedelta(minutes=prose.rng.randint(0, 380000))
    path = session_path(home, harness, native_id, cwd, begun)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    token = f"needle{'c' if is_claude else 'x'}{number:06d}"
    with open(path, "w", encoding="utf-8") as out:
        session: ClaudeSession | CodexSession = kind(prose, harness, token, out, native_id, cwd)
        session.time = begun
        session.run()
    os.utime(path, (session.time.timestamp(), session.time.timestamp()))
    return token, session


def write_corpus(home: str, megabytes: float, seed: int = 7) -> Corpus:
    """Sessions until at least `megabytes` (of 10^6 bytes) are written."""
    prose, corpus = Prose(random.Random(seed)), Corpus()
    os.makedirs(home, exist_ok=True)
    while corpus.size_bytes < megabytes * 1e6:
        corpus.sessions += 1
        token, session = write_session(home, prose, corpus.sessions)
        corpus.needles[token] = session.needle
        corpus.size_bytes += session.size_bytes
    with open(os.path.join(home, "needles.json"), "w", encoding="utf-8") as out:
        json.dump({token: vars(needle) for token, needle in corpus.needles.items()}, out)
    return corpus


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.corpus", description="Made-up Claude Code and Codex sessions.")
    parser.add_argument("home")
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    corpus = write_corpus(arguments.home, arguments.megabytes, arguments.seed)
    print(f"{corpus.sessions} sessions, {corpus.size_bytes} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
