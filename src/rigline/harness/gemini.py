"""Gemini CLI: what its command line means and how it is launched. Observed with 0.61.0; the store is in `gemini_store`.

A packet travels in a hook before the agent's turn, which answers a session's first prompt: the program puts the answer
behind the prompt and keeps both. What a hook on a session's start says it puts in front of the prompt, and leaves such
a message out when the session is resumed. Hooks come from settings or from extensions. The system's settings
(`GEMINI_CLI_SYSTEM_SETTINGS_PATH`) count only in a file that, with every folder above it, belongs to root alone, so a
user's run can bring none; settings and extensions of the user lie in the folder that also holds the sessions. So a
module of ours, loaded by Node before the program (`NODE_OPTIONS`), names one more extension, in the run's own folder.
The same module keeps resumed sessions from being deleted; both are described in `gemini_preload`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import Adapter
from rigline.harness.argv import OptionTable, find_value, has_option, read_options
from rigline.harness.base import (
    Classification,
    Facts,
    HookDefinition,
    HookEvent,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
)
from rigline.harness.folders import find_root
from rigline.harness.gemini_preload import write_module
from rigline.harness.gemini_store import LABEL, NAME, GeminiStore
from rigline.harness.grammar import Grammar, SelectorRule
from rigline.harness.node_preload import BY_NODE, NODE_OPTIONS, is_run_by_node, make_option
from rigline.harness.session_variables import SESSION_VARIABLES

#: its parser takes every long option in camel case as well
_OPTIONS = (
    "--debug,-d --model,-m=1 --prompt,-p=1 --prompt-interactive,-i,--promptInteractive=1 --skip-trust,--skipTrust"
    " --worktree,-w=? --sandbox,-s --yolo,-y --approval-mode,--approvalMode=1 --policy=1 --admin-policy,--adminPolicy=1"
    " --acp --experimental-acp,--experimentalAcp --allowed-mcp-server-names,--allowedMcpServerNames=1"
    " --allowed-tools,--allowedTools=1 --extensions,-e=1 --list-extensions,-l,--listExtensions --resume,-r=?"
    " --session-file,--sessionFile=1 --session-id,--sessionId=1 --list-sessions,--listSessions"
    " --delete-session,--deleteSession=? --include-directories,--includeDirectories=1"
    " --screen-reader,--screenReader --output-format,-o,--outputFormat=1 --fake-responses,--fakeResponses=1"
    " --fake-responses-non-strict,--fakeResponsesNonStrict=1 --record-responses,--recordResponses=1"
    " --raw-output,--rawOutput --accept-raw-output-risk,--acceptRawOutputRisk --version,-v --help,-h"
)
_UTILITIES = frozenset({"extension", "extensions", "gemma", "hook", "hooks", "mcp", "skill", "skills"})
#: `latest` and a number in a list leave the session to the program
_ID = re.compile(r"(?!latest$)(?![0-9]+$)[A-Za-z0-9_-]+")


def is_session_id(value: str) -> bool:
    """Whether a word is a session's id: the program takes letters, digits, dashes and underscores."""
    return _ID.fullmatch(value) is not None


#: from `--help` and the hidden options of 0.61.0, parsed by yargs
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES, glued_equals=True),
    utilities=_UTILITIES,
    answers=("--help", "--version", "--list-extensions", "--list-sessions", "--delete-session"),
    elsewhere={
        "--acp": "starts a server for an editor",
        "--experimental-acp": "starts a server for an editor",
        "--worktree": "works in a checkout of its own",
    },
    headless=("--prompt",),
    selectors=(
        SelectorRule("--resume", is_session_id),
        SelectorRule("--session-file"),
        SelectorRule("--session-id", is_session_id, is_new=True),
    ),
    yolo="--yolo",
    permissions=("--approval-mode", "--policy", "--admin-policy"),
)
_EVENT = "BeforeAgent"
_EXTENSION = "gemini-extension"
_EXTENSION_NAME = "rigline-run"
_PRELOAD = "gemini-preload.mjs"
_HOOK_TIMEOUT_MS = 30_000


