"""The variables that mark or name an agent's session, by harness: what each sets for its tools and hooks.

A child that inherits one of them may take itself for a part of another agent's session and keep no transcript, so all
of them are removed, whichever harness is started. They stand in a table of their own because every launch needs all
of them and only one adapter.
"""

from __future__ import annotations

SESSION_VARIABLES: dict[str, tuple[str, ...]] = {
    # what both versions set for their tools and hooks
    "claude-code": (
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PLUGIN_DATA",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PROJECT_DIR",
    ),
    # what both versions set for their tools and hooks, and their Node wrapper for the program
    "codex": (
        "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
        "CODEX_CI",
        "CODEX_MANAGED_BY_NPM",
        "CODEX_MANAGED_PACKAGE_ROOT",
        "CODEX_PERMISSION_PROFILE",
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_SESSION_ID",
        "CODEX_THREAD_ID",
        "CODEX_TOOL_CALL_ID",
        "CODEX_VERSION",
    ),
}

ALL_SESSION_VARIABLES: frozenset[str] = frozenset(name for names in SESSION_VARIABLES.values() for name in names)
