"""Ask for a final answer without tools once the budget is used up."""

from typing import Final

from msgspec import structs

from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.loop.model_step import run_step
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.errors import ModelError
from hermes_acp.core.events import NoteAdded
from hermes_acp.tools.toolbox import Toolbox

FINAL_ANSWER_PROMPT: Final = (
    "[The budget of this turn is used up, and tools can no longer be used. Give your final answer now from what you "
    "have: what is done, what you found, and what is left.]"
)


async def ask_for_final_answer(turn: Turn) -> None:
    """Ask once, without tools, and then end the turn. If the model makes a call anyway, it does not run."""
    turn.emit(NoteAdded(FINAL_ANSWER_PROMPT))
    mute = structs.replace(turn, deps=structs.replace(turn.deps, toolbox=Toolbox({})))
    try:
        reply = await run_step(mute)
    except ModelError:
        return  # the step's failure is recorded, and the turn already has its reason
    await run_tool_calls(mute, reply.message.tool_calls, truncated=False)
