"""What a stand-in answers: the prompt's directive decides, as with the scripted model."""

from __future__ import annotations


def answer(prompt: str, history: list[str]) -> str:
    """`say: TEXT` gives TEXT; `recall: WORD` says whether the word is in the history; anything else is echoed."""
    directive, _, rest = prompt.partition(": ")
    if directive == "say":
        return rest
    if directive == "recall":
        found = "yes" if any(rest in text for text in history) else "no"
        return f"recall {rest}: {found}"
    return f"echo: {prompt}"
