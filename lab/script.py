"""What the scripted model answers. There is no model: the newest thing the user typed says what the reply is.

One directive a prompt:

    say: TEXT         reply with TEXT
    think: TEXT       a thinking or reasoning block, then TEXT
    bash: COMMAND     call the client's shell tool, then report its output
    call: NAME JSON   call any tool by name (NAMESPACE/NAME for Codex), then report its output
    agent: PROMPT     start a subagent whose own prompt is PROMPT
    big: N            reply with N characters
    slow: SECONDS     stream a reply over SECONDS
    hang:             open the stream, send some text, never finish it
    http: STATUS      answer with that HTTP status
    limit: KIND       refuse as the vendor does at a limit: usage, rate or credit (see `lab/limits.py`)
    count:            report how many user and assistant turns came in
    recall: WORD      say whether WORD is anywhere in the history that came in, this prompt left out

A prompt without a directive is echoed. After a tool call the reply is "tool said: " and the last line of the
tool's output. A request to summarise the conversation gets a fixed summary, one for a JSON object a fixed title.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]

DIRECTIVE = re.compile(
    r"^\s*(say|think|bash|call|agent|big|slow|hang|http|limit|count|recall):[ \t]*(.*)$",
    re.MULTILINE,
)
COMPACTION = re.compile(
    r"detailed summary of (the|this|our) (conversation|messages)|CONTEXT CHECKPOINT COMPACTION|handoff summary",
    re.IGNORECASE,
)
#: text that the CLIs themselves put into a user turn
INJECTED = re.compile(
    r"^\s*<(qwen:|session_context|system-reminder|environment_context|user_instructions|permissions|command-|local-command|hook|turn_aborted"
    r"|skills_instructions|apps_instructions|plugins_instructions|collaboration_mode|model_switch|INSTRUCTIONS)"
    r"|^# AGENTS\.md|^\[rigline packet "
)
SUMMARY = "SCRIPTED SUMMARY: the user and the assistant exchanged test messages."


@dataclass(frozen=True)
class Message:
    """One block of one message. `kind` is text, call, result or thinking."""

    role: str
    text: str = ""
    kind: str = "text"

    @property
    def is_typed(self) -> bool:
        """Whether a person wrote it."""
        return self.role == "user" and self.kind == "text" and not INJECTED.match(self.text)


@dataclass(frozen=True)
class Request:
    """What came in, in one form for all wires. `parameters` are the tools' JSON schemas, where the wire tells them."""

    messages: list[Message]
    tools: set[str]
    model: str
    stream: bool
    wants_json: bool
    parameters: JsonObject = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The newest text that the user typed."""
        return next((m.text for m in reversed(self.messages) if m.is_typed), "")

    @property
    def tool_result(self) -> str | None:
        """The newest tool output, if nobody has answered it yet."""
        for message in reversed(self.messages):
            if message.kind == "result":
                return message.text
            if message.role == "assistant" or (message.role == "user" and not INJECTED.match(message.text)):
                return None
        return None

    @property
    def history(self) -> str:
        """Every text of the request, one below the other."""
        return "\n".join(message.text for message in self.messages)

    @property
    def earlier(self) -> str:
        """The history without the newest prompt."""
        return self.history.replace(self.prompt, "") if self.prompt else self.history

    def count_turns(self, role: str) -> int:
        """How many turns of that role came in, without what a CLI injected."""
        return sum(1 for m in self.messages if m.role == role and m.kind == "text" and not INJECTED.match(m.text))


@dataclass(frozen=True)
class Reply:
    """What goes out. `seconds` spreads the text over that long; `finish` False leaves the stream open for ever.

    `limit` is the kind of a limit that the vendor refuses for.
    """

    text: str = ""
    thinking: str = ""
    call: tuple[str, JsonObject] | None = None
    seconds: float = 0.0
    finish: bool = True
    status: int = 200
    limit: str = ""

    def pieces(self) -> Iterator[str]:
        """The text in stream-sized pieces, at the pace asked for."""
        if not self.seconds:
            yield self.text
            return
        size = max(1, len(self.text) // max(1, int(self.seconds * 4)))
        for start in range(0, len(self.text), size):
            yield self.text[start : start + size]
            time.sleep(0.25)


#: what the shell tool is called elsewhere, and its argument; what else it must have is filled in by its schema
SHELL_TOOLS = ("bash", "Shell", "run_shell_command", "shell", "execute_bash", "run_terminal_cmd", "execute_command")


def shell_call(request: Request, command: str) -> tuple[str, JsonObject]:
    """A call of whichever shell tool this client offers."""
    tools = request.tools
    name = next((name for name in ("Bash", *SHELL_TOOLS) if name in request.parameters), None)
    if name is not None:
        return name, fill_arguments(request.parameters[name], command)
    if "Bash" in tools:
        return "Bash", {"command": command, "description": "Run a scripted command"}
    if "exec_command" in tools:
        return "exec_command", {"cmd": command}
    if "shell_command" in tools:
        return "shell_command", {"command": command}
    return "shell", {"command": ["bash", "-lc", command]}


def fill_arguments(schema: JsonObject, command: str) -> JsonObject:
    """The command, and a value of its type for everything else that the tool's schema asks for."""
    fillers: JsonObject = {"boolean": False, "integer": 10000, "number": 10000, "array": [], "object": {}}
    properties = schema.get("properties") or {}
    named = next((name for name in ("command", "cmd", "script") if name in properties), "command")
    required = {name: properties.get(name) or {} for name in schema.get("required") or []}
    filled = {name: fillers.get(str(kind.get("type")), "scripted") for name, kind in required.items()}
    return {**filled, named: command}


