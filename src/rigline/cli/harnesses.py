"""`rigline harnesses`: the agents that rigline knows, what each can do, and which are installed here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from rigline.cli.arguments import CommandParser, make_parser, read_harness
from rigline.cli.output import print_json, print_lines, render_facts
from rigline.config import Settings, load_settings
from rigline.doctor.agents import ASKED_AT_ONCE, ask_version, find_program, is_between_known
from rigline.harness import HARNESSES, NAMES, get_harness, list_aliases, list_names, plugins
from rigline.harness.base import Facts, Harness
from rigline.readable import WIDTH, clip_path, join_words, measure, pad, wrap

#: the facts in the order in which they are told, by the names that people read
FACTS: dict[str, str] = {
    "store": "sessions",
    "resume": "goes on by",
    "chosen_id": "id chosen by",
    "fork": "forks by",
    "lineage": "lineage",
    "live": "open session",
    "yolo": "--yolo is",
    "injection": "history by",
    "takes": "is read",
    "leaves_out": "is left out",
    "cannot": "cannot",
    "source": "known from",
}


class Found(Struct, frozen=True, kw_only=True):
    """A harness on this machine. `path` is None when its program is not here, which `trouble` then explains."""

    harness: Harness
    path: str | None
    trouble: str
    version: str | None


def build_parser() -> CommandParser:
    """The options of `harnesses`."""
    parser = make_parser(
        "rigline harnesses",
        "List the agents that rigline works with: what each is called, where its program is and which version, whether "
        "it forks, and how much history it can be shown. With NAME all that is known of one: where its sessions are, "
        "what is read of them and what is not, what it cannot do. Packages may bring further ones.",
        "rigline harnesses\nrigline harnesses codex\nrigline harnesses --no-versions --json",
    )
    parser.add_argument("harness", metavar="NAME", nargs="?", type=read_harness, help="tell everything of this one")
    parser.add_argument("--no-versions", action="store_true", help="start no program to ask for its version")
    return parser


def main(argv: list[str]) -> int:
    """Print the table, or one harness; returns 0."""
    options = build_parser().parse_args(argv)
    names = [options.harness] if options.harness else list_names()
    problems = [] if options.harness else plugins.list_problems()
    found = look_for(names, os.environ, load_settings(os.environ, NAMES), asks=not options.no_versions)
    if options.json:
        answer: dict[str, object] = {"harnesses": [describe(each) for each in found]}
        print_json(answer | {"problems": [describe_problem(problem) for problem in problems]})
    elif options.harness:
        print_lines(render_facts(tell_all(found[0])))
    else:
        print_lines(render_table(found))
        print_lines(line for problem in problems for line in ("", *wrap(f"{problem}.", WIDTH)))
    return 0


def look_for(names: Sequence[str], env: Mapping[str, str], settings: Settings, *, asks: bool) -> list[Found]:
    """Each harness's program and, where it `asks`, its version; several programs are asked at a time."""
    with ThreadPoolExecutor(max_workers=ASKED_AT_ONCE) as pool:
        return list(pool.map(lambda name: _look_for(get_harness(name), env, settings, asks=asks), names))


def _look_for(harness: Harness, env: Mapping[str, str], settings: Settings, *, asks: bool) -> Found:
    path, trouble = find_program(harness, env, settings)
    version = ask_version(harness, path, env) if path is not None and asks else None
    return Found(harness=harness, path=path, trouble=trouble, version=version)


def render_table(found: Sequence[Found]) -> list[str]:
    """Two lines a harness: its program, then what it can do. Pure."""
    names = max((measure(each.harness.name) for each in found), default=0) + 2
    versions = max((measure(each.version or "") for each in found), default=0)
    versions += 2 if versions else 0
    lines = []
    for each in found:
        place = clip_path(each.path, WIDTH - names - versions) if each.path else "not installed"
        lines.append((pad(each.harness.name, names) + pad(each.version or "", versions) + place).rstrip())
        lines += [" " * names + line for line in wrap(summarise(each.harness), WIDTH - names)]
    return [*lines, "", "`rigline harnesses NAME` tells all about one of them."]


def summarise(harness: Harness) -> str:
    """What a harness can do, in half a line. Pure."""
    aliases = list_aliases(harness.name)
    also = f"also {', '.join(aliases)}; " if aliases else ""
    forks = "resumes and forks" if harness.facts.fork else "resumes, does not fork"
    untried = "" if harness.known_versions else "; no version was tried"
    return f"{also}{forks}; history: {tell_limits(harness)}{untried}"


def tell_limits(harness: Harness) -> str:
    """How much history one session is shown at a launch, at most. Pure."""
    if not harness.facts.injection:
        return "none"
    return f"{harness.limits.part_chars * harness.limits.max_parts:,} characters"


def tell_all(found: Found) -> dict[str, str | Sequence[str]]:
    """Everything about one, by the names that people read. Pure."""
    harness = found.harness
    version = f"{found.version or 'version unknown'}"
    if found.version and not is_between_known(found.version, harness.known_versions):
        version += ", which was not tried"
    here = f"{found.path} ({version})" if found.path else found.trouble
    own = {"name": harness.name, "called": harness.label, "also": list_aliases(harness.name), "program": here}
    return own | tell_facts(harness)


def tell_facts(harness: Harness) -> dict[str, str | Sequence[str]]:
    """What is the same on every machine. Pure."""
    told: dict[str, str | Sequence[str]] = {title: getattr(harness.facts, name) or "-" for name, title in FACTS.items()}
    told["history at most"] = tell_limits(harness)
    told["moved by"] = [f"`{name}`" for name in harness.store_variables] or "-"
    told["removed for it"] = [f"`{name}`" for name in harness.session_variables] or "-"
    told["tried with"] = join_words(harness.known_versions) or "-"
    return told


def describe(found: Found) -> dict[str, object]:
    """A harness as JSON."""
    harness = found.harness
    return {
        "name": harness.name,
        "label": harness.label,
        "aliases": list(list_aliases(harness.name)),
        "package": None if harness.name in HARNESSES else plugins.find_package(harness.name),
        "program": harness.executable,
        "path": found.path,
        "trouble": found.trouble or None,
        "version": found.version,
        "known_versions": list(harness.known_versions),
        "is_known_version": found.version is not None and is_between_known(found.version, harness.known_versions),
        "limits": {"part_chars": harness.limits.part_chars, "max_parts": harness.limits.max_parts},
        "store_variables": list(harness.store_variables),
        "session_variables": list(harness.session_variables),
        "facts": describe_facts(harness.facts),
    }


def describe_facts(facts: Facts) -> dict[str, object]:
    """Facts as JSON: null or an empty list where there is no such thing."""
    values = {name: getattr(facts, name) for name in FACTS}
    return {name: list(value) if isinstance(value, tuple) else value or None for name, value in values.items()}


def describe_problem(problem: plugins.Problem) -> dict[str, object]:
    """An adapter that is passed over, as JSON."""
    return {"name": problem.name, "package": problem.package, "target": problem.target, "cause": problem.cause}
