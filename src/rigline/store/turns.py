"""Which prompts of a session were left behind when its user went back and asked something else. Pure."""

from __future__ import annotations

from rigline.model import SESSION_START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def find_abandoned(parents: Mapping[str, str], last: str) -> frozenset[str]:
    """The turns that branch off the living line, which leads from the `last` turn back to its root.

    `parents` maps each turn to the one before it, the first to `SESSION_START` where that is known. A turn whose way
    back does not reach the living line is kept: where a parent is not known, nothing shows that it was left.
    """
    living = dict.fromkeys(_walk(parents, last))
    meets: dict[str, bool] = dict.fromkeys(living, True)
    if any(parents[turn] == SESSION_START for turn in list(living)[-1:]):
        meets[SESSION_START] = True
    for turn in parents:
        path = []
        for step in _walk(parents, turn):
            if step in meets:
                break
            path.append(step)
        meets.update(dict.fromkeys(path, bool(path) and meets.get(parents[path[-1]], False)))
    return frozenset(turn for turn in parents if meets[turn] and turn not in living)


def _walk(parents: Mapping[str, str], turn: str) -> Iterator[str]:
    """The turn and those before it, as far as they are known; ends at a circle too."""
    passed: set[str] = set()
    while turn in parents and turn not in passed:
        yield turn
        passed.add(turn)
        turn = parents[turn]
