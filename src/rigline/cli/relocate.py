"""`rigline relocate`: a checkout was renamed, moved or cloned anew; its lines of work go on where it is now."""

from __future__ import annotations

import argparse
import os
import sys

from msgspec import Struct

from rigline.cli.arguments import CommandParser, make_parser
from rigline.cli.here import open_ledger_here, resolve_scope_here
from rigline.cli.output import print_json, print_lines, render_facts, say
from rigline.errors import LeaseHeld, UnknownWorkstream, UsageError
from rigline.ids import shorten_one
from rigline.launch.moved import Verdict
from rigline.launch.relocate import Candidate, Outlook, Search, find_candidates, relocate
from rigline.ledger.base import Ledger
from rigline.model import Scope, Workstream
from rigline.readable import WIDTH, clean, clip_path, join_words

NOTHING_MOVED = 1


class Result(Struct, frozen=True, kw_only=True):
    """What became of a candidate: the line as it is now, or why it was not re-attached."""

    candidate: Candidate
    relocated: Workstream | None = None
    refusal: str = ""


def build_parser() -> CommandParser:
    """The options of `relocate`."""
    parser = make_parser(
        "rigline relocate",
        "Called in a checkout that was renamed, moved, or cloned anew because the old one is gone: re-attach its lines "
        "of work to where it is now. What proves that they belong here is shown, and which of their sessions will "
        "resume here. The agents' own files are not changed. A line whose checkout is still there is never taken away.",
        "rigline relocate\nrigline relocate --dry-run\nrigline relocate --from ~/src/old-name --yes",
    )
    parser.add_argument("--workstream", metavar="NAME|ID", help="only this line, by its name, or id or its beginning")
    parser.add_argument("--from", metavar="PATH", dest="former", help="only lines that were in this folder")
    parser.add_argument("--yes", action="store_true", help="re-attach without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what would be re-attached, and change nothing")
    return parser


def main(argv: list[str]) -> int:
    """Find, show, ask, re-attach; returns 0, or 1 when nothing was re-attached (dry run: would be)."""
    options = build_parser().parse_args(argv)
    search = Search(word=options.workstream, former=_resolve(options.former))
    scope = resolve_scope_here()
    with open_ledger_here() as ledger:
        candidates = find_candidates(ledger, scope, os.environ, search)
        moved = [each for each in candidates if each.judgement.verdict is Verdict.MOVED]
        if not moved:
            _refuse_named(candidates, search, scope)
        if not options.json:
            print_lines(render(candidates, scope))
        may_move = bool(moved) and not options.dry_run and (options.yes or confirm(moved, scope, options))
        results = move(ledger, moved, scope) if may_move else []
    if options.json:
        print_json(describe(candidates, results, scope))
    else:
        print_lines(render_results(results, scope) if results or not moved else ["Nothing was changed."])
    return find_status(moved, results, is_dry_run=options.dry_run)


def _resolve(path: str | None) -> str | None:
    """A former place as the ledger has it: absolute, and real as far as it still exists."""
    return os.path.realpath(os.path.expanduser(path)) if path is not None else None


def _refuse_named(candidates: list[Candidate], search: Search, scope: Scope) -> None:
    """Raise with the reason why what was asked for by name is not re-attached."""
    if search.word is None and search.former is None:
        return
    what = search.word if search.word is not None else search.former
    if not candidates:
        raise UnknownWorkstream(
            f"No line of another checkout that could belong to {scope.toplevel or scope.cwd} goes by {what!r}. "
            "`rigline workstreams --all` lists every line with its folder.",
            workstream=what,
        )
    raise UsageError(
        "Nothing was re-attached. " + " ".join(explain(candidate) for candidate in candidates),
        lines=[describe_candidate(candidate) for candidate in candidates],
    )


def explain(candidate: Candidate) -> str:
    """Why a line is not re-attached, and what can be done, in sentences."""
    line, judgement = candidate.line, candidate.judgement
    said = f"Line {line.name!r} of {line.cwd}: {judgement.reason}."
    if judgement.verdict is Verdict.COPIED:
        return f"{said} It goes on there; here `rigline run` begins a line of this checkout's own."
    return f"{said} If you know better, say so: `rigline relocate --from {line.cwd}`."


