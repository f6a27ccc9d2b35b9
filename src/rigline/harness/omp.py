"""OMP (Oh My Pi): what its command line means and how it is launched. Observed with 18.2.3.

Its transcripts and its extensions are Pi's, see `pi_store` and `pi_extension`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from msgspec.structs import replace

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, Role, Token, find_value, read_options
from rigline.harness.base import (
    Classification,
    Facts,
    HookEvent,
    LaunchRequest,
    Mode,
    NativePlan,
    PacketLimits,
    Selector,
)
from rigline.harness.folders import find_home
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.pi import AGENT_DIR, SESSION_DIR, warn_of_path
from rigline.harness.pi_extension import plan_extension
from rigline.harness.pi_store import PiStore
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--model=1 --smol=1 --slow=1 --plan=1 --prewalk --no-prewalk --prewalk-into=1 --plan-yolo --plan-yolo-into=1"
    " --provider=1 --api-key=1 --system-prompt=1 --append-system-prompt=1 --allow-home --profile=1 --alias=1 --cwd=1"
    " --mode=1 --config=1 --add-dir=1 --print,-p --continue,-c --resume,--session,-r=? --fork=1 --from-claude"
    " --from-codex --session-dir=1 --no-session --models=1 --no-tools --no-lsp --no-pty --tools=1 --thinking=1"
    " --service-tier=1 --hide-thinking --advisor --external-thinking --hook=1 --extension,-e=1 --trusted-extension=1"
    " --plugin-dir=1 --provider-session-id=1 --prompt-cache-key=1 --no-extensions --no-skills --skills=1 --no-rules"
    " --export=1 --no-title --print-thoughts --max-time=1 --auto-approve,--yolo --approval-mode=1"
    " --help,-h --version,-v"
)
_UTILITY_WORDS = (
    "__complete acp agents auth-broker auth-gateway bench browser-relay cleanse collab commit completions compress"
    " config dry-balance gallery gc git grep grievances if-bench images img install join models plugin plugins ps q"
    " read render say search setup share shell ssh stats tiny-models token ttsr update usage worktree wt"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
#: words that the program answers with a hint when they are all that is said; with more words they begin a prompt
_RESERVED_WORDS = "disable discover enable extensions list marketplace remove uninstall upgrade"
_RESERVED = frozenset(_RESERVED_WORDS.split())
_PROFILE, _OLD_PROFILE, _CONFIG, _DATA = "OMP_PROFILE", "PI_PROFILE", "PI_CONFIG_DIR", "XDG_DATA_HOME"
#: laid over the user's settings where a session is to begin: with `autoResume` the newest one would go on
_FRESH_FILE, _FRESH = "fresh.yml", "autoResume: false\n"
#: from `--help` and the tables of 18.2.3; a command may stand behind options, and behind a prompt it is none
GRAMMAR = Grammar(
    label="OMP",
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES | {"launch"}, value_may_be_option=True),
    utilities=_UTILITIES,
    elsewhere={
        "--export": "writes a session as a page and ends",
        "--alias": "makes a shortcut for a profile and ends",
        "--cwd": "works in another directory",
        "--from-claude": "takes a session over from another agent by itself",
        "--from-codex": "takes a session over from another agent by itself",
    },
    headless=("--print",),
    selectors=(
        SelectorRule("--fork", is_uuid, forks=True),
        SelectorRule("--resume", is_uuid),
        SelectorRule("--continue"),
    ),
    unkept=("--no-session",),
    yolo="--auto-approve",
    permissions=("--approval-mode", "--plan-yolo"),
)


class Omp(GrammarAdapter):
    """The adapter of OMP."""

    name = "omp"
    label = "OMP"
    grammar = GRAMMAR
    executable = "omp"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.omp/agent/sessions/<directory>/<time>_<id>.jsonl` (`PI_CODING_AGENT_DIR`, "
        "`PI_CODING_AGENT_SESSION_DIR`, `OMP_PROFILE`, `PI_CONFIG_DIR`, `XDG_DATA_HOME`, `--session-dir`, "
        "`--profile`): JSON lines that form a tree, the first one rewritten in place",
        resume="`--resume=ID`, from the session's own directory: from another one the program goes on in that",
        chosen_id="",
        fork="`--fork ID`, which its help does not list; the program chooses the id",
        lineage="`parentSession` in the fork's header; copied entries keep their ids and times",
        live="",
        yolo="`--auto-approve`",
        injection="a private extension (`-e`) puts it before the first prompt; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "summaries of left branches", "titles"),
        leaves_out=(
            "reasoning",
            "pictures",
            "what extensions say",
            "prompts that the program writes",
            "commands kept from the model (`!!`)",
            "errors of the service",
            "artifacts",
        ),
        cannot=(
            "see whether a session is open",
            "save a turn before it is answered: until then the program itself has not written it",
        ),
        source="observed with 18.2.3",
    )
    #: one message holds all of it, as in Pi
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    hook_event = HookEvent.FIRST_PROMPT
    known_versions: tuple[str, ...] = ("18.2.3",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES["omp"]
    store_variables: tuple[str, ...] = (AGENT_DIR, SESSION_DIR, _PROFILE, _OLD_PROFILE, _CONFIG, _DATA)
    #: a blank one chooses the program's own profile, and the older variable counts only where there is none (18.2.3)
    blank_values: tuple[tuple[str, str], ...] = ((_PROFILE, "default"),)
    #: option -> the variable that says the same
    _places: ClassVar[dict[str, str]] = {"--session-dir": SESSION_DIR, "--profile": _PROFILE}

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. `--mode json` and the `rpc` modes take no terminal."""
        if is_reserved(args):
            reason = f"`{args[0]}` is a word that OMP answers itself"
            return Classification(mode=Mode.PASSTHROUGH, interactive=True, reason=reason)
        found = super().classify(args)
        tokens = GRAMMAR.read(args)
        is_streamed = find_value(tokens, "--mode") not in (None, "text")
        selector = found.selector and find_continued(found.selector, args, tokens)
        return replace(found, selector=selector, interactive=found.interactive and not is_streamed)

    def read_store_variables(self, args: tuple[str, ...]) -> dict[str, str]:
        """`--session-dir` and `--profile`, which come before their variables."""
        tokens = GRAMMAR.read(args)
        return {name: value for option, name in self._places.items() if (value := find_value(tokens, option))}

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        extension, files = plan_extension(request)
        resume = (f"--resume={request.resume_id}",) if request.resume_id else ()
        begins = not request.resume_id and request.classification.selector is None
        fresh = ("--config", f"{request.private_dir}/{_FRESH_FILE}") if begins else ()
        return NativePlan(
            args=(*yolo, *extension, *resume, *fresh, *request.args),
            expected_id=grammar.find_expected_id(request),
            has_hooks=bool(extension),
            files={**files, _FRESH_FILE: _FRESH} if begins else files,
            notes=(*notes, *warn_of_path(request)),
        )

    def open_store(self, env: Mapping[str, str]) -> PiStore:
        """See `Harness.open_store`."""
        return PiStore(self.name, self.label, find_sessions(env), has_titles=True)


