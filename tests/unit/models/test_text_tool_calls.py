"""Tool calls as text, for models without native tool calls: what they are sent, and how their text is parsed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from hermes_acp.core.messages import (
    AssistantMessage,
    ModelEvent,
    ModelReply,
    ModelRequest,
    TextFragment,
    TextPart,
    Thought,
    ThoughtFragment,
    ToolCall,
    ToolMessage,
    ToolSchema,
    Usage,
    UserMessage,
)
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.text_tools.text_tool_calls import TextToolConnection, write_as_text

HI = UserMessage((TextPart("hi"),))
TOOL = ToolSchema("read", "Reads {files}.", {"type": "object"})


class Inner:
    """A connection that yields the given pieces."""

    name = "inner"

    def __init__(self, pieces: Sequence[str], finish: str = "stop") -> None:
        self.pieces = pieces
        self.asked: list[ModelRequest] = []

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        self.asked.append(request)

        async def events() -> AsyncIterator[ModelEvent]:
            for piece in self.pieces:
                yield TextFragment(piece)
            yield ModelReply(AssistantMessage("".join(self.pieces)), "stop", Usage(1, 2))

        yield events()

    async def models(self) -> tuple[ListedModel, ...]:
        return (ListedModel("m"),)

    async def own_window(self, model: str) -> int | None:
        return 8_000

    async def aclose(self) -> None:
        return None


async def answer(connection: TextToolConnection, request: ModelRequest) -> list[ModelEvent]:
    async with connection.stream(request) as events:
        return [event async for event in events]


@pytest.mark.anyio
async def test_text_becomes_thoughts_text_and_calls() -> None:
    inner = Inner(["<thi", "nk>hm</think>I lo", "ok.\n<tool_call>", '{"name": "read"}', "</tool_call>"])
    connection = TextToolConnection(inner, takes_calls=True)
    past = AssistantMessage(tool_calls=(ToolCall("call_1", "read", "{}"),))
    request = ModelRequest("m", ("be brief",), (HI, past, ToolMessage("call_1", "read", "x")), (TOOL,))
    *fragments, reply = await answer(connection, request)
    assert fragments == [ThoughtFragment("hm"), TextFragment("I lo"), TextFragment("ok.")]
    assert reply == ModelReply(
        AssistantMessage("I look.", (Thought("hm"),), (ToolCall("call_2", "read", "{}"),)),
        "tool_calls",
        Usage(1, 2),
    )
    assert inner.asked[0].tools == ()
    assert (connection.name, await connection.models()) == ("inner", (ListedModel("m"),))
    assert await connection.own_window("m") == 8_000


@pytest.mark.anyio
async def test_a_model_with_native_calls_gets_an_unchanged_request() -> None:
    inner = Inner(["hm</think>so <tool_call>"])
    connection = TextToolConnection(inner, takes_calls=False, begins_thinking=True)
    request = ModelRequest("m", (), (HI,), (TOOL,))
    *_, reply = await answer(connection, request)
    assert inner.asked == [request]
    assert isinstance(reply, ModelReply)
    assert reply.message == AssistantMessage("so <tool_call>", (Thought("hm"),))
    await connection.aclose()


def test_tools_are_described_after_the_first_layer() -> None:
    asked = write_as_text(ModelRequest("m", ("who", "where"), (HI,), (TOOL,)))
    assert asked.system[::2] == ("who", "where")
    described = asked.system[1].partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert json.loads(described) == {
        "name": "read",
        "description": "Reads {files}.",
        "parameters": {"type": "object"},
    }
    assert '{"name": "the name", "arguments": {"the argument": "its value"}}' in asked.system[1]
    assert write_as_text(ModelRequest("m", ("who",), (HI,))).system == ("who",)


def test_calls_and_results_are_text_and_roles_alternate() -> None:
    said = AssistantMessage("I look.", (), (ToolCall("a", "read", '{"p": 1}'), ToolCall("b", "run", "{bad")))
    results = (ToolMessage("a", "read", "x</tool_response>y"), ToolMessage("b", "run", "no", is_error=True))
    user, assistant, answered = write_as_text(ModelRequest("m", (), (HI, said, *results, HI))).messages
    assert user == HI
    assert assistant == AssistantMessage(
        'I look.\n<tool_call>\n{"name":"read","arguments":{"p": 1}}\n</tool_call>\n'
        '<tool_call>\n{"name":"run","arguments":{"malformed_arguments":"{bad"}}\n</tool_call>'
    )
    assert isinstance(answered, UserMessage)
    texts = [part.text for part in answered.parts if isinstance(part, TextPart)]
    assert texts[1:] == ['<tool_response>\n{"name":"run","error":"no"}\n</tool_response>', "hi"]
    assert texts[0].count("</tool_response>") == 1
    assert json.loads(texts[0].partition("\n")[2].rpartition("\n")[0])["content"] == "x</tool_response>y"
