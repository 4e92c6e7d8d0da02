"""Prepare messages and their parts for any vendor's format: files as plain text, arguments as objects, IDs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import structs

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    ResourcePart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from hermes_acp.core.untrusted_text import plain

MALFORMED: Final = "malformed_arguments"
MALFORMED_CHARACTERS: Final = 2_000
MAX_URI_CHARACTERS: Final = 2_000
ATTACHED: Final = "[Attached to the results of the calls above:]"
UNSEEN: Final = "[A picture, which this model cannot see.]"


def text_of(part: TextPart | LinkPart | ResourcePart) -> str:
    """Return a part that is not an image as plain text."""
    match part:
        case TextPart():
            return part.text
        case LinkPart():
            return _link_text(part)
        case ResourcePart():
            return _resource_text(part)


def data_url_of(image: ImagePart) -> str:
    """Return an image as a data URL."""
    return f"data:{image.mime_type};base64,{image.data_base64}"


def _link_text(link: LinkPart) -> str:
    """Return the name of a resource whose content is not included."""
    uri = plain(link.uri, MAX_URI_CHARACTERS)
    return f"[{plain(link.name, MAX_URI_CHARACTERS)}]({uri})" if link.name else uri


def _resource_text(resource: ResourcePart) -> str:
    """Return a whole resource, in a fence longer than any inside it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{plain(resource.uri, MAX_URI_CHARACTERS)}\n{fence}\n{resource.text}{end}{fence}"


def with_parts_after_results(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield a history for a format whose results are text only: their other parts follow the step."""
    held: list[Part] = []
    for message in messages:
        if held and not isinstance(message, ToolMessage):
            yield UserMessage((TextPart(ATTACHED), *held), "program")
            held = []
        if isinstance(message, ToolMessage):
            held += message.parts
        yield message
    if held:
        yield UserMessage((TextPart(ATTACHED), *held), "program")


def with_vendor_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return a history whose calls and results have the model's original IDs where these differ.

    Some vendors accept only IDs in their own format.
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
    """Return a history for a model without image input: images in results are only mentioned.

    Images that the user attached stay, so that the user sees the endpoint's refusal.
    """
    return tuple(
        _named(message) if isinstance(message, ToolMessage) and message.parts else message
        for message in messages
    )


def _named(message: ToolMessage) -> ToolMessage:
    kept = tuple(part for part in message.parts if not isinstance(part, ImagePart))
    unseen = [UNSEEN] * (len(message.parts) - len(kept))
    return structs.replace(message, text="\n".join((message.text, *unseen)), parts=kept)


def object_of(arguments: str) -> dict[str, object]:
    """Return a call's arguments as an object; anything else is wrapped in one, since endpoints would refuse it."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return {MALFORMED: arguments[:MALFORMED_CHARACTERS]}


def valid_arguments(arguments: str) -> str:
    """Return a call's arguments as written if they are an object, otherwise as `object_of` returns them."""
    plain = object_of(arguments)
    return msgspec.json.encode(plain).decode() if MALFORMED in plain else arguments or "{}"
