"""Freeze the system prompt before a session's first step."""

from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.system_prompt import with_instructions
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import Noticed, PromptFrozen


async def freeze_prompt(turn: Turn) -> Ending | None:
    """Record the prompt unless it has already been recorded; from then on, every request starts with the same bytes."""
    if not turn.record.layers:
        began_at = turn.deps.clock.now()
        briefing = await turn.deps.build_prompt(turn.record, turn.workspace, turn.outermost.record)
        layers = with_instructions(briefing.layers, turn.record.instructions)
        turn.emit(PromptFrozen(layers, began_at))
        note_sources(turn, briefing.sources)
        for notice in briefing.notices:
            turn.emit(Noticed("warning", notice))
    return None