class Gemini(Adapter):
    """The adapter of Gemini CLI."""

    name = NAME
    label = LABEL
    executable = "gemini"
    headless: tuple[str, ...] = ("-p",)
    hook_event = HookEvent.FIRST_PROMPT
    facts = Facts(
        store="`~/.gemini/tmp/<project>/chats/session-<minute>-<8 of the id>.jsonl` (`GEMINI_CLI_HOME`): a log of "
        "operations, JSON lines",
        resume="`-r ID`, which the program refuses from another directory and for a session that is not there",
        chosen_id="`--session-id ID` of letters, digits, dashes and underscores, which is refused where it exists",
        fork="",
        lineage="",
        live="",
        yolo="`--yolo`",
        injection="a hook on the first prompt, from a private extension that a module loaded by Node names "
        "(`NODE_OPTIONS`); the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("thoughts", "attachments", "the program's notices, its context and other hooks' answers"),
        cannot=(
            "see whether a session is open",
            "keep a session that was resumed without rigline from being deleted by the program's next start without "
            "rigline: it takes what such a resume leaves behind for a broken session and deletes both, unless "
            "`general.sessionRetention.enabled` is false in `~/.gemini/settings.json`. What was imported stays",
            "show history, or keep sessions from that, where the program is not run by Node, or runs in a sandbox",
            "show history where hooks or extensions are off by the settings",
            "see a used-up allowance after `-p`, which keeps no record of it",
            "read sessions that older versions wrote as one JSON document",
        ),
        source="observed with 0.61.0",
    )
    #: one answer of 120,000 characters arrived whole (0.61.0)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    known_versions: tuple[str, ...] = ("0.61.0",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ("GEMINI_CLI_HOME",)

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`."""
        return grammar.classify(GRAMMAR, args)

    def find_options(self, args: tuple[str, ...]) -> frozenset[int]:
        """See `Harness.find_options`."""
        return grammar.find_options(GRAMMAR, args)

    def new_native_id(self) -> str | None:
        """An id as the program itself makes them."""
        return ids.new_uuid4()

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """The user's own options for Node, which ours are added to."""
        return {NODE_OPTIONS: env[NODE_OPTIONS]} if env.get(NODE_OPTIONS, "").strip() else {}

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Never `-r latest`: where a directory has no session it begins one."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        if _chooses_newest(request.args):
            notes = (*notes, f"where this directory has no session, {LABEL} begins one without a word.")
        plan = NativePlan(
            args=(*yolo, *_plan_session(request), *request.args),
            expected_id=grammar.find_expected_id(request),
            notes=notes,
        )
        return _add_module(plan, request)

    def open_store(self, env: Mapping[str, str]) -> GeminiStore:
        """See `Harness.open_store`. The variable names the folder above `.gemini`."""
        return GeminiStore(os.path.join(find_root(env, "GEMINI_CLI_HOME"), ".gemini"))

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a hook before a turn claims; it tells no source."""
        return super().read_observation(payload) if payload.get("hook_event_name") == _EVENT else None

    def write_hook_answer(self, text: str) -> str:
        """See `Harness.write_hook_answer`. The program puts it right behind a tag, and a marker begins a line."""
        answer = {"hookSpecificOutput": {"hookEventName": _EVENT, "additionalContext": f"\n{text}"}}
        return msgspec.json.encode(answer).decode()

    def trust_hooks(
        self,
        definition: HookDefinition,
        executable: str,
        env: Mapping[str, str],  # noqa: ARG002
        cwd: str,  # noqa: ARG002
    ) -> HookDefinition:
        """The definition with its proof: that Node runs the program."""
        return HookDefinition(commands=definition.commands, trust=(BY_NODE,) if is_run_by_node(executable) else ())


def _chooses_newest(args: tuple[str, ...]) -> bool:
    """Whether the newest session is to be resumed: `-r` alone says so as well."""
    tokens = GRAMMAR.read(args)
    return has_option(tokens, "--resume") and find_value(tokens, "--resume") in (None, "", "latest")


def _plan_session(request: LaunchRequest) -> tuple[str, ...]:
    if request.resume_id:
        return ("-r", request.resume_id)
    return ("--session-id", request.fresh_id) if request.fresh_id else ()


def _add_module(plan: NativePlan, request: LaunchRequest) -> NativePlan:
    """The module and the extension that it names. Where the user chooses among extensions, ours is chosen besides."""
    if request.hooks is None:
        return plan
    if BY_NODE not in request.hooks.trust:
        note = (
            f"this {LABEL} is not run by Node, so the line's history cannot be shown to it, and it may delete sessions "
            "that were resumed: set general.sessionRetention.enabled to false in its settings."
        )
        return replace(plan, notes=(*plan.notes, note))
    option = make_option(f"{request.private_dir}/{_PRELOAD}")
    chosen = ("--extensions", _EXTENSION_NAME) if has_option(GRAMMAR.read(request.args), "--extensions") else ()
    extension = f"{request.private_dir}/{_EXTENSION}"
    module = write_module(option=option, extension=extension, native_id=_find_resumed(request))
    return replace(
        plan,
        args=(*chosen, *plan.args),
        has_hooks=True,
        variables={NODE_OPTIONS: " ".join(filter(None, (request.settings.get(NODE_OPTIONS, ""), option)))},
        files={**_write_extension(extension, request.hooks), _PRELOAD: module},
    )


def _write_extension(folder: str, hooks: HookDefinition) -> dict[str, str]:
    """The extension's files. One says where it comes from, for settings that allow extensions of some places only."""
    commands = [
        {"name": "rigline", "type": "command", "command": line, "timeout": _HOOK_TIMEOUT_MS} for line in hooks.commands
    ]
    contents = {
        "gemini-extension.json": {"name": _EXTENSION_NAME, "version": "1.0.0"},
        ".gemini-extension-install.json": {"type": "local", "source": folder},
        "hooks/hooks.json": {"hooks": {_EVENT: [{"hooks": commands}]}},
    }
    return {f"{_EXTENSION}/{name}": msgspec.json.encode(content).decode() for name, content in contents.items()}


def _find_resumed(request: LaunchRequest) -> str:
    selector = request.classification.selector
    return request.resume_id or (selector.native_id if selector is not None else None) or ""
