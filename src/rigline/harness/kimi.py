"""Kimi Code: what its command line means and how it is launched. Observed with 2.1.0; the store is in `kimi_store`.

A packet travels in a hook on the submitted prompt: the program puts the hook's answer behind the prompt as a user
message of its own kind, and keeps it (what a hook on a session's start says is thrown away). Hooks come from
`config.toml` or from a plugin, both in the folder that also holds the sessions, and no option or variable moves one
without the other. A private folder with links to the user's is no way: the program writes `config.toml` and its like by
a rename over the link, and keeps the folder's absolute path in `state.json` and `session_index.jsonl`. So nothing is
moved: a module of ours, loaded by Node before the program (`NODE_OPTIONS`), adds one plugin to what the program reads
in the list of plugins, and takes it out of what it writes there. The variable is restored before the program begins,
so nothing that it starts is touched.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from rigline.harness import grammar
from rigline.harness.adapter import GrammarAdapter
from rigline.harness.argv import OptionTable, has_option, read_options
from rigline.harness.base import (
    Classification,
    Facts,
    HookDefinition,
    HookEvent,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
)
from rigline.harness.folders import find_home, find_root
from rigline.harness.grammar import Grammar, SelectorRule, is_any_id
from rigline.harness.javascript import write_module
from rigline.harness.kimi_store import LABEL, NAME, KimiStore
from rigline.harness.node_preload import BY_NODE, NODE_OPTIONS, is_run_by_node, make_option
from rigline.harness.session_variables import SESSION_VARIABLES

_OPTIONS = (
    "--version,-V --help,-h --session,-S=? --resume,-r=? --continue,-c -C --yolo,-y,--yes,--auto-approve --auto"
    " --model,-m=1 --prompt,-p=1 --output-format=1 --skills-dir=1 --agent=1 --agent-file=1 --add-dir=1 --plan"
)
_UTILITY_WORDS = (
    "__plugin_run_node __update_download acp doctor export fork install-desktop login migrate provider rc remote server"
    " session update upgrade vis web"
)
_UTILITIES = frozenset(_UTILITY_WORDS.split())
#: from `--help` and the hidden options of 2.1.0, parsed by Commander
GRAMMAR = Grammar(
    label=LABEL,
    table=OptionTable(
        options=read_options(_OPTIONS),
        subcommands=_UTILITIES,
        value_may_be_option=True,
        separator_hides_subcommands=False,
    ),
    utilities=_UTILITIES,
    headless=("--prompt",),
    selectors=(
        SelectorRule("--session", is_any_id),
        SelectorRule("--resume", is_any_id),
        SelectorRule("--continue"),
        SelectorRule("-C"),
    ),
    yolo="--yolo",
    permissions=("--auto", "--plan"),
)
#: the program refuses them beside a session to go on with
_FRESH_ONLY = ("--agent", "--agent-file")
_PLUGIN = "kimi-plugin"
_PRELOAD = f"{_PLUGIN}/preload.mjs"
_EVENT = "UserPromptSubmit"
_HOOK_TIMEOUT_S = 30


class Kimi(GrammarAdapter):
    """The adapter of Kimi Code."""

    name = NAME
    label = LABEL
    grammar = GRAMMAR
    executable = "kimi"
    headless: tuple[str, ...] = ("-p",)
    hook_event = HookEvent.FIRST_PROMPT
    facts = Facts(
        store="`~/.kimi-code/sessions/<workspace>/session_<uuid>/` (`KIMI_CODE_HOME`): `state.json` and, for each "
        "agent, `agents/<agent>/wire.jsonl`, JSON lines",
        resume="`-S ID`, which the program refuses from another directory and for a session that is not there",
        chosen_id="",
        fork="`kimi fork [ID] -y`, a command of its own",
        lineage="`forkedFrom` in `state.json`; copied records keep their ids",
        live="",
        yolo="`--yolo`, which still asks before what is risky; `-p` never asks",
        injection="a hook on the first prompt, from a private plugin that a module loaded by Node adds "
        "(`NODE_OPTIONS`); the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("reasoning", "pictures", "the program's own reminders, and prompts of skills, hooks and timers"),
        cannot=(
            "see whether a session is open",
            "tell a used-up allowance from a busy service, where a provider of the user's own calls both a rate limit",
            "keep the history that is shown out of the terminal and of what `-p` prints, as with all that hooks say",
            "show history where the program is not run by Node",
            "read sessions of kimi-cli, the program before it; `kimi migrate` brings them over",
        ),
        source="observed with 2.1.0",
    )
    #: one answer of 110,000 characters arrived whole (2.1.0)
    limits = PacketLimits(part_chars=36_000, max_parts=1)
    known_versions: tuple[str, ...] = ("2.1.0",)
    session_variables: tuple[str, ...] = SESSION_VARIABLES[NAME]
    store_variables: tuple[str, ...] = ("KIMI_CODE_HOME",)

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. An agent profile is bound where a session begins, and refused elsewhere."""
        found = super().classify(args)
        if not has_option(GRAMMAR.read(args), *_FRESH_ONLY):
            return found
        return replace(found, cannot_resume=True)

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """The user's own options for Node, which ours are added to."""
        return {NODE_OPTIONS: env[NODE_OPTIONS]} if env.get(NODE_OPTIONS, "").strip() else {}

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        yolo, notes = _plan_yolo(request)
        resume = ("-S", request.resume_id) if request.resume_id else ()
        plan = NativePlan(
            args=(*yolo, *resume, *request.args), expected_id=grammar.find_expected_id(request), notes=notes
        )
        return _add_hooks(plan, request)

    def open_store(self, env: Mapping[str, str]) -> KimiStore:
        """See `Harness.open_store`."""
        return KimiStore(find_root(env, "KIMI_CODE_HOME", ".kimi-code"), f"{find_home(env)}/.kimi")

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a hook on the submitted prompt claims; it tells no source."""
        return super().read_observation(payload) if payload.get("hook_event_name") == _EVENT else None

    def trust_hooks(
        self,
        definition: HookDefinition,
        executable: str,
        env: Mapping[str, str],  # noqa: ARG002
        cwd: str,  # noqa: ARG002
    ) -> HookDefinition:
        """The definition with its proof: that Node runs the program, as its package from npm (2.1.0), or a wrapper."""
        trust = (BY_NODE,) if is_run_by_node(executable) else ()
        return HookDefinition(commands=definition.commands, trust=trust)


def _plan_yolo(request: LaunchRequest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As everywhere, but beside `-p` the program refuses the option: there it asks for nothing anyway."""
    if request.yolo and not request.classification.interactive:
        return (), ()
    return grammar.plan_yolo(GRAMMAR, request)


