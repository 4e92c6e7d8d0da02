"""Tools for models without native tool calls: tools are described in the system prompt; calls and results are text.

Source: the function calling format of Nous Research's Hermes models.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import msgspec
from msgspec import structs

from hermes_acp.core.messages import (
    AssistantMessage,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    TextFragment,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.formats.message_parts import valid_arguments
from hermes_acp.models.formats.reply_assembly import name_calls
from hermes_acp.models.text_tools.tag_parser import CALL, CALL_END, TagParser
from hermes_acp.models.wire.endpoints import Connection

_HOW_TO_CALL = """\
# Tools

These functions can be called; each is a JSON object with its name, its purpose and the JSON Schema of its arguments:
<tools>
{tools}
</tools>

To call one, write a JSON object with its name and its arguments between tool_call marks, one for each call:
<tool_call>
{{"name": "the name", "arguments": {{"the argument": "its value"}}}}
</tool_call>
Then end your answer. The results come in the next message, between tool_response marks, in the order of the calls."""


class TextToolConnection:
    """A connection to a model that writes thoughts and, with `takes_calls`, calls as text."""

    def __init__(self, inner: Connection, *, takes_calls: bool, begins_thinking: bool = False) -> None:
        self.name = inner.name
        self._inner = inner
        self._takes_calls = takes_calls
        self._begins_thinking = begins_thinking

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        """Open one step; see `core.ports.model_ports.Provider`."""
        reader = TagParser(takes_calls=self._takes_calls, begins_thinking=self._begins_thinking)
        asked = write_as_text(request) if self._takes_calls else request
        async with (
            self._inner.stream(asked) as events,
            aclosing(_read_marks(events, reader, request)) as read,
        ):
            yield read

    async def models(self) -> tuple[ListedModel, ...]:
        """Return the endpoint's models. Raises ModelError."""
        return await self._inner.models()

    async def own_window(self, model: str) -> int | None:
        """Return the context window that a local server states in its own API, or None."""
        return await self._inner.own_window(model)

    async def aclose(self) -> None:
        """Close the connections; a later stream opens new ones."""
        await self._inner.aclose()


async def _read_marks(
    events: AsyncIterator[ModelEvent], reader: TagParser, request: ModelRequest
) -> AsyncGenerator[ModelEvent]:
    async for event in events:
        match event:
            case TextFragment(text=text):
                for fragment in reader.feed(text):
                    yield fragment
            case ModelReply():
                for fragment in reader.close():
                    yield fragment
                yield _with_marks(event, reader, request)
            case _:
                yield event


def _with_marks(reply: ModelReply, reader: TagParser, request: ModelRequest) -> ModelReply:
    """Return the reply with the thoughts and calls found in its text."""
    said = reply.message
    found = "".join(reader.thoughts)
    thoughts = (*said.thoughts, Thought(found)) if found else said.thoughts
    calls = name_calls((*said.tool_calls, *reader.calls), request)
    message = AssistantMessage("".join(reader.text), thoughts, calls)
    finish = "tool_calls" if calls and reply.finish == "stop" else reply.finish
    return ModelReply(message, finish, reply.usage)


def write_as_text(request: ModelRequest) -> ModelRequest:
    """Return the request without tools: they are described after the first layer, and calls and results become text."""
    messages: list[Message] = []
    for message in request.messages:
        written = _write_message(message)
        last = messages[-1] if messages else None
        if isinstance(written, UserMessage) and isinstance(last, UserMessage):
            # The templates of such models require user and assistant to alternate.
            messages[-1] = UserMessage((*last.parts, *written.parts))
        else:
            messages.append(written)
    system = request.system
    if request.tools:
        system = (*system[:1], describe_tools(request.tools), *system[1:])
    return structs.replace(request, system=system, messages=tuple(messages), tools=())


def describe_tools(tools: tuple[ToolSchema, ...]) -> str:
    """Describe the tools and how to call them."""
    lines = (
        msgspec.json.encode(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        ).decode()
        for tool in tools
    )
    return _HOW_TO_CALL.format(tools="\n".join(lines))


def _write_message(message: Message) -> UserMessage | AssistantMessage:
    if isinstance(message, UserMessage):
        return message
    if isinstance(message, ToolMessage):
        return UserMessage((TextPart(_write_result(message)), *message.parts))
    if not message.tool_calls:
        return message
    words = "\n".join((*((message.text,) if message.text else ()), *map(_write_call, message.tool_calls)))
    return structs.replace(message, text=words, tool_calls=())


def _write_call(call: ToolCall) -> str:
    arguments = msgspec.Raw(valid_arguments(call.arguments).encode())
    content = msgspec.json.encode({"name": call.name, "arguments": arguments}).decode()
    return f"{CALL}\n{content}\n{CALL_END}"


def _write_result(message: ToolMessage) -> str:
    field = "error" if message.is_error else "content"
    content = msgspec.json.encode({"name": message.name, field: message.text}).decode()
    # JSON allows the slash to be escaped, so that a result cannot close its own tag.
    content = content.replace("</tool_response>", "<\\/tool_response>")
    return f"<tool_response>\n{content}\n</tool_response>"
