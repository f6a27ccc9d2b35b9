"""Which prompt each record of a transcript answers. Pure.

In most harnesses records form a tree: each names its parent, and a rewound or doubly opened session has several
leaves. Between prompts stand records that are no events (listings, progress, hooks, notices), and some versions hang
records on those that the next one does not know. So a record belongs to the turn of its parent, an unknown parent means
the turn before it in the file, and only places of the recent past are remembered. Where records only follow each
other, so do the turns.
"""

from __future__ import annotations

from msgspec import Struct

from rigline.model import SESSION_START

#: records of the running turn that others may still hang on: parallel tools
_RECENT = 64
#: past turns that a rewind may go back to
_ENDS = 64


class Turn(Struct, frozen=True, array_like=True):
    """A turn by the record of its prompt, and the turn before it; both empty before the first prompt."""

    prompt: str = ""
    parent: str = ""


class TurnsState(Struct, frozen=True, array_like=True):
    """What the next window needs, a few KB at most: turns, and (record, place in `turns`) of what may be hung on."""

    turns: tuple[Turn, ...] = (Turn(),)
    current: int = 0
    last: str = ""
    recent: tuple[tuple[str, int], ...] = ()
    ends: tuple[tuple[str, int], ...] = ()


class Turns:
    """Gives each record its turn, in the order of the file. A state whose places do not fit counts as a beginning."""

    def __init__(self, state: TurnsState) -> None:
        places = [state.current, *(place for _, place in (*state.recent, *state.ends))]
        if not all(0 <= place < len(state.turns) for place in places):
            state = TurnsState()
        turns = state.turns
        self._current = turns[state.current]
        self._last = state.last
        self._recent = {record: turns[place] for record, place in state.recent}
        self._ends = {record: turns[place] for record, place in state.ends}

    @property
    def current(self) -> Turn:
        """The turn of the record that was placed last."""
        return self._current

    def place(self, own: str, parent: str, *, is_prompt: bool) -> Turn:
        """The turn of a record that hangs on `parent` (empty: on nothing). One without an id belongs to the one before.

        A prompt that hangs on nothing began a tree of its own; anything else there is a hook's or a listing.
        """
        if not own:
            return self._current
        if parent:
            before = self._recent.get(parent) or self._ends.get(parent) or self._current
        else:
            before = Turn() if is_prompt else self._current
        return self._remember(own, Turn(own, before.prompt) if is_prompt else before)

    def follow(self, own: str, *, is_prompt: bool) -> Turn:
        """The turn of a record that only follows the one before it. The first prompt is known to be the first."""
        if not is_prompt or not own:
            return self._current
        self._current = Turn(own, self._current.prompt or SESSION_START)
        return self._current

    def _remember(self, own: str, turn: Turn) -> Turn:
        if turn.prompt != self._current.prompt and self._last:
            _remember(self._ends, self._last, self._current, _ENDS)
        _remember(self._recent, own, turn, _RECENT)
        self._current, self._last = turn, own
        return turn

    def get_state(self) -> TurnsState:
        """What a reader that goes on behind the last record has to know."""
        turns = tuple(dict.fromkeys([self._current, *self._recent.values(), *self._ends.values()]))
        places = {turn: place for place, turn in enumerate(turns)}
        return TurnsState(
            turns,
            places[self._current],
            self._last,
            tuple((record, places[turn]) for record, turn in self._recent.items()),
            tuple((record, places[turn]) for record, turn in self._ends.items()),
        )


def _remember(places: dict[str, Turn], record: str, turn: Turn, limit: int) -> None:
    places.pop(record, None)
    places[record] = turn
    if len(places) > limit:
        del places[next(iter(places))]
