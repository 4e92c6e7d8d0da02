"""Freeze the system prompt when a session takes its first step.

Knows: that it happens once in a session's life. Does not know: what the prompt says.
"""

from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.system_prompt import with_instructions
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import Noticed, PromptFrozen


async def freeze_prompt(turn: Turn) -> Ending | None:
    """Write the prompt into the record unless it is there; from then on every request begins with the same bytes."""
    if not turn.record.layers:
        began_at = turn.deps.clock.now()
        briefing = await turn.deps.build_prompt(turn.record, turn.workspace, turn.outermost.record)
        layers = with_instructions(briefing.layers, turn.record.instructions)
        turn.emit(PromptFrozen(layers, began_at))
        note_sources(turn, briefing.sources)
        for notice in briefing.notices:
            turn.emit(Noticed("warning", notice))
    return None
