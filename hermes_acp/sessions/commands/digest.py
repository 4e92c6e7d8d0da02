"""`/digest`: have the model summarise what was done in a period, citing sessions and commits."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.events import NoteAdded
from hermes_acp.core.untrusted_text import plain
from hermes_acp.sessions.builtin_commands import ActionCommand, CommandServices

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending

MAX_CHARACTERS: Final = 200
LAST_DAYS: Final = "the last 7 days (since=7d)"
TASK: Final = (
    "[The user wants a digest of what was done here. When: {when}. Find this out first: call session_search without a "
    "query, with since and until for that time and limit=20, and once more with the topics that matter; in a "
    "repository, list the commits of that time with git log. Then write at most a page, by day: what was done, what "
    "was decided, what is still open. After each sentence, name its source in brackets: the session's ID, or the "
    "commit. Write nothing that no source says, and say so if nothing was found. Change nothing.]"
)


async def act(services: CommandServices, turn: "Turn", words: str) -> "Ending":
    """Ask the model, which uses its tools to find out what was done."""
    from hermes_acp.agent.loop.turn_loop import run_turn

    turn.emit(NoteAdded(TASK.format(when=plain(words, MAX_CHARACTERS).strip() or LAST_DAYS)))
    return await run_turn(turn)


COMMAND = ActionCommand(
    "Summarise what was done here, with sessions and commits as sources",
    "when, such as last Tuesday (default: the last 7 days)",
    act,
)
