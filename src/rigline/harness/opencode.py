"""OpenCode: what its command line means, and how it is launched.

Observed with 1.18.33. The session store is in `opencode_store`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, Role, Token, find_value, has_option, read_options
from rigline.harness.base import Classification, Facts, HookEvent, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.grammar import Grammar, SelectorRule
from rigline.harness.opencode_plugin import PLUGIN_FILE, VARIABLE, add_plugin, write_plugin
from rigline.harness.opencode_store import KNOWN_VERSIONS, LABEL, OpenCodeStore, find_data_folder
from rigline.harness.session_variables import SESSION_VARIABLES

_RUN = frozenset({"run"})
_COMMON = (
    "--help,-h --version,-v --print-logs --log-level=1 --pure --port=1 --model,-m=1 --continue,-c --session,-s=1"
    " --fork --agent=1 --auto --replay-limit=1"
)
_TERMINAL = " --hostname=1 --mdns --mdns-domain=1 --cors=+ --prompt=1 --mini --no-replay"
_HEADLESS = (
    " --command=1 --share --format=1 --file,-f=+ --title=1 --attach=1 --password,-p=1 --username,-u=1 --dir=1"
    " --variant=1 --thinking --interactive,-i"
)
_UTILITY_WORDS = (
    "completion acp mcp attach debug providers auth agent upgrade uninstall serve web models stats export import"
    " github pr session plugin plug db"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())


def is_session_id(value: str) -> bool:
    """Whether a word is an id as OpenCode gives them."""
    return value.startswith("ses_") and len(value) > len("ses_") and "/" not in value


#: as `--help` of 1.18.33 and of its `run` show it, parsed by yargs
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(
        options=read_options(_COMMON + _TERMINAL),
        subcommands=_UTILITIES | _RUN,
        tables={"run": OptionTable(options=read_options(_COMMON + _HEADLESS), glued_equals=True)},
        glued_equals=True,
    ),
    utilities=_UTILITIES,
    elsewhere={"--attach": "runs the session in another OpenCode"},
    headless_words=_RUN,
    selectors=(SelectorRule("--continue"), SelectorRule("--session", is_id=is_session_id)),
    fork_options=("--fork",),
    without_hooks=("--pure",),
    yolo="--auto",
)


class OpenCode(GrammarAdapter):
    """The adapter of OpenCode."""

    name = "opencode"
    label = LABEL
    grammar = GRAMMAR
    executable = "opencode"
    headless: tuple[str, ...] = ("run",)
    facts = Facts(
        store="SQLite with a write-ahead log, `~/.local/share/opencode/opencode.db` (`XDG_DATA_HOME`, `OPENCODE_DB`); "
        "other channels' `opencode-<channel>.db`, and JSON files of versions before 1.2, for import",
        resume="`--session ID`, only from the session's own directory",
        chosen_id="",
        fork="`--fork` with `--session` or `--continue`",
        lineage="not recorded by 1.18.33; known for a fork that rigline launched",
        live="",
        yolo="`--auto`, which still denies what the configuration denies",
        injection="a plugin that `OPENCODE_CONFIG_CONTENT` adds for this launch; the first prompt keeps the history",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("reasoning", "attachments", "text that the program adds to prompts", "accounts and credentials"),
        cannot=(
            "tell which process has a session open",
            "resume from another directory: the program would hang",
            "show history with `--pure`, or when `OPENCODE_CONFIG_CONTENT` is no plain JSON",
            "read the files of versions before 0.5, which later ones moved",
        ),
        source="observed with 1.18.33; older and newer layouts from its public source",
    )
    #: no limit was seen; one part costs one process at the first prompt
    limits = PacketLimits(part_chars=60_000, max_parts=3)
    hook_event = HookEvent.FIRST_PROMPT
    known_versions: tuple[str, ...] = KNOWN_VERSIONS
    session_variables: tuple[str, ...] = SESSION_VARIABLES["opencode"]
    store_variables: tuple[str, ...] = ("XDG_DATA_HOME", "OPENCODE_DB")

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. `run` is not interactive unless it says so.

        A command line for another directory begins a session there: one of this directory, resumed from there, would
        never come to its end.
        """
        found = super().classify(args)
        tokens = GRAMMAR.read(args)
        if found.mode is Mode.PASSTHROUGH:
            return found
        return replace(
            found,
            interactive=found.interactive or has_option(tokens, "--interactive"),
            cannot_resume=found.selector is None and _is_for_elsewhere(tokens),
        )

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. What is added stands at the front or right behind `run`, where no list swallows it."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        permission, notes = grammar.plan_yolo(GRAMMAR, request)
        resume = ("--session", request.resume_id) if request.resume_id else ()
        added = (*permission, *resume, *_plan_directory(request))
        args = grammar.insert_after_subcommand(GRAMMAR, request.args, added, _RUN)
        plan = NativePlan(args=args, expected_id=grammar.find_expected_id(request), notes=notes)
        return _add_plugin(plan, request)

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """The user's own configuration in the variable that the plan uses, and whether plugins are turned off."""
        return {name: env[name] for name in (VARIABLE, "OPENCODE_PURE") if env.get(name)}

    def open_store(self, env: Mapping[str, str]) -> OpenCodeStore:
        """See `Harness.open_store`."""
        return OpenCodeStore(find_data_folder(env), env.get("OPENCODE_DB", "").strip())


def _plan_directory(request: LaunchRequest) -> tuple[str, ...]:
    """`run` never ends with a session of another directory that it is not told (1.18.33); the terminal takes it."""
    tokens = GRAMMAR.read(request.args)
    runs = next((token.value in _RUN for token in tokens if token.role is Role.SUBCOMMAND), False)
    is_told = not runs or _is_for_elsewhere(tokens) or request.session_cwd is None
    return () if is_told else ("--dir", request.session_cwd or "")


def _is_for_elsewhere(tokens: tuple[Token, ...]) -> bool:
    """Whether the command line names a directory: `--dir` of `run`, or the project of the terminal."""
    words = [token for token in tokens if token.role in (Role.POSITIONAL, Role.SUBCOMMAND)]
    is_terminal = not words or words[0].role is Role.POSITIONAL
    folder = words[0].value if words and is_terminal else find_value(tokens, "--dir")
    return folder not in (None, ".", "./")


def _add_plugin(plan: NativePlan, request: LaunchRequest) -> NativePlan:
    """The plan with the hook in it, or with a note why it is not."""
    if request.hooks is None or request.classification.skips_hooks:
        return plan
    path = os.path.join(request.private_dir, PLUGIN_FILE)
    config = add_plugin(request.settings.get(VARIABLE, ""), path)
    if request.settings.get("OPENCODE_PURE"):
        note = "OPENCODE_PURE turns plugins off; the line's history cannot be shown to OpenCode."
    elif config is None:
        note = f"{VARIABLE} is no plain JSON object, and is left as it is; the line's history cannot be shown."
    else:
        return replace(
            plan,
            has_hooks=True,
            variables={VARIABLE: config},
            files={PLUGIN_FILE: write_plugin(request.hooks.commands)},
        )
    return replace(plan, notes=(*plan.notes, note))
