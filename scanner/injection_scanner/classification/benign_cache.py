"""A cache of passages and blocks in which nothing was found, so that they are not scanned again."""

from functools import cache

from injection_scanner.classification.classifier import WeighedPassage
from injection_scanner.findings import Source

MAX_CACHED = 20_000
MAX_PASSAGE_CHARS = 800


class BenignPassages:
    """Passages in which nothing was found: files are read again and again, and mostly stay as they were.

    What is found depends on a passage alone, only how it is weighed depends on what stands around it.
    """

    def __init__(self) -> None:
        self._known: dict[str, WeighedPassage] = {}

    def get(self, passage: str) -> WeighedPassage | None:
        """Return what the words of a passage weigh; None for a passage that is not known."""
        return self._known.get(passage)

    def add(self, passage: str, weighed: WeighedPassage) -> None:
        """Remember a passage; when there are too many, begin anew."""
        if len(passage) <= MAX_PASSAGE_CHARS:
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            self._known[passage] = weighed


class BlocksWithoutPayloads:
    """Blocks in which no pieces of an order were found: that depends on a block alone."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, block: str) -> bool:
        return block in self._known

    def add(self, block: str) -> None:
        """Remember a block; when there are too many, begin anew."""
        if len(block) <= MAX_PASSAGE_CHARS:
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            self._known.add(block)


@cache
def load_blocks_without_payloads() -> BlocksWithoutPayloads:
    """Return the blocks that this process has looked through for pieces in vain."""
    return BlocksWithoutPayloads()


@cache
def load_benign_passages(level: int, source: Source) -> BenignPassages:
    """Return the passages this process has found harmless in texts with these thresholds."""
    return BenignPassages()
