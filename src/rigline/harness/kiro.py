"""Kiro CLI: one program with two engines whose sessions never meet, so two harnesses here.

Public facts about 2.8 to 3.0 (the program could not be run); the stores are in `kiro_store` (V2) and `kiro_v3`. Which
engine a command line starts, `find_variant` says; where it says nothing, it is the harness that was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, find_value, has_option, read_options, tokenize
from rigline.harness.base import Classification, Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.file_store import iter_folder
from rigline.harness.folders import find_home, find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.kiro_store import LABEL, KiroStore
from rigline.harness.kiro_v3 import KiroV3Store, is_session_id
from rigline.harness.session_variables import SESSION_VARIABLES

V2, V3 = "kiro", "kiro-v3"
#: which sessions lie below `~/.kiro` only, although `KIRO_HOME` names another folder
STRAYED = "strayed"
_OPTIONS = (
    "--agent=1 --model=1 --resume,-r --resume-id=1 --resume-picker --list --list-sessions,-l --list-models=?"
    " --delete-session,-d=1 --trust-all-tools,-a --trust-tools=1 --no-interactive --v2 --v3 --mode=1 --agent-engine=1"
    " --effort=1 --wrap=1 --tui --legacy-ui --classic --require-mcp-startup --verbose,-v --version,-V --help,-h"
    " --help-all"
)
_UTILITY_WORDS = (
    "acp agent dashboard debug diagnostic doctor help inline init integrations issue launch login logout mcp profile"
    " quit restart settings setup theme translate update user whoami"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
_TABLE = OptionTable(options=read_options(_OPTIONS), subcommands=_UTILITIES | {"chat"}, glued_equals=True)
_ELSEWHERE = {
    "--no-interactive": "keeps its session in another store, and does not say which it is",
    "--list-sessions": "lists sessions and ends",
    "--list": "lists sessions and ends",
    "--list-models": "lists models and ends",
    "--delete-session": "deletes a session and ends",
    "--classic": "keeps its session in another store",
    "--legacy-ui": "keeps its session in another store",
}
#: `-v` makes the program talkative; its version is `-V`
_ANSWERS = ("--help", "--help-all", "--version")
_CANNOT_SHOW = "show the history of other harnesses: hooks belong to the user's own agent files, which are not edited"


class Kiro(GrammarAdapter):
    """What both engines share."""

    label = LABEL
    executable = "kiro-cli"
    grammar: Grammar
    limits = PacketLimits(part_chars=9000, max_parts=1)
    known_versions: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = SESSION_VARIABLES["kiro"]
    store_variables: tuple[str, ...] = ("KIRO_HOME",)

    def find_variant(self, args: tuple[str, ...]) -> str:
        """The engine that an option, or the form of the id to be resumed, asks for. V3 alone has `--mode`."""
        tokens = tokenize(args, _TABLE)
        engine = find_value(tokens, "--agent-engine")
        if engine in ("v2", "v3"):
            return V2 if engine == "v2" else V3
        if has_option(tokens, "--v3", "--mode") or is_session_id(find_value(tokens, "--resume-id") or ""):
            return V3
        if has_option(tokens, "--v2") or is_uuid(find_value(tokens, "--resume-id") or ""):
            return V2
        return self.name

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. An engine that is not known writes to a store that is not."""
        found = super().classify(args)
        engine = find_value(self.grammar.read(args), "--agent-engine")
        if engine in (None, "v2", "v3") or found.mode is Mode.PASSTHROUGH:
            return found
        reason = f"`--agent-engine {engine}` starts an engine whose sessions are not known"
        return Classification(mode=Mode.PASSTHROUGH, interactive=found.interactive, reason=reason)

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Ours stand in front, or behind the word `chat`, whose options they are."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = grammar.plan_yolo(self.grammar, request)
        resume = ("--resume-id", request.resume_id) if request.resume_id else ()
        words = (*self.plan_engine(request), *yolo, *resume)
        if request.packet:
            notes += (f"{self.label} cannot be shown the line's history: {_CANNOT_SHOW.partition(': ')[2]}.",)
        return NativePlan(
            args=grammar.insert_after_subcommand(self.grammar, request.args, words, frozenset({"chat"})),
            expected_id=grammar.find_expected_id(request),
            variables=self.plan_variables(request),
            notes=notes,
        )

    def plan_engine(self, request: LaunchRequest) -> tuple[str, ...]:  # noqa: ARG002
        """The words that choose the engine, where the user's do not."""
        return ()

    def plan_variables(self, request: LaunchRequest) -> dict[str, str]:  # noqa: ARG002
        """Variables for this one launch."""
        return {}


