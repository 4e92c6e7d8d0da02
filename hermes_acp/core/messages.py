"""The conversation as a model sees it: parts, messages and tool calls, independent of vendors' wire formats."""

from collections.abc import Callable, Iterable, Sequence
from operator import is_not
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct, field, structs


class TextPart(Struct, frozen=True, gc=False, tag="text", omit_defaults=True):
    """Plain text. `template` names the skill or prompt that a slash command inserted; it is empty for typed text."""

    text: str
    template: str = ""


class ImagePart(Struct, frozen=True, gc=False, tag="image"):
    """An image, base64-encoded."""

    mime_type: str
    data_base64: str


class LinkPart(Struct, frozen=True, gc=False, tag="link"):
    """A link to a resource whose content is not included."""

    uri: str
    name: str


class ResourcePart(Struct, frozen=True, gc=False, tag="resource"):
    """A text resource whose content is included, such as an open file or a selection."""

    uri: str
    text: str
    mime_type: str | None = None


Part = TextPart | ImagePart | LinkPart | ResourcePart


def words_in(parts: Iterable[Part], seam: str = "") -> str:
    """Join the text parts with `seam`, leaving out attachments."""
    return seam.join(part.text for part in parts if isinstance(part, TextPart))


def typed_words_in(parts: Iterable[Part], seam: str = "") -> str:
    """Join the text that the user typed, leaving out attachments and anything inserted by a slash command."""
    return words_in((part for part in parts if not (isinstance(part, TextPart) and part.template)), seam)


def as_inserted(parts: Iterable[Part], template: str) -> tuple[Part, ...]:
    """Mark the parts that a slash command inserts with the name of its skill or prompt."""
    return tuple(
        structs.replace(part, template=template) if isinstance(part, TextPart) else part for part in parts
    )


UNNAMED: Final = "tool_call"
"""The name given to a call whose own name could not be read."""


class ToolCall(Struct, frozen=True, gc=False, omit_defaults=True):
    """A call as the model wrote it. `arguments` is its JSON text, which has not been validated yet.

    `signature` is a provider's signature that must be sent back. `id` is unique across all sessions; `vendor_id` is the
    model's own ID. Earlier versions recorded only `id`. `via` is the tool through which the model made the call, if the
    called tool is not in the model's requests.
    """

    id: str
    name: str
    arguments: str
    signature: str = ""
    vendor_id: str = ""
    via: str = ""

    def as_written(self) -> "ToolCall":
        """Return the call in the form in which the model wrote it."""
        if not self.via:
            return self
        arguments = (
            f'{{"name":{msgspec.json.encode(self.name).decode()},"arguments":{self.arguments or "{}"}}}'
        )
        return structs.replace(self, name=self.via, arguments=arguments, via="")


class Thought(Struct, frozen=True, gc=False, omit_defaults=True):
    """Reasoning that some providers require to be sent back verbatim, with their signature.

    `vendor` is the wire format in which it was received, or empty for any. `id` is the provider's ID. `after_calls` is
    the number of the message's calls that precede it.
    """

    text: str
    signature: str = ""
    vendor: str = ""
    id: str = ""
    after_calls: int = 0


class UserMessage(Struct, frozen=True, gc=False, tag="user"):
    """A message to the model: the user's own words, a note from the program, or a summary."""

    parts: tuple[Part, ...]
    origin: Literal["user", "program", "summary"] = "user"


class AssistantMessage(Struct, frozen=True, gc=False, tag="assistant"):
    """The model's answer in one step."""

    text: str = ""
    thoughts: tuple[Thought, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


class ToolMessage(Struct, frozen=True, gc=False, tag="tool"):
    """The outcome of one call; every call has exactly one. `parts`, such as images, accompany the text."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    parts: tuple[Part, ...] = ()


Message = UserMessage | AssistantMessage | ToolMessage


def user_prompts(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return what the user has typed, without attachments and without what slash commands inserted."""
    said = (each for each in messages if isinstance(each, UserMessage) and each.origin == "user")
    return tuple(typed_words_in(each.parts) for each in said)


class Usage(Struct, frozen=True, gc=False):
    """The token usage of one step. `input_tokens` counts all input, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """The total number of input and output tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


FinishReason = Literal["stop", "tool_calls", "length", "refusal"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model reasons before it answers, from least to most.

No model has all levels; see `models.model_catalog`.
"""


class ToolSchema(Struct, frozen=True):
    """A tool as described to a model; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, object]


class EncodedHistory(Protocol):
    """A history in a provider's format, to which messages are appended in order."""

    def add(self, message: Message) -> None:
        """Encode one message and append it."""
        ...


H = TypeVar("H", bound=EncodedHistory)


class HistoryEncoding:
    """A provider's encoding of the history in a session's last request, so that the next one encodes only new messages.

    Messages are immutable, so the encoding stays valid as long as the history starts with the same messages and
    `variant`, which covers everything else that the encoding depends on, is unchanged.
    """

    def __init__(self) -> None:
        self._variant: object = None
        self._messages: list[Message] = []
        self._encoded: Any = None

    def of(self, messages: Sequence[Message], variant: object, begin: Callable[[], H]) -> H:
        """Return the encoded history; `begin` creates an empty one."""
        known, encoded = len(self._messages), self._encoded
        is_known = self._encoded is not None and variant == self._variant and known <= len(messages)
        if not is_known or any(map(is_not, self._messages, messages)):
            known, encoded = 0, begin()
        self._encoded = None  # valid only once everything has been added
        for message in messages[known:]:
            encoded.add(message)
        self._variant, self._messages, self._encoded = variant, list(messages), encoded
        return encoded


class ModelRequest(Struct, frozen=True):
    """The request of one step. `system` layers are ordered from stable to volatile and fixed for the session.

    If `effort` is None, the vendor decides; a level that the model lacks is replaced by the next lower one. `encoding`
    is that of the session. `deferred` tools are not described to the model until it finds them.
    """

    model: str
    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None
    deferred: tuple[ToolSchema, ...] = ()
    encoding: HistoryEncoding = field(default_factory=HistoryEncoding)


class TextFragment(Struct, frozen=True):
    """A part of the answer, delivered as it arrives."""

    text: str


class ThoughtFragment(Struct, frozen=True):
    """A part of the reasoning, delivered as it arrives."""

    text: str


class CallFragment(Struct, frozen=True):
    """A part of a tool call's arguments, delivered as it arrives; `key` identifies the call within its answer."""

    key: str
    name: str
    arguments: str


Fragment = TextFragment | ThoughtFragment | CallFragment


class RequestTiming(Struct, frozen=True, gc=False, omit_defaults=True):
    """When a model request was sent (seconds since the epoch), and how long the whole answer and its first part took.

    `first_chunk_s` is None if nothing arrived.
    """

    started_at: float
    took_s: float
    first_chunk_s: float | None = None


class ModelReply(Struct, frozen=True):
    """The complete answer of one step; the last item of a provider's stream."""

    message: AssistantMessage
    finish: FinishReason
    usage: Usage
    timing: RequestTiming | None = None


ModelEvent = Fragment | ModelReply
