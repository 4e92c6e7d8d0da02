"""Query an external memory service, and send it the conversation.

Its answers are fenced as background, not as the user's words. Only the first step waits for them, and only briefly.
"""

from collections.abc import Callable
from typing import Final

from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.turn.turn import Turn, TurnStages
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import AssistantMessage, UserMessage, typed_words_in
from hermes_acp.core.untrusted_text import fence
from hermes_acp.memory.external_memory import ExternalMemory
from hermes_acp.memory.external_memory_service import ConversationExchange

FIRST_WAIT_S: Final = 0.3
HEADLESS_WAIT_S: Final = 5.0
SOURCE: Final = (
    "Background from the memory service {label}, from earlier sessions; not what the user says now"
)


def outside_memory_stages(
    memory: ExternalMemory, is_wanted: Callable[[], bool], is_attended: Callable[[], bool]
) -> TurnStages:
    """Return the stages; in a session that does not use the service, they neither query it nor send it anything."""

    async def ask_memory(turn: Turn) -> Ending | None:
        """Start the query, unless it was started when the previous turn ended."""
        exchange = _exchange(turn)
        if is_wanted() and not turn.depth and exchange.said:
            memory.prefetch(turn.record.session_id, exchange.said)
        return None

    async def note_memories(turn: Turn) -> Ending | None:
        """Add the service's answer as a note, if it has arrived."""
        if is_wanted() and not turn.depth:
            text = await memory.take(turn.record.session_id, 0.0 if turn.spent.steps else FIRST_WAIT_S)
            if text:
                note_sources(turn, (Source("private", f"notes of the memory service {memory.label}"),))
                turn.emit(NoteAdded(fence(text, SOURCE.format(label=memory.label))))
        return None

    async def keep_exchange(turn: Turn, ending: Ending) -> None:
        """Start sending the exchange; if no user is attending, wait briefly until it is sent."""
        exchange = _exchange(turn)
        if is_wanted() and not turn.depth and exchange.said and ending.reason == "done":
            memory.keep(turn.record.session_id, exchange)
            if not is_attended():
                await memory.settle(turn.record.session_id, HEADLESS_WAIT_S)

    return TurnStages(preflight=(ask_memory,), before_step=(note_memories,), postflight=(keep_exchange,))


def _exchange(turn: Turn) -> ConversationExchange:
    """Return the user's words that started this turn, and the agent's last answer to them."""
    answered = ""
    for message in reversed(turn.record.messages):
        if isinstance(message, AssistantMessage) and not answered:
            answered = message.text
        if isinstance(message, UserMessage) and message.origin == "user":
            return ConversationExchange(typed_words_in(message.parts, "\n").strip(), answered.strip())
    return ConversationExchange("", "")
