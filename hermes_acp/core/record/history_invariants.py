"""Check the invariants of every list of messages sent to a model.

Every vendor rejects a history that has a call without its outcome, or an outcome without its call.
"""

from collections.abc import Sequence

from hermes_acp.core.messages import AssistantMessage, Message, ToolMessage, UserMessage


def invariant_violations(messages: Sequence[Message]) -> list[str]:
    """Describe where a history violates an invariant; empty for a valid one.

    It must start with the user; each call has exactly one outcome, directly after its step and in order; no two answers
    follow each other.
    """
    found: list[str] = []
    awaited: list[str] = []
    before: Message | None = None
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if not awaited or awaited.pop(0) != message.call_id:
                found.append(
                    f"message {place} is the outcome of {message.call_id}, which was not expected there"
                )
            before = message
            continue
        if awaited:
            found.append(f"message {place} comes before the outcome of {awaited[0]}")
        if isinstance(message, AssistantMessage) and not isinstance(before, UserMessage | ToolMessage):
            found.append(f"message {place} is an answer without a preceding prompt")
        awaited = [call.id for call in message.tool_calls] if isinstance(message, AssistantMessage) else []
        before = message
    found += [f"the call {call_id} has no outcome" for call_id in awaited]
    return found


def can_split_before(messages: Sequence[Message], place: int) -> bool:
    """Return whether a history may be split before the message at an index: never between a call and its outcome."""
    return place >= len(messages) or not isinstance(messages[place], ToolMessage)


def last_exchange_index(messages: Sequence[Message]) -> int:
    """Return the index from which nothing may be removed, because the model has not answered it yet.

    That is everything after the last answer, and also that answer if the outcomes of its calls are unanswered. If the
    last message is an answer without calls, the index is the end of the history.
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
    """Return the index of the last message written by the user."""
    places = (
        place
        for place in range(len(messages) - 1, -1, -1)
        if isinstance(said := messages[place], UserMessage) and said.origin == "user"
    )
    return next(places, None)
