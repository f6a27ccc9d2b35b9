"""Claude Code's command line as data: options, subcommands, and what some of them mean for a launch.

Taken from `--help` of 2.1.197 and 2.1.332 and of their subcommands, and, for options that no help lists, from
the answers of both programs to each of them. An option that only one version knows is in the table as well:
the other version refuses the whole command line, so nothing is misread. Parsed by Commander.js.
"""

from __future__ import annotations

from rigline.harness.argv import OptionTable, read_options
from rigline.harness.claude_paths import is_session_id
from rigline.harness.grammar import Grammar, SelectorRule

LABEL = "Claude Code"
_FLAGS = (
    "--agents-view-if-allowed --allow-dangerously-skip-permissions --allow-other-models --await-claim"
    " --await-initialize --ax-screen-reader --bare --bg,--background --brief --chrome --continue,-c"
    " --dangerously-skip-permissions --debug-to-stderr,-d2e --deep-link-origin --desktop"
    " --disable-slash-commands --enable-auth-status --enable-auto-mode"
    " --exclude-dynamic-system-prompt-sections --fork-session --forward-subagent-text --help,-h"
    " --hold-repository-while-parked --host-auth-is-org-sign-in --ide --include-hook-events"
    " --include-partial-messages --include-unsupported-models --init --init-only --maintenance"
    " --managed-settings-in-initialize --no-chrome --no-session-persistence --plan-mode-required --print,-p"
    " --replay-user-messages --reply-on-resume --restricted --safe-mode --session-mirror --strict-mcp-config"
    " --tmux --verbose --version,-v"
)
_WITH_VALUES = (
    "--advisor=1 --agent=1 --agent-color=1 --agent-id=1 --agent-name=1 --agent-type=1 --agents=1"
    " --append-subagent-system-prompt=1 --append-subagent-system-prompt-file=1 --append-system-prompt=1"
    " --append-system-prompt-file=1 --attach-serve=1 --autocompact=1 --client-data-url=1 --correlation-id=1"
    " --debug-file=1 --deep-link-cwd-b64=1 --deep-link-last-fetch=1 --deep-link-repo=1 --effort=1"
    " --environment=1 --fallback-model=1 --fast-mode=1 --forward-home-settings=1 --inherit-permission-mode=1"
    " --initialize-fields=1 --input-format=1 --json-schema=1 --lead-verify-key=1 --managed-settings=1"
    " --max-budget-usd=1 --max-thinking-tokens=1 --max-turns=1 --messaging-socket-path=1 --metadata=1"
    " --model=1 --name,-n=1 --on-branch=1 --output-format=1 --parent-session-id=1 --permission-mode=1"
    " --permission-prompt-tool=1 --permission-prompts=1 --plan-mode-instructions=1 --plugin-dir=1"
    " --plugin-dir-no-mcp=1 --plugin-url=1 --pool=1 --prefill=1 --prefill-b64=1 --proactivity=1"
    " --project-config-root=1 --ref=1 --remote-control-session-name-prefix=1 --resume-drops-turn=1"
    " --resume-session-at=1 --rewind-files=1 --runner-declares=1 --sdk-url=1 --session-began-as-copy=1"
    " --session-id=1 --setting-sources=1 --settings=1 --system-prompt=1 --system-prompt-file=1"
    " --system-prompt-snapshot=1 --task-budget=1 --team-name=1 --teammate-mode=1 --thinking=1"
    " --thinking-display=1 --watch-artifact=1 --watch-artifact-no-autoreact=1 --workload=1 --cloud=?"
    " --debug,-d=? --from-pr=? --prompt-suggestions=? --rc=? --remote=? --remote-control=? --resume,-r=?"
    " --teleport=? --worktree,-w=? --add-dir=+ --allowedTools,--allowed-tools=+ --betas=+ --channels=+"
    " --dangerously-load-development-channels=+ --disallowedTools,--disallowed-tools=+ --file=+ --mcp-config=+"
    " --tools=+"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: words that are commands in first place only, there even beside `-p`; elsewhere they are a prompt
FIRST_WORDS = _words("attach bridge daemon kill logs rc remote remote-control respawn rm self-hosted-runner stop sync")

#: utility subcommands; with `-p` they are not known, and the word is a prompt (both versions)
SUBCOMMANDS = _words(
    "agents auth auto-mode design-login doctor edit-chrome-settings edit-hook edit-memory-settings"
    " edit-permission-rules edit-sandbox-settings edit-skill-overrides gateway import"
    " import-conversations install mcp plugin plugins project purge sandbox setup-token ultrareview"
    " update upgrade workspace-trust worktree-hook"
)

TABLE = OptionTable(
    options=read_options(f"{_FLAGS} {_WITH_VALUES}"),
    subcommands=SUBCOMMANDS,
    value_may_be_option=True,
    separator_hides_subcommands=False,
)

#: options whose session, if any, is not one of this terminal and this store
ELSEWHERE = {
    "--attach-serve": "attaches to a session that runs elsewhere",
    "--bg": "starts a session in the background and returns at once",
    "--cloud": "works on a session in the cloud",
    "--desktop": "opens the desktop application",
    "--environment": "works on a session in another environment",
    "--init-only": "runs the setup hooks and ends",
    "--remote": "works on a session in the cloud",
    "--rewind-files": "restores files and ends",
    "--sdk-url": "serves a session of another program",
}

#: no hook of a plugin runs beside one of these (both versions); `--restricted` and `--setting-sources` let it run
WITHOUT_HOOKS = ("--bare", "--safe-mode")

#: options that say which permissions are asked for; none of them is ever widened by `--yolo`
PERMISSIONS = (
    "--allowedTools",
    "--inherit-permission-mode",
    "--permission-mode",
    "--permission-prompt-tool",
    "--permission-prompts",
    "--restricted",
)

SKIP_PERMISSIONS = "--dangerously-skip-permissions"

GRAMMAR = Grammar(
    label=LABEL,
    table=TABLE,
    elsewhere=ELSEWHERE,
    headless=("--print",),
    #: a name, a picker, and a transcript's path leave the id to the program: it takes it from the file's records
    selectors=(
        SelectorRule("--resume", is_session_id),
        SelectorRule("--continue"),
        SelectorRule("--from-pr"),
        SelectorRule("--teleport"),
        SelectorRule("--session-id", is_new=True),
    ),
    fork_options=("--fork-session",),
    without_hooks=WITHOUT_HOOKS,
    yolo=SKIP_PERMISSIONS,
    permissions=PERMISSIONS,
)
