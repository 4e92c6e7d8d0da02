"""The ways to a model that were tried in one step, for when none led to an answer.

Knows: what each of them failed with last. Does not know: which way is tried next (`models.routing`), how a failure is
told to an editor.
"""

from copy import copy
from typing import Final

from hermes_acp.core.errors import ModelTrouble
from hermes_acp.models.routing import Way

REASON_CHARACTERS: Final = 200
NONE_ANSWERED: Final = "No model answered."


class TriedWays:
    """What was tried, in the order of the first tries."""

    def __init__(self) -> None:
        self._troubles: dict[Way, ModelTrouble] = {}

    def note(self, way: Way, trouble: ModelTrouble) -> None:
        """Take a failure; of several on the same way the last one is told."""
        self._troubles[way] = trouble

    def retold(self, trouble: ModelTrouble) -> ModelTrouble:
        """Give the last failure as one of all ways: its kind, what stood in the way of each, and every hint once."""
        if len(self._troubles) < 2:
            return trouble
        told = copy(trouble)
        told.message = f"{NONE_ANSWERED} {' '.join(self._told(way) for way in self._troubles)}"
        told.hint = " ".join(dict.fromkeys(each.hint for each in self._troubles.values() if each.hint))
        return told

    def _told(self, way: Way) -> str:
        has_keys = sum(other.route == way.route for other in self._troubles) > 1
        name = f"{way.route} with the key in {way.key}" if has_keys and way.key else way.route
        reason = self._troubles[way].message.strip()
        if len(reason) > REASON_CHARACTERS:
            reason = f"{reason[:REASON_CHARACTERS].rstrip()}…"
        return f"{name}: {reason}"
