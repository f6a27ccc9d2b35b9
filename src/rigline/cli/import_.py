"""`rigline import`: take existing agent sessions into the history of the checkouts that they were in."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator

from rigline.cli.arguments import CommandParser, make_parser, read_harness
from rigline.cli.here import open_ledger_here, resolve_scope_here
from rigline.cli.import_progress import Progress
from rigline.cli.output import print_json, print_lines, render_columns, say
from rigline.errors import UsageError
from rigline.harness import get_harness, list_names, plugins
from rigline.ids import shorten
from rigline.importing import Importer, Outcome, ScopeCache, Source, find_named_sources, find_sources, order_sources
from rigline.ledger.base import Ledger
from rigline.losses import describe_losses
from rigline.readable import WIDTH, clean, clip_path, format_count, format_size, wrap

POLL_S = 1.0
#: a look at a large store may not take more than one part in so many of the time
POLL_SHARE = 10
#: the exit statuses of an import that was interrupted, and of one that left sessions out
INTERRUPTED, SOME_FAILED = 130, 1
SHOWN_FAILURES = 20

FindSources = Callable[[], list[Source]]


def build_parser() -> CommandParser:
    """The options of `import`."""
    parser = make_parser(
        "rigline import",
        "Read the sessions that agents have left and keep them as searchable history of the checkout each was in. "
        "Nothing of the agents' own is changed, no line of work is touched. What was imported before is not read "
        "again; an import that was stopped goes on where it was.",
        "rigline import\nrigline import --all\nrigline import --watch\nrigline import --harness codex --dry-run\n"
        "rigline import ~/backup/0a1b2c3d-1111-4222-8333-444455556666.jsonl",
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="session files, wherever they lie")
    parser.add_argument("--all", action="store_true", help="the sessions of every checkout, not only of this one")
    parser.add_argument("--harness", metavar="NAME", type=read_harness, help="the sessions of one harness")
    parser.add_argument("--watch", action="store_true", help="go on with what is written from now on, until Ctrl-C")
    parser.add_argument("--dry-run", action="store_true", help="tell what there is to import, and import nothing")
    return parser


def main(argv: list[str]) -> int:
    """Import and print what it brought; returns 0, 1 when a session failed, 130 when interrupted."""
    options = build_parser().parse_args(argv)
    check(options)
    cache = ScopeCache(os.environ)
    find = make_finder(options, cache)
    with open_ledger_here() as ledger:
        if options.dry_run:
            return preview(find(), ledger, as_json=options.json)
        if options.watch:
            return watch(find, ledger, cache, options)
        sources = find()
        progress = Progress(len(sources), sum(source.info.size_bytes for source in sources))
        importer = Importer(ledger, cache, progress.tell)
        is_complete = _run(importer, sources, progress)
        report(importer.outcome, as_json=options.json, is_complete=is_complete)
    if not is_complete:
        return INTERRUPTED
    return SOME_FAILED if importer.outcome.failures else 0


def check(options: argparse.Namespace) -> None:
    """Refuse what contradicts itself."""
    if options.files and options.all:
        raise UsageError("--all means every session there is; named files are some of them. Leave one of them out.")
    if options.watch and options.dry_run:
        raise UsageError("--watch imports and --dry-run does not. Leave one of them out.")


def make_finder(options: argparse.Namespace, cache: ScopeCache) -> FindSources:
    """What to call for the sessions that are meant, parents before what came from them."""
    harnesses = [get_harness(name) for name in ([options.harness] if options.harness else list_all_names())]
    if options.files:
        return lambda: order_sources(find_named_sources(harnesses, os.environ, options.files))
    scope = None if options.all else resolve_scope_here()
    return lambda: order_sources(list(find_sources(harnesses, os.environ, scope, cache)))


def list_all_names() -> list[str]:
    """All harnesses; third parties' that cannot be used are said."""
    for problem in plugins.list_problems():
        say(f"{problem}.")
    return list_names()


def _run(importer: Importer, sources: list[Source], progress: Progress) -> bool:
    """Import; whether it came to its end."""
    try:
        importer.run(sources)
    except KeyboardInterrupt:
        return False
    finally:
        progress.clear()
    return True


def watch(find: FindSources, ledger: Ledger, cache: ScopeCache, options: argparse.Namespace) -> int:
    """Import what is there, then what comes, until Ctrl-C; returns 0."""
    importer = Importer(ledger, cache)
    try:
        for sources in iterate_changed(find):
            progress = Progress(len(sources), sum(source.info.size_bytes for source in sources))
            importer.follow(progress.tell)
            try:
                added = importer.outcome.added
                importer.run(sources)
            finally:
                progress.clear()
            _tell_step(importer.outcome.added - added, len(sources))
    except KeyboardInterrupt:
        report(importer.outcome, as_json=options.json, is_complete=True)
    return 0


