"""The faults of the scripted model server, as the vendors' own client packages see them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import pytest

from tests.late_imports import LateModule
from tests.model_server import Fault, Hold, Reply, ToolCall, serve
from tests.model_server.clients import (
    WAIT_S,
    anthropic_client,
    openai_client,
    openai_text,
    stream_anthropic,
    stream_openai,
)

if TYPE_CHECKING:
    import anthropic
    import openai
else:
    anthropic, openai = LateModule("anthropic"), LateModule("openai")

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    ("status", "openai_class", "anthropic_class"),
    [
        (400, "BadRequestError", "BadRequestError"),
        (401, "AuthenticationError", "AuthenticationError"),
        (403, "PermissionDeniedError", "PermissionDeniedError"),
        (404, "NotFoundError", "NotFoundError"),
        (429, "RateLimitError", "RateLimitError"),
        (500, "InternalServerError", "InternalServerError"),
        (502, "InternalServerError", "InternalServerError"),
        (503, "InternalServerError", "InternalServerError"),
        (529, "InternalServerError", "APIStatusError"),
    ],
)
async def test_status_faults_become_the_clients_exceptions(
    status: int, openai_class: str, anthropic_class: str
) -> None:
    openai_error: type[openai.APIStatusError] = getattr(openai, openai_class)
    anthropic_error: type[anthropic.APIStatusError] = getattr(anthropic, anthropic_class)
    fault = Reply(fault=Fault(status=status, retry_after_s=2))
    async with serve([fault, fault]) as server:
        with pytest.raises(openai_error) as of_openai:
            await stream_openai(server)
        with pytest.raises(anthropic_error) as of_anthropic:
            await stream_anthropic(server)
        assert server.counters.failed == 2
    for raised in (of_openai.value, of_anthropic.value):
        assert raised.status_code == status
        assert raised.response.headers["retry-after"] == "2"
        assert raised.request_id
    assert of_openai.value.type
    body = cast("dict[str, Any]", of_anthropic.value.body)
    assert body["type"] == "error"
    assert body["error"]["message"]


async def test_a_full_context_is_reported_in_the_vendors_words() -> None:
    fault = Reply(fault=Fault(kind="context_full"))
    async with serve([fault, fault]) as server:
        with pytest.raises(openai.BadRequestError) as of_openai:
            await stream_openai(server)
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            await stream_anthropic(server)
    assert of_openai.value.code == "context_length_exceeded"


@pytest.mark.parametrize(
    ("is_reset", "raised"), [(False, httpx2.RemoteProtocolError), (True, httpx2.ReadError)]
)
async def test_a_cut_stream_raises_in_both_clients(is_reset: bool, raised: type[Exception]) -> None:
    cut = Reply(text="abcdef", deltas=6, fault=Fault(cut_after=2, reset=is_reset))
    async with serve([cut, cut]) as server:
        with pytest.raises(openai.APIConnectionError) as of_openai:
            await stream_openai(server)
        # A connection reset may overtake the bytes sent before it; then the client has no stream yet.
        with pytest.raises((raised, anthropic.APIConnectionError)):
            await stream_anthropic(server)
    assert isinstance(of_openai.value.__cause__, raised)


async def test_a_clean_end_without_a_finish_reason_is_detected() -> None:
    async with serve([Reply(text="abc", deltas=3, fault=Fault(end_after=1))]) as server:
        chunks = await stream_openai(server)
    assert openai_text(chunks) == "a"
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)


async def test_an_error_inside_the_stream_raises() -> None:
    broken = Reply(text="abc", deltas=3, fault=Fault(error_after=1))
    async with serve([broken, broken]) as server:
        with pytest.raises(openai.APIError, match="overloaded"):
            await stream_openai(server)
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            await stream_anthropic(server)


async def test_a_malformed_event_breaks_the_clients_json() -> None:
    broken = Reply(text="abc", deltas=3, fault=Fault(malformed_after=1))
    async with serve([broken, broken]) as server:
        with pytest.raises(json.JSONDecodeError):
            await stream_openai(server)
        with pytest.raises(json.JSONDecodeError):
            await stream_anthropic(server)


@pytest.mark.parametrize("reply", [Reply("Hé🌍ß", write_size_bytes=1), Reply("Hé🌍ß", splits_utf8=True)])
async def test_fragmented_bytes_arrive_complete(reply: Reply) -> None:
    async with serve([reply, reply]) as server:
        assert openai_text(await stream_openai(server)) == "Hé🌍ß"
        message = await stream_anthropic(server)
    assert isinstance(message.content[0], anthropic.types.TextBlock)
    assert message.content[0].text == "Hé🌍ß"
    assert message.id == "msg_0000000002"


async def test_truncated_output_and_a_refusal_are_named() -> None:
    script = [
        Reply("cut o", finish="length"),
        Reply("cut o", finish="length"),
        Reply(finish="content_filter"),
    ]
    async with serve(script) as server:
        chunks = await stream_openai(server)
        assert chunks[-2].choices[0].finish_reason == "length"
        assert (await stream_anthropic(server)).stop_reason == "max_tokens"
        assert (await stream_anthropic(server)).stop_reason == "refusal"


@pytest.mark.parametrize(
    "reply",
    [
        Reply("ab", deltas=2, fault=Fault(silent_after=1)),
        Reply("late", delay_s=3600),
        Reply("never", holds=(Hold(anyio.Event()),)),
    ],
)
async def test_a_client_that_leaves_is_detected(reply: Reply) -> None:
    async with serve([reply, Reply("next")]) as server:
        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stream_openai, server, "first")
                await server.wait_for_request()
                tasks.cancel_scope.cancel()
            left = await server.wait_for_disconnect()
        assert left is server.requests[0]
        assert left.asked.last_text == "first"
        assert server.counters.active == 0
        assert openai_text(await stream_openai(server)) == "next"
        assert server.disconnects == [left]


async def test_an_exhausted_script_answers_500_in_plain_text() -> None:
    async with serve([]) as server:
        with pytest.raises(openai.InternalServerError) as raised:
            await stream_openai(server)
        assert raised.value.response.text == "script exhausted"
        assert server.counters.exhausted == 1


async def test_duplicate_tool_call_ids_are_sent_as_written() -> None:
    twins = Reply(tool_calls=(ToolCall("f", id="same"), ToolCall("g", id="same")))
    async with serve([twins]) as server:
        message = await stream_anthropic(server)
    assert [block.id for block in message.content if block.type == "tool_use"] == ["same", "same"]


async def test_impossible_scripts_are_reported_and_not_served() -> None:
    script = [Reply("ab", fault=Fault(cut_after=5)), Reply("a", deltas=2)]
    async with serve(script) as server:
        for words in ("after 5 deltas", "2 deltas asked"):
            with pytest.raises(openai.InternalServerError) as raised:
                await stream_openai(server)
            assert words in raised.value.response.text


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/messages", b"[]", 400),
        ("GET", "/v1/embeddings", b"", 404),
    ],
)
async def test_an_invalid_request_gets_the_vendors_error(
    method: str, path: str, body: bytes, status: int
) -> None:
    async with serve([Reply("unused")]) as server, httpx2.AsyncClient() as plain:
        with anyio.fail_after(WAIT_S):
            answer = await plain.request(method, server.anthropic_base_url + path, content=body)
        assert answer.status_code == status
        assert answer.json()["error"]["type"] == "invalid_request_error"
        assert server.script.next_reply(server.requests[0] if server.requests else server.other_requests[0])


async def test_histories_that_the_vendors_reject_are_rejected() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    unanswered = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]
    block: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    unanswered_blocks: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [block]},
    ]
    unanswered_blocks.append({"role": "user", "content": "and?"})
    forged = {"type": "thinking", "thinking": "altered", "signature": "no"}
    altered = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [forged]}]
    async with serve([Reply("unused")]) as server:
        with anyio.fail_after(WAIT_S):
            async with openai_client(server) as client:
                with pytest.raises(openai.BadRequestError, match="c1"):
                    await client.chat.completions.create(model="m", messages=cast(Any, unanswered))
            async with anthropic_client(server) as other:
                with pytest.raises(anthropic.BadRequestError, match="t1"):
                    await other.messages.create(
                        model="m", max_tokens=9, messages=cast(Any, unanswered_blocks)
                    )
                with pytest.raises(anthropic.BadRequestError, match="signature"):
                    await other.messages.create(model="m", max_tokens=9, messages=cast(Any, altered))
        assert len(server.requests) == 3
