"""Command Code: what its command line means and how it is launched. Observed with 1.64.0; the store is in
`command_code_store`.

A packet travels in a mod of ours (`--mod`): before a session's first prompt of the run it asks the start hook, and puts
the answer before the prompt as a message of its own, which the transcript keeps. The other way that mods have for it
(`appendCustomMessageEntry`) is not used: the program adds the same message once more at every resume (1.64.0).
"""

from __future__ import annotations

from collections.abc import Mapping

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, read_options
from rigline.harness.base import Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.command_code_store import LABEL, NAME, OWN_SOURCE, CommandCodeStore
from rigline.harness.folders import find_home
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.javascript import write_asking_module
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--resume,-r=? --sessions=? --session=1 --continue,-c --fork-session --no-session --name,-n=1 --trust,-t"
    " --print,-p=? --max-turns=1 --verbose --output-format=1 --tools-all --tools-enable=1 --model,-m=1 --effort=1"
    " --theme=1 --config=1 --list-models --local-only --plan --permission-mode=1 --accept-edits --auto-accept"
    " --yolo,--dangerously-skip-permissions --add-dir=1 --worktree,-w=? --mod=1 --mod-option=1 --skill=1 --no-skills"
    " --skip-onboarding --ide-setup --no-auto-update --benchmark-output=1 --experimental --debug,-d --local --staging"
    " --version,-v --help,-h"
)
_UTILITY_WORDS = (
    "config feedback help info issue learn-taste login logout mcp mods providers sandbox skills status taste update"
    " whoami"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
#: from `--help` and the hidden options of 1.64.0, parsed by Commander
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(
        options=read_options(_OPTIONS),
        subcommands=_UTILITIES,
        value_may_be_option=True,
        separator_hides_subcommands=False,
    ),
    utilities=_UTILITIES,
    elsewhere={
        "--list-models": "lists the models and ends",
        "--ide-setup": "sets an editor up and ends",
        "--worktree": "starts the session in a work tree of its own",
    },
    headless=("--print",),
    #: `--session` also takes a path or the beginning of an id: only a whole id is one
    selectors=(
        SelectorRule("--session", is_uuid),
        SelectorRule("--resume", is_uuid),
        SelectorRule("--sessions", is_uuid),
        SelectorRule("--continue"),
    ),
    fork_options=("--fork-session",),
    unkept=("--no-session",),
    yolo="--yolo",
    permissions=("--permission-mode", "--plan", "--accept-edits", "--auto-accept"),
)
_MOD_FILE = "mods/rigline.mjs"


class CommandCode(GrammarAdapter):
    """The adapter of Command Code."""

    name = NAME
    label = LABEL
    grammar = GRAMMAR
    executable = "command-code"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.commandcode/projects/<directory>/<uuid>.jsonl` (no variable moves it): JSON lines that form a tree",
        resume="`--resume ID`, which the program refuses from another directory and for a session that is not there",
        chosen_id="",
        fork="`--resume ID --fork-session`; the program chooses the id",
        lineage="the fork's `.meta.json` names its parent; copied entries keep their ids and times",
        live="",
        yolo="`--yolo`",
        injection="a private mod (`--mod`) puts it before the first prompt; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "summaries of left branches", "titles"),
        leaves_out=("reasoning", "pictures", "what the program or a mod says in the user's name"),
        cannot=(
            "see whether a session is open",
            "see what a subagent did: the program keeps its answer alone, as a tool's output",
            "save a turn before it is answered: until then the program itself has not written it",
            "tell a failed shell command from another by its status: the program keeps it as text",
        ),
        source="observed with 1.64.0",
    )
    #: one message holds all of it, however long (1.64.0)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    known_versions: tuple[str, ...] = ("1.64.0",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Never `--session ID`: from another directory it resumes, and leaves a stray file."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        mod, files = _plan_mod(request)
        resume = ("--resume", request.resume_id) if request.resume_id else ()
        return NativePlan(
            args=(*yolo, *mod, *resume, *request.args),
            expected_id=grammar.find_expected_id(request),
            has_hooks=bool(mod),
            files=files,
            notes=notes,
        )

    def open_store(self, env: Mapping[str, str]) -> CommandCodeStore:
        """See `Harness.open_store`."""
        return CommandCodeStore(f"{find_home(env)}/.commandcode/projects")


def _plan_mod(request: LaunchRequest) -> tuple[tuple[str, ...], dict[str, str]]:
    """The option and the file of our mod. It runs beside those of the user."""
    if request.hooks is None:
        return (), {}
    text = write_asking_module(request.hooks.commands, _MOD, OWN_SOURCE=OWN_SOURCE)
    return ("--mod", f"{request.private_dir}/{_MOD_FILE}"), {_MOD_FILE: text}


#: A session that began because another one was left is told as `clear`: the program says `startup` for both (1.64.0).
#: Only sessions whose start was announced are asked for, so a subagent gets nothing.
_MOD = """\
import {randomUUID} from 'node:crypto';

export default function (cmd) {
  const sources = new Map();
  let follows = false;
  cmd.hooks({
    onSessionStart: ({source, sessionId}) => {
      sources.set(sessionId, follows && source === 'startup' ? 'clear' : source);
      follows = true;
    },
    onTurnStart: async ({state}) => {
      const source = sources.get(state.sessionId);
      if (source === undefined) return state;
      sources.delete(state.sessionId);
      const payload = {session_id: state.sessionId, cwd: cmd.cwd, source};
      const texts = await askHooks(payload);
      if (texts.length === 0) return state;
      const shown = {
        role: 'user',
        content: texts.map(text => ({type: 'text', text})),
        meta: {isMeta: true, source: OWN_SOURCE, messageId: randomUUID(), createdAt: Date.now()},
      };
      return {...state, messages: [...state.messages.slice(0, -1), shown, ...state.messages.slice(-1)]};
    },
  });
}
"""
