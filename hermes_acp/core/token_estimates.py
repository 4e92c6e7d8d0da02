"""Estimate how many tokens of a model's window messages take, from their length alone: a token is about four bytes."""

from collections.abc import Iterable
from typing import Final

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    TextPart,
    ToolMessage,
    UserMessage,
)

TOKEN_BYTES: Final = 4
MESSAGE_TOKENS: Final = 4
IMAGE_TOKENS: Final = 1500


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens of several messages."""
    return sum(map(message_tokens, messages))


def message_tokens(message: Message) -> int:
    """Estimate the tokens of one message."""
    match message:
        case UserMessage():
            return MESSAGE_TOKENS + sum(map(_part_tokens, message.parts))
        case AssistantMessage():
            thoughts = [piece for thought in message.thoughts for piece in (thought.text, thought.signature)]
            calls = [piece for call in message.tool_calls for piece in (call.id, call.name, call.arguments)]
            return MESSAGE_TOKENS + text_tokens(message.text, *thoughts, *calls)
        case ToolMessage():
            words = text_tokens(message.call_id, message.name, message.text)
            return MESSAGE_TOKENS + words + sum(map(_part_tokens, message.parts))


def _part_tokens(part: Part) -> int:
    match part:
        case TextPart():
            return text_tokens(part.text)
        case ImagePart():
            return IMAGE_TOKENS
        case LinkPart():
            return text_tokens(part.uri, part.name)
        case _:
            return text_tokens(part.uri, part.text)


def text_tokens(*texts: str) -> int:
    """Estimate the total tokens of several texts."""
    size_bytes = 0
    for text in texts:
        size_bytes += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size_bytes // TOKEN_BYTES)
