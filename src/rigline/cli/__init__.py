"""The command line: one module a verb, imported when it is called."""

from __future__ import annotations

import os
import sys

from rigline.errors import InternalError, RiglineError, UsageError

#: verb -> (module, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("rigline.cli.run", "start an agent on this checkout's line of work"),
    "resume": ("rigline.cli.resume", "choose a line of work and go on with it"),
    "continue": ("rigline.cli.continue_", "go on with the newest line of this machine"),
    "show": ("rigline.cli.show", "choose a checkout and an agent, and go on there"),
    "workstreams": ("rigline.cli.workstreams", "the lines of work: list, show, rename, history"),
    "search": ("rigline.cli.search", "find words in everything that was said and done"),
    "log": ("rigline.cli.log", "a line of work as readable text"),
    "import": ("rigline.cli.import_", "take existing agent sessions into the history"),
    "lineage": ("rigline.cli.lineage", "where a session came from, and what came from it"),
    "doctor": ("rigline.cli.doctor", "what is installed, and will the sessions resume"),
    "harnesses": ("rigline.cli.harnesses", "the agents that can be run, and what each can do"),
    "relocate": ("rigline.cli.relocate", "re-attach the lines of a checkout that was renamed or moved"),
    "recover": ("rigline.cli.recover", "collect interrupted runs; rebuild a damaged ledger"),
}

#: Called by harnesses, not by people.
HIDDEN_COMMANDS = {"hook": "rigline.cli.hook"}


def main(argv: list[str]) -> int:
    """Run a command and return the exit status. Errors become one paragraph, or one JSON object with `--json`."""
    try:
        return _dispatch(argv)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except RiglineError as error:
        return show_error(error, as_json=wants_json(argv))
    except Exception as error:
        return show_error(_keep_report(error), as_json=wants_json(argv))


def wants_json(argv: list[str]) -> bool:
    """Whether rigline's own `--json` is among the words: for `run`, only before the harness's name."""
    if argv[:1] != ["run"]:
        return "--json" in argv
    from rigline.cli.run_arguments import find_own_words

    return "--json" in find_own_words(argv[1:])


def show_error(error: RiglineError, *, as_json: bool) -> int:
    """Print the error where it belongs and return its exit status."""
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode({"error": error.as_dict()}, enc_hook=str).decode() + "\n")
    else:
        from rigline.notices import write_notice

        write_notice(str(error))
    return error.exit_status


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(describe_commands())
        return 0 if argv else UsageError.exit_status
    module = HIDDEN_COMMANDS.get(argv[0]) or COMMANDS.get(argv[0], ("",))[0]
    if not module:
        raise _unknown_command(argv[0])
    from importlib import import_module

    status: int = import_module(module).main(argv[1:])
    return status


def describe_commands() -> str:
    """The list of commands, as `rigline --help` shows it."""
    rows = "".join(f"  {name:<12} {what}\n" for name, (_, what) in COMMANDS.items())
    return (
        "usage: rigline COMMAND [options]\n\n"
        "One line of work across every coding agent.\n\n"
        f"{rows}\n"
        "`rigline COMMAND --help` explains one. `rigline --version` tells the version.\n"
    )


def _unknown_command(word: str) -> UsageError:
    import difflib

    from rigline.harness import find_name

    near = [f"run {word}"] if find_name(word) else difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f" Did you mean `rigline {near[0]}`?" if near else ""
    return UsageError(f"There is no command {word!r}.{hint} `rigline --help` lists them.", word=word)


def _keep_report(error: Exception) -> InternalError:
    """Our own fault: the traceback goes into a private file, not onto the screen."""
    import traceback

    from rigline import paths

    home = paths.data_home(os.environ)
    path = os.path.join(home, "crash.log")
    try:
        paths.make_private(home)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)) + "\n")
        where = f"The details are in {path}"
    except (OSError, RiglineError):
        where = "The details could not be written"
    kind = type(error).__name__
    return InternalError(f"rigline failed by its own fault ({kind}: {error}). {where}; nothing was stored half.")
