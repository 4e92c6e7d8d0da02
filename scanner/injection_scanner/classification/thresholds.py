"""Compute the scores at which a passage is warned about or blocked, from its text's length, tone and source.

Values are log odds. Long texts have higher thresholds, because each of their passages may be a false alarm. So do texts
whose passages score high throughout, because an injected order stands out from the rest.
"""

from math import log
from typing import Final

from msgspec import Struct

from injection_scanner.classification.classifier import ScoreFloors
from injection_scanner.classification.features import Weights
from injection_scanner.classification.threshold_adjustment import MAX_ADJUSTMENT, MAX_SINGLE_ADJUSTMENT
from injection_scanner.findings import Source

OUTPUT_RISE: Final = 2.5
"""The increase of both thresholds for command output, which rarely addresses a reader."""

STEP: Final = 0.25
"""The increase of both thresholds per level."""

USUAL: Final = 100
MIN_LENGTH, MAX_LENGTH = 20, 400
RISE: Final = 0.4
"""The increase of the thresholds for a text with e times as many passages."""

SHARE: Final = 0.5
"""The increase of the thresholds for a text whose typical score is higher by one."""

MAX_SHIFT: Final = 2.5
A_PASSAGE: Final = 100
DOUBT: Final = 0.6
"""The reduction of the warning threshold if there is other evidence."""


class Thresholds(Struct, frozen=True):
    """The scores from which a passage counts; `doubtful_at` applies if there is other evidence against the passage.

    Below `least`, a passage is not examined further. The `long` thresholds are for runs of consecutive passages.
    """

    warn_at: float
    block_at: float
    doubtful_at: float
    hidden_at: float
    long_warn_at: float
    long_block_at: float
    least: ScoreFloors


def thresholds_of(weights: Weights, level: int, source: Source) -> Thresholds:
    """Return the thresholds for a text of the given level (see `level_of`)."""
    more = level * STEP + (OUTPUT_RISE if source == "output" else 0.0)
    warn_at = weights.warn_at + more
    return Thresholds(
        warn_at,
        weights.block_at + more,
        warn_at - DOUBT,
        weights.hidden_at,
        weights.long_warn_at + (OUTPUT_RISE if source == "output" else 0.0),
        weights.long_block_at + (OUTPUT_RISE if source == "output" else 0.0),
        ScoreFloors(warn_at - MAX_ADJUSTMENT.warn, warn_at - max(MAX_SINGLE_ADJUSTMENT, DOUBT)),
    )


def level_of(text: str, tone: float) -> int:
    """Return how many times `STEP` the thresholds for a text exceed those for an ordinary one of `USUAL` passages.

    `tone` is the difference of its typical score from an ordinary one (see `tone_of`).
    """
    passages = min(MAX_LENGTH, max(MIN_LENGTH, (len(text) - text.count("\n")) / A_PASSAGE))
    rise = RISE * log(passages / USUAL) + SHARE * max(-MAX_SHIFT, min(MAX_SHIFT, tone))
    return round(rise / STEP)
