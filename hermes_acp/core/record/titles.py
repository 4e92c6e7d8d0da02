"""Name a session after the first line of a prompt."""

from collections.abc import Iterable
from typing import Final

from hermes_acp.core.messages import Message, UserMessage, words_in

MAX_TITLE_CHARACTERS: Final = 60


def title_from_prompt(messages: Iterable[Message]) -> str:
    """Return a title based on the first prompt in the messages, or an empty string if there is none."""
    for message in messages:
        if isinstance(message, UserMessage) and message.origin == "user":
            return title_of(words_in(message.parts))
    return ""


def title_of(text: str) -> str:
    """Return the first line of a prompt, shortened to fit a list."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "Untitled")
    return line if len(line) <= MAX_TITLE_CHARACTERS else line[: MAX_TITLE_CHARACTERS - 1].rstrip() + "…"
