"""Pi: what its command line means and how it is launched. Observed with 1.6.0; the store is in `pi_store`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, find_value, read_options
from rigline.harness.base import Classification, Facts, HookEvent, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.file_store import read_object
from rigline.harness.folders import find_home, find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_any_id, is_uuid
from rigline.harness.pi_extension import plan_extension
from rigline.harness.pi_store import PiStore
from rigline.harness.session_variables import SESSION_VARIABLES
from rigline.harness.windows import as_text

_OPTIONS = (
    "--provider=1 --model=1 --api-key=1 --system-prompt=1 --append-system-prompt=1 --mode=1 --print,-p=? --continue,-c"
    " --resume,-r --session=1 --session-id=1 --fork=1 --session-dir=1 --no-session --name,-n=1 --models=1"
    " --no-tools,-nt --no-builtin-tools,-nbt --tools,-t=1 --exclude-tools,-xt=1 --thinking=1 --extension,-e=1"
    " --no-extensions,-ne --no-mcp --skill=1 --no-skills,-ns --prompt-template=1 --no-prompt-templates,-np --theme=1"
    " --use-theme=1 --no-themes --no-context-files,-nc --export=1 --list-models=? --verbose --tui-mode=1 --approve,-a"
    " --no-approve,-na --offline --help,-h --version,-v"
)
#: commands in first place only; elsewhere the word is a prompt
_UTILITIES = frozenset({"auth", "config", "install", "list", "mcp", "remove", "uninstall", "update"})
SESSION_DIR = "PI_CODING_AGENT_SESSION_DIR"
AGENT_DIR = "PI_CODING_AGENT_DIR"
#: from `--help` and the observed parser of 1.6.0
GRAMMAR = Grammar(
    label="Pi",
    table=OptionTable(options=read_options(_OPTIONS), value_may_be_option=True, joins_values=False),
    elsewhere={"--export": "writes a session as a page and ends", "--list-models": "lists the models and ends"},
    headless=("--print",),
    selectors=(
        SelectorRule("--fork", is_uuid, forks=True),
        SelectorRule("--session", is_uuid),
        SelectorRule("--resume"),
        SelectorRule("--continue"),
        SelectorRule("--session-id", is_any_id, is_new=True),
    ),
    unkept=("--no-session",),
    yolo="--approve",
    permissions=("--no-approve",),
)


class Pi(GrammarAdapter):
    """The adapter of Pi."""

    name = "pi"
    label = "Pi"
    grammar = GRAMMAR
    executable = "pi"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.pi/agent/sessions/<directory>/<time>_<id>.jsonl` (`PI_CODING_AGENT_DIR`, "
        "`PI_CODING_AGENT_SESSION_DIR`, `--session-dir`, `sessionDir` of its settings): JSON lines that form a tree",
        resume="`--session ID`, from the session's own directory only: elsewhere the program ends without a turn",
        chosen_id="`--session-id ID`, for a fork too",
        fork="`--fork ID --session-id NEW`",
        lineage="`parentSession` in the fork's header; copied entries keep their ids and times",
        live="",
        yolo="`--approve`, which trusts the project's own settings: tools ask for nothing as it is",
        injection="a private extension (`-e`) puts it before the first prompt; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "summaries of left branches", "titles"),
        leaves_out=(
            "reasoning",
            "the system prompt",
            "pictures",
            "what extensions say",
            "commands kept from the model (`!!`)",
            "errors of the service",
        ),
        cannot=(
            "see whether a session is open",
            "read formats before 3, which the program itself changes when it opens them",
            "know a `sessionDir` that a project's own `.pi/settings.json` sets",
        ),
        source="observed with 1.6.0",
    )
    #: one message holds all of it, however long (1.6.0)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    hook_event = HookEvent.FIRST_PROMPT
    known_versions: tuple[str, ...] = ("1.6.0",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES["pi"]
    store_variables: tuple[str, ...] = (AGENT_DIR, SESSION_DIR)

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. `--mode json` and `rpc` take no terminal."""
        if args and args[0] in _UTILITIES:
            reason = f"`{args[0]}` is a utility command of Pi"
            return Classification(mode=Mode.PASSTHROUGH, interactive=True, reason=reason)
        found = super().classify(args)
        is_streamed = find_value(GRAMMAR.read(args), "--mode") in ("json", "rpc")
        return replace(found, interactive=found.interactive and not is_streamed)

    def new_native_id(self) -> str | None:
        """A random UUID, for `--session-id`."""
        return ids.new_uuid4()

    def read_store_variables(self, args: tuple[str, ...]) -> dict[str, str]:
        """`--session-dir`, which comes before the variable."""
        folder = find_value(GRAMMAR.read(args), "--session-dir")
        return {SESSION_DIR: os.path.abspath(os.path.expanduser(folder))} if folder else {}

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Never a path behind `--session`: where there is no file the program begins one."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        extension, files = plan_extension(request)
        resume = _plan_resume(request)
        begin = ("--session-id", request.fresh_id) if request.fresh_id else ()
        return NativePlan(
            args=(*yolo, *extension, *resume, *begin, *request.args),
            expected_id=grammar.find_expected_id(request),
            has_hooks=bool(extension),
            files=files,
            notes=(*notes, *warn_of_path(request)),
        )

    def open_store(self, env: Mapping[str, str]) -> PiStore:
        """See `Harness.open_store`."""
        return PiStore(self.name, self.label, _find_sessions(env))


def _plan_resume(request: LaunchRequest) -> tuple[str, ...]:
    return ("--session", request.resume_id) if request.resume_id else ()


def warn_of_path(request: LaunchRequest) -> tuple[str, ...]:
    """A path that the user gives is created when it is missing, and the program says nothing of it (1.6.0, 18.2.3)."""
    selector = request.classification.selector
    value = selector.words[-1] if selector is not None and len(selector.words) > 1 else ""
    if not value.endswith(".jsonl"):
        return ()
    return (f"where there is no file {value}, the program begins a new session there without a word.",)


def _find_sessions(env: Mapping[str, str]) -> str:
    """The folder of sessions: the variable's, else that of the user's settings, else the agent folder's own."""
    agent = find_root(env, AGENT_DIR, ".pi", "agent")
    settings = read_object(os.path.join(agent, "settings.json"))
    chosen = env.get(SESSION_DIR, "").strip() or as_text(settings.get("sessionDir"))
    if not chosen:
        return os.path.join(agent, "sessions")
    return os.path.join(find_home(env), chosen[2:]) if chosen.startswith("~/") else chosen