def confirm(moved: list[Candidate], scope: Scope, options: argparse.Namespace) -> bool:
    """Ask the person; raises `UsageError` where there is none to ask."""
    if options.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "There is nobody to ask whether the lines may be re-attached. Say so with --yes, or look with --dry-run."
        )
    names = join_words([repr(candidate.line.name) for candidate in moved])
    sys.stderr.write(f"Re-attach {clean(names)} to {clean(scope.toplevel or scope.cwd)}? [Y/n] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    return bool(line) and line.strip().lower() in ("", "y", "yes")


def move(ledger: Ledger, moved: list[Candidate], scope: Scope) -> list[Result]:
    """Re-attach each, the most recently used one last so that it is the current line here. A held one stays."""
    results = []
    for candidate in reversed(moved):
        try:
            results.append(Result(candidate=candidate, relocated=relocate(ledger, candidate, scope)))
        except LeaseHeld as error:
            results.append(Result(candidate=candidate, refusal=str(error)))
            say(str(error))
    return results[::-1]


def find_status(moved: list[Candidate], results: list[Result], *, is_dry_run: bool) -> int:
    """The exit status: a line that was held is the first to tell."""
    if any(result.refusal for result in results):
        return LeaseHeld.exit_status
    return 0 if results or (is_dry_run and moved) else NOTHING_MOVED


def render(candidates: list[Candidate], scope: Scope) -> list[str]:
    """What was found, as text."""
    if not candidates:
        return [
            f"No line of another checkout belongs to {clip_path(scope.toplevel or scope.cwd, WIDTH - 38)}.",
            "`rigline workstreams --all` lists every line with its folder.",
        ]
    lines: list[str] = []
    for candidate in candidates:
        lines += [*([""] if lines else []), *_render_candidate(candidate)]
    return lines


def _render_candidate(candidate: Candidate) -> list[str]:
    line, judgement = candidate.line, candidate.judgement
    is_moved = judgement.verdict is Verdict.MOVED
    facts: dict[str, str | list[str]] = {
        "was in": clip_path(line.cwd, WIDTH - 12),
        "evidence" if is_moved else "stays": judgement.reason,
    }
    if is_moved:
        facts["resumes"] = [_name(outlook) for outlook in candidate.outlooks if outlook.resumes]
        fresh = [f"{_name(each)}: {clean(each.reason)}" for each in candidate.outlooks if not each.resumes]
        facts["by packet"] = fresh
    shown = {name: value for name, value in facts.items() if value}
    return [f"{clean(line.name)}  {line.id}", *render_facts(shown, indent=2)]


def _name(outlook: Outlook) -> str:
    return f"{outlook.label} session {shorten_one(outlook.native_id)}"


def render_results(results: list[Result], scope: Scope) -> list[str]:
    """What was done, as text."""
    place = clip_path(scope.toplevel or scope.cwd, WIDTH - 4)
    return [_render_result(result, place) for result in results]


def _render_result(result: Result, place: str) -> str:
    former = clean(result.candidate.line.name)
    if result.relocated is None:
        return f"{former} was left where it was: a run has it."
    name = clean(result.relocated.name)
    renamed = "" if name == former else f", as {name}, since there is a line {former} here already"
    return f"{former} is now a line of {place}{renamed}."


def describe(candidates: list[Candidate], results: list[Result], scope: Scope) -> dict[str, object]:
    """What was found and done, as JSON."""
    done = {result.candidate.line.id: result for result in results}
    return {
        "cwd": scope.toplevel or scope.cwd,
        "lines": [_describe_line(candidate, done.get(candidate.line.id)) for candidate in candidates],
    }


def _describe_line(candidate: Candidate, result: Result | None) -> dict[str, object]:
    relocated = result.relocated if result is not None else None
    return {
        **describe_candidate(candidate),
        "is_relocated": relocated is not None,
        "new_name": relocated.name if relocated is not None else None,
        "refusal": result.refusal if result is not None else "",
    }


def describe_candidate(candidate: Candidate) -> dict[str, object]:
    """A line that was found, as JSON."""
    line = candidate.line
    return {
        "id": line.id,
        "name": line.name,
        "former_cwd": line.cwd,
        "verdict": str(candidate.judgement.verdict),
        "reason": candidate.judgement.reason,
        "sessions": [
            {name: getattr(outlook, name) for name in ("harness", "native_id", "resumes", "reason")}
            for outlook in candidate.outlooks
        ],
    }