def _add_hooks(plan: NativePlan, request: LaunchRequest) -> NativePlan:
    if request.hooks is None:
        return plan
    if BY_NODE not in request.hooks.trust:
        note = f"this {LABEL} is not run by Node, so the line's history cannot be shown to it."
        return replace(plan, notes=(*plan.notes, note))
    option = make_option(f"{request.private_dir}/{_PRELOAD}")
    options = " ".join(filter(None, (request.settings.get(NODE_OPTIONS, ""), option)))
    hooks = [{"event": _EVENT, "command": line, "timeout": _HOOK_TIMEOUT_S} for line in request.hooks.commands]
    files = {
        _PRELOAD: write_module(_MODULE, OWN_OPTION=option, OWN_ROOT=f"{request.private_dir}/{_PLUGIN}"),
        f"{_PLUGIN}/kimi.plugin.json": msgspec.json.encode({"name": "rigline-run", "hooks": hooks}).decode(),
    }
    return replace(plan, has_hooks=True, variables={NODE_OPTIONS: options}, files=files)


_MODULE = """\
import fs from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';

const plugin = {
  id: 'rigline-run', root: OWN_ROOT, source: 'local-path', enabled: true,
  installedAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z',
};
const list = '/plugins/installed.json';
const {readFile, writeFile} = fs.promises;

const rest = (process.env.NODE_OPTIONS ?? '').replace(OWN_OPTION, '').trim();
if (rest) process.env.NODE_OPTIONS = rest;
else delete process.env.NODE_OPTIONS;

function endsWith(path, ending) {
  return typeof path === 'string' && path.replaceAll('\\\\', '/').endsWith(ending);
}

fs.promises.readFile = async function (path, ...more) {
  if (!endsWith(path, list)) return readFile.call(this, path, ...more);
  let text = '{"version":1,"plugins":[]}';
  try {
    text = await readFile.call(this, path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  try {
    const found = JSON.parse(text);
    found.plugins.push(plugin);
    return JSON.stringify(found);
  } catch {
    return text;
  }
};

fs.promises.writeFile = async function (path, data, ...more) {
  if (endsWith(path, list + '.tmp') && typeof data === 'string') {
    const found = JSON.parse(data);
    found.plugins = found.plugins.filter(each => each.id !== plugin.id);
    data = JSON.stringify(found, null, 2);
  }
  return writeFile.call(this, path, data, ...more);
};

syncBuiltinESMExports();
"""
