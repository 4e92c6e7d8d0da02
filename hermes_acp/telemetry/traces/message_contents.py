"""Convert messages to the conventions' format. Each message is encoded only once, although many requests contain it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    ResourcePart,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

MAX_INPUT_BYTES: Final = 64 * 1024
"""The size limit for one request's messages; the newest are exported."""
PICTURE: Final = "[{mime_type}, not exported]"
Encoded = tuple[Message, bytes]


class ExportedMessages(Struct, frozen=True):
    """The newest messages of a request as JSON, and how many older ones were left out."""

    text: str
    left_out: int = 0


class MessageContents:
    """Encodes the messages of one session."""

    def __init__(self, shown: Callable[[str], str]) -> None:
        """Initialise with `shown`, which masks the secrets in a string and truncates it."""
        self._shown = shown
        self._known: dict[int, Encoded] = {}

    def of_request(self, messages: Sequence[Message]) -> ExportedMessages:
        """Return the newest messages that the limit allows, but at least one, in order."""
        used: dict[int, Encoded] = {}
        encoded: list[Raw] = []
        size = 0
        for message in reversed(messages):
            known = self._known.get(id(message)) or (message, msgspec.json.encode(self._message(message)))
            size += len(known[1])
            if encoded and size > MAX_INPUT_BYTES:
                break
            used[id(message)] = known
            encoded.append(Raw(known[1]))
        self._known = used
        encoded.reverse()
        return ExportedMessages(msgspec.json.encode(encoded).decode(), len(messages) - len(encoded))

    def text(self, text: str) -> dict[str, object]:
        """Return text as a part of a message."""
        return {"type": "text", "content": self._shown(text)}

    def answer(self, text: str, calls: Sequence[ToolCall] = ()) -> dict[str, object]:
        """Return what the model said and which tools it called."""
        parts = [self.text(text)] if text else []
        return {"role": "assistant", "parts": parts + [self._call(call) for call in calls]}

    def prompt(self, parts: Sequence[Part]) -> dict[str, object]:
        """Return the user's text and attachments."""
        return {"role": "user", "parts": [self._part(part) for part in parts]}

    def _message(self, message: Message) -> Mapping[str, object]:
        match message:
            case UserMessage():
                return self.prompt(message.parts)
            case AssistantMessage():
                return self.answer(message.text, message.tool_calls)
            case ToolMessage():
                text = " ".join((message.text, *(self._words(part) for part in message.parts)))
                outcome = {"type": "tool_call_response", "id": message.call_id, "response": self._shown(text)}
                return {"role": "tool", "parts": [outcome]}

    def _call(self, call: ToolCall) -> dict[str, object]:
        return {
            "type": "tool_call",
            "id": call.id,
            "name": self._shown(call.name),
            "arguments": self._shown(call.arguments),
        }

    def _part(self, part: Part) -> dict[str, object]:
        return self.text(self._words(part))

    def _words(self, part: Part) -> str:
        match part:
            case TextPart():
                return part.text
            case ImagePart():
                return PICTURE.format(mime_type=part.mime_type)
            case LinkPart():
                return f"{part.name}: {part.uri}"
            case ResourcePart():
                return f"{part.uri}\n{part.text}"
