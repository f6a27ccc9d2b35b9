"""Codex's command line as data: options, subcommands, and what some of them mean for a launch.

Taken from `--help` of 0.120.0 and 0.171.0 and of their subcommands, and from what both did with the options. An
option that only one version knows is in the table as well: the other version refuses the whole command line, so
nothing is misread. Parsed by clap.
"""

from __future__ import annotations

from collections.abc import Iterable

from rigline.harness.argv import OptionTable, Role, Token, has_option, read_options
from rigline.harness.grammar import Grammar

_COMMON = (
    "--config,-c=1 --enable=1 --disable=1 --remote=1 --remote-auth-token-env=1 --strict-config --model,-m=1"
    " --dangerously-bypass-approvals-and-sandbox,--yolo --dangerously-bypass-hook-trust --worktree --help,-h"
)
#: what a session has besides; `exec resume` and `exec fork` refuse these
_SESSION = (
    " --oss --local-provider=1 --profile,-p=1 --sandbox,-s=1 --approve-for-me --full-auto --cd,-C=1 --add-dir=1"
    " --version,-V"
)
_TERMINAL = " --ask-for-approval,-a=1 --search --no-alt-screen --no-daemon --image,-i=+"
_CHOICE = " --last --all --include-non-interactive"
_EXEC = (
    " --thread-source=1 --cyber-access-program=1 --skip-git-repo-check --trust --ephemeral --ignore-user-config"
    " --ignore-rules --output-schema=1 --json,--experimental-json --output-last-message,-o=1"
)


def _table(words: str, subcommands: str = "", **tables: OptionTable) -> OptionTable:
    return OptionTable(
        options=read_options(words),
        subcommands=frozenset((*subcommands.split(), *tables)),
        tables=tables,
        glued_equals=True,
        subcommand_after_positional=True,
    )


_CONTINUE = _table(_COMMON + _EXEC + " --full-auto --image,-i=1" + _CHOICE)
_EXEC_TABLE = _table(
    _COMMON + _SESSION + _EXEC + " --color=1 --image,-i=+", "review help", resume=_CONTINUE, fork=_CONTINUE
)
_TERMINAL_TABLE = _table(_COMMON + _SESSION + _TERMINAL + _CHOICE)

#: subcommands of either version that write no session of this terminal; hidden ones too
_UTILITIES = (
    "a agents app-server apply archive cloud cloud-tasks completion debug delete doctor exec-server execpolicy"
    " features help login logout mcp mcp-server migrate-nfs-db migrate-rollouts plugin queue remote-control"
    " responses-api-proxy review sandbox stdio-to-uds unarchive update"
)
EXEC = ("exec", "e")

TABLE = _table(
    _COMMON + _SESSION + _TERMINAL,
    _UTILITIES,
    exec=_EXEC_TABLE,
    e=_EXEC_TABLE,
    resume=_TERMINAL_TABLE,
    fork=_TERMINAL_TABLE,
)

GRAMMAR = Grammar(label="Codex", table=TABLE, utilities=frozenset(_UTILITIES.split()))

YOLO = "--dangerously-bypass-approvals-and-sandbox"
#: a sandbox or approval choice of the user's; the program refuses some beside `YOLO`, and lets it win over others
PERMISSIONS = ("--sandbox", "--ask-for-approval", "--full-auto", "--approve-for-me")
PERMISSION_KEYS = frozenset(
    ("sandbox_mode", "approval_policy", "sandbox_workspace_write", "approvals_reviewer", "default_permissions")
)
#: `exec resume` refuses these behind the word `resume` and heeds them before it (both versions; the last one, 0.120.0)
BEFORE_RESUME = frozenset(("--color", "--output-schema", *(option.names[0] for option in read_options(_SESSION))))
DAEMON = "features.daemon_auto_start"
#: keeps a terminal in its own process. Changes nothing for `exec`, where it may end the values of an option that takes
#: many (both versions)
WITHOUT_DAEMON = ("-c", f"{DAEMON}=false")


def find_settings(tokens: Iterable[Token]) -> dict[str, str]:
    """What the command line says about the configuration: dotted key, without quotes and spaces -> value."""
    found = {}
    for token in tokens:
        if token.role is not Role.OPTION or token.value is None:
            continue
        if token.option == "--config":
            key, _, value = token.value.partition("=")
            found[key.translate(_WITHOUT_QUOTES)] = value.strip()
        elif token.option in ("--enable", "--disable"):
            found[f"features.{token.value}"] = "true" if token.option == "--enable" else "false"
    return found


_WITHOUT_QUOTES = {ord(char): None for char in "\"' \t"}


def is_without_our_hooks(tokens: Iterable[Token]) -> bool:
    """Whether a start hook that a launch gives would not run here.

    Hooks may be turned off; a later setting of the user's for the same event or for the hooks' trust replaces ours
    (0.171.0); and behind `--remote` they would run in another process.
    """
    tokens = tuple(tokens)
    settings = find_settings(tokens)
    if any(settings.get(f"features.{name}") == "false" for name in ("hooks", "codex_hooks")):
        return True
    if any(key == "hooks" or key.startswith(("hooks.SessionStart", "hooks.state")) for key in settings):
        return True
    return has_option(tokens, "--remote")


def find_permission(tokens: Iterable[Token]) -> str | None:
    """The user's own choice of sandbox or approval as it is written, or None."""
    tokens = tuple(tokens)
    given = next((name for name in PERMISSIONS if has_option(tokens, name)), None)
    return given or next((key for key in find_settings(tokens) if key.split(".")[0] in PERMISSION_KEYS), None)
