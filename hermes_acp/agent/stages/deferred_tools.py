"""Tell the model which tools it can search for, without changing the frozen prompt or the tools of a request."""

from typing import Final

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.messages import TextPart, UserMessage
from hermes_acp.tools.deferred.tool_catalog import HEAD, NONE_LEFT, catalog

_NOTHING_TOLD: Final = ""


async def note_deferred_tools(turn: Turn) -> Ending | None:
    """Add a note that lists the deferred tools if they differ from those the model knows.

    They stay the same during a turn, so later steps only check whether a compaction removed the note.
    """
    schemas, is_first_step = turn.deps.toolbox.deferred_schemas, not turn.spent.steps
    if not (schemas or is_first_step):
        return None
    told = _told(turn)
    if told and not is_first_step:
        return None
    if not schemas and told in (_NOTHING_TOLD, NONE_LEFT):
        return None
    text = turn.deps.redactor.clean(catalog(schemas)) if schemas else NONE_LEFT
    if text != told:
        turn.emit(NoteAdded(text))
    return None


def _told(turn: Turn) -> str:
    """Return the last such list in the history; a compacted history may have none."""
    for message in reversed(turn.record.messages):
        if isinstance(message, UserMessage) and message.origin == "program":
            for part in message.parts:
                if isinstance(part, TextPart) and part.text.startswith(HEAD):
                    return part.text
    return _NOTHING_TOLD
