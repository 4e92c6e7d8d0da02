"""Read image files in the form a model is shown."""

import base64
from typing import Final

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.messages import ImagePart
from hermes_acp.tools.image_sizes import is_whole, too_large

MAX_IMAGE_BYTES: Final = 3_750_000
"""In base64 this is five million characters, the most that any vendor takes."""


def image_type(content: bytes) -> str:
    """Return the MIME type of a picture that models take; empty for all other bytes."""
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
    """Return bytes as a picture. Raises WorkspaceError for one that is too large or too damaged to be shown."""
    if len(content) > MAX_IMAGE_BYTES:
        raise WorkspaceError(
            f"{shown} is a picture of {len(content):,} bytes; at most {MAX_IMAGE_BYTES:,} can be shown.",
            hint="Make a smaller copy of it first.",
        )
    if why := too_large(content):
        raise WorkspaceError(
            f"{shown} is a picture of {why} can be shown.", hint="Make a smaller copy of it first."
        )
    if not is_whole(content):
        raise WorkspaceError(
            f"{shown} starts like a picture, but it is cut off or damaged and cannot be shown.",
            hint="Inspect its bytes with a command, or have it created again.",
        )
    return ImagePart(mime_type, base64.b64encode(content).decode("ascii"))


def image_from_base64(data_base64: str) -> ImagePart | None:
    """Return what somebody wrote down in base64 as the picture that it is; None for what no model would take.

    Once in the history, such a thing would be refused in every later turn too.
    """
    try:
        content = base64.b64decode(data_base64, validate=True)
    except ValueError:
        return None
    mime_type = image_type(content)
    is_fine = bool(mime_type) and len(content) <= MAX_IMAGE_BYTES and is_whole(content)
    is_fine = is_fine and not too_large(content)
    return ImagePart(mime_type, data_base64) if is_fine else None
