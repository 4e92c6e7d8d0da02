"""Convert a person's message to content blocks for the agent."""

from base64 import b64encode
from typing import Final

import anyio

from hermes_acp.frontends.gateway import messages, model_text
from hermes_acp.frontends.gateway.conversations.gateway_parts import (
    ConversationPlace,
    GatewayParts,
    StoredMessage,
)
from hermes_acp.frontends.gateway.port.platform_port import (
    MAX_ATTACHMENT_BYTES,
    Attachment,
    Platform,
    PlatformError,
)
from hermes_protocol import v1

MAX_FILES: Final = 8
FETCH_TIMEOUT_S: Final = 60.0
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


async def content_of(
    message: StoredMessage,
    where: ConversationPlace,
    parts: GatewayParts,
    capabilities: v1.AgentCapabilities | v1.UnsetType | None,
) -> list[v1.ContentBlock]:
    """Return the content blocks for a message: the sender and the text, pictures, and the texts of files."""
    if where.room is not None:
        text = model_text.room_prompt(message.person, message.text, message.others)
    else:
        text = model_text.direct_prompt(message.text)
    blocks: list[v1.ContentBlock] = []
    unreadable: list[str] = []
    offered = capabilities.prompt_capabilities if isinstance(capabilities, v1.AgentCapabilities) else None
    takes = offered if isinstance(offered, v1.PromptCapabilities) else v1.PromptCapabilities()
    for attachment in message.attachments[:MAX_FILES]:
        try:
            blocks.append(await _block(attachment, where, parts, takes))
        except PlatformError as error:
            unreadable.append(messages.file_refused(attachment.name, error.reason))
    unreadable += [each.name for each in message.attachments[MAX_FILES:]]
    if unreadable:
        text = f"{text}\n{model_text.unreadable_files(unreadable)}".strip()
    return [v1.TextContent(text=text), *blocks]


async def _block(
    attachment: Attachment, where: ConversationPlace, parts: GatewayParts, takes: v1.PromptCapabilities
) -> v1.ContentBlock:
    """Convert a file to a content block. Raises PlatformError if it cannot be read or forwarded."""
    platform = parts.connected(where.platform)
    if platform is None:
        raise PlatformError(messages.NO_ANSWER_IN_TIME)
    if attachment.size > MAX_ATTACHMENT_BYTES:
        raise PlatformError(messages.TOO_LARGE, is_permanent=True)
    mime_type = attachment.mime_type.partition(";")[0].strip().lower()
    is_picture = mime_type in IMAGES and takes.image is True
    is_sound = mime_type.startswith("audio/") and takes.audio is True
    is_text = mime_type.startswith("text/") or mime_type in ("application/json", "application/yaml")
    if not (is_picture or is_sound or is_text):
        raise PlatformError(messages.NOT_READABLE, is_permanent=True)
    content = await _fetched(platform, attachment, where.platform, parts)
    if len(content) > MAX_ATTACHMENT_BYTES:
        raise PlatformError(messages.TOO_LARGE, is_permanent=True)
    if is_picture:
        return v1.ImageContent(data=b64encode(content).decode(), mime_type=mime_type)
    if is_sound:
        return v1.AudioContent(data=b64encode(content).decode(), mime_type=mime_type)
    return v1.TextContent(text=model_text.attached_text(attachment.name, content.decode("utf-8", "replace")))


async def _fetched(platform: Platform, attachment: Attachment, name: str, parts: GatewayParts) -> bytes:
    """Fetch a file. Any exception is raised as PlatformError, so that the message is answered anyway."""
    try:
        with anyio.fail_after(FETCH_TIMEOUT_S):
            return await platform.fetch(attachment, MAX_ATTACHMENT_BYTES)
    except PlatformError:
        raise
    except TimeoutError:
        raise PlatformError(messages.NO_ANSWER_IN_TIME) from None
    except Exception as error:
        if not isinstance(error, OSError):
            parts.report(error, name)
        raise PlatformError(messages.NOT_FETCHED) from error
