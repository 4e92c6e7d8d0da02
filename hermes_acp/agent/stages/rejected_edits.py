"""Tell the model, at its next step, which of its edits the user rejected."""

import os
from typing import Final

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import NoteAdded

MAX_CHARACTERS: Final = 8_000
TAKEN_BACK: Final = (
    "[The user rejected these parts of your edits. The files now contain what they want; do not make the same "
    "change again without asking, and read a file before you change it.\n{parts}]"
)
MORE: Final = "\n… and more; read the files."


async def note_rejected_edits(turn: Turn) -> Ending | None:
    """Add a note about edits rejected since the last note; accepted edits are not mentioned."""
    untold = turn.record.reviews.untold
    if untold:
        parts = "\n".join(
            f"In {os.path.relpath(each.path, turn.record.cwd)}, {part}"
            for each in untold
            for part in each.parts
        )
        cut = parts[:MAX_CHARACTERS] + MORE if len(parts) > MAX_CHARACTERS else parts
        turn.emit(NoteAdded(TAKEN_BACK.format(parts=turn.deps.redactor.clean(cut)), tells_edits=True))
    return None
