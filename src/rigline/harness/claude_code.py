"""Claude Code: what its command line means, how it is launched, and what its start hook says.

Observed with 2.1.197 and 2.1.332. The session store is in `claude_store`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import START_EVENT, GrammarAdapter
from rigline.harness.argv import find_subcommand, has_option
from rigline.harness.base import Classification, Facts, LaunchRequest, Mode, NativePlan, Observation, PacketLimits
from rigline.harness.claude_options import FIRST_WORDS, GRAMMAR, LABEL
from rigline.harness.claude_paths import find_config_folder
from rigline.harness.claude_store import ClaudeStore
from rigline.harness.session_variables import SESSION_VARIABLES

#: a hook that takes longer is dropped by Claude Code, and its packet is offered again
_HOOK_TIMEOUT_S = 20


class ClaudeCode(GrammarAdapter):
    """The adapter of Claude Code."""

    name = "claude-code"
    label = LABEL
    grammar = GRAMMAR
    executable = "claude"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.claude/projects/<directory>/<id>.jsonl` (`CLAUDE_CONFIG_DIR`): JSON lines that form a tree",
        resume="`--resume ID`, from the session's own directory and every worktree of its repository",
        chosen_id="`--session-id UUID`, for a fork too",
        fork="`--resume ID --fork-session --session-id UUID`",
        lineage="copied records keep their ids; `/branch` names its parent in `forkedFrom`",
        live="`sessions/<pid>.json`, checked against the process",
        yolo="`--dangerously-skip-permissions`",
        injection="a start hook in a private plugin (`--plugin-dir`); the session keeps the packet",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("reasoning", "attachments", "the program's own notes", "errors of the service"),
        cannot=(),
        source="observed with 2.1.197 and 2.1.332",
    )
    #: 10,000 characters in one hook answer were seen whole, 10,700 as a path and the first 2 KB (both versions)
    limits = PacketLimits(part_chars=9000, max_parts=4)
    known_versions: tuple[str, ...] = ("2.1.197", "2.1.332")
    session_variables: tuple[str, ...] = SESSION_VARIABLES["claude-code"]
    store_variables: tuple[str, ...] = ("CLAUDE_CONFIG_DIR",)

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. A word that names a subcommand is a prompt beside `-p`, as in the program."""
        found = super().classify(args)
        if found.mode is Mode.PASSTHROUGH:
            return found
        tokens = GRAMMAR.read(args)
        word = args[0] if args and args[0] in FIRST_WORDS else None
        if word is None and found.interactive:
            word = find_subcommand(tokens)
        if word is not None:
            reason = f"`{word}` is a utility command of Claude Code"
            return Classification(mode=Mode.PASSTHROUGH, interactive=found.interactive, reason=reason)
        return replace(found, skips_persistence=has_option(tokens, "--no-session-persistence"))

    def new_native_id(self) -> str | None:
        """A random UUID, for `--session-id`."""
        return ids.new_uuid4()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Ours stand before the user's, so that no option with many values takes a prompt."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        permission, notes = grammar.plan_yolo(GRAMMAR, request)
        plugin, files = _plan_hooks(request)
        selector = _plan_selector(request)
        return NativePlan(
            args=(*permission, *plugin, *selector, *request.args),
            expected_id=grammar.find_expected_id(request),
            has_hooks=bool(plugin),
            files=files,
            notes=notes,
        )

    def open_store(self, env: Mapping[str, str]) -> ClaudeStore:
        """See `Harness.open_store`."""
        return ClaudeStore(find_config_folder(env))

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a SessionStart hook claims; `source` is startup, resume, clear, compact, or fork.

        At a fork 2.1.197 and 2.1.205 say `resume` with the parent's id and path, 2.1.225 and later `fork` with the
        fork's own. The transcript need not exist yet.
        """
        return super().read_observation(payload) if payload.get("hook_event_name") == START_EVENT else None

    def write_hook_answer(self, text: str) -> str:
        """See `Harness.write_hook_answer`."""
        answer = {"hookSpecificOutput": {"hookEventName": START_EVENT, "additionalContext": text}}
        return msgspec.json.encode(answer).decode()


def _plan_hooks(request: LaunchRequest) -> tuple[tuple[str, ...], dict[str, str]]:
    """A plugin that holds nothing but the start hook; it runs beside all hooks of the user's (both versions)."""
    if request.hooks is None or request.classification.skips_hooks:
        return (), {}
    commands = [
        {"type": "command", "command": command, "timeout": _HOOK_TIMEOUT_S} for command in request.hooks.commands
    ]
    manifest = {"name": "rigline", "version": "1.0.0", "description": "Shows rigline's packet at the start."}
    files = {
        "plugin/.claude-plugin/plugin.json": manifest,
        "plugin/hooks/hooks.json": {"hooks": {START_EVENT: [{"hooks": commands}]}},
    }
    folder = f"{request.private_dir}/plugin"
    return ("--plugin-dir", folder), {name: msgspec.json.encode(value).decode() for name, value in files.items()}


def _plan_selector(request: LaunchRequest) -> tuple[str, ...]:
    """`--session-id` beside `--resume` and `--fork-session` is the fork's own id (both versions)."""
    resume = ("--resume", request.resume_id) if request.resume_id else ()
    begin = ("--session-id", request.fresh_id) if request.fresh_id else ()
    return (*resume, *begin)
