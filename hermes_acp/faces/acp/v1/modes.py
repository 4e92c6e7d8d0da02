"""The modes an editor's user can choose.

Knows: their names and what they say. Does not know: what a mode permits. `auto` is not among them: it belongs to runs
inside a container.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.events import Mode
from hermes_acp.core.record import Record
from hermes_protocol import v1

OFFERED_MODES: Final[Mapping[Mode, v1.SessionMode]] = MappingProxyType(
    {
        "ask": v1.SessionMode(id="ask", name="Ask", description="Asks before each edit and each command."),
        "accept_edits": v1.SessionMode(
            id="accept_edits",
            name="Accept edits",
            description="Edits files in the workspace; asks before commands.",
        ),
        "plan": v1.SessionMode(id="plan", name="Plan", description="Reads and plans; changes nothing."),
    }
)


def mode_state(record: Record) -> v1.SessionModeState:
    """Give the modes and the one in force."""
    return v1.SessionModeState(current_mode_id=record.mode, available_modes=list(OFFERED_MODES.values()))


def offered_mode(mode_id: str) -> Mode | None:
    """Give the mode of an id; None for one that is not offered."""
    return next((mode for mode, offered in OFFERED_MODES.items() if offered.id == mode_id), None)
