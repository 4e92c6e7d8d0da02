"""The attachments of a prompt: the content of mentioned files, pictures, and links to files that are too large."""

import base64
import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.input.file_mentions import mentioned_paths
from hermes_protocol import v1

MAX_TEXT_BYTES: Final = 64 * 1024
MAX_ALL_TEXT_BYTES: Final = 256 * 1024
MAX_IMAGE_BYTES: Final = 3_750_000
IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Attachments(Struct, frozen=True):
    """The content blocks that follow a prompt's text, and remarks about files that could not be attached."""

    blocks: Sequence[v1.ContentBlock] = ()
    remarks: Sequence[str] = ()


def attachments_of(
    prompt: str,
    cwd: str,
    capabilities: v1.PromptCapabilities,
    is_foreign: Callable[[str], bool] = lambda _: False,
) -> Attachments:
    """Read the mentioned files that the agent accepts and that are small enough. Blocks. Paths for which
    `is_foreign` returns true belong to another profile and are left out.
    """
    blocks: list[v1.ContentBlock] = []
    remarks: list[str] = []
    room = MAX_ALL_TEXT_BYTES
    for path in mentioned_paths(prompt, cwd):
        block: v1.ContentBlock | None = None
        if is_foreign(str(path)):
            remarks.append(messages.of_another_profile(path.name))
            continue
        try:
            if path.is_file():
                size = path.stat().st_size
                kind = mimetypes.guess_type(path.name)[0] or ""
                if kind in IMAGE_TYPES and capabilities.image:
                    block = _image(path, kind) if size <= MAX_IMAGE_BYTES else None
                elif size <= min(MAX_TEXT_BYTES, room) and capabilities.embedded_context:
                    block = _text(path)
                    room -= size
                if block is None and (size > MAX_TEXT_BYTES or size > room):
                    remarks.append(messages.linked_only(path.name, size))
        except OSError as error:
            remarks.append(messages.not_readable(path.name, error.strerror or str(error)))
        blocks.append(block or v1.ResourceLink(name=path.name, uri=_uri(path)))
    return Attachments(blocks, remarks)


def _image(path: Path, kind: str) -> v1.ContentBlock:
    return v1.ImageContent(data=base64.b64encode(path.read_bytes()).decode(), mime_type=kind, uri=_uri(path))


def _text(path: Path) -> v1.ContentBlock | None:
    """Return the content of a text file, or None for any other file."""
    content = path.read_bytes()
    if b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return v1.EmbeddedResource(resource=v1.TextResourceContents(text=text, uri=_uri(path)))


def _uri(path: Path) -> str:
    return f"file://{quote(str(path))}"
