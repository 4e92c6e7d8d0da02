"""Name a session after the first line of its first prompt."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import TitleChanged
from hermes_acp.core.record.titles import title_from_prompt


async def name_session(turn: Turn) -> Ending | None:
    """Set the session's title from the turn's prompt, unless it has one."""
    if not turn.record.title and (title := title_from_prompt(reversed(turn.record.messages))):
        turn.emit(TitleChanged(title))
    return None
