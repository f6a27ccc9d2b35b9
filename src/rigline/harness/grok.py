"""Grok Build: what its command line means and how it is launched; the store is in `grok_store`.

Public facts about 0.2 to 1.0 (the program could not be run). Its start hook's output is not shown, and `--rules`, which
may be given once, puts its text on a command line that other users of the machine can read. So a packet lies in a
private file, and `--rules` says no more than where.
"""

from __future__ import annotations

from collections.abc import Mapping

from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, has_option, read_options
from rigline.harness.base import Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.folders import find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.grok_store import LABEL, NAME, GrokStore
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--single,-p=1 --prompt-file=1 --prompt-json=1 --output-format=1 --json-schema=1 --session-id,-s=1 --resume,-r=?"
    " --continue,-c --fork-session --cwd=1 --model,-m=1 --effort=1 --reasoning-effort=1 --agent=1 --agents=1"
    " --yolo,--always-approve --permission-mode=1 --allow=1 --deny=1 --tools=1 --disallowed-tools=1 --sandbox=1"
    " --rules=1 --append-system-prompt=1 --system-prompt-override=1 --worktree,-w=? --no-subagents --no-plan"
    " --no-memory --no-alt-screen --max-turns=1 --check --oauth --version,-v --help,-h"
)
_UTILITY_WORDS = (
    "agent completions dashboard doctor export help import inspect leader login logout mcp memory models plugin"
    " sessions setup trace update version v worktree wrap"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
_RULES = ("--rules", "--append-system-prompt", "--system-prompt-override")
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES, glued_equals=True),
    utilities=_UTILITIES,
    elsewhere={"--worktree": "starts the session in a work tree of its own"},
    headless=("--single", "--prompt-file", "--prompt-json"),
    selectors=(
        SelectorRule("--resume", is_uuid),
        SelectorRule("--continue"),
        SelectorRule("--session-id", is_new=True),
    ),
    fork_options=("--fork-session",),
    yolo="--yolo",
    permissions=("--permission-mode",),
)
_PACKET_FILE = "packet.md"


class Grok(GrammarAdapter):
    """The adapter of Grok Build."""

    name = NAME
    label = LABEL
    grammar = GRAMMAR
    executable = "grok"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.grok/sessions/<directory>/<uuid>/chat_history.jsonl` with `summary.json` (`GROK_HOME`): JSON lines",
        resume="`--resume ID`, from the session's own directory",
        chosen_id="`--session-id UUID`, for a fresh session only",
        fork="`--resume ID --fork-session`; the program chooses the id",
        lineage="a fork's `summary.json` names its parent; rows have no ids, so copies are known by what they say",
        live="",
        yolo="`--yolo`",
        injection="`--rules` points to a private file, which the model has to read; the session keeps that it did",
        takes=("messages", "tool calls and results", "titles"),
        leaves_out=("reasoning", "the system prompt", "what the program says in the user's name", "pictures"),
        cannot=(
            "show the history beside the user's own `--rules` or `--append-system-prompt`: such an option counts once",
            "tell when something was said: rows have no times",
            "see whether a session is open",
        ),
        source="public pages about 0.2 to 1.0; not run",
    )
    limits = PacketLimits(part_chars=30_000, max_parts=1)
    known_versions: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ("GROK_HOME",)

    def new_native_id(self) -> str | None:
        """A random UUID, for `--session-id`."""
        return ids.new_uuid4()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. A fork's id is the program's choice: `--session-id` is for sessions that begin."""
        classification = request.classification
        if classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        rules, files, refused = _plan_packet(request)
        resume = ("--resume", request.resume_id) if request.resume_id else ()
        begin = ("--session-id", request.fresh_id) if request.fresh_id and not classification.forks else ()
        return NativePlan(
            args=(*yolo, *rules, *resume, *begin, *request.args),
            expected_id=_find_expected_id(request),
            shows_packet=bool(rules),
            files=files,
            notes=(*notes, *refused),
        )

    def open_store(self, env: Mapping[str, str]) -> GrokStore:
        """See `Harness.open_store`."""
        return GrokStore(f"{find_root(env, 'GROK_HOME', '.grok')}/sessions")


def _find_expected_id(request: LaunchRequest) -> str | None:
    """Nothing is known of a fork before it is there."""
    return None if request.classification.forks else grammar.find_expected_id(request)


def _plan_packet(request: LaunchRequest) -> tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]:
    """The option that points to the packet, its file, and a note where the user's own option takes its place."""
    if not request.packet:
        return (), {}, ()
    tokens = GRAMMAR.read(request.args)
    given = [name for name in _RULES if has_option(tokens, name)]
    if given:
        note = f"the line's history cannot be shown: the command line says {given[0]}, and {LABEL} takes it only once."
        return (), {}, (note,)
    path = f"{request.private_dir}/{_PACKET_FILE}"
    pointer = f"Before your first answer, read the whole file {path}: it holds the earlier history of this work."
    return ("--rules", pointer), {_PACKET_FILE: "\n\n".join(request.packet) + "\n"}, ()
