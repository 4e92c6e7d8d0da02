"""Notice a model that goes round in circles.

Knows: how often a call came to the same, and what counts as getting on. Does not know: what follows from it.
A call that fails counts whatever its words; one that succeeds counts with its result. Counts begin afresh when
something new was done: a call with an effect that had not been carried out with this result before in the turn.
"""

from collections import Counter

from msgspec import Struct


class Repeatable(Struct, frozen=True):
    """A call and what came of it; `result` is empty for a failure."""

    call: str
    result: str = ""


class LoopGuard:
    """The calls of one turn, counted."""

    def __init__(self) -> None:
        self._counts: Counter[Repeatable] = Counter()
        self._known: set[Repeatable] = set()

    def count(self, done: Repeatable, *, has_effect: bool) -> int:
        """Take one call; give how often it came to this since the turn last got on, this time included."""
        if has_effect and done.result and done not in self._known:
            self._counts.clear()
        self._known.add(done)
        self._counts[done] += 1
        return self._counts[done]
