"""One suite for every plugin in `models/providers`, over real HTTP; the vendors' packages check the results."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import anyio
import msgspec
import pytest

from hermes_acp.core.errors import ModelRefused
from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    ModelReply,
    TextFragment,
    TextPart,
    Thought,
    ThoughtFragment,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from hermes_acp.core.messages import ToolCall as ToolCallSaid
from hermes_acp.models.wire.endpoints import Connection
from tests.contract.provider_suite import KEY, LEAVES, answer_to, ask, collect, connected, joined, last_reply
from tests.model_server import Fault, Hold, ModelServer, Recorded, Reply, Script, ToolCall, Usage, serve
from tests.model_server.clients import (
    stream_anthropic,
    stream_bedrock,
    stream_gemini,
    stream_openai,
    stream_responses,
)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("leaf", LEAVES)]


def user() -> UserMessage:
    return UserMessage((TextPart("hi"),))


async def test_yields_text_in_order_then_one_reply(leaf: str) -> None:
    events = await answer_to(Reply(text=("Hé", "llo ", "🌍"), usage=Usage(90, 9, 64, 16)), leaf)
    reply = last_reply(events)
    assert joined(events, TextFragment) == reply.message.text == "Héllo 🌍"
    assert (reply.finish, reply.message.tool_calls, reply.message.thoughts) == ("stop", (), ())
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (90, 9, 64)


@pytest.mark.parametrize("how", [{"write_size_bytes": 1}, {"write_size_bytes": 7}, {"splits_utf8": True}])
async def test_survives_any_split_of_the_bytes(leaf: str, how: dict[str, Any]) -> None:
    reply = Reply(
        thinking="größer", text="naïve 🌍 済", tool_calls=(ToolCall("t", {"k": "ü"}, pieces=3),), **how
    )
    events = await answer_to(reply, leaf)
    assert joined(events, TextFragment) == "naïve 🌍 済"
    assert joined(events, ThoughtFragment) == "größer"
    assert json.loads(last_reply(events).message.tool_calls[0].arguments) == {"k": "ü"}


async def test_yields_thoughts_before_text_and_keeps_them(leaf: str) -> None:
    events = await answer_to(Reply(thinking=("let me ", "see"), text="ok"), leaf)
    assert joined(events, ThoughtFragment) == "let me see"
    assert isinstance(events[0], ThoughtFragment)
    assert last_reply(events).message.thoughts[0].text == "let me see"


async def test_returns_parallel_calls_completely(leaf: str) -> None:
    calls = (
        ToolCall("read", {"path": "a.py"}, id="one", pieces=4),
        ToolCall("list", {"path": "/"}, id="two"),
    )
    reply = last_reply(await answer_to(Reply(text="I look.", tool_calls=calls), leaf))
    assert reply.finish == "tool_calls"
    assert [(c.id, c.name, json.loads(c.arguments)) for c in reply.message.tool_calls] == [
        ("one", "read", {"path": "a.py"}),
        ("two", "list", {"path": "/"}),
    ]


@pytest.mark.parametrize("arguments", ['{"command": "ls', "[1, 2]", "rm -rf /", '{"a": 1}{"b": 2}'])
async def test_passes_malformed_arguments_through_unchanged(leaf: str, arguments: str) -> None:
    if leaf == "gemini":
        pytest.skip("the vendor parses arguments itself; what is malformed is a finish reason of its own")
    reply = last_reply(await answer_to(Reply(tool_calls=(ToolCall("run", arguments, pieces=3),)), leaf))
    assert reply.message.tool_calls[0].arguments == arguments


async def test_gives_two_calls_with_one_id_different_ids(leaf: str) -> None:
    calls = (ToolCall("run", {"n": 1}, id="same"), ToolCall("run", {"n": 2}, id="same"))
    given = last_reply(await answer_to(Reply(tool_calls=calls), leaf)).message.tool_calls
    assert [json.loads(call.arguments)["n"] for call in given] == [1, 2]
    assert given[0].id == "same"
    assert given[1].id not in ("same", "")


@pytest.mark.parametrize(
    ("said", "meant"), [("length", "length"), ("content_filter", "refusal"), ("stop", "stop")]
)
async def test_names_the_finish_reason(leaf: str, said: str, meant: str) -> None:
    assert last_reply(await answer_to(Reply(text="so", finish=said), leaf)).finish == meant


async def test_an_empty_answer_is_an_answer(leaf: str) -> None:
    events = await answer_to(Reply(), leaf)
    assert [type(event) for event in events] == [ModelReply]
    assert last_reply(events).message == AssistantMessage()


async def test_a_history_is_sent_back_as_the_vendor_requires(leaf: str) -> None:
    """The server is strict: it rejects calls without results, altered thinking, and empty text."""
    first = Reply(
        thinking="hm",
        text="I look.",
        tool_calls=(ToolCall("read", {"p": 1}), ToolCall("run", {} if leaf == "gemini" else "{bad")),
    )
    tools = (ToolSchema("read", "Reads.", {"type": "object", "properties": {}}),)
    async with serve([first, Reply(text="done")]) as server, connected(server, leaf) as connection:
        user = UserMessage((TextPart("look"), TextPart(""), ImagePart("image/png", "aGk=")))
        said = last_reply(await collect(connection, ask(user, tools=tools))).message
        results = [ToolMessage(call.id, call.name, "", is_error=True) for call in said.tool_calls]
        note = UserMessage((TextPart("go on"),))
        empty = AssistantMessage()
        events = await collect(connection, ask(user, said, *results, note, empty, note, tools=tools))
    assert last_reply(events).message.text == "done"
    assert server.counters.failed == 0


async def test_parses_like_the_vendors_own_package(leaf: str) -> None:
    reply = Reply(
        thinking=("let me ", "see"),
        text=("Hé", "llo ", "🌍"),
        tool_calls=(ToolCall("read", {"path": "ä.py"}, id="c1", pieces=5), ToolCall("run", {}, id="c2")),
        usage=Usage(100, 9, 60, 30),
    )
    async with serve(Script([reply], pick="cycle")) as server, connected(server, leaf) as connection:
        ours = last_reply(await collect(connection, ask()))
        theirs = await JUDGES[leaf](server)
    message, usage = ours.message, ours.usage
    calls = [(call.id, call.name, json.loads(call.arguments)) for call in message.tool_calls]
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    assert (message.text, "".join(t.text for t in message.thoughts), calls, counts) == theirs


Judgement = tuple[str, str, list[tuple[str, str, Any]], tuple[int, int, int]]


async def judge_openai(server: ModelServer) -> Judgement:
    text, thoughts, usage = "", "", (0, 0, 0)
    calls: dict[int, list[str]] = {}
    for chunk in await stream_openai(server):
        if chunk.usage is not None:
            details = chunk.usage.prompt_tokens_details
            cached = (details.cached_tokens or 0) if details else 0
            usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached)
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thoughts += str((choice.delta.model_extra or {}).get("reasoning_content") or "")
            for call in choice.delta.tool_calls or []:
                grown = calls.setdefault(call.index, [call.id or "", "", ""])
                if call.function is not None:
                    grown[1] += call.function.name or ""
                    grown[2] += call.function.arguments or ""
    return text, thoughts, [(i, n, json.loads(a)) for i, n, a in calls.values()], usage


async def judge_anthropic(server: ModelServer) -> Judgement:
    message = await stream_anthropic(server)
    text = "".join(block.text for block in message.content if block.type == "text")
    thoughts = "".join(block.thinking for block in message.content if block.type == "thinking")
    calls: list[tuple[str, str, Any]] = [
        (block.id, block.name, block.input) for block in message.content if block.type == "tool_use"
    ]
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    total = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    return text, thoughts, calls, (total, usage.output_tokens, cached)


async def judge_responses(server: ModelServer) -> Judgement:
    response = await stream_responses(server)
    thoughts = "".join(
        part.text for item in response.output if item.type == "reasoning" for part in item.summary
    )
    calls: list[tuple[str, str, Any]] = [
        (item.call_id, item.name, json.loads(item.arguments))
        for item in response.output
        if item.type == "function_call"
    ]
    usage = response.usage
    assert usage is not None
    counts = (usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens)
    return response.output_text, thoughts, calls, counts


async def judge_gemini(server: ModelServer) -> Judgement:
    chunks = await stream_gemini(server)
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    text = "".join(part.text or "" for part in parts if not part.thought)
    thoughts = "".join(part.text for part in parts if part.thought)
    calls = [
        (part.function_call.id, part.function_call.name, part.function_call.args)
        for part in parts
        if part.function_call
    ]
    usage = chunks[-1].usage_metadata
    said = usage.candidates_token_count + usage.thoughts_token_count
    return text, thoughts, calls, (usage.prompt_token_count, said, usage.cached_content_token_count)


async def judge_bedrock(server: ModelServer) -> Judgement:
    text, thoughts = "", ""
    usage: dict[str, int] = {}
    calls: dict[int, list[str]] = {}
    for event in await stream_bedrock(server):
        if start := event.get("contentBlockStart"):
            use = start["start"]["toolUse"]
            calls[start["contentBlockIndex"]] = [use["toolUseId"], use["name"], ""]
        elif block := event.get("contentBlockDelta"):
            delta = block["delta"]
            text += delta.get("text", "")
            thoughts += delta.get("reasoningContent", {}).get("text", "")
            if "toolUse" in delta:
                calls[block["contentBlockIndex"]][2] += delta["toolUse"]["input"]
        elif "metadata" in event:
            usage = event["metadata"]["usage"]
    cached = usage["cacheReadInputTokens"]
    total = usage["inputTokens"] + cached + usage["cacheWriteInputTokens"]
    return (
        text,
        thoughts,
        [(i, n, json.loads(a)) for i, n, a in calls.values()],
        (total, usage["outputTokens"], cached),
    )


JUDGES = MappingProxyType(
    {
        "anthropic": judge_anthropic,
        "bedrock": judge_bedrock,
        "gemini": judge_gemini,
        "openai_compatible": judge_openai,
        "openai_responses": judge_responses,
    }
)


async def test_the_first_text_does_not_wait_for_the_next(leaf: str) -> None:
    gate = anyio.Event()
    async with (
        serve([Reply(text=("first ", "second"), holds=(Hold(gate, after=1),))]) as server,
        connected(server, leaf) as connection,
        connection.stream(ask()) as events,
    ):
        first = await anext(events)
        assert not gate.is_set()
        gate.set()
        rest = [event async for event in events]
    assert first == TextFragment("first ")
    assert last_reply(rest).message.text == "first second"


async def test_leaving_early_closes_the_connection_at_once(leaf: str) -> None:
    gate = anyio.Event()
    reply = Reply(text=("first ", "second"), holds=(Hold(gate, after=1),))
    async with serve([reply, Reply(text="again")]) as server, connected(server, leaf) as connection:
        async with connection.stream(ask()) as events:
            await anext(events)
        await server.wait_for_disconnect()
        assert last_reply(await collect(connection, ask())).message.text == "again"


@pytest.mark.parametrize("after", [None, 0, 1])
async def test_a_cancelled_step_is_seen_by_the_server(leaf: str, after: int | None) -> None:
    gate, reached = anyio.Event(), anyio.Event()
    reply = Reply(text=("first ", "second"), holds=(Hold(gate, after, reached),))
    async with serve([reply]) as server, connected(server, leaf) as connection:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect, connection, ask())
            await reached.wait()
            tasks.cancel_scope.cancel()
        await server.wait_for_disconnect()
        assert server.counters.answered == 0


async def test_an_exception_of_the_caller_is_raised_unchanged(leaf: str) -> None:
    async def fail_midway(connection: Connection) -> None:
        async with connection.stream(ask()) as events:
            await anext(events)
            raise ZeroDivisionError

    gate = anyio.Event()
    reply = Reply(text=("a", "b"), holds=(Hold(gate, after=1),))
    async with serve([reply]) as server, connected(server, leaf) as connection:
        with pytest.raises(ZeroDivisionError):
            await fail_midway(connection)
        await server.wait_for_disconnect()


async def test_steps_share_one_connection(leaf: str) -> None:
    script = Script([Reply(text="a", deltas=1)], pick="cycle")
    async with serve(script) as server, connected(server, leaf) as connection:
        for _ in range(5):
            await collect(connection, ask())
        assert server.counters.connections == 1


async def test_many_steps_run_concurrently(leaf: str) -> None:
    gate = anyio.Event()
    script = Script([Reply(text="ab", deltas=2, holds=(Hold(gate, after=1),))], pick="cycle")
    heard: list[str] = []

    async def step(connection: Connection) -> None:
        heard.append(last_reply(await collect(connection, ask())).message.text)

    async with (
        serve(script) as server,
        connected(server, leaf) as connection,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(120):
            tasks.start_soon(step, connection)
        await server.wait_for_request(120)
        gate.set()
    assert heard == ["ab"] * 120


async def test_lists_the_models(leaf: str) -> None:
    async with serve([], models=("big", "small")) as server, connected(server, leaf) as connection:
        assert [model.name for model in await connection.models()] == ["big", "small"]


async def test_extra_headers_and_the_key_reach_the_server(leaf: str) -> None:
    async with (
        serve([Reply(text="a")]) as server,
        connected(server, leaf, headers={"X-Title": "hermes"}) as connection,
    ):
        await collect(connection, ask())
    headers = server.requests[0].headers
    assert headers["x-title"] == "hermes"
    carried = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(leaf, "authorization")
    assert headers[carried].endswith(KEY)
    assert KEY not in msgspec.json.encode(server.requests[0].body).decode()


REFUSED = MappingProxyType(
    {
        "anthropic": ("Invalid `signature` in `thinking` block", b"signature", "anthropic"),
        "bedrock": ("Invalid `signature` in `thinking` block", b"signature", "bedrock"),
        "gemini": ("Thinking is not supported by this model.", b"thinkingConfig", ""),
        "openai_compatible": ("Unknown: stream_options", b"stream_options", ""),
        "openai_responses": ("Encrypted content is not supported with this model.", b"include", ""),
    }
)
"""A server's message, the part of the body it concerns, and whose thought is in the history."""


