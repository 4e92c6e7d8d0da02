"""Find the highest-scoring span of words in a passage, and its decisive part."""

from itertools import accumulate
from math import sqrt
from operator import sub

SHORT, LONG = 14, 40


def best_span(values: list[int]) -> tuple[int, int, int]:
    """Return the highest-scoring span of `SHORT` or `LONG` consecutive words: its sum, start and end."""
    count = len(values)
    if not any(values):
        return 0, 0, min(count, SHORT)
    sums = [0, *accumulate(values)]
    best = (sums[-1], 0, count) if count <= LONG else (-(10**9), 0, LONG)
    for width in (SHORT, LONG):
        if count > width:
            ahead = list(map(sub, sums[width:], sums))
            top = max(ahead)
            if top / sqrt(width) > best[0] / sqrt(best[2] - best[1]):
                at = ahead.index(top)
                best = (top, at, at + width)
    return best


def best_subspan(values: list[int], first: int, last: int) -> tuple[int, int]:
    """Return the part of a span with the largest sum (Kadane's algorithm)."""
    best, found = -1, (first, last)
    total, begin = 0, first
    for at in range(first, last):
        if total <= 0:
            total, begin = 0, at
        total += values[at]
        if total > best:
            best, found = total, (begin, at + 1)
    return found
