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
    # what 1.0.102 sets for its tools and hooks
    "copilot": (
        "COPILOT_AGENT_SESSION_ID",
        "COPILOT_CLI",
        "COPILOT_CLI_BINARY_VERSION",
        "COPILOT_CLI_RESOLVED_DIST_DIR",
        "COPILOT_HOOK_DIR",
        "COPILOT_PLUGIN_DATA",
        "COPILOT_PLUGIN_ROOT",
        "COPILOT_PROJECT_DIR",
    ),
    # what 1.6.0 sets for its tools
    "pi": (
        "AI_AGENT",
        "PI_CODING_AGENT",
        "PI_MODEL",
        "PI_PROVIDER",
        "PI_REASONING_LEVEL",
        "PI_SESSION_FILE",
        "PI_SESSION_ID",
    ),
    # what 18.2.3 sets for its tools
    "omp": ("AGENT", "CLAUDECODE", "OMPCODE"),
    # what 2.1.0 sets for its hooks; its tools have nothing of the kind
    "kimi-code": ("KIMI_PLUGIN_ROOT",),
    # what 1.64.0 sets for its tools: a path with the session's id in it
    "command-code": ("COMMANDCODE_SCRATCHPAD",),
    # none is known of these, which could not be run
    "kiro": (),
    "grok-build": (),
    "antigravity": (),
    # what it sets for its tools, by its public source
    "crush": ("AGENT", "AI_AGENT", "CRUSH"),
    # what 0.24.4 sets for its tools
    "qwen-code": (
        "QWEN_CODE",
        "QWEN_CODE_AGENT_ID",
        "QWEN_CODE_PROJECT_DIR",
        "QWEN_CODE_PROMPT_ID",
        "QWEN_CODE_SESSION_ID",
    ),
    # what 0.61.0 sets for its tools and hooks
    "gemini-cli": (
        "GEMINI_CLI",
        "GEMINI_CLI_NO_RELAUNCH",
        "GEMINI_CWD",
        "GEMINI_PLANS_DIR",
        "GEMINI_PROJECT_DIR",
        "GEMINI_SESSION_ID",
    ),
    # what 1.18.33 sets for its tools
    "opencode": ("AGENT", "OPENCODE", "OPENCODE_PID"),
}

ALL_SESSION_VARIABLES: frozenset[str] = frozenset(name for names in SESSION_VARIABLES.values() for name in names)
