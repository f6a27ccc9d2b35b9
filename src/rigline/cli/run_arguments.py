"""The wrapper's own words on `rigline run`, told apart from the harness's argv.

    rigline run [wrapper options] [HARNESS] [native arguments...]

Everything after HARNESS is native and kept byte for byte, minus the exact words `--fresh` and `--yolo` where they
stand as options. The first `--` ends the wrapper's words: before or directly after HARNESS it is the wrapper's own
and goes; further on it is native and stays.
"""

from __future__ import annotations

from rigline.cli.arguments import CommandParser
from rigline.launch.options import RunOptions

DESCRIPTION = """\
Continue this checkout's line of work in an agent CLI, in the agent's own
session and with what other agents did on it. Without HARNESS: the one used
last. Everything after HARNESS goes to the agent unchanged; `--fresh` and
`--yolo` are understood there too, and `--` in front of the native arguments
protects all of them.
"""

EXAMPLES = """\
examples:
  rigline run claude                        begin, or go on in Claude Code's own session
  rigline run codex exec "fix the tests"    the same line, in Codex
  rigline run --new docs claude             another line of work in this checkout
  rigline run --dry-run codex               what would be started, and why
  rigline run --then codex,pi claude        at a usage limit, the line goes on
"""


def build_parser() -> CommandParser:
    """The wrapper options, for parsing and for `--help`."""
    parser = CommandParser(
        prog="rigline run",
        usage="rigline run [options] [HARNESS] [native arguments...]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
    )
    parser.add_argument("--fresh", action="store_true", help="start a new native session, not the bound one")
    parser.add_argument("--yolo", action="store_true", help="the harness's own option for asking no permissions")
    line = parser.add_mutually_exclusive_group()
    line.add_argument("--new", metavar="NAME", help="create a workstream and work on it from now on")
    line.add_argument("--workstream", metavar="NAME", help="work on an existing workstream")
    parser.add_argument("--workspace", metavar="NAME", help="instead of the marker file's, or `default`")
    parser.add_argument("--project", metavar="NAME", help="instead of the marker file's, or the repository's name")
    parser.add_argument("--executable", metavar="PATH", help="the harness's program, by path or name")
    parser.add_argument("--env", metavar="K=V", action="append", default=[], help="set a variable for the agent")
    parser.add_argument("--env-file", metavar="PATH", help="set variables from a file of K=V lines")
    parser.add_argument(
        "--then", metavar="NAMES", default=(), type=_split, help="at a usage limit go on with these, in turn"
    )
    parser.add_argument("--yes", action="store_true", help="with --then: go on without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what would be started, and start nothing")
    parser.add_argument("--print-context", action="store_true", help="show the history the agent would be given")
    parser.add_argument("--json", action="store_true", help="errors, plans and the summary as JSON")
    return parser


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def parse_run(words: list[str]) -> RunOptions:
    """The options, the harness's word and the native arguments; raises `UsageError`. Exits for `--help`."""
    parser = build_parser()
    split, separator = _find_harness(words, parser)
    own = parser.parse_args(words[:split])
    rest = words[split + separator :]
    harness, args = (rest[0], rest[1:]) if rest else (None, [])
    is_raw = bool(separator)
    if args[:1] == ["--"] and not is_raw:
        args, is_raw = args[1:], True
    fields = {**vars(own), "env": tuple(own.env)}
    return RunOptions(harness=harness, args=tuple(args), is_raw=is_raw, **fields)


def find_own_words(words: list[str]) -> list[str]:
    """The wrapper's words before HARNESS."""
    return words[: _find_harness(words, build_parser())[0]]


def _find_harness(words: list[str], parser: CommandParser) -> tuple[int, int]:
    """Where the wrapper's options end, and how many words (a `--`) stand between them and HARNESS."""
    takes_value = {name: action.nargs != 0 for action in parser._actions for name in action.option_strings}
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return at, 1
        if not word.startswith("-") or word == "-":
            return at, 0
        at += 2 if takes_value.get(word, False) else 1
    return at, 0
