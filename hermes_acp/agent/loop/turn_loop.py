"""The loop of a turn: stages, a model step and its calls, repeated.

Only the order is defined here; new behaviour belongs in a stage or a class of its own.
"""

from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.loop.final_reply import ending_for_reply
from hermes_acp.agent.loop.model_step import run_step
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_step import TurnStep


async def run_turn(turn: Turn) -> Ending:
    """Run a turn to its end. Raises ModelError or StorageError."""
    stages = turn.deps.stages
    for stage in stages.preflight:
        if ending := await stage(turn):
            return ending
    if suspended := turn.record.calls.suspended():
        await run_tool_calls(turn, suspended, truncated=False)
    while not turn.calls.awaiting:
        for stage in stages.before_step:
            if ending := await stage(turn):
                return ending
        reply = await run_step(turn)
        calls = reply.message.tool_calls
        outcomes = await run_tool_calls(turn, calls, truncated=reply.finish == "length")
        if turn.calls.awaiting:
            break
        for check in stages.after_step:
            if ending := await check(turn, TurnStep(reply, outcomes)):
                return ending
        if not calls and (ending := ending_for_reply(turn, reply)):
            return ending
    return make_ending("input_required")
