"""Convert a prompt's content blocks to parts of a message."""

import base64
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ImagePart, LinkPart, Part, ResourcePart, TextPart
from hermes_acp.core.ports.model_ports import Recording
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.models.transcription.voice_service import VoiceService
from hermes_acp.tools.image_files import MAX_IMAGE_BYTES, image_type
from hermes_acp.tools.image_sizes import is_whole, too_large

IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


async def prompt_parts(blocks: Sequence[Struct], voice: VoiceService) -> tuple[Part, ...]:
    """Convert a prompt; recordings become their transcriptions.

    Raises BadRequest if it is empty or has a block that no model accepts, ConfigError, AuthRequired or ModelError.
    """
    heard: list[Part | None] = [
        await _said(block, voice) if block.__struct_config__.tag == "audio" else None for block in blocks
    ]
    parts = tuple(part or _block_to_part(block) for block, part in zip(blocks, heard, strict=True))
    if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
        raise BadRequest(errors.EMPTY_PROMPT, hint=errors.EMPTY_PROMPT_HINT)
    return parts


async def _said(block: Struct, voice: VoiceService) -> TextPart:
    fields = structs.asdict(block)
    return TextPart(await voice.transcribe(recording_of(fields["mime_type"], fields["data"])))


def recording_of(mime_type: str, data_base64: str) -> Recording:
    """Decode a recording. Raises BadRequest."""
    if not mime_type.startswith("audio/"):
        raise BadRequest(errors.not_audio(mime_type), hint=errors.RECORD_AGAIN_HINT)
    try:
        return Recording(base64.b64decode(data_base64, validate=True), mime_type)
    except ValueError as error:
        raise BadRequest(errors.AUDIO_NOT_BASE64, hint=errors.RECORD_AGAIN_HINT) from error


def _block_to_part(block: Struct) -> Part:
    fields = structs.asdict(block)
    match block.__struct_config__.tag:
        case "text":
            return TextPart(fields["text"])
        case "image":
            return _image(fields["mime_type"], fields["data"])
        case "resource_link":
            return LinkPart(fields["uri"], fields["name"])
        case "resource":
            return _resource_to_part(structs.asdict(fields["resource"]))
        case _:
            raise BadRequest(errors.UNKNOWN_BLOCK, hint=errors.WRITE_TEXT_HINT)


def _resource_to_part(contents: dict[str, Any]) -> Part:
    uri, mime_type = contents["uri"], contents["mime_type"] or None
    if "text" in contents:
        return ResourcePart(uri, contents["text"], mime_type)
    return _blob_to_part(uri, mime_type, contents["blob"])


def _image(mime_type: str, data_base64: str) -> ImagePart:
    """Convert an image, detecting its type from its first bytes. Raises BadRequest for a type that no model reads.

    In the history, such an image would make every later turn fail.
    """
    if mime_type not in IMAGE_TYPES:
        kinds = ", ".join(sorted(IMAGE_TYPES))
        raise BadRequest(errors.unsupported_image(mime_type), hint=errors.image_types_hint(kinds))
    try:
        content = base64.b64decode(data_base64, validate=True)
    except ValueError as error:
        raise BadRequest(errors.IMAGE_NOT_BASE64, hint=errors.ATTACH_AGAIN_HINT) from error
    real_type = image_type(content)
    if not real_type:
        raise BadRequest(errors.not_an_image(mime_type), hint=errors.ATTACH_AGAIN_HINT)
    if len(content) > MAX_IMAGE_BYTES:
        raise BadRequest(
            errors.image_too_long(len(content), MAX_IMAGE_BYTES),
            hint=errors.ATTACH_SMALLER_HINT,
        )
    if not is_whole(content):
        raise BadRequest(errors.IMAGE_DAMAGED, hint=errors.ATTACH_AGAIN_HINT)
    if why := too_large(content):
        raise BadRequest(errors.image_too_large(why), hint=errors.ATTACH_SMALLER_HINT)
    return ImagePart(real_type, data_base64)


def _blob_to_part(uri: str, mime_type: str | None, data_base64: str) -> Part:
    """Convert a blob to an image, to text if it is UTF-8, or else to a link to its source."""
    kind = mime_type or "application/octet-stream"
    if kind.startswith("image/"):
        return _image(kind, data_base64)
    try:
        return ResourcePart(uri, base64.b64decode(data_base64, validate=True).decode("utf-8"), kind)
    except ValueError:
        return LinkPart(uri, unquote(urlsplit(uri).path.rpartition("/")[2]) or uri)
