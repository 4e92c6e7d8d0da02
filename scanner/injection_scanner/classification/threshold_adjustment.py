"""Lower the thresholds for a passage that requests harm, or works on its reader.

A deed is harm to do; a turn is how a reader is brought to it: spoken to, given another self, sworn to
silence. Honest text has one or the other; hardly ever both in one passage.
"""

from typing import Final

from msgspec import Struct

from injection_scanner.classification.cues import Cue, load_cues

ALIKE: Final = frozenset(("!protection off", "!nobody asked"))
"""Two that one word may do are one."""

FIRM, LOOSE = 2, 1
"""What a cue counts beside a deed; loose ones stand in honest text as well."""


class ThresholdAdjustment(Struct, frozen=True):
    """How much lower the bars of a block and of a warning are, in log odds."""

    block: float
    warn: float


NONE = ThresholdAdjustment(0.0, 0.0)
DEEDS: Final = (
    NONE,
    ThresholdAdjustment(1.2, 0.0),
    ThresholdAdjustment(2.0, 0.4),
    ThresholdAdjustment(3.6, 2.6),
    ThresholdAdjustment(4.4, 3.0),
)
"""For a passage with a deed, by what its cues count together; only a firm turn gets it beyond `WITHOUT_ADDRESS`."""

WITHOUT_ADDRESS: Final = 2
ADDRESSES: Final = (
    NONE,
    ThresholdAdjustment(1.2, 0.0),
    ThresholdAdjustment(1.2, 0.0),
    ThresholdAdjustment(2.2, 0.6),
)
"""For a passage with turns alone, by what they count together."""

MAX_ADJUSTMENT = DEEDS[-1]
MAX_SINGLE_ADJUSTMENT = max(ease.warn for ease in (*DEEDS[: WITHOUT_ADDRESS + 1], *ADDRESSES))
"""How much lower the bar of a warning is at most where there is no pair of a deed and a firm turn."""


def is_deed(cue: Cue) -> bool:
    """Return whether a cue is harm to do."""
    return cue.role == "deed"


def is_firm_address(cue: Cue) -> bool:
    """Return whether a cue turns to the reader as honest text does not."""
    return cue.role == "turn" and not cue.loose


def threshold_adjustment(features: tuple[str, ...]) -> ThresholdAdjustment:
    """Return how much lower the bars are for a passage with these features; each cue that damps takes one away."""
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
