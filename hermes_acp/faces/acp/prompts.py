"""What holds for a prompt's parts, whatever version they came in.

Knows: what an empty prompt is, what becomes of bytes. Does not know: content blocks.
"""

import base64
from urllib.parse import unquote, urlsplit

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart


def checked_prompt(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Give the parts. Raises BadRequest where nothing is said."""
    if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
        raise BadRequest("The prompt is empty.", hint="Write something first.")
    return parts


def blob_to_part(uri: str, mime_type: str | None, data_base64: str) -> Part:
    """Take bytes as a picture, as text where they are text, else as a link to what they came from."""
    kind = mime_type or "application/octet-stream"
    if kind.startswith("image/"):
        return ImagePart(kind, data_base64)
    try:
        return ResourcePart(uri, base64.b64decode(data_base64, validate=True).decode("utf-8"), kind)
    except ValueError:
        return LinkPart(uri, unquote(urlsplit(uri).path.rpartition("/")[2]) or uri)
