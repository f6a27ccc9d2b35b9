"""What is looked up for rows: those on the screen first, each once, and never in the way."""

from __future__ import annotations

import threading

from rigline.tui.looker import Looker

SOON_S = 10.0


class Ears:
    """Hears what a looker tells, and lets it go on step by step."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str | None]] = []
        self.asked = threading.Semaphore(0)
        self.gate = threading.Semaphore(0)
        self.told = threading.Semaphore(0)

    def look(self, key: str) -> str:
        self.asked.release()
        self.gate.acquire(timeout=SOON_S)
        if key == "bad":
            raise ValueError(key)
        return key.upper()

    def tell(self, key: str, found: str | None) -> None:
        self.heard.append((key, found))
        self.told.release()

    def step(self) -> None:
        assert self.asked.acquire(timeout=SOON_S)
        self.gate.release()
        assert self.told.acquire(timeout=SOON_S)


def test_what_is_wanted_last_comes_next_and_each_only_once() -> None:
    ears = Ears()
    looker = Looker(ears.look, ears.tell)
    looker.want(["a", "b", "c"])
    assert ears.asked.acquire(timeout=SOON_S)
    looker.want(["c", "a", "b"])
    ears.gate.release()
    assert ears.told.acquire(timeout=SOON_S)
    ears.step()
    ears.step()
    looker.want(["a", "d"])
    ears.step()
    looker.stop()
    assert ears.heard == [("a", "A"), ("c", "C"), ("b", "B"), ("d", "D")]


def test_a_failure_is_told_as_nothing_and_the_next_is_looked_up() -> None:
    ears = Ears()
    looker = Looker(ears.look, ears.tell)
    looker.want(["bad", "good"])
    ears.step()
    ears.step()
    looker.stop()
    assert ears.heard == [("bad", None), ("good", "GOOD")]


def test_after_the_end_nothing_is_told() -> None:
    ears = Ears()
    looker = Looker(ears.look, ears.tell)
    looker.want(["a", "b"])
    assert ears.asked.acquire(timeout=SOON_S)
    looker.stop()
    ears.gate.release()
    assert not ears.asked.acquire(timeout=0.2)
    assert ears.heard == []
