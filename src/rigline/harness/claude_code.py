"""Claude Code: what its command line means, how it is launched, and what its start hook says.

Observed with 2.1.197 and 2.1.332. The session store is in `claude_store`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rigline import ids
from rigline.harness.adapter import START_EVENT, Adapter
from rigline.harness.argv import Role, Token, find_subcommand, find_value, has_option, tokenize
from rigline.harness.base import (
    Classification,
    Facts,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
    Selector,
)
from rigline.harness.claude_options import (
    ANSWERS,
    ELSEWHERE,
    FIRST_WORDS,
    PERMISSIONS,
    SKIP_PERMISSIONS,
    TABLE,
    WITHOUT_HOOKS,
)
from rigline.harness.claude_paths import find_config_folder, is_session_id
from rigline.harness.claude_store import ClaudeStore
from rigline.harness.session_variables import SESSION_VARIABLES

#: options that continue some session, in the order in which the program heeds them
_SOURCES = ("--resume", "--continue", "--from-pr", "--teleport")
#: a hook that takes longer is dropped by Claude Code, and its packet is offered again
_HOOK_TIMEOUT_S = 20


class ClaudeCode(Adapter):
    """The adapter of Claude Code."""

    name = "claude-code"
    label = "Claude Code"
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
        tokens = tokenize(args, TABLE)
        is_print = has_option(tokens, "--print")
        reason = _find_other_purpose(args, tokens, is_print)
        if reason:
            return Classification(mode=Mode.PASSTHROUGH, interactive=not is_print, reason=reason)
        return Classification(
            mode=Mode.SESSION,
            interactive=not is_print,
            selector=_find_selector(args, tokens),
            forks=has_option(tokens, "--fork-session"),
            skips_persistence=has_option(tokens, "--no-session-persistence"),
            skips_hooks=has_option(tokens, *WITHOUT_HOOKS),
        )

    def find_options(self, args: tuple[str, ...]) -> frozenset[int]:
        """See `Harness.find_options`."""
        return frozenset(token.index for token in tokenize(args, TABLE) if token.role is Role.OPTION)

    def new_native_id(self) -> str | None:
        """A random UUID, for `--session-id`."""
        return ids.new_uuid4()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Ours stand before the user's, so that no option with many values takes a prompt."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        tokens = tokenize(request.args, TABLE)
        permission, notes = _plan_permission(request, tokens)
        plugin, files = _plan_hooks(request)
        selector = _plan_selector(request)
        return NativePlan(
            args=(*permission, *plugin, *selector, *request.args),
            expected_id=_find_expected_id(request),
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


def _find_other_purpose(args: tuple[str, ...], tokens: tuple[Token, ...], is_print: bool) -> str:
    """Why the command line starts no session of this terminal and store, or an empty string."""
    if args and args[0] in FIRST_WORDS:
        return f"`{args[0]}` is a utility command of Claude Code"
    if has_option(tokens, *ANSWERS):
        return "it asks for help or the version"
    word = find_subcommand(tokens)
    if word and not is_print:
        return f"`{word}` is a utility command of Claude Code"
    given = [name for name in ELSEWHERE if has_option(tokens, name)]
    return f"`{given[0]}` {ELSEWHERE[given[0]]}" if given else ""


def _find_selector(args: tuple[str, ...], tokens: tuple[Token, ...]) -> Selector | None:
    """The user's choice of a session. `--fork-session` alone chooses nothing.

    The id is known for `--resume UUID` and `--session-id`. A name, a picker, and a transcript's path leave it to
    the program: it takes the id from the file's records (both versions).
    """
    source = next((name for name in _SOURCES if has_option(tokens, name)), None)
    chosen = find_value(tokens, "--session-id")
    if source is None:
        words = _find_words(args, tokens, "--session-id")
        return Selector(words=words, native_id=chosen, is_new=True) if chosen else None
    value = find_value(tokens, source) if source == "--resume" else None
    forks = has_option(tokens, "--fork-session")
    return Selector(
        words=_find_words(args, tokens, source),
        native_id=value if value and is_session_id(value) else None,
        forks=forks,
        chosen_id=chosen if forks else None,
    )


def _find_words(args: tuple[str, ...], tokens: tuple[Token, ...], name: str) -> tuple[str, ...]:
    """The elements of the command line that are an option or its values."""
    places = {token.index for token in tokens if token.option == name and token.role in (Role.OPTION, Role.VALUE)}
    return tuple(args[place] for place in sorted(places))


def _plan_permission(request: LaunchRequest, tokens: tuple[Token, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`--yolo` as the program's own option, or a note why it is left out. A narrower choice is never widened."""
    if not request.yolo or has_option(tokens, SKIP_PERMISSIONS):
        return (), ()
    narrower = [name for name in PERMISSIONS if has_option(tokens, name)]
    if narrower:
        return (), (f"--yolo has no effect: the command line says {narrower[0]}, which is kept as it is.",)
    return (SKIP_PERMISSIONS,), ()


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


def _find_expected_id(request: LaunchRequest) -> str | None:
    """The id of the session that will be written, where the command line fixes it."""
    if request.fresh_id:
        return request.fresh_id
    selector = request.classification.selector
    if selector is not None:
        return selector.chosen_id if selector.forks else selector.native_id
    return None if request.classification.forks else request.resume_id