def iterate_changed(find: FindSources) -> Iterator[list[Source]]:
    """The sessions whose files are new or have changed, whenever there are some; waits in between. Never ends."""
    known: dict[tuple[str, str], tuple[int, int]] = {}
    while True:
        started = time.monotonic()
        sources = find()
        changed = [source for source in sources if known.get(_get_key(source)) != _get_state(source)]
        known = {_get_key(source): _get_state(source) for source in sources}
        took_s = time.monotonic() - started
        if changed:
            yield changed
        time.sleep(max(POLL_S, took_s * POLL_SHARE))


def _get_key(source: Source) -> tuple[str, str]:
    return source.info.native_id, source.info.path


def _get_state(source: Source) -> tuple[int, int]:
    return source.info.updated_ms, source.info.size_bytes


def _tell_step(added: int, sessions: int) -> None:
    if added:
        say(f"{format_count(added, 'new event')} of {format_count(sessions, 'session')}.")


def report(outcome: Outcome, *, as_json: bool, is_complete: bool) -> None:
    """Print what an import brought; sessions that failed are named on stderr."""
    for failure in outcome.failures[:SHOWN_FAILURES]:
        say(f"{failure.harness} {failure.native_id} could not be imported: {failure.reason} ({failure.path})")
    if len(outcome.failures) > SHOWN_FAILURES:
        say(f"and {len(outcome.failures) - SHOWN_FAILURES} further ones; --json names all.")
    if as_json:
        print_json({**describe_outcome(outcome), "is_complete": is_complete})
    else:
        print_lines(render_outcome(outcome, is_complete=is_complete))


def describe_outcome(outcome: Outcome) -> dict[str, object]:
    """An outcome as JSON."""
    return {
        "sessions": outcome.sessions,
        "sessions_changed": outcome.changed,
        "size_bytes": outcome.size_bytes,
        "events_added": outcome.added,
        "events_revised": outcome.revised,
        "events_copied": outcome.copied,
        "losses": outcome.losses,
        "failures": [
            {"harness": each.harness, "native_id": each.native_id, "path": each.path, "reason": each.reason}
            for each in outcome.failures
        ],
    }


def render_outcome(outcome: Outcome, *, is_complete: bool) -> list[str]:
    """An outcome as text."""
    looked = f"{format_count(outcome.sessions, 'session')} ({format_size(outcome.size_bytes)})"
    if not outcome.sessions:
        lines = ["There are no sessions to import here. `rigline import --all` looks everywhere."]
    elif not outcome.changed:
        lines = [f"{looked} looked at: nothing new."]
    else:
        details = [f"{format_count(outcome.added, 'new event')} of {format_count(outcome.changed, 'session')}"]
        details += [f"{outcome.copied:,} already known from a session it was copied from"] if outcome.copied else []
        details += [f"{outcome.revised:,} revised"] if outcome.revised else []
        lines = wrap(f"{looked} looked at: {', '.join(details)}.", WIDTH)
    losses = [line for loss in describe_losses(outcome.losses) for line in wrap(f"- {loss}", WIDTH)]
    lines += ["Not kept as it was:", *losses] if losses else []
    if outcome.failures:
        lines.append(f"{format_count(len(outcome.failures), 'session')} could not be imported.")
    if not is_complete:
        lines.append("Interrupted: what was imported is kept; the same command goes on from here.")
    return lines


def preview(sources: list[Source], ledger: Ledger, *, as_json: bool) -> int:
    """Print which sessions there are and which of them the ledger has begun."""
    begun = [ledger.get_cursor(source.info.harness, source.info.native_id) is not None for source in sources]
    if as_json:
        print_json({"sessions": [_describe_source(source, has) for source, has in zip(sources, begun, strict=True)]})
        return 0
    short = shorten(source.info.native_id for source in sources)
    rows = [
        (
            source.info.harness,
            short[source.info.native_id],
            format_size(source.info.size_bytes),
            "begun" if has else "new",
            clip_path(source.info.cwd or "?", 38),
        )
        for source, has in zip(sources, begun, strict=True)
    ]
    total = format_size(sum(source.info.size_bytes for source in sources))
    summary = (
        f"{format_count(len(sources), 'session')} ({total}), {begun.count(False)} not begun; nothing was imported."
    )
    print_lines([*(clean(line) for line in render_columns(rows)), summary])
    return 0


def _describe_source(source: Source, has_begun: bool) -> dict[str, object]:
    info = source.info
    return {
        "harness": info.harness,
        "native_id": info.native_id,
        "path": info.path,
        "cwd": info.cwd,
        "size_bytes": info.size_bytes,
        "is_subagent": info.is_subagent,
        "is_begun": has_begun,
    }
