"""Compare a call's effects with the capabilities that its tool declares.

An undeclared effect is a bug in the tool, so the user is not asked about it.
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
    """Return the capability that a tool must declare for this effect, or None if it needs none."""
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
    """Return the effects that none of the declared capabilities covers."""
    needed = ((effect, required_capability(effect)) for effect in effects)
    return tuple(effect for effect, capability in needed if capability and capability not in capabilities)
