"""The scripted model server, checked by the vendors' own client packages."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import pytest

from tests.late_imports import LateModule
from tests.model_server import Hold, Reply, Rule, Script, ToolCall, Usage, serve
from tests.model_server.clients import (
    WAIT_S,
    anthropic_client,
    openai_client,
    openai_text,
    stream_anthropic,
    stream_openai,
)
from tests.model_server.requests import Recorded
from tests.model_server.server import ModelServer

if TYPE_CHECKING:
    import anthropic
    import openai
else:
    anthropic, openai = LateModule("anthropic"), LateModule("openai")

ROOT = Path(__file__).parents[2]
USAGE = Usage(input_tokens=100, output_tokens=9, cached_tokens=60, cache_write_tokens=30, reasoning_tokens=4)
FULL = Reply(
    thinking=("let me ", "see"),
    text=("Hé", "llo 🌍"),
    tool_calls=(
        ToolCall("read_file", {"path": "a.py"}, pieces=3),
        ToolCall("run", '{"command": "ls', id="call_fixed"),
    ),
    usage=USAGE,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_an_openai_stream_has_every_part() -> None:
    async with serve([FULL]) as server:
        chunks = await stream_openai(server)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert openai_text(chunks) == "Héllo 🌍"
    thinking = [(delta.model_extra or {}).get("reasoning_content") for delta in deltas]
    assert [part for part in thinking if part] == ["let me ", "see"]
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    opened = [(call.index, call.id, call.function.name) for call in calls if call.id and call.function]
    assert [(index, name) for index, _, name in opened] == [(0, "read_file"), (1, "run")]
    assert opened[1][1] == "call_fixed"
    arguments = ["", ""]
    for call in calls:
        arguments[call.index] += (call.function and call.function.arguments) or ""
    assert arguments == ['{"path":"a.py"}', '{"command": "ls']
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"
    usage = chunks[-1].usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (100, 9)
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 60
    assert all(chunk.usage is None for chunk in chunks[:-1])


async def test_an_anthropic_stream_has_every_part() -> None:
    reply = Reply(
        thinking=("let me ", "see"),
        text=("Hé", "llo 🌍"),
        tool_calls=(ToolCall("read_file", {"path": "a.py"}, pieces=3), ToolCall("now")),
        usage=USAGE,
    )
    async with serve([reply]) as server:
        message = await stream_anthropic(server)
    thinking, text, read, now = message.content
    assert isinstance(thinking, anthropic.types.ThinkingBlock)
    assert thinking.thinking == "let me see"
    assert thinking.signature
    assert isinstance(text, anthropic.types.TextBlock)
    assert text.text == "Héllo 🌍"
    assert isinstance(read, anthropic.types.ToolUseBlock)
    assert (read.name, read.input) == ("read_file", {"path": "a.py"})
    assert isinstance(now, anthropic.types.ToolUseBlock)
    assert now.input == {}
    assert read.id != now.id
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 9)
    assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (60, 30)


async def test_complete_answers_of_both_vendors() -> None:
    reply = Reply(text="hello", tool_calls=(ToolCall("f", {"a": 1}),), usage=USAGE)
    async with serve([reply, reply]) as server:
        with anyio.fail_after(WAIT_S):
            async with openai_client(server) as client:
                completion = await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hi"}]
                )
            async with anthropic_client(server) as other:
                message = await other.messages.create(
                    model="m", max_tokens=50, messages=[{"role": "user", "content": "hi"}]
                )
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("hello", "tool_calls")
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].type == "function"
    assert choice.message.tool_calls[0].function.arguments == '{"a":1}'
    assert completion.usage is not None
    assert completion.usage.total_tokens == 109
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.stop_reason == "tool_use"


async def test_five_thousand_deltas_arrive_one_by_one() -> None:
    async with serve([Reply("x" * 5000, deltas=5000)]) as server:
        chunks = await stream_openai(server)
    assert sum(bool(chunk.choices and chunk.choices[0].delta.content) for chunk in chunks) == 5000


async def test_a_gate_holds_the_stream_until_it_is_opened() -> None:
    gate, reached = anyio.Event(), anyio.Event()
    async with serve([Reply("ab", deltas=2, holds=(Hold(gate, after=1, reached=reached),))]) as server:
        seen: list[str] = []
        async with openai_client(server) as client:
            with anyio.fail_after(WAIT_S):
                stream = await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hi"}], stream=True
                )
                async for chunk in stream:
                    text = chunk.choices[0].delta.content
                    if text:
                        seen.append(text)
                        if text == "a":
                            await reached.wait()
                            assert server.counters.active == 1
                            gate.set()
    assert seen == ["a", "b"]


async def test_step_rules_serve_many_concurrent_sessions() -> None:
    all_there = anyio.Event()
    first = Reply(tool_calls=(ToolCall("f", {}),), holds=(Hold(all_there),))
    rule = Rule("work", (first, Reply("done")), pick="step")
    answers: list[str] = []

    async def converse(server: ModelServer, number: int) -> None:
        async with openai_client(server) as client:
            prompt: dict[str, Any] = {"role": "user", "content": f"work {number}"}
            first = await client.chat.completions.create(model="m", messages=[cast(Any, prompt)])
            answer = first.choices[0].message
            assert answer.tool_calls is not None
            result = {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": "ok"}
            history = [prompt, answer.model_dump(exclude_none=True), result]
            second = await client.chat.completions.create(model="m", messages=cast(Any, history))
            answers.append(second.choices[0].message.content or "")

    async with serve(Script([Reply("default")], rules=[rule])) as server:
        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as tasks:
                for number in range(8):
                    tasks.start_soon(converse, server, number)
                await server.wait_for_request(8)
                all_there.set()
        assert openai_text(await stream_openai(server, "else")) == "default"
        assert len(server.requests) == 17
        assert server.counters.connections == 9
        assert server.counters.active_peak == 8
    assert answers == ["done"] * 8


async def test_order_and_cycle_rules_match_the_last_message() -> None:
    rules = [Rule("one", (Reply("1"),)), Rule("two", (Reply("2a"), Reply("2b")), pick="cycle")]
    async with serve(Script(rules=rules)) as server:
        said = [openai_text(await stream_openai(server, word)) for word in ("two", "one", "two", "two")]
        assert said == ["2a", "1", "2b", "2a"]
        with pytest.raises(openai.InternalServerError):
            await stream_openai(server, "one")
        assert server.counters.exhausted == 1


async def test_a_callable_chooses_by_the_request() -> None:
    def echo(request: Recorded) -> Reply:
        return Reply(f"{request.vendor}: {request.asked.last_text}")

    async with serve(echo) as server:
        assert openai_text(await stream_openai(server, "ping")) == "openai: ping"
        message = await stream_anthropic(server, "pong")
    assert isinstance(message.content[0], anthropic.types.TextBlock)
    assert message.content[0].text == "anthropic: pong"


async def test_models_are_listed_for_both_vendors() -> None:
    async with serve([], models=("big", "small")) as server:
        with anyio.fail_after(WAIT_S):
            async with openai_client(server) as client:
                listed = [model.id async for model in client.models.list()]
            async with anthropic_client(server) as other:
                shown = [model.id async for model in other.models.list()]
                card = await other.models.retrieve("big")
    assert listed == shown == ["big", "small"]
    assert card.display_name == "Big"
    assert [recorded.vendor for recorded in server.other_requests] == ["openai", "anthropic", "anthropic"]


@pytest.mark.parametrize("is_signalled", [True, False])
async def test_the_process_serves_its_json_script(tmp_path: Path, is_signalled: bool) -> None:
    script = {
        "rules": [{"when": "wait", "replies": [{"text": "held", "holds": [{"gate": "go", "after": 0}]}]}],
        "default": [{"text": ["a", "b"], "usage": {"input_tokens": 3}}],
    }
    script_file, port_file = tmp_path / "script.json", tmp_path / "port"
    script_file.write_text(json.dumps(script))
    command = [sys.executable, "-m", "tests.model_server", "--script", str(script_file)]
    with anyio.fail_after(WAIT_S):
        async with await anyio.open_process(
            [*command, "--port-file", str(port_file)], cwd=ROOT, stderr=None
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            line = (await process.stdout.receive()).decode()
            base_url = line.removeprefix("listening ").strip()
            assert base_url == f"http://127.0.0.1:{port_file.read_text().strip()}"
            async with openai.AsyncOpenAI(api_key="test", base_url=f"{base_url}/v1", max_retries=0) as client:
                assert await ask(client, "hi") == "ab"
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(ask, client, "wait")
                    async with httpx2.AsyncClient() as plain:
                        log = await plain.post(f"{base_url}/_gates/go")
                        assert log.json()["requests"][0]["body"]["model"] == "m"
            if is_signalled:
                process.send_signal(signal.SIGTERM)
            else:
                await process.stdin.aclose()
            assert await process.wait() == 0


async def ask(client: openai.AsyncOpenAI, prompt: str) -> str:
    answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
    return answer.choices[0].message.content or ""
