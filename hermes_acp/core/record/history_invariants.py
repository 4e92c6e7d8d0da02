"""The invariants of every list of messages that a model is shown.

Every vendor refuses a history with a call without its outcome, or an outcome without its call.
"""

from collections.abc import Sequence

from hermes_acp.core.messages import AssistantMessage, Message, ToolMessage, UserMessage


def invariant_violations(messages: Sequence[Message]) -> list[str]:
    """Describe where a history breaks an invariant; empty for a valid one.

    It begins with the user; each call has exactly one outcome, all of a step's right after it and in their order; no
    two answers follow each other.
    """
    found: list[str] = []
    awaited: list[str] = []
    before: Message | None = None
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if not awaited or awaited.pop(0) != message.call_id:
                found.append(
                    f"message {place} is the outcome of {message.call_id}, which is not awaited there"
                )
            before = message
            continue
        if awaited:
            found.append(f"message {place} stands before the outcome of {awaited[0]}")
        if isinstance(message, AssistantMessage) and not isinstance(before, UserMessage | ToolMessage):
            found.append(f"message {place} is an answer to nothing")
        awaited = [call.id for call in message.tool_calls] if isinstance(message, AssistantMessage) else []
        before = message
    found += [f"the call {call_id} has no outcome" for call_id in awaited]
    return found


def can_split_before(messages: Sequence[Message], place: int) -> bool:
    """Return whether a history may be split before the message at a place: never between a call and its outcome."""
    return place >= len(messages) or not isinstance(messages[place], ToolMessage)


def last_exchange_index(messages: Sequence[Message]) -> int:
    """Return the index from which on nothing may be removed: what the model has not answered yet.

    That is everything after the last answer, and that answer too where the outcomes of its calls are unanswered.
    After an answer without calls it is the end.
    """
    place = len(messages)
    while place and isinstance(messages[place - 1], UserMessage):
        place -= 1
    if not place or not isinstance(messages[place - 1], ToolMessage):
        return place
    while isinstance(messages[place - 1], ToolMessage):
        place -= 1
    return place - 1


def last_prompt_index(messages: Sequence[Message]) -> int | None:
    """Return the index of the last message that is the user's own."""
    places = (
        place
        for place in range(len(messages) - 1, -1, -1)
        if isinstance(said := messages[place], UserMessage) and said.origin == "user"
    )
    return next(places, None)
