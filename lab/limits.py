"""How the vendors refuse an account that has used up what it may use, as each wire says it.

The kinds: `usage` the account's allowance of some hours or days is used up and comes back; `rate` too many requests at
once; `credit` nothing is left to pay with.
"""

from __future__ import annotations

import time

from lab.script import JsonObject

#: when the allowance comes back
RESETS_IN_S = 3 * 3600
KINDS = ("usage", "rate", "credit")

Refusal = tuple[int, dict[str, str], JsonObject]


def refuse_messages(kind: str) -> Refusal:
    """Anthropic: (status, headers, body). The headers tell a subscription's allowance from a busy server."""
    if kind == "credit":
        message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
        return 400, {}, _describe_anthropic("invalid_request_error", message)
    body = _describe_anthropic("rate_limit_error", "This request would exceed your account's rate limit.")
    if kind == "rate":
        return 429, {"retry-after": "1"}, body
    reset = str(int(time.time()) + RESETS_IN_S)
    unified = {
        "status": "rejected",
        "reset": reset,
        "representative-claim": "five_hour",
        "5h-status": "rejected",
        "5h-reset": reset,
        "5h-utilization": "1.0",
        "7d-status": "allowed",
        "7d-reset": reset,
        "7d-utilization": "0.4",
        "overage-status": "rejected",
        "overage-disabled-reason": "org_level_disabled",
    }
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}
    return 429, {**headers, "retry-after": str(RESETS_IN_S)}, body


def _describe_anthropic(kind: str, message: str) -> JsonObject:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


def refuse_openai(kind: str) -> Refusal:
    """OpenAI, for Responses and chat completions: (status, headers, body)."""
    if kind == "usage":
        error = {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
            "resets_at": int(time.time()) + RESETS_IN_S,
            "resets_in_seconds": RESETS_IN_S,
        }
        return 429, {}, {"error": error}
    if kind == "credit":
        message = "You exceeded your current quota, please check your plan and billing details."
        error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": message, "param": None}
        return 429, {}, {"error": error}
    message = "Rate limit reached for scripted on requests per min (RPM): Limit 3, Used 3, Requested 1."
    error = {"type": "requests", "code": "rate_limit_exceeded", "message": message, "param": None}
    return 429, {"retry-after": "1"}, {"error": error}


def refuse_gemini(kind: str) -> Refusal:
    """Gemini: (status, headers, body). A day's quota is told from a minute's by its name."""
    period, delay = ("Minute", "1s") if kind == "rate" else ("Day", f"{RESETS_IN_S}s")
    quota = f"GenerateRequestsPer{period}PerProjectPerModel"
    error = {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ],
    }
    return 429, {}, {"error": error}
