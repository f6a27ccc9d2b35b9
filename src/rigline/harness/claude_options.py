"""Claude Code's command line as data: options, subcommands, and what some of them mean for a launch.

Taken from `--help` of 2.1.197 and 2.1.332 and of their subcommands, and, for options that no help lists, from
the answers of both programs to each of them. An option that only one version knows is in the table as well:
the other version refuses the whole command line, so nothing is misread. Parsed by Commander.js.
"""

from __future__ import annotations

from rigline.harness.argv import Option, OptionTable, Takes

_FLAGS = (
    "--agents-view-if-allowed --allow-dangerously-skip-permissions --allow-other-models --await-claim"
    " --await-initialize --ax-screen-reader --bare --bg,--background --brief --chrome --continue,-c"
    " --dangerously-skip-permissions --debug-to-stderr,-d2e --deep-link-origin --desktop"
    " --disable-slash-commands --enable-auth-status --enable-auto-mode"
    " --exclude-dynamic-system-prompt-sections --fork-session --forward-subagent-text --help,-h"
    " --hold-repository-while-parked --host-auth-is-org-sign-in --ide --include-hook-events"
    " --include-partial-messages --include-unsupported-models --init --init-only --maintenance"
    " --managed-settings-in-initialize --no-chrome --no-session-persistence --plan-mode-required --print,-p"
    " --replay-user-messages --reply-on-resume --restricted --safe-mode --session-mirror"
    " --strict-mcp-config --tmux --verbose --version,-v"
)
_ONE = (
    "--advisor --agent --agent-color --agent-id --agent-name --agent-type --agents"
    " --append-subagent-system-prompt --append-subagent-system-prompt-file --append-system-prompt"
    " --append-system-prompt-file --attach-serve --autocompact --client-data-url --correlation-id"
    " --debug-file --deep-link-cwd-b64 --deep-link-last-fetch --deep-link-repo --effort --environment"
    " --fallback-model --fast-mode --forward-home-settings --inherit-permission-mode --initialize-fields"
    " --input-format --json-schema --lead-verify-key --managed-settings --max-budget-usd"
    " --max-thinking-tokens --max-turns --messaging-socket-path --metadata --model --name,-n --on-branch"
    " --output-format --parent-session-id --permission-mode --permission-prompt-tool --permission-prompts"
    " --plan-mode-instructions --plugin-dir --plugin-dir-no-mcp --plugin-url --pool --prefill --prefill-b64"
    " --proactivity --project-config-root --ref --remote-control-session-name-prefix --resume-drops-turn"
    " --resume-session-at --rewind-files --runner-declares --sdk-url --session-began-as-copy --session-id"
    " --setting-sources --settings --system-prompt --system-prompt-file --system-prompt-snapshot"
    " --task-budget --team-name --teammate-mode --thinking --thinking-display --watch-artifact"
    " --watch-artifact-no-autoreact --workload"
)
_OPTIONAL = (
    "--cloud --debug,-d --from-pr --prompt-suggestions --rc --remote --remote-control --resume,-r --teleport"
    " --worktree,-w"
)
_MANY = (
    "--add-dir --allowedTools,--allowed-tools --betas --channels --dangerously-load-development-channels"
    " --disallowedTools,--disallowed-tools --file --mcp-config --tools"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _options(words: str, takes: Takes) -> tuple[Option, ...]:
    return tuple(Option(tuple(names.split(",")), takes) for names in words.split())


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
    options=(
        *_options(_FLAGS, Takes.NOTHING),
        *_options(_ONE, Takes.ONE),
        *_options(_OPTIONAL, Takes.OPTIONAL),
        *_options(_MANY, Takes.MANY),
    ),
    subcommands=SUBCOMMANDS,
    value_may_be_option=True,
    separator_hides_subcommands=False,
)

#: each answers and ends
ANSWERS = ("--help", "--version")

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
