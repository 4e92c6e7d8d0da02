"""Compare a call's effects with its tool's declared capabilities.

An undeclared effect is a fault of the tool, not a question for the user.
"""

from collections.abc import Iterable

from hermes_acp.core.event_types import Capability
from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Invokes,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Runs,
    Writes,
)


def required_capability(effect: Effect) -> Capability | None:
    """Return the capability that a tool must declare to have this effect, if any."""
    match effect:
        case Reads() | Writes() | Deletes():
            return "files"
        case Runs():
            return "processes"
        case Reaches() | Presses() | Calls():
            return "network"
        case Recalls() | Remembers():
            return "memory"
        case Invokes(capability=capability):
            return capability


def undeclared_effects(effects: Iterable[Effect], capabilities: frozenset[Capability]) -> tuple[Effect, ...]:
    """Return the effects for which no capability was declared."""
    needed = ((effect, required_capability(effect)) for effect in effects)
    return tuple(effect for effect, capability in needed if capability and capability not in capabilities)
