"""Whether a Codex thread's last turn ended at a limit of the account, by the event that the program writes.

0.171.0 ends each turn with `task_complete`, which has the `error` that ended it: what people were shown, and in
`codex_error_info` what it was. Versions before could write it as an event of its own. 0.120.0 writes neither: such an
end cannot be told there.
"""

from __future__ import annotations

from rigline.harness.file_store import read_tail
from rigline.harness.windows import as_dict, as_text

#: the account's allowance, or what it paid for, is used up
_USED_UP = "usage_limit_exceeded"
#: the program tried again as often as it does, and gave up
_GIVEN_UP = "response_too_many_failed_attempts"
_TOO_MANY_REQUESTS = 429
_BEGINNINGS = frozenset({"task_started", "turn_started", "user_message"})
_ENDS = frozenset({"task_complete", "turn_complete"})


def find_limit(path: str) -> str | None:
    """The vendor's words, if the rollout's last turn ended there. Raises OSError when it cannot be read."""
    words: str | None = None
    for record in read_tail(path):
        payload = as_dict(record.get("payload"))
        kind = as_text(payload.get("type"))
        if record.get("type") != "event_msg":
            continue
        if kind in _BEGINNINGS or kind == "turn_aborted":
            words = None
        elif kind == "error":
            words = _read_limit(payload)
        elif kind in _ENDS:
            words = _read_limit(as_dict(payload.get("error"))) or (None if payload.get("last_agent_message") else words)
    return words


def _read_limit(error: dict[str, object]) -> str | None:
    info = error.get("codex_error_info")
    is_limit = info == _USED_UP
    if isinstance(info, dict):
        is_limit = as_dict(info.get(_GIVEN_UP)).get("http_status_code") == _TOO_MANY_REQUESTS
    return (as_text(error.get("message")).strip() or _USED_UP) if is_limit else None
