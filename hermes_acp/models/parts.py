"""How the parts of messages are put: links and files as plain text, an answer's pieces in their order.

Knows: the words put around them. Does not know: any vendor's format.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import structs

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    ResourcePart,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)

BEHIND: Final = "[What came with the outcomes of the calls above:]"
UNSEEN: Final = "[A picture stands here, which the model in use cannot see.]"


def link_text(link: LinkPart) -> str:
    """Name a resource that is not included."""
    return f"[{link.name}]({link.uri})" if link.name else link.uri


def resource_text(resource: ResourcePart) -> str:
    """Include a resource whole, in a fence longer than any within it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{resource.uri}\n{fence}\n{resource.text}{end}{fence}"


def said_pieces(message: AssistantMessage, vendor: str) -> Iterator[Thought | str | ToolCall]:
    """Give an answer's pieces in the order they were said: thoughts, the words, each call behind its thoughts.

    Left out are thoughts of another vendor's and words that are none. Those without a vendor are everybody's.
    """
    thoughts = [thought for thought in message.thoughts if thought.vendor in ("", vendor)]
    yield from (thought for thought in thoughts if thought.after_calls == 0)
    if message.text.strip():
        yield message.text
    for place, call in enumerate(message.tool_calls):
        if place:
            yield from (thought for thought in thoughts if thought.after_calls == place)
        yield call


def with_parts_behind(messages: Sequence[Message]) -> Iterator[Message]:
    """Give a history for a format in which outcomes are words alone: what came with them follows behind a step."""
    held: list[Part] = []
    for message in messages:
        if held and not isinstance(message, ToolMessage):
            yield UserMessage((TextPart(BEHIND), *held), "program")
            held = []
        if isinstance(message, ToolMessage):
            held += message.parts
        yield message
    if held:
        yield UserMessage((TextPart(BEHIND), *held), "program")


def without_pictures(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give a history for a model that sees nothing: pictures of outcomes are named only.

    What the user attached stays: that an endpoint refuses it is theirs to know.
    """
    return tuple(
        _named(message) if isinstance(message, ToolMessage) and message.parts else message
        for message in messages
    )


def _named(message: ToolMessage) -> ToolMessage:
    kept = tuple(part for part in message.parts if not isinstance(part, ImagePart))
    unseen = [UNSEEN] * (len(message.parts) - len(kept))
    return structs.replace(message, text="\n".join((message.text, *unseen)), parts=kept)
