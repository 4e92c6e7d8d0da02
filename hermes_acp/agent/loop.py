"""The loop itself: stages, a step, its calls, again.

Knows: the order of things. Does not know: what any of them does; whatever is new becomes a stage or a class beside it.
"""

from hermes_acp.agent.answers import judge_answer
from hermes_acp.agent.step import take_step
from hermes_acp.agent.tool_calls import run_tool_calls
from hermes_acp.agent.turn import Ending, Step, Turn


async def run_turn(turn: Turn) -> Ending:
    """Run a turn to its end. Raises ModelTrouble and StorageTrouble."""
    stages = turn.kit.stages
    for stage in stages.preflight:
        if ending := await stage(turn):
            return ending
    while True:
        for stage in stages.before_step:
            if ending := await stage(turn):
                return ending
        reply = await take_step(turn)
        calls = reply.message.tool_calls
        outcomes = await run_tool_calls(turn, calls, truncated=reply.finish == "length")
        for check in stages.after_step:
            if ending := await check(turn, Step(reply, outcomes)):
                return ending
        if not calls and (ending := judge_answer(turn, reply)):
            return ending
