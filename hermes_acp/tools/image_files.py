"""Read image files in the form shown to a model."""

import base64
from typing import Final

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.messages import ImagePart
from hermes_acp.tools.image_sizes import is_whole, too_large

MAX_IMAGE_BYTES: Final = 3_750_000
"""This corresponds to five million characters in base64, the most that any vendor accepts."""


def image_type(content: bytes) -> str:
    """Return the MIME type of an image that models accept, or an empty string for any other content."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return ""


def to_image(content: bytes, mime_type: str, shown: str) -> ImagePart:
    """Return bytes as an image. Raises WorkspaceError if it is too large or too damaged to show."""
    refuse_large_image(len(content), shown)
    if why := too_large(content):
        raise WorkspaceError(
            f"{shown} is an image of {why} can be shown.", hint="Make a smaller copy of it first."
        )
    if not is_whole(content):
        raise WorkspaceError(
            f"{shown} starts like an image, but it is truncated or damaged and cannot be shown.",
            hint="Inspect its bytes with a command, or create it again.",
        )
    return ImagePart(mime_type, base64.b64encode(content).decode("ascii"))


def refuse_large_image(size_bytes: int, shown: str) -> None:
    """Raise WorkspaceError for an image of more bytes than any model accepts."""
    if size_bytes > MAX_IMAGE_BYTES:
        raise WorkspaceError(
            f"{shown} is an image of {size_bytes:,} bytes; at most {MAX_IMAGE_BYTES:,} can be shown.",
            hint="Make a smaller copy of it first.",
        )


def image_from_base64(data_base64: str) -> ImagePart | None:
    """Return the image in a base64 string, or None for content that no model accepts.

    Once in the history, such content would make every later turn fail as well.
    """
    try:
        content = base64.b64decode(data_base64, validate=True)
    except ValueError:
        return None
    mime_type = image_type(content)
    is_fine = bool(mime_type) and len(content) <= MAX_IMAGE_BYTES and is_whole(content)
    is_fine = is_fine and not too_large(content)
    return ImagePart(mime_type, data_base64) if is_fine else None
