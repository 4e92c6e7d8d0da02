"""Count repetitions of the same call.

All failures of a call count as the same, whatever the message; a successful call counts together with its result.
Counts restart after progress: a call with an effect that has not been carried out with this result before in the turn.
"""

from collections import Counter

from msgspec import Struct


class Repeatable(Struct, frozen=True):
    """A call and its result; `result` is empty for a failure."""

    call: str
    result: str = ""


class LoopGuard:
    """The counts of one turn."""

    def __init__(self) -> None:
        self._counts: Counter[Repeatable] = Counter()
        self._known: set[Repeatable] = set()

    def count(self, done: Repeatable, *, has_effect: bool) -> int:
        """Count a call; return how often it has had this result since the last progress, this time included."""
        if has_effect and done.result and done not in self._known:
            self._counts.clear()
        self._known.add(done)
        self._counts[done] += 1
        return self._counts[done]
