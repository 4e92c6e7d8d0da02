"""Tell the model what is new about the context files, behind the prompt it was given.

Knows: that the frozen prompt stays, that a change is told once, and its user too. Does not know: files, how a change is
found.
"""

from hermes_acp.agent.turn import Ending, Turn
from hermes_acp.core.events import NoteAdded, Noticed


async def tell_context_news(turn: Turn) -> Ending | None:
    """Add what is new as a note; before the first answer of a session there is no news."""
    for news in await turn.kit.context_news(turn.record, turn.workspace):
        if news.text:
            turn.emit(NoteAdded(news.text))
        turn.emit(Noticed("info", news.told))
    return None
