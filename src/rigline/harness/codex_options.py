"""Codex's command line as data: options, subcommands, and what some of them mean for a launch.

Taken from `--help` of 0.120.0 and 0.171.0 and of their subcommands, and from what both did with the options. An
option that only one version knows is in the table as well: the other version refuses the whole command line, so
nothing is misread. Parsed by clap.
"""

from __future__ import annotations

import re

from rigline.harness.argv import Option, OptionTable, Takes

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
_TAKES = {"": Takes.NOTHING, "1": Takes.ONE, "+": Takes.MANY}


def _table(words: str, subcommands: str = "", **tables: OptionTable) -> OptionTable:
    options = []
    for word in words.split():
        names, _, count = word.partition("=")
        options.append(Option(tuple(names.split(",")), _TAKES[count]))
    return OptionTable(
        options=tuple(options),
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
UTILITIES = frozenset(
    "a agents app-server apply archive cloud cloud-tasks completion debug delete doctor exec-server execpolicy"
    " features help login logout mcp mcp-server migrate-nfs-db migrate-rollouts plugin queue remote-control"
    " responses-api-proxy review sandbox stdio-to-uds unarchive update".split()
)
EXEC = ("exec", "e")

TABLE = _table(
    _COMMON + _SESSION + _TERMINAL,
    " ".join(UTILITIES),
    exec=_EXEC_TABLE,
    e=_EXEC_TABLE,
    resume=_TERMINAL_TABLE,
    fork=_TERMINAL_TABLE,
)

ANSWERS = ("--help", "--version")
YOLO = "--dangerously-bypass-approvals-and-sandbox"
#: a sandbox or approval choice of the user's; the program refuses some beside `YOLO`, and lets it win over others
PERMISSIONS = ("--sandbox", "--ask-for-approval", "--full-auto", "--approve-for-me")
PERMISSION_KEYS = re.compile(
    r"(sandbox_mode|approval_policy|sandbox_workspace_write|default_permissions|permissions|approvals_reviewer)\b"
)
#: `exec resume` refuses these behind the word `resume`, and heeds them before it (both versions; --output-schema 0.120.0)
BEFORE_RESUME = ("--oss", "--local-provider", "--profile", "--sandbox", "--approve-for-me", "--cd", "--add-dir", "--color")
BEFORE_RESUME_IN_OLD = ("--output-schema",)
#: settings of the user's that would replace the start hook or its trust, or turn hooks off
HOOK_KEYS = re.compile(r"hooks\s*=|hooks\.(SessionStart|state)\b|features\.(codex_)?hooks\s*=\s*false")
HOOK_FEATURES = ("hooks", "codex_hooks")