class KiroV2(Kiro):
    """The adapter of the V2 engine."""

    name = V2
    grammar = Grammar(
        label=LABEL,
        table=_TABLE,
        utilities=_UTILITIES,
        answers=_ANSWERS,
        elsewhere=_ELSEWHERE,
        headless=("--no-interactive",),
        selectors=(
            SelectorRule("--resume-id", is_uuid),
            SelectorRule("--resume"),
            SelectorRule("--resume-picker"),
        ),
        yolo="--trust-all-tools",
        permissions=("--trust-tools",),
    )
    facts = Facts(
        store="`~/.kiro/sessions/cli/<uuid>.jsonl` with `<uuid>.json` (`KIRO_HOME`): JSON lines",
        resume="`--resume-id ID`, from every directory",
        chosen_id="",
        fork="",
        lineage="a subagent's `.json` names its parent",
        live="`<uuid>.lock` names the process, which is checked",
        yolo="`--trust-all-tools`",
        injection="",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("thinking", "rewinds: what was taken back stays"),
        cannot=(
            _CANNOT_SHOW,
            "manage `--no-interactive`: it keeps another store and names no session",
            "choose V2 where plain `kiro-cli` starts V3 (3.0 and later): there `--v2` has to be given",
        ),
        source="public pages about 2.8 to 3.0; not run",
    )

    def open_store(self, env: Mapping[str, str]) -> KiroStore:
        """See `Harness.open_store`."""
        return KiroStore(os.path.join(find_root(env, "KIRO_HOME", ".kiro"), "sessions", "cli"))


class KiroV3(Kiro):
    """The adapter of the V3 engine."""

    name = V3
    label = f"{LABEL} V3"
    grammar = Grammar(
        label=f"{LABEL} V3",
        table=_TABLE,
        utilities=_UTILITIES,
        answers=_ANSWERS,
        elsewhere=_ELSEWHERE,
        headless=("--no-interactive",),
        selectors=(
            SelectorRule("--resume-id", is_session_id),
            SelectorRule("--resume"),
            SelectorRule("--resume-picker"),
        ),
    )
    facts = Facts(
        store="`~/.kiro/sessions/<bucket>/sess_<uuid>/messages.jsonl` with `session.json` (`KIRO_HOME`): JSON lines",
        resume="`--v3 --resume-id ID`, from the session's own directory",
        chosen_id="",
        fork="",
        lineage="",
        live="",
        yolo="",
        injection="",
        takes=("messages", "tool calls and results", "titles"),
        leaves_out=("reasoning", "the program's notes", "rewinds: what was taken back stays"),
        cannot=(
            _CANNOT_SHOW,
            "see whether a session is open",
            "manage `--no-interactive`: it names no session",
            "read the record `session_start`, of which public sources disagree what it is",
        ),
        source="public pages about 2.8 to 3.0; not run",
    )

    def plan_engine(self, request: LaunchRequest) -> tuple[str, ...]:
        """`--v3`, unless the command line chooses it already."""
        tokens = self.grammar.read(request.args)
        return () if has_option(tokens, "--v3", "--mode", "--agent-engine") else ("--v3",)

    def plan_variables(self, request: LaunchRequest) -> dict[str, str]:
        """A blank `KIRO_HOME`, which counts as unset, for a session that lies below `~/.kiro` all the same (2.16.2)."""
        is_strayed = request.resume_id is not None and request.resume_id in request.settings.get(STRAYED, "").split()
        return {"KIRO_HOME": ""} if is_strayed else {}

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """The sessions that only `~/.kiro` has, where `KIRO_HOME` names another folder."""
        own, default = _find_roots(env)
        if own == default:
            return {}
        strayed = set(_list_sessions(default)) - set(_list_sessions(own))
        return {STRAYED: " ".join(sorted(strayed))} if strayed else {}

    def open_store(self, env: Mapping[str, str]) -> KiroV3Store:
        """See `Harness.open_store`."""
        return KiroV3Store(*_find_roots(env))


def _find_roots(env: Mapping[str, str]) -> tuple[str, str]:
    """Where sessions are said to lie, and where 2.16.2 puts them."""
    own = os.path.join(find_root(env, "KIRO_HOME", ".kiro"), "sessions")
    return own, os.path.join(find_home(env), ".kiro", "sessions")


def _list_sessions(root: str) -> list[str]:
    return [
        entry.name
        for bucket in iter_folder(root)
        if bucket.is_dir()
        for entry in iter_folder(bucket.path)
        if is_session_id(entry.name)
    ]
