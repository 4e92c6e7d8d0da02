"""A model without tool calls, over real HTTP: tools, calls and results are sent as text."""

from __future__ import annotations

import anyio
import pytest
from msgspec import structs

from hermes_acp.config.model_choice import ModelChoice
from hermes_acp.config.settings import ProviderSettings
from hermes_acp.core.messages import (
    TextFragment,
    TextPart,
    ThoughtFragment,
    ToolCall,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from hermes_acp.models.connection_factory import open_connection
from tests.contract.provider_suite import WAIT_S, ask, collect, joined, last_reply
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
TOOLS = (ToolSchema("read", "Reads.", {"type": "object"}),)
SAID = '<think>hm</think>I look 🌍.\n<tool_call>\n{"name": "read", "arguments": {"p": "ü"}}\n</tool_call>'


async def test_a_round_of_calls_as_text() -> None:
    replies = [Reply(text=SAID, write_size_bytes=1, deltas=20), Reply(text="Done.")]
    async with serve(replies) as server:
        choice = ModelChoice(provider="nous", model="m", base_url=server.openai_base_url, api_key="k")
        connection = open_connection(choice, ProviderSettings(tool_calls="text"))
        with anyio.fail_after(WAIT_S):
            user = UserMessage((TextPart("look"),))
            events = await collect(connection, ask(user, tools=TOOLS))
            said = last_reply(events)
            result = ToolMessage(said.message.tool_calls[0].id, "read", "found")
            again = await collect(connection, ask(user, said.message, result, tools=TOOLS))
            await connection.aclose()
    assert joined(events, ThoughtFragment) == "hm"
    assert joined(events, TextFragment) == said.message.text == "I look 🌍."
    assert [structs.replace(call, id="") for call in said.message.tool_calls] == [
        ToolCall("", "read", '{"p": "ü"}')
    ]
    assert (said.finish, last_reply(again).message.text) == ("tool_calls", "Done.")
    asked, answered = (request.body for request in server.requests)
    assert "tools" not in asked
    assert '"name":"read"' in asked["messages"][0]["content"]
    assert [message["role"] for message in answered["messages"]] == ["system", "user", "assistant", "user"]
    assert "<tool_call>" in answered["messages"][2]["content"]
    assert '<tool_response>\n{"name":"read","content":"found"}' in answered["messages"][3]["content"]


async def test_thoughts_as_text_are_thoughts_if_the_preset_says_so() -> None:
    async with serve([Reply(text="<think>hm</think>\n\nso", deltas=5)]) as server:
        choice = ModelChoice(provider="vllm", model="m", base_url=server.openai_base_url)
        connection = open_connection(choice, ProviderSettings())
        with anyio.fail_after(WAIT_S):
            reply = last_reply(await collect(connection, ask(tools=TOOLS)))
            await connection.aclose()
    assert (reply.message.text, reply.message.thoughts[0].text) == ("so", "hm")
    assert server.requests[0].body["tools"]
