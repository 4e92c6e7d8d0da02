"""Encode a history as a vendor's blocks: the part common to vendors whose messages are lists of blocks.

A vendor's encoder derives from `BlockEncoder` and defines how to encode a text, an image, a call and a result.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Part,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hermes_acp.models.formats.message_parts import text_of

ContentBlock = dict[str, object]
"""One block of a message in some vendor's format."""


class BlockEncoder(ABC):
    """Base of a vendor's encoder, made for one request.

    `model_role` is the vendor's name for the model's role; `result_field` is a field that only result blocks have.
    """

    vendor: ClassVar[str]
    model_role: ClassVar[str] = "assistant"
    result_field: ClassVar[str] = ""
    takes_blank_text: ClassVar[bool] = False

    def __init__(self, omitted: frozenset[str]) -> None:
        self.keeps_thoughts = "thoughts" not in omitted

    @abstractmethod
    def text(self, text: str) -> ContentBlock:
        """Encode text from the user or from a result."""

    @abstractmethod
    def image(self, image: ImagePart) -> ContentBlock:
        """Encode an image."""

    @abstractmethod
    def call(self, call: ToolCall) -> ContentBlock:
        """Encode a call."""

    @abstractmethod
    def result(self, message: ToolMessage) -> list[ContentBlock]:
        """Encode the result of a call."""

    def answer_text(self, text: str, answer: AssistantMessage) -> ContentBlock:
        """Encode the text of an answer."""
        return self.text(text)

    def thought(self, thought: Thought) -> ContentBlock | None:
        """Encode signed reasoning; return None for reasoning that is not sent back."""
        return None

    def answer(self, message: AssistantMessage) -> list[ContentBlock]:
        """Encode an answer, with its parts in the order they arrived."""
        blocks: list[ContentBlock] = []
        for piece in ordered_pieces(message, self.vendor):
            match piece:
                case str():
                    blocks.append(self.answer_text(piece, message))
                case ToolCall():
                    blocks.append(self.call(piece))
                case Thought(signature=signature):
                    block = self.thought(piece) if signature and self.keeps_thoughts else None
                    blocks += [block] if block is not None else []
        return blocks

    def parts(self, parts: Iterable[Part]) -> list[ContentBlock]:
        """Encode parts, leaving out blank text if the vendor refuses it."""
        blocks: list[ContentBlock] = []
        for part in parts:
            if isinstance(part, ImagePart):
                blocks.append(self.image(part))
            elif (text := text_of(part)).strip() or (text and self.takes_blank_text):
                blocks.append(self.text(text))
        return blocks

    def message(self, message: Message) -> list[ContentBlock]:
        """Encode one message."""
        match message:
            case UserMessage():
                return self.parts(message.parts)
            case AssistantMessage():
                return self.answer(message)
            case ToolMessage():
                return self.result(message)

    def turns(self, messages: Iterable[Message]) -> list[tuple[str, list[ContentBlock]]]:
        """Encode a history for a format in which `user` and the model alternate.

        Results come first among the user's blocks because they must follow the calls they answer.
        """
        turns: list[tuple[str, list[ContentBlock]]] = []
        for message in messages:
            role = self.model_role if isinstance(message, AssistantMessage) else "user"
            blocks = self.message(message)
            if not blocks:
                continue
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(blocks)
            else:
                turns.append((role, blocks))
        for role, blocks in turns:
            if role == "user":
                blocks.sort(key=lambda block: self.result_field not in block)
        return turns


def ordered_pieces(message: AssistantMessage, vendor: str) -> Iterator[Thought | str | ToolCall]:
    """Yield an answer's parts in order: reasoning, the text, then each call after the reasoning that led to it.

    Blank text and other vendors' reasoning are left out, as is an answer with only reasoning. Reasoning without
    a vendor belongs to any vendor.
    """
    if not message.text.strip() and not message.tool_calls:
        return
    thoughts = [thought for thought in message.thoughts if thought.vendor in ("", vendor)]
    yield from (thought for thought in thoughts if thought.after_calls == 0)
    if message.text.strip():
        yield message.text
    for place, call in enumerate(message.tool_calls):
        if place:
            yield from (thought for thought in thoughts if thought.after_calls == place)
        yield call