async def test_a_rejected_optional_field_is_omitted(leaf: str) -> None:
    """Some servers know fewer fields; others reject thinking that they did not produce."""
    refusal, marker, vendor = REFUSED[leaf]

    def choose(request: Recorded) -> Reply:
        is_sent = marker in msgspec.json.encode(request.body)
        return Reply(text="ok", fault=Fault(status=400, message=refusal) if is_sent else Fault())

    said = AssistantMessage("so", (Thought("hm", "sig" if vendor else "", vendor),))
    async with serve(choose, is_strict=False) as server, connected(server, leaf) as connection:
        assert last_reply(await collect(connection, ask(user(), said, user()))).message.text == "ok"
        assert len(server.requests) == 2
        assert last_reply(await collect(connection, ask(user()))).message.text == "ok"
        assert len(server.requests) == 3


async def test_a_field_rejected_permanently_is_an_error_and_not_a_loop(leaf: str) -> None:
    message = "thinking, summary, effort, cache and stream_options, reasoning_content, reasoning_effort: no"
    reply = Reply(fault=Fault(status=400, message=message))
    script = Script([reply], pick="cycle")
    said = AssistantMessage("so", (Thought("hm", "sig"), Thought("mine")), (ToolCallSaid("c", "t", "{}"),))
    history = (user(), said, ToolMessage("c", "t", "done"))
    async with serve(script, is_strict=False) as server, connected(server, leaf) as connection:
        with pytest.raises(ModelRefused):
            await collect(connection, ask(*history, tools=(ToolSchema("t", "T.", {}),)))
        assert len(server.requests) <= 6


async def test_a_closed_connection_is_reopened(leaf: str) -> None:
    async with (
        serve(Script([Reply(text="a")], pick="cycle")) as server,
        connected(server, leaf) as connection,
    ):
        await collect(connection, ask())
        await connection.aclose()
        await collect(connection, ask())
        assert server.counters.connections == 2
