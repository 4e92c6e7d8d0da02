"""Merge and split overlapping regions of a text, given by start and end."""

from collections.abc import Iterable, Iterator
from typing import Final

Region = tuple[int, int]

MAX_OVERLAP: Final = 4
"""The number of times that regions may cover a text before they are merged."""

PIECE: Final = 3000
SHARED: Final = 400
"""The overlap of two pieces in letters, so that anything across their boundary is inside one of them."""


def within_budget(regions: list[Region], length: int) -> list[Region]:
    """Return the regions unchanged, or pieces of them if they cover a text of the given length too often."""
    covered = sum(end - start for start, end in regions)
    return regions if covered <= MAX_OVERLAP * max(length, PIECE) else list(pieces_of(merge_regions(regions)))


def merge_regions(regions: Iterable[Region]) -> list[Region]:
    """Merge regions that touch or overlap, in order."""
    found: list[Region] = []
    for start, end in sorted(regions):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def pieces_of(regions: Iterable[Region]) -> Iterator[Region]:
    """Split long regions into overlapping pieces."""
    for start, end in regions:
        for begin in range(start, max(start + 1, end - SHARED), PIECE - SHARED):
            yield begin, min(end, begin + PIECE)
