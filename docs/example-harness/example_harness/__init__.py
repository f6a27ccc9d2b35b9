"""The adapter of Example Agent (1.0): its command line, and how it is launched."""

from __future__ import annotations

from collections.abc import Mapping

from example_harness.store import ExampleStore
from rigline import ids
from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, read_options
from rigline.harness.base import Facts, LaunchRequest, Mode, NativePlan, PacketLimits
from rigline.harness.folders import find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_uuid

GRAMMAR = Grammar(
    label="Example Agent",
    table=OptionTable(
        options=read_options(
            "--resume,-r=1 --session-id=1 --fork --continue,-c --print,-p --ask=1 --auto --context=1"
            " --help,-h --version"
        ),
        subcommands=frozenset({"sessions"}),
    ),
    utilities=frozenset({"sessions"}),
    headless=("--print",),
    selectors=(
        SelectorRule("--resume", is_uuid),
        SelectorRule("--continue"),
        SelectorRule("--session-id", is_uuid, is_new=True),
    ),
    fork_options=("--fork",),
    yolo="--auto",
    permissions=("--ask",),
)


class Example(GrammarAdapter):
    """The adapter of Example Agent."""

    name = "example"
    aliases = ("example-agent",)
    label = "Example Agent"
    grammar = GRAMMAR
    executable = "example-agent"
    facts = Facts(
        store="`~/.example/sessions/<id>.jsonl` (`EXAMPLE_HOME`): JSON lines, only ever added to",
        resume="`--resume ID`, from the session's own directory",
        chosen_id="`--session-id UUID`, for a fork too",
        fork="`--resume ID --fork`",
        lineage="`forked_from` in the first line; copied records keep their ids",
        live="",
        yolo="`--auto`",
        injection="a private file (`--context FILE`); the session keeps the packet",
        takes=("messages", "tool calls and results"),
        leaves_out=("reasoning",),
        cannot=("tell whether a session is open in another process",),
        source="observed with 1.0",
    )
    limits = PacketLimits(part_chars=9000, max_parts=4)
    known_versions: tuple[str, ...] = ("1.0",)
    session_variables: tuple[str, ...] = ("EXAMPLE_SESSION_ID",)
    store_variables: tuple[str, ...] = ("EXAMPLE_HOME",)

    def new_native_id(self) -> str | None:
        """A random UUID, for `--session-id`."""
        return ids.new_uuid4()

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Ours stand before the user's, so that they are read before any prompt."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        permission, notes = grammar.plan_yolo(GRAMMAR, request)
        files = {"packet.md": "\n".join(request.packet)} if request.packet else {}
        context = ("--context", f"{request.private_dir}/packet.md") if files else ()
        resume = ("--resume", request.resume_id) if request.resume_id else ()
        begin = ("--session-id", request.fresh_id) if request.fresh_id else ()
        return NativePlan(
            args=(*permission, *context, *resume, *begin, *request.args),
            expected_id=grammar.find_expected_id(request),
            shows_packet=True,
            files=files,
            notes=notes,
        )

    def open_store(self, env: Mapping[str, str]) -> ExampleStore:
        """See `Harness.open_store`."""
        return ExampleStore(find_root(env, "EXAMPLE_HOME", ".example"))