def is_reserved(args: tuple[str, ...]) -> bool:
    """Whether the program answers with a hint where it would else begin a session (18.2.3).

    It does so for a reserved word alone, and for one with what a command for plugins would have behind it.
    """
    if args[:1] == ("help",):
        return True
    if not args or args[0] not in _RESERVED:
        return False
    is_marketplace = args[0] == "marketplace" and args[1:2] in (("add",), ("remove",), ("rm",), ("update",), ("list",))
    return len(args) == 1 or is_marketplace or any("@" in word and word[0] != "-" for word in args[1:])


def find_continued(selector: Selector, args: tuple[str, ...], tokens: tuple[Token, ...]) -> Selector:
    """`-c ID` means `--resume=ID`: an id that is all that is said, or stands right behind the option (18.2.3)."""
    if selector.words not in (("-c",), ("--continue",)):
        return selector
    prompts = {
        token.index for token in tokens if token.role is Role.POSITIONAL and not args[token.index].startswith("@")
    }
    behind = args.index(selector.words[0]) + 1
    place = prompts.pop() if len(prompts) == 1 else behind if behind in prompts else -1
    if place < 0 or not is_uuid(args[place]):
        return selector
    return replace(selector, words=(*selector.words, args[place]), native_id=args[place])


def find_sessions(env: Mapping[str, str]) -> str:
    """The folder of sessions (18.2.3): a chosen one, else that of the profile, else that of the agent folder.

    A named profile does not heed the variable for the agent folder. Data that were moved to `XDG_DATA_HOME` count where
    their folder is there.
    """
    chosen = env.get(SESSION_DIR, "").strip()
    if chosen:
        return os.path.abspath(chosen)
    profile = find_profile(env)
    own = os.path.join("profiles", profile) if profile else ""
    agent = "" if profile else env.get(AGENT_DIR, "").strip()
    data = env.get(_DATA, "").strip()
    if data and not agent and os.path.isdir(os.path.join(data, "omp", own)):
        return os.path.join(data, "omp", own, "sessions")
    root = os.path.join(find_home(env), env.get(_CONFIG, "").strip() or ".omp")
    return os.path.join(agent or os.path.join(root, own, "agent"), "sessions")


def find_profile(env: Mapping[str, str]) -> str:
    """The named profile, or an empty string for the program's own. A blank variable counts as unset."""
    name = env.get(_PROFILE, "").strip() or env.get(_OLD_PROFILE, "").strip()
    return "" if name == "default" or "/" in name else name
