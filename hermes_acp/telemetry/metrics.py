"""Counters and histograms in memory, and their text format for Prometheus.

Labels come from outside, so the number of series per metric is bounded; beyond the bound, values count as `other`.
Source: Prometheus exposition formats, text-based format 0.0.4.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MAX_SERIES: Final = 200
OTHER: Final = "other"
ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
Kind = Literal["counter", "gauge", "histogram"]
Labels = tuple[str, ...]
Samples = Mapping[Labels, float]


class Metric(Struct, frozen=True):
    """The name, the description and the label names of a metric."""

    name: str
    about: str
    labels: tuple[str, ...] = ()


class Counts:
    """A number for each combination of labels."""

    def __init__(self, known: Iterable[Labels] = ()) -> None:
        """Initialise; the label values in `known` start at 0, all others appear with their first value."""
        self.values: dict[Labels, float] = dict.fromkeys(known, 0)

    def add(self, labels: Labels = (), amount: float = 1) -> None:
        """Add to the count of the given labels."""
        if labels not in self.values and len(self.values) >= MAX_SERIES:
            labels = (OTHER,) * len(labels)
        self.values[labels] = self.values.get(labels, 0) + amount


class Histogram:
    """A histogram with the number of observations up to each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> Iterable[str]:
        """Yield the sample lines: a cumulative one per bound, then the sum and the count."""
        total = 0
        for bound, count in zip((*self._bounds, math.inf), self._counts, strict=True):
            total += count
            yield _line(f"{name}_bucket", ("le",), (_number(bound),), total)
        yield _line(f"{name}_sum", (), (), self._sum)
        yield _line(f"{name}_count", (), (), total)


def metric_text(metric: Metric, kind: Literal["counter", "gauge"], values: Samples | float) -> str:
    """Return a metric's text; one without labels is a plain number."""
    samples = values if isinstance(values, Mapping) else {(): values}
    lines = (_line(metric.name, metric.labels, labels, value) for labels, value in sorted(samples.items()))
    return _text(metric, kind, lines)


def histogram_text(metric: Metric, histogram: Histogram) -> str:
    """Return a histogram's text."""
    return _text(metric, "histogram", histogram.lines(metric.name))


def _text(metric: Metric, kind: Kind, lines: Iterable[str]) -> str:
    about = metric.about.replace("\\", r"\\").replace("\n", r"\n")
    head = (f"# HELP {metric.name} {about}", f"# TYPE {metric.name} {kind}")
    return "".join(f"{line}\n" for line in (*head, *lines))


def _line(name: str, names: Sequence[str], labels: Labels, value: float) -> str:
    named = ",".join(
        f'{label}="{text.translate(ESCAPES)}"' for label, text in zip(names, labels, strict=True)
    )
    return f"{name}{{{named}}} {_number(value)}" if named else f"{name} {_number(value)}"


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
