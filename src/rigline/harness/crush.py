"""Crush: what its command line means, and how it is launched.

From its public source; the program could not be run. The session store is in `crush_store`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from rigline.harness import crush_config, grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, read_options
from rigline.harness.base import Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.crush_store import LABEL, CrushStore
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid
from rigline.harness.session_variables import SESSION_VARIABLES

_RUN = frozenset({"run", "r"})
_EVERYWHERE = "--cwd,-c=1 --data-dir,-D=1 --debug,-d --host,-H=1 --help,-h --session,-s=1 --continue,-C"
_UTILITY_WORDS = "completion dirs help login logout logs models projects schema server session stats update-providers"
_UTILITIES = frozenset(_UTILITY_WORDS.split())
_RUN_TABLE = OptionTable(
    options=read_options(_EVERYWHERE + " --quiet,-q --verbose,-v --model,-m=1 --small-model=1"),
    glued_equals=True,
    value_may_be_option=True,
)
#: parsed by cobra
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(
        options=read_options(_EVERYWHERE + " --version,-v --yolo,-y"),
        subcommands=_UTILITIES | _RUN,
        tables=dict.fromkeys(_RUN, _RUN_TABLE),
        glued_equals=True,
        value_may_be_option=True,
    ),
    utilities=_UTILITIES,
    elsewhere={"--data-dir": "keeps the session in another folder", "--cwd": "works in another directory"},
    headless_words=_RUN,
    selectors=(SelectorRule("--session", is_id=is_uuid), SelectorRule("--continue")),
    yolo="--yolo",
)


class Crush(GrammarAdapter):
    """The adapter of Crush."""

    name = "crush"
    label = LABEL
    grammar = GRAMMAR
    executable = "crush"
    headless: tuple[str, ...] = ("run",)
    facts = Facts(
        store="SQLite, `crush.db` in the project's `.crush` or in `options.data_directory`; no directory a session",
        resume="`--session ID`",
        chosen_id="",
        fork="",
        lineage="",
        live="",
        yolo="`--yolo`; `run` asks for nothing anyway",
        injection="a private copy of the configuration (`CRUSH_GLOBAL_CONFIG`) that names the history as context; "
        "the session does not keep it",
        takes=("messages", "tool calls and results", "summaries", "titles", "subagents"),
        leaves_out=("reasoning", "attachments", "prompts that the program made up"),
        cannot=(
            "choose the id of a session: the one that began in the project's store since the launch is bound, if it is "
            "the only one",
            "bind what `--continue` chose",
            "follow a data folder that only a `crushrc` names",
            "tell which process has a session open",
        ),
        source="its public source up to 0.96; not observed",
    )
    #: the packet is a file; no limit is known
    limits = PacketLimits(part_chars=60_000, max_parts=1)
    known_versions: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = SESSION_VARIABLES["crush"]
    store_variables: tuple[str, ...] = (
        "CRUSH_GLOBAL_CONFIG",
        "CRUSH_GLOBAL_DATA",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    )

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. `run` knows no `--yolo` and asks for nothing."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        is_terminal = request.classification.interactive
        permission, notes = grammar.plan_yolo(GRAMMAR, request) if is_terminal else ((), ())
        resume = ("--session", request.resume_id) if request.resume_id else ()
        args = grammar.insert_after_subcommand(GRAMMAR, request.args, (*permission, *resume), _RUN)
        plan = NativePlan(args=args, expected_id=grammar.find_expected_id(request), notes=notes)
        return _add_packet(plan, request)

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """The user's configuration, which the private one has to be too."""
        return crush_config.read_settings(env)

    def open_store(self, env: Mapping[str, str]) -> CrushStore:
        """See `Harness.open_store`."""
        return CrushStore(env)


def _add_packet(plan: NativePlan, request: LaunchRequest) -> NativePlan:
    """The plan with the packet among the context files, or with a note why it is not."""
    if not request.packet:
        return replace(plan, shows_packet=True)
    files = crush_config.write_config(request.settings, request.private_dir, "\n\n".join(request.packet))
    if files is None:
        note = "the user's crush.json is no plain JSON and is left as it is; the line's history cannot be shown."
        return replace(plan, notes=(*plan.notes, note))
    return replace(plan, files=files, variables={"CRUSH_GLOBAL_CONFIG": request.private_dir}, shows_packet=True)
