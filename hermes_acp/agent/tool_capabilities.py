"""What a tool may have to do with at all.

Knows: which capability each kind of effect takes. Does not know: any tool, any rule. A call whose effects lie beyond
what its tool declares is a fault of the tool's, not a question for the user.
"""

from collections.abc import Iterable

from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Runs,
    Writes,
)
from hermes_acp.core.terms import Capability


def capability_of(effect: Effect) -> Capability:
    """Give what a tool must declare to have this effect."""
    match effect:
        case Reads() | Writes() | Deletes():
            return "files"
        case Runs():
            return "processes"
        case Reaches() | Presses() | Calls():
            return "network"
        case Recalls() | Remembers():
            return "memory"


def effects_beyond(effects: Iterable[Effect], capabilities: frozenset[Capability]) -> tuple[Effect, ...]:
    """Give the effects for which nothing was declared."""
    return tuple(effect for effect in effects if capability_of(effect) not in capabilities)
