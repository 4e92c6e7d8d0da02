"""Logistic regression over sparse binary features with limited-memory BFGS; deterministic for the same rows.

Source: Nocedal and Wright, Numerical Optimization, algorithms 7.4 (two-loop recursion) and 3.1 (backtracking).
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Evaluated = tuple[float, Vector]

STEPS = 90
KEPT = 8
"""The number of earlier steps from which the curvature is estimated."""

PULL = 0.2
"""The strength of the regularisation (the factor of the squared norm is half of it)."""

SLIGHT = 2e-6
"""Stop once a step improves the loss by less than this fraction."""

FIRST_BIAS = -2.0


class SparseRows:
    """Rows of present features, each weighted with the row's factor."""

    def __init__(self, flat: NDArray[np.int64], counts: NDArray[np.int64], factors: Vector) -> None:
        self.flat = flat
        self._counts = counts
        self._factors = factors
        self._starts = np.concatenate(([0], np.cumsum(counts)))

    @classmethod
    def of(cls, rows: Iterable[Iterable[int]], factors: Iterable[float]) -> "SparseRows":
        """Pack the rows."""
        flat, counts = array("q"), array("q")
        for row in rows:
            before = len(flat)
            flat.extend(row)
            counts.append(len(flat) - before)
        return cls(np.array(flat, np.int64), np.array(counts, np.int64), np.array(list(factors)))

    def chosen(self, rows: NDArray[np.int64]) -> "SparseRows":
        """Return the chosen rows."""
        counts = self._counts[rows]
        ends = np.cumsum(counts)
        shift = np.repeat(self._starts[rows] - (ends - counts), counts)
        return SparseRows(self.flat[np.arange(counts.sum()) + shift], counts, self._factors[rows])

    def followed_by(self, other: "SparseRows") -> "SparseRows":
        """Return these rows followed by those of another set."""
        return SparseRows(
            np.concatenate((self.flat, other.flat)),
            np.concatenate((self._counts, other._counts)),
            np.concatenate((self._factors, other._factors)),
        )

    def only(self, known: NDArray[np.bool_]) -> "SparseRows":
        """Return the rows with only the known features, renumbered."""
        stays = known[self.flat]
        before = np.concatenate(([0], np.cumsum(stays)))
        counts = before[self._starts[1:]] - before[self._starts[:-1]]
        return SparseRows((np.cumsum(known) - 1)[self.flat[stays]], counts, self._factors)

    def scores(self, weights: Vector) -> Vector:
        """Return each row's factor times the sum of its features' weights."""
        sums = np.concatenate(([0.0], np.cumsum(weights[self.flat])))
        return self._factors * (sums[self._starts[1:]] - sums[self._starts[:-1]])

    def slopes(self, pulls: Vector, count: int) -> Vector:
        """Return the gradient for `count` features: the sum of their rows' contributions."""
        return np.bincount(self.flat, np.repeat(pulls * self._factors, self._counts), count).astype(
            np.float64
        )


def fit_rows(rows: SparseRows, answers: Vector, importance: Vector, features: int) -> tuple[Vector, float]:
    """Return the feature weights and the bias that best fit the labels (1 or 0)."""
    signs = 2 * answers - 1

    def loss(point: Vector) -> Evaluated:
        weights, bias = point[:-1], float(point[-1])
        margins = signs * (rows.scores(weights) + bias)
        pulls = -importance * signs / (1 + np.exp(np.minimum(margins, 500)))
        value = float(importance @ np.logaddexp(0, -margins)) + PULL / 2 * float(weights @ weights)
        return value, np.append(rows.slopes(pulls, features) + PULL * weights, pulls.sum())

    found = minimise(loss, np.append(np.zeros(features), FIRST_BIAS))
    return found[:-1], float(found[-1])


def minimise(loss: Callable[[Vector], Evaluated], point: Vector) -> Vector:
    """Find the weights that minimise the loss."""
    past: deque[tuple[Vector, Vector]] = deque(maxlen=KEPT)
    value, slope = loss(point)
    for _ in range(STEPS):
        direction = -_two_loops(slope, past)
        stride, downhill = 1.0 if past else 1 / float(np.abs(slope).sum()), float(slope @ direction)
        while True:
            ahead = point + stride * direction
            new_value, new_slope = loss(ahead)
            if new_value <= value + 1e-4 * stride * downhill or stride < 1e-10:
                break
            stride /= 2
        moved, turned = ahead - point, new_slope - slope
        if float(moved @ turned) > 1e-10:
            past.append((moved, turned))
        gained = value - new_value
        point, value, slope = ahead, new_value, new_slope
        if gained < SLIGHT * abs(value):
            break
    return point


def _two_loops(slope: Vector, past: deque[tuple[Vector, Vector]]) -> Vector:
    """Return the product of the estimated inverse Hessian and a gradient."""
    found = slope.copy()
    shares: list[float] = []
    for moved, turned in reversed(past):
        share = float(moved @ found) / float(moved @ turned)
        found -= share * turned
        shares.append(share)
    if past:
        moved, turned = past[-1]
        found *= float(moved @ turned) / float(turned @ turned)
    for (moved, turned), share in zip(past, reversed(shares), strict=True):
        found += (share - float(turned @ found) / float(moved @ turned)) * moved
    return found
