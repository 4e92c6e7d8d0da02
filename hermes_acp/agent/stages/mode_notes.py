"""Tell the model when the permission mode changes, without changing the frozen prompt."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.event_types import Mode
from hermes_acp.core.events import NoteAdded

MEANINGS: Final[Mapping[Mode, str]] = MappingProxyType(
    {
        "ask": "the user is asked before each edit and each command that may change something.",
        "accept_edits": "edits inside the workspace run without a question; commands are still asked about.",
        "plan": "read only. Study the workspace, keep the plan up to date, and answer with what you would do. "
        "Edits and commands will be refused.",
        "auto": "edits, and commands inside the sandbox, run without a question; anything outside it is asked about.",
        "bypass": "everything runs without a question.",
    }
)


async def note_mode(turn: Turn) -> Ending | None:
    """Add a note if the mode differs from the one the model was last told."""
    mode = turn.mode
    if mode != turn.record.mode_told:
        turn.emit(NoteAdded(f"[Mode is now {mode}: {MEANINGS[mode]}]", mode))
    return None
