"""Convert message parts to contents of ATIF documents and back."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import structs

from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart, ToolCall
from hermes_acp.trajectories.atif_document import AtifToolCall, Content, ContentPart, MediaSource
from hermes_acp.trajectories.event_fields import NAMESPACE

IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_DATA: Final = re.compile(r"data:(?P<type>image/[a-z]+);base64,(?P<data>.*)", re.DOTALL)
Style = Literal["compact", "spaced", "spaced_ascii"]


def content_of(parts: Sequence[Part]) -> Content:
    """Return parts as a content: only text as a string, images as data URLs, attachments as text."""
    contents = [_content_part(part) for part in parts]
    if len(contents) == 1 and contents[0].text is not None:
        return contents[0].text
    return contents


def parts_of(content: Content | None) -> tuple[Part, ...]:
    """Return a content as parts; media outside the document become links."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(_part(each) for each in content)


def text_of(content: Content | None) -> str:
    """Return the text of a content, without its media."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def _content_part(part: Part) -> ContentPart:
    match part:
        case TextPart():
            return ContentPart("text", part.text)
        case ImagePart() if part.mime_type in IMAGE_TYPES:
            path = f"data:{part.mime_type};base64,{part.data_base64}"
            return ContentPart("image", source=MediaSource(part.mime_type, path))
        case ImagePart():
            return ContentPart("text", f"[image: {part.mime_type}]")
        case LinkPart():
            return ContentPart("text", f"[{part.name}]({part.uri})")
        case ResourcePart():
            return ContentPart("text", f'<resource uri="{part.uri}">\n{part.text}\n</resource>')


def _part(content: ContentPart) -> Part:
    if content.source is None:
        return TextPart(content.text or "")
    inside = _DATA.fullmatch(content.source.path)
    if inside and inside["type"] == content.source.media_type:
        return ImagePart(inside["type"], inside["data"])
    return LinkPart(content.source.path, content.source.media_type)


def arguments_of(call: ToolCall) -> tuple[dict[str, Any], Style | None]:
    """Return a call's arguments and their JSON style, which is None if only the original text reproduces them."""
    try:
        value = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}, None
    if not isinstance(value, dict):
        return {}, None
    arguments = cast("dict[str, Any]", value)
    styles: tuple[Style, ...] = ("compact", "spaced", "spaced_ascii")
    return arguments, next((style for style in styles if spelled(arguments, style) == call.arguments), None)


def spelled(arguments: dict[str, Any], style: Style) -> str:
    """Return arguments as JSON text in the given style."""
    if style == "compact":
        return msgspec.json.encode(arguments).decode()
    return json.dumps(arguments, ensure_ascii=style == "spaced_ascii")


def own_extra(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return our own fields in `extra`, or nothing if they are missing or have another structure."""
    inside = (extra or {}).get(NAMESPACE)
    return cast("dict[str, Any]", inside) if isinstance(inside, dict) else {}


def tool_call_of(call: AtifToolCall) -> ToolCall:
    """Return a call as the model wrote it."""
    kept = own_extra(call.extra)
    raw, style = kept.get("raw_arguments"), kept.get("style", "compact")
    if not isinstance(raw, str):
        raw = spelled(call.arguments, cast("Style", style))
    told = {
        name: value for name in ("signature", "vendor_id", "via") if isinstance(value := kept.get(name), str)
    }
    return structs.replace(ToolCall(call.tool_call_id, call.function_name, raw), **told)
