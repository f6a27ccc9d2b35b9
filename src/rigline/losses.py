"""Losses in words: what was skipped, damaged, replaced or cut on the way into the ledger. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rigline.readable import clean

#: kind -> (what one of it is called, what several are); kinds come from adapters, redaction and the ledger's intake
_WORDS = {
    "truncated": ("record that was cut off in the file", "records that were cut off in the file"),
    "glued": ("record recovered from a glued line", "records recovered from glued lines"),
    "nul_run": ("stretch of NUL bytes", "stretches of NUL bytes"),
    "invalid_utf8": ("record with bytes that are no text", "records with bytes that are no text"),
    "lone_surrogate": ("record with half a character", "records with half a character"),
    "not_json": ("line that is no record", "lines that are no records"),
    "not_an_object": ("line that is no record", "lines that are no records"),
    "damaged_row": ("row of a database that is damaged", "rows of a database that are damaged"),
    "oversized": ("line too long to read", "lines too long to read"),
    "text_cut": ("text cut at its limit", "texts cut at their limit"),
    "hidden_reasoning": ("piece of hidden reasoning left out", "pieces of hidden reasoning left out"),
    "system_prompt": ("system prompt left out", "system prompts left out"),
    "meta": ("note of the agent's program left out", "notes of the agent's program left out"),
    "withheld_command": ("command that was kept from the agent", "commands that were kept from the agent"),
    "own_packet": ("packet of history that rigline had shown", "packets of history that rigline had shown"),
    "api_error": ("error of the vendor's service left out", "errors of the vendor's service left out"),
    "synthetic": ("answer that the agent's program made up", "answers that the agent's program made up"),
    "sidechain": ("record of a subagent within another session", "records of subagents within another session"),
    "foreign_session": ("record of another session in the file", "records of another session in the file"),
    "unfinished": ("step that was not done", "steps that were not done"),
    "unreadable_steps": ("conversation in a form that is not public", "conversations in a form that is not public"),
    "encrypted_compaction": ("compaction that only the vendor can read", "compactions that only the vendor can read"),
}
_REDACTED, _ATTACHMENT, _UNKNOWN = "redacted:", "attachment_", "unknown:"


def add_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sums by kind."""
    total: dict[str, int] = {}
    for each in counts:
        for kind, count in each.items():
            total[kind] = total.get(kind, 0) + count
    return total


def describe_losses(losses: Mapping[str, int]) -> list[str]:
    """Each kind with its number in words, the most frequent first; secrets together, with their families."""
    secrets = {kind.removeprefix(_REDACTED): n for kind, n in losses.items() if kind.startswith(_REDACTED)}
    others = {kind: n for kind, n in losses.items() if not kind.startswith(_REDACTED) and n}
    sentences = [_describe(kind, count) for kind, count in _sort(others)]
    if secrets:
        families = ", ".join(f"{clean(family).replace('_', ' ')} {count:,}" for family, count in _sort(secrets))
        total = sum(secrets.values())
        sentences.insert(0, f"{total:,} secret{'s' if total != 1 else ''} replaced ({families})")
    return sentences


def _describe(kind: str, count: int) -> str:
    one, several = _WORDS.get(kind) or _find_words(kind)
    return f"{count:,} {one if count == 1 else several}"


def _find_words(kind: str) -> tuple[str, str]:
    name = clean(kind).replace("_", " ")
    if kind.startswith(_ATTACHMENT):
        what = name.removeprefix("attachment ")
        return f"attached {what} left out", f"attached {what}s left out"
    if kind.startswith(_UNKNOWN):
        what = name.removeprefix(_UNKNOWN)
        return f"record of an unknown kind ({what})", f"records of an unknown kind ({what})"
    return name, name


def _sort(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
