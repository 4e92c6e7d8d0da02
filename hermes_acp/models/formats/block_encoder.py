"""Encode a history as a vendor's blocks: the code shared by vendors whose messages are lists of blocks.

A vendor's encoder derives from `BlockEncoder` and defines how to encode text, images, calls and results.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

import msgspec

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ModelRequest,
    Part,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hermes_acp.models.formats.message_parts import text_of

ContentBlock = dict[str, object]
"""A block of a message in a vendor's format."""


class BlockEncoder(ABC):
    """The base class of vendors' encoders; an instance is created for each request.

    `model_role` is the vendor's name for the model's role; `result_field` is a field that only result blocks have.
    `content_field` is the field of a message that contains its blocks. `variant` distinguishes encoders that encode
    differently.
    """

    vendor: ClassVar[str]
    model_role: ClassVar[str] = "assistant"
    content_field: ClassVar[str] = "content"
    result_field: ClassVar[str] = ""
    takes_blank_text: ClassVar[bool] = False

    def __init__(self, omitted: frozenset[str]) -> None:
        self.keeps_thoughts = "thoughts" not in omitted
        self.variant: tuple[object, ...] = (self.vendor, omitted)

    def turns(self, request: ModelRequest) -> "EncodedTurns":
        """Return the history in a request as alternating turns."""
        return request.encoding.of(request.messages, self.variant, lambda: EncodedTurns(self))

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
        """Encode an answer, with its parts in the order in which they arrived."""
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


class EncodedTurns:
    """A history for a format in which `user` and the model alternate: turns as JSON, the last of which is still open.

    Results come first among the user's blocks, because they must directly follow the calls they answer.
    """

    def __init__(self, encoder: BlockEncoder) -> None:
        self._encoder = encoder
        self._closed: list[msgspec.Raw] = []
        self._role = ""
        self._results: list[msgspec.Raw] = []
        self._others: list[msgspec.Raw] = []

    def add(self, message: Message) -> None:
        """Encode one message; if the open turn has the same role, the message is added to that turn."""
        encoder = self._encoder
        role = encoder.model_role if isinstance(message, AssistantMessage) else "user"
        blocks = encoder.message(message)
        if blocks and role != self._role:
            self._closed += self._open_turn()
            self._role, self._results, self._others = role, [], []
        for block in blocks:
            is_result = role == "user" and encoder.result_field in block
            (self._results if is_result else self._others).append(to_json(block))

    def turns(
        self, finish: Callable[[msgspec.Raw], Sequence[msgspec.Raw]] | None = None
    ) -> list[msgspec.Raw]:
        """Return all turns; if the last turn is the user's, `finish` replaces its last block."""
        return self._closed + self._open_turn(finish if self._role == "user" else None)

    def _open_turn(
        self, finish: Callable[[msgspec.Raw], Sequence[msgspec.Raw]] | None = None
    ) -> list[msgspec.Raw]:
        blocks = self._results + self._others
        if blocks and finish:
            blocks[-1:] = finish(blocks[-1])
        return [to_json({"role": self._role, self._encoder.content_field: blocks})] if blocks else []


def to_json(block: ContentBlock) -> msgspec.Raw:
    """Encode a block as JSON that is inserted into a request unchanged."""
    return msgspec.Raw(msgspec.json.encode(block))


def ordered_pieces(message: AssistantMessage, vendor: str) -> Iterator[Thought | str | ToolCall]:
    """Yield an answer's parts in order: reasoning, the text, then each call after the reasoning that led to it.

    Blank text and other vendors' reasoning are left out, as is an answer that consists only of reasoning. Reasoning
    without a vendor is sent to any vendor.
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
