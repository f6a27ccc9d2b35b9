"""Qwen Code: what its command line means and how it is launched. Observed with 0.24.4; the store is in `qwen_store`.

A packet travels in a hook on the submitted prompt: the program puts the hook's answer behind the prompt as a part of
the same message, and keeps both (what a hook on a session's start says goes into the system prompt, which is not kept).
The hook comes in the system's default settings, the weakest of all, so it overrides nothing: a private file, named by
`QWEN_CODE_SYSTEM_DEFAULTS_PATH`, holds what the machine's own says and the hook besides. Hooks of all settings add up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import Adapter
from rigline.harness.argv import OptionTable, Role, has_option, read_options
from rigline.harness.base import (
    Classification,
    Facts,
    HookEvent,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
)
from rigline.harness.commented_json import decode_object
from rigline.harness.folders import find_home
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.qwen_store import LABEL, NAME, QwenStore
from rigline.harness.session_variables import SESSION_VARIABLES
from rigline.harness.windows import as_dict, as_list

#: its parser takes every long option in camel case as well
_OPTIONS = (
    "--telemetry --telemetry-target=1 --telemetry-otlp-endpoint=1 --telemetry-otlp-protocol=1 --telemetry-log-prompts"
    " --telemetry-outfile=1 --debug,-d --bare --safe-mode,--safeMode --proxy=1 --insecure --chat-recording"
    " --no-chat-recording,--no-chatRecording --model,-m=1"
    " --fallback-model,--fallbackModel=+ --prompt,-p=1 --prompt-interactive,-i,--promptInteractive=1"
    " --system-prompt,--systemPrompt=1 --append-system-prompt,--appendSystemPrompt=1 --output-style,--outputStyle=1"
    " --sandbox,-s --sandbox-image=1 --yolo,-y --approval-mode,--approvalMode=1 --acp --experimental-acp"
    " --experimental-lsp --restore-ask-user-question --channel=1 --allowed-mcp-server-names,--allowedMcpServerNames=+"
    " --mcp-config,--mcpConfig=1 --allowed-tools,--allowedTools=+ --extensions,-e=+ --list-extensions,-l"
    " --include-directories,--add-dir,--includeDirectories,--addDir=+ --openai-logging --openai-logging-dir=1"
    " --openai-api-key,--openaiApiKey=1 --openai-base-url,--openaiBaseUrl=1 --screen-reader"
    " --input-format,--inputFormat=1 --output-format,-o,--outputFormat=1 --include-partial-messages --json-fd=1"
    " --json-file=1 --json-schema,--jsonSchema=1 --input-file=1 --continue,-c --resume,-r=?"
    " --session-id,--sessionId=1 --fork-session,--forkSession --worktree=? --max-session-turns,--maxSessionTurns=1"
    " --max-wall-time,--maxWallTime=1 --max-tool-calls,--maxToolCalls=1 --max-subagent-depth=1 --core-tools=+"
    " --exclude-tools,--excludeTools=+ --disabled-slash-commands=+ --auth-type,--authType=1 --version,-v --help,-h"
)
_UTILITY_WORDS = "auth board channel extensions hooks mcp review sandbox serve sessions update"
_UTILITIES = frozenset(_UTILITY_WORDS.split())
#: from `--help` of 0.24.4, parsed by yargs
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES, glued_equals=True),
    utilities=_UTILITIES,
    answers=("--help", "--version", "--list-extensions"),
    elsewhere={
        "--acp": "starts a server for an editor",
        "--experimental-acp": "starts a server for an editor",
        "--worktree": "works in a checkout of its own",
    },
    headless=("--prompt", "--input-format", "--json-schema"),
    selectors=(
        SelectorRule("--resume", is_uuid),
        SelectorRule("--continue"),
        SelectorRule("--session-id", is_uuid, is_new=True),
    ),
    fork_options=("--fork-session",),
    unkept=("--no-chat-recording", "--chat-recording=false", "--chatRecording=false"),
    without_hooks=("--bare", "--safe-mode"),
    yolo="--yolo",
    permissions=("--approval-mode",),
)
_INTERACTIVE = "--prompt-interactive"
_EVENT = "UserPromptSubmit"
_SETTINGS, _DEFAULTS = "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
_OWN_DEFAULTS = "qwen-defaults.json"
_HOOK_TIMEOUT_MS = 30_000
#: the form of settings that is current in 0.24.4; without it the file would be taken for an old one and rewritten
_SETTINGS_VERSION = 4


class Qwen(Adapter):
    """The adapter of Qwen Code."""

    name = NAME
    label = LABEL
    executable = "qwen"
    headless: tuple[str, ...] = ("-p",)
    hook_event = HookEvent.FIRST_PROMPT
    facts = Facts(
        store="`~/.qwen/projects/<directory>/chats/<uuid>.jsonl` (`QWEN_HOME`, `QWEN_RUNTIME_DIR`): JSON lines",
        resume="`-r UUID`, which the program refuses from another directory and for a session that is not there",
        chosen_id="`--session-id UUID`, which is refused where it exists and beside `--fork-session`",
        fork="`-r UUID --fork-session`; the program chooses the fork's id",
        lineage="`forkedFrom` on each copied record; copies keep their ids",
        live="`<uuid>.runtime.json` beside the transcript, while a terminal has it open",
        yolo="`--yolo`",
        injection="a hook on the first prompt, from private default settings (`QWEN_CODE_SYSTEM_DEFAULTS_PATH`) that "
        "include the machine's own; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("reasoning", "attachments", "telemetry and other notes of the program"),
        cannot=(
            "see that a session is open where the program runs without a terminal",
            "follow a place for sessions that a file names: the setting `advanced.runtimeOutputDir`, `QWEN_HOME` in an "
            "`.env`",
            "show history where hooks are off: `--bare`, `--safe-mode`, or the setting `disableAllHooks`",
            "go on in place of it when an allowance is used up while the program still tries again, as it does for "
            "many minutes",
        ),
        source="observed with 0.24.4",
    )
    #: one answer of 110,000 characters arrived whole (0.24.4)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    known_versions: tuple[str, ...] = ("0.24.4",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ("QWEN_HOME", "QWEN_RUNTIME_DIR")

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. A prompt that stands by itself is answered, and the program ends."""
        found = grammar.classify(GRAMMAR, args)
        tokens = GRAMMAR.read(args)
        is_asked = any(token.role is Role.POSITIONAL for token in tokens) and not has_option(tokens, _INTERACTIVE)
        return replace(found, interactive=False) if is_asked else found

    def find_options(self, args: tuple[str, ...]) -> frozenset[int]:
        """See `Harness.find_options`."""
        return grammar.find_options(GRAMMAR, args)

    def new_native_id(self) -> str | None:
        """An id as the program itself makes them."""
        return ids.new_uuid4()

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:
        """The machine's own default settings, which ours take the place of."""
        path = os.path.join(cwd, find_defaults(env))
        try:
            with open(path, encoding="utf-8") as file:
                return {_DEFAULTS: file.read()}
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError):
            return {_DEFAULTS: ""}

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Never `--continue`: where a directory has no session it silently begins one."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        if has_option(GRAMMAR.read(request.args), "--continue"):
            notes = (*notes, f"where this directory has no session, {LABEL}'s --continue begins one without a word.")
        plan = NativePlan(
            args=(*yolo, *_plan_session(request), *request.args),
            expected_id=None if _forks(request) else grammar.find_expected_id(request),
            notes=notes,
        )
        return _add_hooks(plan, request)

    def open_store(self, env: Mapping[str, str]) -> QwenStore:
        """See `Harness.open_store`."""
        home = find_home(env)
        return QwenStore(
            _find_folder(env, "QWEN_RUNTIME_DIR", home)
            or _find_folder(env, "QWEN_HOME", home)
            or os.path.join(home, ".qwen")
        )

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a hook on the submitted prompt claims; it tells no source."""
        return super().read_observation(payload) if payload.get("hook_event_name") == _EVENT else None

    def write_hook_answer(self, text: str) -> str:
        """See `Harness.write_hook_answer`."""
        answer = {"hookSpecificOutput": {"hookEventName": _EVENT, "additionalContext": text}}
        return msgspec.json.encode(answer).decode()


def find_defaults(env: Mapping[str, str]) -> str:
    """Where a child with this environment looks for the machine's default settings: beside the machine's settings."""
    folder = "/Library/Application Support/QwenCode" if sys.platform == "darwin" else "/etc/qwen-code"
    settings = env.get(_SETTINGS) or os.path.join(folder, "settings.json")
    return env.get(_DEFAULTS) or os.path.join(os.path.dirname(settings), "system-defaults.json")


def _find_folder(env: Mapping[str, str], variable: str, home: str) -> str:
    """The folder that a variable names; a leading `~` is the home folder. A blank one counts as unset."""
    path = env.get(variable, "")
    if not path.strip():
        return ""
    return os.path.join(home, path[2:]) if path.startswith("~/") else home if path == "~" else path


def _forks(request: LaunchRequest) -> bool:
    selector = request.classification.selector
    return request.classification.forks or (selector is not None and selector.forks)


def _plan_session(request: LaunchRequest) -> tuple[str, ...]:
    """The id of a fork is the program's to choose: it refuses one that is given."""
    if request.resume_id:
        return ("-r", request.resume_id)
    return ("--session-id", request.fresh_id) if request.fresh_id and not _forks(request) else ()


