"""Passages and blocks in which nothing was found, so that they need not be judged again.

Knows: how many are kept, and for texts of which length. Does not know: how a passage is judged.
"""

from functools import cache

from hermes_acp.knowledge.classifier import Weighed
from hermes_acp.knowledge.thresholds import Source

MOST_KNOWN = 20_000
LONGEST_KNOWN = 800


class Harmless:
    """Passages in which nothing was found: files are read again and again, and mostly stay as they were.

    What is found depends on a passage alone, only how it is weighed depends on what stands around it.
    """

    def __init__(self) -> None:
        self._known: dict[str, Weighed] = {}

    def get(self, passage: str) -> Weighed | None:
        """Give what the words of a passage weigh; None for a passage that is not known."""
        return self._known.get(passage)

    def add(self, passage: str, weighed: Weighed) -> None:
        """Remember a passage; when there are too many, begin anew."""
        if len(passage) <= LONGEST_KNOWN:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[passage] = weighed


class Pieceless:
    """Blocks in which no pieces of an order were found: that depends on a block alone."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, block: str) -> bool:
        return block in self._known

    def add(self, block: str) -> None:
        """Remember a block; when there are too many, begin anew."""
        if len(block) <= LONGEST_KNOWN:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(block)


@cache
def load_pieceless() -> Pieceless:
    """Give the blocks that this process has looked through for pieces in vain."""
    return Pieceless()


@cache
def load_harmless(level: int, source: Source) -> Harmless:
    """Return the passages this process has found harmless in texts with these thresholds."""
    return Harmless()
