"""GitHub Copilot CLI: what its command line means and how it is launched. Observed with 1.0.102; the store is in
`copilot_store`.

A packet travels in a plugin of ours, loaded for this run (`--plugin-dir`): its hook on the submitted prompt answers a
session's first one, and the program puts the answer behind the prompt and keeps both in the session.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter, find_text
from rigline.harness.argv import OptionTable, has_option, read_options
from rigline.harness.base import (
    Facts,
    HookEvent,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
)
from rigline.harness.copilot_store import LABEL, NAME, CopilotStore
from rigline.harness.folders import find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--version,-v --help,-h --interactive,-i=1 --fleet --prompt,-p=1 --trust-folder --silent,-s"
    " --disable-client-telemetry --enable-memory --model=1 --reasoning-effort=1 --context=1 --auto-tier=1 --agent=1"
    " --resume,-r=? --continue --name,-n=1 --session-id=1 --connect=? --allow-all-tools --allow-all-paths"
    " --disallow-temp-dir --banner --screen-reader --plain-diff -C=1 --log-dir=1 --extension-sdk-path=1 --log-level=1"
    " --stream=1 --output-format=1 --share=? --share-gist --add-dir=1 --attachment=1 --disable-mcp-server=1"
    " --disable-builtin-mcps --enable-all-github-mcp-tools --add-github-mcp-toolset=1 --add-github-mcp-tool=1"
    " --plugin-dir=1 --additional-mcp-config=1 --mcp-github-auth=1 --allow-all-mcp-server-instructions --allow-tool=+"
    " --deny-tool=+ --available-tools=+ --excluded-tools=+ --secret-env-vars=+ --allow-url=+ --deny-url=+"
    " --allow-all-urls --allow-all,--yolo --max-autopilot-continues=1 --mode=1 --autopilot --plan --experimental"
    " --bash-env=? --mouse=? --acp --remote --remote-export --environment-host=1 --environment-compute-id=1"
    " --dynamic-retrieval=1 --enable-mcp-server=1 --max-ai-credits=1 --assisted-approval --usage-output-file=1"
    " --no-custom-instructions --no-auto-update --no-ask-user --no-color --no-experimental --no-bash-env --no-mouse"
    " --no-remote --no-remote-export --no-eager-powershell-resolution"
)
_UTILITY_WORDS = (
    "app login help init config update version workflow sessions memories plugin mcp skill instruction lsp sandbox"
    " completion"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
#: from `--help` of 1.0.102, which reads like clap's
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES, glued_equals=True),
    utilities=_UTILITIES,
    elsewhere={
        "--connect": "connects to a session elsewhere",
        "--acp": "starts a server for an editor",
        "--environment-host": "starts a server for sessions of others",
    },
    headless=("--prompt",),
    selectors=(
        SelectorRule("--resume", is_uuid),
        SelectorRule("--continue"),
        SelectorRule("--session-id", is_uuid, is_new=True),
    ),
    yolo="--allow-all",
    permissions=(
        "--allow-all-tools",
        "--allow-all-paths",
        "--allow-all-urls",
        "--allow-tool",
        "--deny-tool",
        "--allow-url",
        "--deny-url",
        "--disallow-temp-dir",
        "--assisted-approval",
    ),
)
_PLUGIN = "copilot-plugin"
_HOOK_TIMEOUT_S = 30


class Copilot(GrammarAdapter):
    """The adapter of GitHub Copilot CLI."""

    name = NAME
    label = LABEL
    grammar = GRAMMAR
    executable = "copilot"
    headless: tuple[str, ...] = ("-p",)
    hook_event = HookEvent.FIRST_PROMPT
    facts = Facts(
        store="`~/.copilot/session-state/<uuid>/events.jsonl` (`COPILOT_HOME`): a log of events, JSON lines",
        resume="`--resume=ID`, which the program takes from any directory; rigline only from the session's own",
        chosen_id="`--session-id UUID`, which goes on with a session that is there",
        fork="`/fork` inside only",
        lineage="words in the fork's log, behind the copied events, which keep their ids",
        live="`inuse.<pid>.lock` in the session's folder, once something was said in it since it was opened",
        yolo="`--allow-all`, which the program also calls `--yolo`",
        injection="the hook of a private plugin (`--plugin-dir`), behind the first prompt; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "names"),
        leaves_out=("reasoning", "system prompts", "attachments", "subagents, which stand in the session's own log"),
        cannot=(
            "tell a used-up allowance from a busy service, where a provider of the user's own calls both a rate limit",
            "let a prompt hook of the user's add context to the prompt that the history comes with: the program heeds "
            "one answer a prompt",
            "leave no trace of the plugin: the program makes an empty folder for it below `plugin-data` at each run",
        ),
        source="observed with 1.0.102",
    )
    #: of several hooks only the last one's answer counts; one of 120,000 characters arrived whole (1.0.102)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    known_versions: tuple[str, ...] = ("1.0.102",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ("COPILOT_HOME",)

    def new_native_id(self) -> str | None:
        """An id as the program itself makes them."""
        return ids.new_uuid4()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Never `--continue`: where a directory has no session it takes the newest of any."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        plugin, files = _plan_plugin(request)
        if has_option(GRAMMAR.read(request.args), "--continue"):
            notes = (
                *notes,
                f"where this directory has no session, {LABEL}'s --continue takes the newest of any other.",
            )
        return NativePlan(
            args=(*yolo, *plugin, *_plan_session(request), *request.args),
            expected_id=grammar.find_expected_id(request),
            has_hooks=bool(plugin),
            files=files,
            notes=notes,
        )

    def open_store(self, env: Mapping[str, str]) -> CopilotStore:
        """See `Harness.open_store`."""
        return CopilotStore(find_root(env, "COPILOT_HOME", ".copilot"))

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a prompt hook claims; it names the session in the program's own spelling and tells no source."""
        native_id = find_text(payload, "sessionId")
        if not native_id:
            return None
        return Observation(native_id=native_id, source="", cwd=find_text(payload, "cwd"))

    def write_hook_answer(self, text: str) -> str:
        """See `Harness.write_hook_answer`. The field stands at the top; other spellings are ignored (1.0.102)."""
        return msgspec.json.encode({"additionalContext": text}).decode()


def _plan_session(request: LaunchRequest) -> tuple[str, ...]:
    if request.resume_id:
        return (f"--resume={request.resume_id}",)
    return ("--session-id", request.fresh_id) if request.fresh_id else ()


def _plan_plugin(request: LaunchRequest) -> tuple[tuple[str, ...], dict[str, str]]:
    """The option and the files of our plugin. It runs beside those of the user."""
    if request.hooks is None:
        return (), {}
    hooks = [{"type": "command", "bash": line, "timeoutSec": _HOOK_TIMEOUT_S} for line in request.hooks.commands]
    manifest = {"name": "rigline", "version": "1.0.0", "hooks": "hooks/hooks.json"}
    files = {
        f"{_PLUGIN}/plugin.json": msgspec.json.encode(manifest).decode(),
        f"{_PLUGIN}/hooks/hooks.json": msgspec.json.encode(
            {"version": 1, "hooks": {"userPromptSubmitted": hooks}}
        ).decode(),
    }
    return ("--plugin-dir", f"{request.private_dir}/{_PLUGIN}"), files
