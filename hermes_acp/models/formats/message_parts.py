"""Convert messages and their parts for any vendor's format: files to plain text, arguments to objects, and IDs."""

from typing import Final

import msgspec

from hermes_acp.core.messages import (
    ImagePart,
    LinkPart,
    ResourcePart,
    TextPart,
)
from hermes_acp.core.untrusted_text import plain

MALFORMED: Final = "malformed_arguments"
MALFORMED_CHARACTERS: Final = 2_000
MAX_URI_CHARACTERS: Final = 2_000
ATTACHED: Final = "[Attached to the results of the calls above:]"


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
    """Return the text for a linked resource whose content is not included."""
    uri = plain(link.uri, MAX_URI_CHARACTERS)
    return f"[{plain(link.name, MAX_URI_CHARACTERS)}]({uri})" if link.name else uri


def _resource_text(resource: ResourcePart) -> str:
    """Return the text of an included resource, in a fence longer than any inside it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{plain(resource.uri, MAX_URI_CHARACTERS)}\n{fence}\n{resource.text}{end}{fence}"


def object_of(arguments: str) -> dict[str, object]:
    """Return a call's arguments as an object; anything else is wrapped in one, because endpoints would refuse it."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return {MALFORMED: arguments[:MALFORMED_CHARACTERS]}


def valid_arguments(arguments: str) -> str:
    """Return a call's arguments as written if they are an object, otherwise as `object_of` returns them."""
    plain = object_of(arguments)
    return msgspec.json.encode(plain).decode() if MALFORMED in plain else arguments or "{}"
