"""Lower the thresholds for a passage that requests harm or manipulates its reader.

A deed is a harmful act. A turn leads the reader to it: by addressing them, giving them another identity, or swearing
them to secrecy. Benign text contains one or the other, but hardly ever both in one passage.
"""

from typing import Final

from msgspec import Struct

from injection_scanner.classification.cues import Cue, load_cues

ALIKE: Final = frozenset(("!protection off", "!nobody asked"))
"""Two cues that the same word may trigger; they count as one."""

FIRM, LOOSE = 2, 1
"""The weight of a cue next to a deed. Loose cues also occur in benign text."""


class ThresholdAdjustment(Struct, frozen=True):
    """The reduction of the thresholds for a block and for a warning, in log odds."""

    block: float
    warn: float


NONE = ThresholdAdjustment(0.0, 0.0)
DEEDS: Final = (
    NONE,
    ThresholdAdjustment(0.6, 0.0),
    ThresholdAdjustment(1.0, 0.2),
    ThresholdAdjustment(1.8, 1.3),
    ThresholdAdjustment(2.2, 1.5),
)
"""The reductions for a passage with a deed, by its total cue count; beyond `WITHOUT_ADDRESS`, it needs a firm turn."""

WITHOUT_ADDRESS: Final = 2
ADDRESSES: Final = (
    NONE,
    ThresholdAdjustment(0.6, 0.0),
    ThresholdAdjustment(0.6, 0.0),
    ThresholdAdjustment(1.1, 0.3),
)
"""The reductions for a passage with turns only, by their total count."""

MAX_ADJUSTMENT = DEEDS[-1]
MAX_SINGLE_ADJUSTMENT = max(ease.warn for ease in (*DEEDS[: WITHOUT_ADDRESS + 1], *ADDRESSES))
"""The largest reduction of the warning threshold without a pair of a deed and a firm turn."""


def is_deed(cue: Cue) -> bool:
    """Return whether a cue is a harmful act."""
    return cue.role == "deed"


def is_firm_address(cue: Cue) -> bool:
    """Return whether a cue addresses the reader in a manner that does not occur in benign text."""
    return cue.role == "turn" and not cue.loose


def threshold_adjustment(features: tuple[str, ...]) -> ThresholdAdjustment:
    """Return the threshold reduction for a passage with these features; each damping cue cancels one."""
    if not features:
        return NONE
    cues = load_cues()
    acts = [cues.by_id[each[1:]] for each in features if each[0] == "!" and "&" not in each]
    loud = [cue for cue in acts if not cue.damps]
    count = sum(LOOSE if cue.loose else FIRM for cue in loud) - (len(acts) - len(loud))
    count -= {*features} >= ALIKE
    steps = DEEDS if any(map(is_deed, loud)) else ADDRESSES
    if steps is DEEDS and not any(map(is_firm_address, loud)):
        count = min(count, WITHOUT_ADDRESS)
    return steps[max(0, min(count, len(steps) - 1))]
