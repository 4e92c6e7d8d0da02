"""What was said: the history a model is shown.

Knows: parts, messages, tool calls. Does not know: any vendor's wire format, nor the editor's.
"""

from typing import Literal

from msgspec import Struct


class TextPart(Struct, frozen=True, tag="text"):
    """Words."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """A picture, base64-encoded."""

    mime_type: str
    data_base64: str


class LinkPart(Struct, frozen=True, tag="link"):
    """A resource named but not included."""

    uri: str
    name: str


class ResourcePart(Struct, frozen=True, tag="resource"):
    """A text resource included whole, such as an open file or a selection."""

    uri: str
    text: str
    mime_type: str | None = None


Part = TextPart | ImagePart | LinkPart | ResourcePart


class ToolCall(Struct, frozen=True):
    """One call as the model wrote it; `arguments` is its JSON text, not yet believed."""

    id: str
    name: str
    arguments: str


class Thought(Struct, frozen=True):
    """Reasoning that some vendors want back word for word, with their signature."""

    text: str
    signature: str = ""


class UserMessage(Struct, frozen=True, tag="user"):
    """What the user, or the program on their behalf, put to the model."""

    parts: tuple[Part, ...]


class AssistantMessage(Struct, frozen=True, tag="assistant"):
    """What the model answered in one step."""

    text: str = ""
    thoughts: tuple[Thought, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


class ToolMessage(Struct, frozen=True, tag="tool"):
    """What came of one call; every call has exactly one."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


class Usage(Struct, frozen=True):
    """Tokens of one step. `input_tokens` counts everything sent, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


FinishReason = Literal["stop", "tool_calls", "length", "refusal"]


class ToolSchema(Struct, frozen=True):
    """A tool as a model is told of it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, object]


class ModelRequest(Struct, frozen=True):
    """One step's request. `system` layers run stable to volatile; all of them are fixed for the session."""

    model: str
    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None


class TextFragment(Struct, frozen=True):
    """Some words of the answer, as they arrive."""

    text: str


class ThoughtFragment(Struct, frozen=True):
    """Some words of the reasoning, as they arrive."""

    text: str


class ModelReply(Struct, frozen=True):
    """The whole answer of one step; the last thing a provider's stream yields."""

    message: AssistantMessage
    finish: FinishReason
    usage: Usage


ModelEvent = TextFragment | ThoughtFragment | ModelReply
