"""The types of events that GitHub Copilot CLI 1.0.102 writes: those of its schema, and those that it wrote besides."""

from __future__ import annotations

#: the part before the first dot -> what follows it; an empty word is the part alone
_TYPES = {
    "abort": "",
    "agent": "interrupted",
    "assistant": (
        "fusion_phase_activity fusion_phase_completed fusion_phase_failed fusion_phase_started idle intent"
        " message message_delta message_start reasoning reasoning_delta server_tool_progress streaming_delta"
        " tool_call_delta turn_end turn_retry turn_start usage"
    ),
    "auto_mode_switch": "completed requested",
    "capabilities": "changed",
    "command": "completed execute queued",
    "commands": "changed",
    "elicitation": "completed requested",
    "exit_plan_mode": "completed requested",
    "external_tool": "completed requested",
    "hook": "end progress start",
    "human_response": "recorded",
    "mcp": (
        "headers_refresh_completed headers_refresh_required oauth_completed oauth_recovery_completed"
        " oauth_required prompts.list_changed resources.list_changed tools.list_changed"
    ),
    "mcp_app": "tool_call_complete",
    "model": (
        "call_failure call_final_result call_finished call_start message messages_snapshot model_call_started"
        " model_call_success response turn_ended turn_started"
    ),
    "pending_messages": "modified",
    "permission": (
        "assentDetected carriedForward completed contextualAuthorization messageAuthorization"
        " messageAuthorizationDegraded messageAuthorizationRead requested"
    ),
    "prompt_cache_break": "",
    "sampling": "completed requested",
    "sandbox": "decision",
    "session": (
        "auto_mode_resolved auto_tier_recommendation auto_tier_switch_failed autopilot_objective_changed"
        " autopilot_stopped background_tasks_changed binary_asset canvas.closed canvas.opened canvas.recorded"
        " canvas.registry_changed canvas.removed canvas.unavailable compaction_complete compaction_start"
        " completion_receipt context_changed context_cleared custom_agents_updated custom_notification error"
        " extensions.attachments_pushed extensions_loaded fusion_change_checkpoint fusion_commit_started"
        " fusion_completed fusion_handoff fusion_resolved fusion_route_failed fusion_route_started handoff"
        " idle indexed_search info managed_plugin_progress managed_settings_enforced managed_settings_resolved"
        " mcp_server_needs_reconnect mcp_server_removed mcp_server_status_changed mcp_server_tools_loaded"
        " mcp_servers_loaded memory_changed mode_changed mode_notice_delivered model_change model_deselected"
        " permission_recovery permissions_changed plan_changed quota_observation remote_steerable_changed"
        " request_body_compression_disabled resume schedule_cancelled schedule_created schedule_rearmed"
        " session_limits_changed shutdown skills_loaded snapshot_rewind start task_complete title_changed"
        " todos_changed tools_updated truncation usage_checkpoint usage_info usage_record warning"
        " workspace_file_changed"
    ),
    "session_limits_exhausted": "completed requested",
    "skill": "context_delivered context_delivered_ref invoked invoked_ref",
    "subagent": "completed configured deselected failed selected started",
    "system": "message notification",
    "tool": (
        "execution_complete execution_partial_result execution_progress execution_start shell_output user_requested"
    ),
    "tool_search": "activated",
    "ui": "ephemeral_query",
    "user": "message",
    "user_input": "completed requested",
    "workflow": "run_settled run_started run_updated",
}

KNOWN = frozenset(
    f"{group}.{rest}" if rest else group for group, words in _TYPES.items() for rest in words.split() or [""]
)
