"""Remind the model, once, if nothing from a long session has been kept for later sessions.

The reminder is a note after the prompt, so the frozen prompt does not change. Whether and what to remind is derived
from the session's messages, so a restart repeats nothing.
"""

from collections.abc import Sequence
from typing import Final

from hermes_acp.agent.turn.turn import Stage, Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.messages import AssistantMessage, Message, UserMessage, words_in

MEMORY_TOOL: Final = "memory"
WRITERS: Final = frozenset({MEMORY_TOOL, "skill_manage"})
BEGINNING: Final = "[Nothing of this session has been kept for later ones yet."
REMINDER: Final = (
    f"{BEGINNING} If the user told you something about themselves or this workspace that will still hold then, or "
    "corrected you in a way that you would otherwise repeat, note it with the tool memory at the end of this turn. If "
    "there is nothing of that kind, do nothing, and do not mention this reminder.]"
)


def memory_reminder_stage(after_turns: int) -> Stage:
    """Return the stage that reminds the model after this many turns without a note or a skill."""

    async def remind_of_memory(turn: Turn) -> Ending | None:
        """Remind the model, at most once per session."""
        if turn.spent.steps or turn.depth or MEMORY_TOOL not in turn.deps.toolbox.names:
            return None
        if turn.record.mode != "plan" and is_due(turn.record.messages, after_turns):
            turn.emit(NoteAdded(REMINDER))
        return None

    return remind_of_memory


def is_due(messages: Sequence[Message], after_turns: int) -> bool:
    """Return whether there have been more than `after_turns` prompts without a note, a skill or an earlier reminder."""
    prompts = 0
    for message in messages:
        match message:
            case UserMessage(origin="user"):
                prompts += 1
            case UserMessage(origin="program") if words_in(message.parts, "").startswith(BEGINNING):
                return False
            case AssistantMessage() if any(call.name in WRITERS for call in message.tool_calls):
                return False
            case _:
                pass
    return prompts > after_turns