def agent_call(tools: set[str], prompt: str) -> tuple[str, JsonObject]:
    """A call of whichever subagent tool this client offers."""
    if "spawn_agent" in tools:
        return "spawn_agent", {"message": prompt}
    if "multi_agent_v1" in tools:
        return "multi_agent_v1/spawn_agent", {"message": prompt}
    name = "Agent" if "Agent" in tools else "Task"
    return name, {
        "description": "scripted subagent",
        "prompt": prompt,
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }


def named_call(words: str) -> tuple[str, JsonObject]:
    """The call that `call: NAME JSON` asks for."""
    name, _, arguments = words.partition(" ")
    return name, json.loads(arguments or "{}")


def filler(length: int) -> str:
    """Text of exactly that many characters."""
    return ("0123456789abcdef" * (length // 16 + 1))[:length]


ANSWERS: dict[str, Callable[[Request, str], Reply]] = {
    "say": lambda _, rest: Reply(text=rest),
    "think": lambda _, rest: Reply(thinking="scripted thought about " + rest, text=rest),
    "bash": lambda request, rest: Reply(text="Running it.", call=shell_call(request, rest)),
    "call": lambda _, rest: Reply(call=named_call(rest)),
    "agent": lambda request, rest: Reply(text="Delegating.", call=agent_call(request.tools, rest)),
    "big": lambda _, rest: Reply(text=filler(int(rest))),
    "slow": lambda _, rest: Reply(text="slow reply, piece by piece. " * 8, seconds=float(rest or 5)),
    "hang": lambda *_: Reply(text="this reply never ends", finish=False),
    "http": lambda _, rest: Reply(status=int(rest)),
    "limit": lambda _, rest: Reply(limit=rest),
    "count": lambda request, _: Reply(
        text=f"user={request.count_turns('user')} assistant={request.count_turns('assistant')}"
    ),
    "recall": lambda request, rest: Reply(text=f"recall {rest}: {'yes' if rest in request.earlier else 'no'}"),
}


def decide(request: Request) -> Reply:
    """The reply to one request."""
    if request.wants_json:
        return Reply(text='{"title": "Scripted title", "branch": "scripted-title"}')
    if COMPACTION.search(request.prompt):
        return Reply(text=f"<summary>{SUMMARY}</summary>")
    result = request.tool_result
    if result is not None:
        return Reply(text="tool said: " + (result.strip().splitlines() or [""])[-1][:200])
    # OpenCode puts quotes around a prompt of several words that stands on its command line (1.18.33)
    match = DIRECTIVE.search(request.prompt.strip().removeprefix('"').removesuffix('"'))
    if not match:
        return Reply(text="echo: " + request.prompt.strip()[:200])
    return ANSWERS[match.group(1)](request, match.group(2).strip())


def flatten(content: Any) -> str:
    """The text of a content field, which is a string, a block or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return str(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        return "\n".join(flatten(block) for block in content)
    return ""
