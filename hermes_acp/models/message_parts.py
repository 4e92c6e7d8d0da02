"""How messages and their parts are put: files as plain text, an answer's pieces in order, neighbours of a role merged.

Knows: the words put around them, what follows what. Does not know: any vendor's format.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from hermes_acp.core.untrusted_text import plain

ContentBlock = dict[str, object]
"""A piece of a message in some vendor's format."""

MAX_URI_CHARACTERS: Final = 2_000
BEHIND: Final = "[What came with the outcomes of the calls above:]"
UNSEEN: Final = "[A picture stands here, which the model in use cannot see.]"


def text_of(part: TextPart | LinkPart | ResourcePart) -> str:
    """Return a part that is no picture as plain text."""
    match part:
        case TextPart():
            return part.text
        case LinkPart():
            return _link_text(part)
        case ResourcePart():
            return _resource_text(part)


def data_url_of(image: ImagePart) -> str:
    """Return a picture as an address that holds it."""
    return f"data:{image.mime_type};base64,{image.data_base64}"


def _link_text(link: LinkPart) -> str:
    """Name a resource that is not included."""
    uri = plain(link.uri, MAX_URI_CHARACTERS)
    return f"[{plain(link.name, MAX_URI_CHARACTERS)}]({uri})" if link.name else uri


def _resource_text(resource: ResourcePart) -> str:
    """Include a resource whole, in a fence longer than any within it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{plain(resource.uri, MAX_URI_CHARACTERS)}\n{fence}\n{resource.text}{end}{fence}"


def ordered_pieces(message: AssistantMessage, vendor: str) -> Iterator[Thought | str | ToolCall]:
    """Yield an answer's pieces in the order they were said: thoughts, the words, each call behind its thoughts.

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


def merged_by_role(
    messages: Iterable[Message],
    encode: Callable[[Message], list[ContentBlock]],
    *,
    model: str,
    is_result: Callable[[ContentBlock], bool],
) -> list[tuple[str, list[ContentBlock]]]:
    """Encode a history for a format in which `user` and the model, by its name there, take turns.

    Of the user's blocks results come first, as they are wanted right behind the calls they answer.
    """
    merged: list[tuple[str, list[ContentBlock]]] = []
    for message in messages:
        role = model if isinstance(message, AssistantMessage) else "user"
        blocks = encode(message)
        if not blocks:
            continue
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        else:
            merged.append((role, blocks))
    for role, blocks in merged:
        if role == "user":
            blocks.sort(key=lambda block: not is_result(block))
    return merged


def with_parts_after_results(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield a history for a format in which outcomes are words alone: what came with them follows behind a step."""
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


def with_vendor_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return a history in which calls and their outcomes have the ids that the model gave them, where these differ.

    Some vendors accept only ids of their own form.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    history: list[Message] = []
    for message in messages:
        match message:
            case AssistantMessage(tool_calls=calls) if calls:
                for call in calls:
                    vendor_id = call.vendor_id or call.id
                    names[call.id] = call.id if vendor_id in taken else vendor_id
                    taken.add(names[call.id])
                renamed = tuple(structs.replace(call, id=names[call.id], vendor_id="") for call in calls)
                history.append(structs.replace(message, tool_calls=renamed))
            case ToolMessage():
                history.append(structs.replace(message, call_id=names.get(message.call_id, message.call_id)))
            case _:
                history.append(message)
    return tuple(history)


def without_pictures(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a history for a model that sees nothing: pictures of outcomes are named only.

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
