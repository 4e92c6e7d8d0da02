"""Keep unanswered prompts in the conversation, with a note about what happened.

A prompt that would make every later request fail is left out. Users refer to unanswered prompts with "try again" or "go
on", so the model must see what the user sees.
"""

from collections.abc import Sequence
from typing import Final

from hermes_acp.core.events import TurnEnded
from hermes_acp.core.messages import Message, Part, TextPart, UserMessage

STOPPED: Final = "[Nothing was answered to this: the user stopped it.]"
FAILED: Final = "[Nothing was answered to this: that turn failed.]"
REFUSED: Final = "[Nothing was answered to this: the endpoint refused it. What was attached was left out.]"
TOO_LONG: Final = "[The user's message here did not fit into the context window and was left out.]"
MAX_KEPT_CHARACTERS: Final = 4_000
"""The length, in characters, up to which a prompt cannot have filled a context window."""


def with_outcome_note(said: Sequence[UserMessage], end: TurnEnded | None) -> list[Message]:
    """Return the user's words from an unanswered turn in the form in which the next turn shows them to the model."""
    code = end.error_code if end else ""
    if code == "model_refused":
        return [*(UserMessage(_plain(message)) for message in said), _note(REFUSED)]
    if code == "context_full" and sum(map(_weight, said)) > MAX_KEPT_CHARACTERS:
        return [_note(TOO_LONG)]
    return [*said, _note(STOPPED if end and end.reason == "cancelled" else FAILED)]


def _plain(message: UserMessage) -> tuple[Part, ...]:
    """Drop parts that the endpoint may have refused, such as an image that the model does not accept."""
    parts = tuple(part for part in message.parts if isinstance(part, TextPart))
    return parts or (TextPart("(no text)"),)


def _weight(message: UserMessage) -> int:
    """Return the length of a message in characters; anything other than text counts as long."""
    return sum(
        len(part.text) if isinstance(part, TextPart) else MAX_KEPT_CHARACTERS + 1 for part in message.parts
    )


def _note(text: str) -> UserMessage:
    return UserMessage((TextPart(text),), "program")