def _add_hooks(plan: NativePlan, request: LaunchRequest) -> NativePlan:
    if request.hooks is None or request.classification.skips_hooks:
        return plan
    found = decode_object(request.settings.get(_DEFAULTS, "{}"))
    if found is None:
        note = (
            f"{LABEL}'s default settings on this machine cannot be read, so the line's history cannot be shown to it."
        )
        return replace(plan, notes=(*plan.notes, note))
    content = msgspec.json.encode(_merge(found, request.hooks.commands)).decode()
    return replace(
        plan,
        has_hooks=True,
        variables={_DEFAULTS: f"{request.private_dir}/{_OWN_DEFAULTS}"},
        files={_OWN_DEFAULTS: content},
    )


def _merge(found: dict[str, object], commands: tuple[str, ...]) -> dict[str, object]:
    """The machine's default settings with our hook. One of an outer run, inside of which this one is, is the same."""
    hooks = [{"type": "command", "command": line, "timeout": _HOOK_TIMEOUT_MS} for line in commands]
    own = {"hooks": hooks}
    events = as_dict(found.get("hooks"))
    others = [each for each in as_list(events.get(_EVENT)) if each != own]
    return {"$version": _SETTINGS_VERSION, **found, "hooks": {**events, _EVENT: [*others, own]}}
