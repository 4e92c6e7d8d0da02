"""The loop itself: stages, a step, its calls, again.

Knows: the order of things. Does not know: what any of them does; whatever is new becomes a stage or a class beside it.
"""

from hermes_acp.agent.step import take_step
from hermes_acp.agent.tool_calls import run_tool_calls
from hermes_acp.agent.turn import Ending, Turn

TRUNCATED = "The answer was cut off at the model's output limit."
REFUSED = "The model declined to answer this."


async def run_turn(turn: Turn) -> Ending:
    """Run a turn to its end. Raises ModelTrouble and StorageTrouble."""
    while True:
        for stage in turn.kit.stages:
            if ending := await stage(turn):
                return ending
        reply = await take_step(turn)
        if reply.message.tool_calls:
            await run_tool_calls(turn, reply.message.tool_calls, truncated=reply.finish == "length")
        elif reply.finish == "length":
            return Ending("truncated", TRUNCATED)
        elif reply.finish == "refusal":
            return Ending("refused", REFUSED)
        elif not turn.inbox:
            return Ending("done")
