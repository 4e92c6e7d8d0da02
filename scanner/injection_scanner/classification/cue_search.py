"""Search a passage for cues only while they can change the result.

Searching for a cue costs more than reading the passage. Most passages score so low that a few searches show that the
others are pointless.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from injection_scanner.classification.cues import Cue, load_cues, pattern_of, possible_cues
from injection_scanner.classification.features import Weights
from injection_scanner.classification.threshold_adjustment import is_deed, is_firm_address

MAX_CACHED: Final = 10_000


class MissingScore(Struct, frozen=True):
    """The score that cues must add to matter, with a deed and a turn among them, and `alone`, without that pair."""

    paired: int
    alone: int


class CueReach(Struct, frozen=True):
    """Cues in search order, and the maximum score that all of them can add.

    In `by_role`, the cues required for a pair of a deed and a turn come first.
    """

    cues: tuple[Cue, ...]
    by_role: tuple[Cue, ...]
    total: int


class CueSearch:
    """Searches for cues in order of what they can add, caching everything that does not depend on the passage."""

    def __init__(self, weights: Weights) -> None:
        cues = load_cues()
        self._ties: dict[str, dict[str, int]] = {}
        for feature, weight in weights.features.items():
            if feature[0] == "!" and weight > 0:
                one, _, two = feature.partition("&")
                self._ties.setdefault(one[1:], {})[two] = weight
                self._ties.setdefault(two, {})[one[1:]] = weight
        self._most = [(needed, self._most_of(cue)) for needed, cue in cues.loud]
        self._damped = sum(map(self._most_of, cues.damping))
        self._beside = frozenset(("", *(cue.id for cue in cues.damping)))
        self._known: dict[int, CueReach] = {}

    def find(self, text: str, limit: int, bits: int, lack: MissingScore | None) -> dict[str, int]:
        """Return where each possible cue first occurs in the first `limit` letters; `bits` are its word classes.

        Returns None if the cues cannot add the missing score. Damping cues are not searched for.
        """
        if lack is None:
            return _places(possible_cues(bits), text, limit)
        if not self._can_reach(bits, lack):
            return {}
        reach = self._reach_for(bits)
        left = reach.total
        deeds = {cue.id for cue in reach.cues if is_deed(cue)}
        turns = {cue.id for cue in reach.cues if is_firm_address(cue)}
        present = {cue.id for cue in reach.cues} | self._beside
        found: dict[str, int] = {}
        for cue in reach.cues if left >= lack.alone else reach.by_role:
            if left < (lack.paired if deeds and turns else lack.alone):
                return {}
            seen = pattern_of(cue).search(text, 0, limit)
            if seen:
                found[cue.id] = seen.start()
                continue
            present.discard(cue.id)
            deeds.discard(cue.id)
            turns.discard(cue.id)
            left -= self._added(cue, present)
        return found

    def find_again(self, text: str, limit: int, found: Iterable[str]) -> dict[str, int]:
        """Return where cues found in a passage first occur in the first `limit` letters of a part of it."""
        by_id = load_cues().by_id
        return _places([by_id[each] for each in found], text, limit)

    def _can_reach(self, bits: int, lack: MissingScore) -> bool:
        """Estimate, counting each pair twice, whether an exact computation is worthwhile."""
        return (
            self._damped + sum([most for needed, most in self._most if bits & needed == needed])
            >= lack.paired
        )

    def _reach_for(self, bits: int) -> CueReach:
        if (known := self._known.get(bits)) is not None:
            return known
        if len(self._known) >= MAX_CACHED:
            self._known.clear()
        possible = sorted(possible_cues(bits), key=self._promise, reverse=True)
        beside = {""}
        total = 0
        for cue in (*load_cues().damping, *possible):
            total += self._added(cue, beside)
            beside.add(cue.id)
        first = min((list(filter(is_deed, possible)), list(filter(is_firm_address, possible))), key=_cost_of)
        by_role = (*first, *(cue for cue in possible if cue not in first))
        self._known[bits] = found = CueReach(tuple(possible), by_role, total)
        return found

    def _added(self, cue: Cue, beside: set[str]) -> int:
        """Return the maximum score that a cue can add to others."""
        ties = self._ties.get(cue.id, {})
        return sum([ties[other] for other in ties.keys() & beside])

    def _most_of(self, cue: Cue) -> int:
        return sum(self._ties.get(cue.id, {}).values())

    def _promise(self, cue: Cue) -> float:
        """Return what a cue can add in relation to the cost of searching for it."""
        return self._most_of(cue) / len(cue.pattern)


def _places(cues: list[Cue], text: str, limit: int) -> dict[str, int]:
    searched = ((cue.id, pattern_of(cue).search(text, 0, limit)) for cue in cues)
    return {cue_id: seen.start() for cue_id, seen in searched if seen}


def _cost_of(cues: list[Cue]) -> int:
    return sum(len(cue.pattern) for cue in cues)
