"""The requests that Anthropic's Messages endpoint accepts.

Source: the vendor's messages reference and its own error messages.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import msgspec

from .requests import Asked, BadRequestError

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class _Block(msgspec.Struct, frozen=True):
    type: str
    text: str = ""
    id: str = ""
    tool_use_id: str = ""
    thinking: str = ""
    signature: str = ""
    content: Any = None

    def words(self) -> str:
        if self.type != "tool_result" or self.content is None:
            return self.text
        if isinstance(self.content, str):
            return self.content
        return "".join(block.words() for block in msgspec.convert(self.content, list[_Block]))


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[_Block]

    def blocks(self) -> list[_Block]:
        return [_Block("text", self.content)] if isinstance(self.content, str) else self.content

    def text(self) -> str:
        return "".join(block.words() for block in self.blocks())

    def has_own_words(self) -> bool:
        return self.role == "user" and any(block.type != "tool_result" for block in self.blocks())

    def own_words(self) -> str:
        return "".join(block.text for block in self.blocks())

    def ids(self, block_type: str) -> list[str]:
        wanted = [block for block in self.blocks() if block.type == block_type]
        return [block.id or block.tool_use_id for block in wanted]


class _Tool(msgspec.Struct, frozen=True):
    name: str


class _Request(msgspec.Struct, frozen=True):
    model: str
    max_tokens: int
    messages: list[_Message]
    stream: bool | None = False
    tools: list[_Tool] | None = None


def sign(thinking: str) -> str:
    """Return the signature that this server gives to a thinking text and expects back with it."""
    return base64.b64encode(hashlib.sha256(thinking.encode()).digest()).decode()


def read_request(body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
    """Read and check a request; raise BadRequestError if the vendor would refuse it."""
    try:
        request = msgspec.convert(body, _Request)
        last_texts = [message.text() for message in request.messages if message.role == "user"]
    except msgspec.ValidationError as error:
        raise BadRequestError(str(error)) from error
    if is_strict:
        if "anthropic-version" not in headers:
            raise BadRequestError("anthropic-version: header is required")
        _check_request(request)
    messages = request.messages
    prompt_at = max((at for at, message in enumerate(messages) if message.has_own_words()), default=-1)
    return Asked(
        model=request.model,
        is_streamed=bool(request.stream),
        last_text=last_texts[-1] if last_texts else "",
        prompt_text=messages[prompt_at].own_words() if prompt_at >= 0 else "",
        step=sum(message.role == "assistant" for message in messages[prompt_at + 1 :]),
    )


def _check_request(request: _Request) -> None:
    if request.max_tokens < 1:
        raise BadRequestError("max_tokens: Input should be greater than or equal to 1")
    if not request.messages:
        raise BadRequestError("messages: at least one message is required")
    if request.messages[0].role != "user":
        raise BadRequestError('messages: first message must use the "user" role')
    for index, tool in enumerate(request.tools or []):
        if not _TOOL_NAME.fullmatch(tool.name):
            raise BadRequestError(
                f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
    _check_history(request.messages)


def _check_history(messages: list[_Message]) -> None:
    seen: set[str] = set()
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        _check_blocks(index, message)
        answered = message.ids("tool_result")
        missing = [identity for identity in open_ids if identity not in answered]
        if missing:
            raise BadRequestError(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` "
                "block in the next message."
            )
        unasked = [identity for identity in answered if identity not in open_ids]
        if unasked:
            raise BadRequestError(
                f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(unasked)}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )
        open_ids = message.ids("tool_use")
        if len(set(open_ids)) < len(open_ids) or seen.intersection(open_ids):
            raise BadRequestError(f"messages.{index}.content: `tool_use` ids must be unique")
        seen.update(open_ids)
    if open_ids:
        raise BadRequestError(
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(open_ids)}."
        )


def _check_blocks(index: int, message: _Message) -> None:
    for at, block in enumerate(message.blocks()):
        if block.type == "text" and not block.text:
            raise BadRequestError("messages: text content blocks must be non-empty")
        if block.type == "thinking" and block.signature != sign(block.thinking):
            raise BadRequestError(f"messages.{index}.content.{at}: Invalid `signature` in `thinking` block")
