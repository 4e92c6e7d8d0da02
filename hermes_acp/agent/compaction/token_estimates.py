"""Estimate how many tokens of a model's window something takes.

A token is about four bytes. The endpoint's last count corrects the estimate, within limits: some endpoints count only
one answer, or always report the same number. An estimate uses only lengths and runs once per step.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    TextPart,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from hermes_acp.core.record.session_record import Record

TOKEN_BYTES: Final = 4
MESSAGE_TOKENS: Final = 4
IMAGE_TOKENS: Final = 1500
MAX_ESTIMATE_ERROR: Final = 2
"""The factor by which an estimate may be too high."""


def tokens_in_use(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Return an upper bound for the next request's tokens: the higher of count and estimate."""
    return max(estimate_request_tokens(record, tools), _measured(record) or 0)


def plausible_tokens(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Return the likely tokens of the next request: the count, unless the estimate is over twice as high."""
    estimated, measured = estimate_request_tokens(record, tools), _measured(record)
    return estimated if measured is None or measured * MAX_ESTIMATE_ERROR < estimated else measured


def _measured(record: Record) -> int | None:
    """Return the endpoint's count plus an estimate of later messages."""
    counted = record.usage.used_tokens
    if counted and record.measured_at <= len(record.messages):
        return counted + estimate_tokens(record.messages[record.measured_at :])
    return None


def estimate_request_tokens(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Estimate the tokens of a whole request: prompt, tools and history."""
    schemas = sum(len(msgspec.json.encode(tool)) for tool in tools) // TOKEN_BYTES
    return _text_tokens(*record.layers) + schemas + estimate_tokens(record.messages)


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens of some messages."""
    return sum(map(_message_tokens, messages))


def _message_tokens(message: Message) -> int:
    match message:
        case UserMessage():
            return MESSAGE_TOKENS + sum(map(_part_tokens, message.parts))
        case AssistantMessage():
            thoughts = [piece for thought in message.thoughts for piece in (thought.text, thought.signature)]
            calls = [piece for call in message.tool_calls for piece in (call.id, call.name, call.arguments)]
            return MESSAGE_TOKENS + _text_tokens(message.text, *thoughts, *calls)
        case ToolMessage():
            words = _text_tokens(message.call_id, message.name, message.text)
            return MESSAGE_TOKENS + words + sum(map(_part_tokens, message.parts))


def _part_tokens(part: Part) -> int:
    match part:
        case TextPart():
            return _text_tokens(part.text)
        case ImagePart():
            return IMAGE_TOKENS
        case LinkPart():
            return _text_tokens(part.uri, part.name)
        case _:
            return _text_tokens(part.uri, part.text)


def _text_tokens(*texts: str) -> int:
    size_bytes = 0
    for text in texts:
        size_bytes += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size_bytes // TOKEN_BYTES)
