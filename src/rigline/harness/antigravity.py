"""Antigravity CLI (`agy`): what its command line means and how it is launched; the store is in `antigravity_store`.

Public facts about 1.1 (the program could not be run). Its parser is Go's `flag`: one dash or two, and an option that
takes a value takes the next word, whatever it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.antigravity_store import LABEL, NAME, AntigravityStore
from rigline.harness.argv import OptionTable, read_options
from rigline.harness.base import Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.folders import find_home
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--print,-print,--prompt,-prompt,-p=1 --prompt-interactive,-prompt-interactive,-i=1"
    " --conversation,-conversation=1 --continue,-continue,-c --model,-model=1 --agent,-agent=1 --mode,-mode=1"
    " --effort,-effort=1 --add-dir,-add-dir=1 --output-format,-output-format=1 --input-format,-input-format=1"
    " --print-timeout,-print-timeout=1 --log-file,-log-file=1 --project,-project=1 --new-project,-new-project"
    " --sandbox,-sandbox --dangerously-skip-permissions,-dangerously-skip-permissions --version,-version"
    " --help,-help,-h"
)
_UTILITIES = frozenset(("agent", "agents", "changelog", "help", "install", "models", "plugin", "plugins", "update"))
_CANNOT_SHOW = "show the history of other harnesses: hooks belong to the user's own files, which are not edited"
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES, value_may_be_option=True),
    utilities=_UTILITIES,
    headless=("--print", "--output-format", "--input-format"),
    selectors=(SelectorRule("--conversation", is_uuid), SelectorRule("--continue")),
    yolo="--dangerously-skip-permissions",
    permissions=("--mode", "--sandbox"),
)


class Antigravity(GrammarAdapter):
    """The adapter of Antigravity CLI."""

    name = NAME
    label = LABEL
    grammar = GRAMMAR
    executable = "agy"
    headless: tuple[str, ...] = ("-p",)
    facts = Facts(
        store="`~/.gemini/antigravity-cli/conversations/<uuid>.db` (SQLite, for the workspace), and the program's own"
        " log `brain/<uuid>/.system_generated/logs/transcript_full.jsonl`, else `history.jsonl`",
        resume="`--conversation ID`; from its own directory only, as it would go on working there",
        chosen_id="",
        fork="",
        lineage="",
        live="",
        yolo="`--dangerously-skip-permissions`",
        injection="",
        takes=("messages", "tool calls and results where the log is there", "prompts alone where it is not"),
        leaves_out=("thinking", "the program's checkpoints and reminders", "steps that were not done"),
        cannot=(
            _CANNOT_SHOW,
            "read the conversation's own database: its form is not public",
            "tell which call a tool's output answers",
            "see whether a conversation is open: locks outlive the program",
        ),
        source="public pages about 1.1; not run",
    )
    limits = PacketLimits(part_chars=9000, max_parts=1)
    known_versions: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Ours stand in front: the parser stops at the first word that is no option."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(GRAMMAR, request)
        resume = ("--conversation", request.resume_id) if request.resume_id else ()
        if request.packet:
            notes += (f"{LABEL} cannot be shown the line's history: {_CANNOT_SHOW.partition(': ')[2]}.",)
        return NativePlan(
            args=(*yolo, *resume, *request.args), expected_id=grammar.find_expected_id(request), notes=notes
        )

    def open_store(self, env: Mapping[str, str]) -> AntigravityStore:
        """See `Harness.open_store`."""
        return AntigravityStore(os.path.join(find_home(env), ".gemini", "antigravity-cli"))
