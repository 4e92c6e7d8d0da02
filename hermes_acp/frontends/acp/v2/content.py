"""Content blocks of the wire as parts of a message, and back.

Knows: which block becomes which part, and what cannot be taken. Does not know: what a model makes of it.
"""

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart
from hermes_acp.frontends.acp.prompt_parts import blob_to_part, checked_prompt, picture
from hermes_protocol import v2


def blocks_to_parts(blocks: list[v2.ContentBlock]) -> tuple[Part, ...]:
    """Take a prompt's blocks. Raises BadRequest for an empty prompt or a block that no model here can be given."""
    return checked_prompt(tuple(_block_to_part(block) for block in blocks))


def _block_to_part(block: v2.ContentBlock) -> Part:
    match block:
        case v2.TextContent():
            return TextPart(block.text)
        case v2.ImageContent():
            return picture(block.mime_type, block.data)
        case v2.ResourceLink():
            return LinkPart(block.uri, block.name)
        case v2.EmbeddedResource(resource=v2.TextResourceContents() as resource):
            return ResourcePart(resource.uri, resource.text, resource.mime_type or None)
        case v2.EmbeddedResource(resource=v2.BlobResourceContents() as resource):
            return blob_to_part(resource.uri, resource.mime_type or None, resource.blob)
        case v2.AudioContent():
            raise BadRequest("Audio cannot be taken.", hint="Write the prompt as text.")
        case _:
            raise BadRequest("A block of the prompt is of no known type.", hint="Write the prompt as text.")


def part_to_block(part: Part) -> v2.ContentBlock:
    """Return a part as a block."""
    match part:
        case TextPart():
            return v2.TextContent(text=part.text)
        case ImagePart():
            return v2.ImageContent(mime_type=part.mime_type, data=part.data_base64)
        case LinkPart():
            return v2.ResourceLink(uri=part.uri, name=part.name)
        case ResourcePart():
            mime_type = v2.UNSET if part.mime_type is None else part.mime_type
            resource = v2.TextResourceContents(uri=part.uri, text=part.text, mime_type=mime_type)
            return v2.EmbeddedResource(resource=resource)
