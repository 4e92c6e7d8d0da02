"""Name a session after the first line of its first prompt."""

from typing import Final

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import TitleChanged
from hermes_acp.core.messages import UserMessage, words_in

MAX_TITLE_CHARACTERS: Final = 60


async def name_session(turn: Turn) -> Ending | None:
    """Set the session's title from the turn's prompt, unless it has one."""
    if turn.record.title:
        return None
    for message in reversed(turn.record.messages):
        if isinstance(message, UserMessage) and message.origin == "user":
            turn.emit(TitleChanged(title_of(words_in(message.parts))))
            return None
    return None


def title_of(text: str) -> str:
    """Return the first line of a prompt, short enough for a list."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "Untitled")
    return line if len(line) <= MAX_TITLE_CHARACTERS else line[: MAX_TITLE_CHARACTERS - 1].rstrip() + "…"
