"""Compute the scores at which a passage is warned about or blocked, from its text's length and source.

Values are log odds. Long texts need more, because each of their passages may be a false alarm.
"""

from math import log
from typing import Final

from msgspec import Struct

from injection_scanner.classification.classifier import ScoreFloors
from injection_scanner.classification.features import Weights
from injection_scanner.classification.threshold_adjustment import MAX_ADJUSTMENT, MAX_SINGLE_ADJUSTMENT
from injection_scanner.findings import Source

OUTPUT_RISE: Final = 1.5
"""How much higher both thresholds are for output, which quotes, lists and logs far more than it addresses a reader."""

USUAL: Final = 100
MIN_LENGTH, MAX_LENGTH = 37, 400
RISE: Final = 0.8
"""How much higher the thresholds are for a text with e times as many passages."""

STEADIER: Final = 0.25
"""The share of that by which the block threshold rises: text cut out of a short document is missed more."""

A_PASSAGE: Final = 100
DOUBT: Final = 0.6
"""How much lower the warning threshold is if there is other evidence."""


class Thresholds(Struct, frozen=True):
    """Scores from which a passage counts; `doubtful_at` applies if there is other evidence against the passage.

    Below `least`, a passage is not examined further. The `long` ones are for runs of consecutive passages.
    """

    warn_at: float
    block_at: float
    doubtful_at: float
    hidden_at: float
    long_warn_at: float
    long_block_at: float
    least: ScoreFloors


def thresholds_of(weights: Weights, level: int, source: Source) -> Thresholds:
    """Return the thresholds for a text of a given length level."""
    more = OUTPUT_RISE if source == "output" else 0.0
    raised = level * RISE
    warn_at = weights.warn_at + raised + more
    return Thresholds(
        warn_at,
        weights.block_at + raised * STEADIER + more,
        warn_at - DOUBT,
        weights.hidden_at,
        weights.long_warn_at + more,
        weights.long_block_at + more,
        ScoreFloors(warn_at - MAX_ADJUSTMENT.warn, warn_at - max(MAX_SINGLE_ADJUSTMENT, DOUBT)),
    )


def level_of(text: str) -> int:
    """Return how many times `RISE` the thresholds for this text exceed those for one of `USUAL` passages."""
    passages = (len(text) - text.count("\n")) / A_PASSAGE
    return round(log(min(MAX_LENGTH, max(MIN_LENGTH, passages)) / USUAL))
