"""Caches of passages and blocks in which nothing was found, so that they are not scanned again."""

from functools import cache

from injection_scanner.classification.classifier import WeighedPassage
from injection_scanner.findings import Source

MAX_CACHED = 20_000
MAX_PASSAGE_CHARS = 800


class BenignPassages:
    """Passages in which nothing was found, cached because files are read repeatedly and rarely change.

    The findings in a passage depend on the passage alone; only their weight depends on the context.
    """

    def __init__(self) -> None:
        self._known: dict[str, WeighedPassage] = {}

    def get(self, passage: str) -> WeighedPassage | None:
        """Return the weight of a passage's words, or None for an unknown passage."""
        return self._known.get(passage)

    def add(self, passage: str, weighed: WeighedPassage) -> None:
        """Add a passage to the cache, which is cleared when it is full."""
        if len(passage) <= MAX_PASSAGE_CHARS:
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            self._known[passage] = weighed


class BlocksWithoutPayloads:
    """Blocks in which no split payload was found, which depends on the block alone."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, block: str) -> bool:
        return block in self._known

    def add(self, block: str) -> None:
        """Add a block to the cache, which is cleared when it is full."""
        if len(block) <= MAX_PASSAGE_CHARS:
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            self._known.add(block)


@cache
def load_blocks_without_payloads() -> BlocksWithoutPayloads:
    """Return the blocks in which this process has found no split payload."""
    return BlocksWithoutPayloads()


@cache
def load_benign_passages(level: int, source: Source) -> BenignPassages:
    """Return the passages that this process has found harmless in texts with the given thresholds."""
    return BenignPassages()
