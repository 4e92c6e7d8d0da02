"""The one call after the budget: a final answer from what there is.

Knows: how the model is asked for it, and that no tool is offered or run. Does not know: which budget ended.
"""

from typing import Final

from msgspec import structs

from hermes_acp.agent.step import take_step
from hermes_acp.agent.tool_calls import run_tool_calls
from hermes_acp.agent.turn import Turn
from hermes_acp.core.errors import ModelTrouble
from hermes_acp.core.events import NoteAdded
from hermes_acp.tools.toolbox import Toolbox

LAST_WORDS: Final = (
    "[The budget of this turn is used up; no tool can be used any more. Give your final answer now from what you have: "
    "what is done, what you found, what is left.]"
)


async def ask_for_last_words(turn: Turn) -> None:
    """Ask once, without tools; the turn ends whatever comes of it. A call made all the same is answered, not run."""
    turn.emit(NoteAdded(LAST_WORDS))
    mute = structs.replace(turn, kit=structs.replace(turn.kit, toolbox=Toolbox({})))
    try:
        reply = await take_step(mute)
    except ModelTrouble:
        return  # the step's failure is on record, and the turn has its reason already
    await run_tool_calls(mute, reply.message.tool_calls, truncated=False)
