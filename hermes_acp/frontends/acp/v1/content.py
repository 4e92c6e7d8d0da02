"""Content blocks of the wire as parts of a message, and back.

Knows: which block becomes which part, and what cannot be taken. Does not know: what a model makes of it.
"""

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart
from hermes_acp.frontends.acp.prompt_parts import blob_to_part, checked_prompt, picture
from hermes_protocol import v1


def blocks_to_parts(blocks: list[v1.ContentBlock]) -> tuple[Part, ...]:
    """Take a prompt's blocks. Raises BadRequest for an empty prompt or a block that no model here can be given."""
    return checked_prompt(tuple(_block_to_part(block) for block in blocks))


def _block_to_part(block: v1.ContentBlock) -> Part:
    match block:
        case v1.TextContent():
            return TextPart(block.text)
        case v1.ImageContent():
            return picture(block.mime_type, block.data)
        case v1.ResourceLink():
            return LinkPart(block.uri, block.name)
        case v1.EmbeddedResource(resource=v1.TextResourceContents() as resource):
            return ResourcePart(resource.uri, resource.text, resource.mime_type or None)
        case v1.EmbeddedResource(resource=v1.BlobResourceContents() as resource):
            return blob_to_part(resource.uri, resource.mime_type or None, resource.blob)
        case _:
            raise BadRequest("Audio cannot be taken.", hint="Write the prompt as text.")


def part_to_block(part: Part) -> v1.ContentBlock:
    """Return a part as a block, for replay."""
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
