"""Convert parts of a message to content blocks of version 1."""

from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart
from hermes_protocol import v1


def part_to_block(part: Part) -> v1.ContentBlock:
    """Convert a part to a content block."""
    match part:
        case TextPart():
            return v1.TextContent(text=part.text)
        case ImagePart():
            return v1.ImageContent(mime_type=part.mime_type, data=part.data_base64)
        case LinkPart():
            return v1.ResourceLink(uri=part.uri, name=part.name)
        case ResourcePart():
            mime_type = v1.UNSET if part.mime_type is None else part.mime_type
            resource = v1.TextResourceContents(uri=part.uri, text=part.text, mime_type=mime_type)
            return v1.EmbeddedResource(resource=resource)
