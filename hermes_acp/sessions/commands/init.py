"""`/init`: have the model write or improve AGENTS.md."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.events import NoteAdded
from hermes_acp.sessions.builtin_commands import ActionCommand, CommandServices

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending

TASK: Final = (
    "[The user wants an AGENTS.md in the working directory: instructions for coding agents that work here. Look at "
    "the project first: its build files, README, tests, checks and other instructions for agents. Write what an agent "
    "cannot see at a glance: the commands to build, test and check, also for a single test; the structure that spans "
    "several files; conventions that are really followed. Keep it below 150 lines, invent nothing, and repeat nothing "
    "that is obvious. If there is an AGENTS.md already, improve it and keep what is right.]"
)


async def act(services: CommandServices, turn: "Turn", words: str) -> "Ending":
    """Ask the model, whose edits need approval like any others."""
    from hermes_acp.agent.loop.turn_loop import run_turn

    turn.emit(NoteAdded(TASK))
    return await run_turn(turn)


COMMAND = ActionCommand("Write or improve AGENTS.md for this project", "what it should cover", act)
